// SPDX-License-Identifier: Apache-2.0
// Discovery over all OpenCL platforms. Only cheap queries: nothing here makes a context or starts a device.
#include "engine/device/opencl_devices.h"

#include "engine/device/driver_gate.h"
#include "engine/device/give_up.h"

#include <stdio.h>
#include <string.h>

enum { PLATFORMS = 32, DEVICES = 64 };      // of the machine, of a platform; more are not looked at

// --- Queries: a device that does not answer leaves zero or "" behind, which the test of usability catches ---

static void query(const hdst__opencl *cl, cl_device_id device, cl_device_info what, void *value, size_t size)
{
    memset(value, 0, size);
    if (cl->clGetDeviceInfo(device, what, size, value, NULL) != CL_SUCCESS) memset(value, 0, size);
}

static void query_text(const hdst__opencl *cl, cl_device_id device, cl_device_info what, char *text, size_t size)
{
    char whole[16384];
    size_t length = 0;
    text[0] = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof whole, whole, &length) != CL_SUCCESS || length == 0) return;
    whole[length < sizeof whole ? length - 1 : sizeof whole - 1] = 0;
    const char *start = whole + strspn(whole, " ");
    snprintf(text, size, "%.*s", (int)(size - 1), start);
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--) text[end - 1] = 0;
}

static bool has_extension(const char *extensions, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(extensions, name); at; at = strstr(at + length, name)) {
        bool starts = at == extensions || at[-1] == ' ', ends = at[length] == ' ' || at[length] == 0;
        if (starts && ends) return true;
    }
    return false;
}

static void judge(const hdst__opencl *cl, cl_device_id device, cl_device_type type, hdst__device_info *info)
{
    cl_bool available, compiler, little;
    cl_uint bits;
    int major = 0, minor = 0;
    query(cl, device, CL_DEVICE_AVAILABLE, &available, sizeof available);
    query(cl, device, CL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler);
    query(cl, device, CL_DEVICE_ENDIAN_LITTLE, &little, sizeof little);
    query(cl, device, CL_DEVICE_ADDRESS_BITS, &bits, sizeof bits);
    sscanf(info->cl_version, "OpenCL %d.%d", &major, &minor);
    const char *why = !available ? "the driver says it is not available"
        : !(type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU)) ? "neither a CPU nor a GPU"
        : !compiler ? "its driver has no compiler"
        : !little ? "it is big-endian"
        : bits != 64 ? "its addresses are not of 64 bits"
        : major * 10 + minor < 12 ? "it has no OpenCL 1.2"
        : !info->has_int64_atomics ? "it has no 64-bit atomics (cl_khr_int64_base_atomics)"
        : info->compute_units == 0 || info->memory_bytes == 0 ? "its driver does not answer questions" : NULL;
    info->usable = why == NULL;
    if (why) snprintf(info->why_not, sizeof info->why_not, "%s", why);
}

static void describe(const hdst__opencl *cl, const char *platform, cl_device_id device, hdst__device_info *info)
{
    cl_device_type type;
    cl_ulong number;
    size_t size;
    cl_uint units;
    cl_device_fp_config single, twice;
    char extensions[8192];
    query(cl, device, CL_DEVICE_TYPE, &type, sizeof type);
    info->class_ = type & CL_DEVICE_TYPE_CPU ? HDST__DEVICE_CPU : HDST__DEVICE_GPU;
    snprintf(info->platform, sizeof info->platform, "%s", platform);
    query_text(cl, device, CL_DEVICE_NAME, info->name, sizeof info->name);
    query_text(cl, device, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    query_text(cl, device, CL_DEVICE_VERSION, info->cl_version, sizeof info->cl_version);
    query_text(cl, device, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    query(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    info->compute_units = units;
    query(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, &size, sizeof size);
    info->max_group = (uint32_t)size;
    query(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, &number, sizeof number);
    info->memory_bytes = number;
    query(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &number, sizeof number);
    info->max_alloc_bytes = number;
    query(cl, device, CL_DEVICE_LOCAL_MEM_SIZE, &number, sizeof number);
    info->local_bytes = number;
    query(cl, device, CL_DEVICE_SINGLE_FP_CONFIG, &single, sizeof single);
    query(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG, &twice, sizeof twice);
    info->correctly_rounded = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info->has_double = twice != 0;
    info->has_int64_atomics = has_extension(extensions, "cl_khr_int64_base_atomics");
    judge(cl, device, type, info);
}

// --- The list ---

bool hdst__platform_is_pocl(const char *platform) { return strstr(platform, "Portable Computing Language") != NULL; }

bool hdst__processor_follows_structs(const char *name) { return strstr(name, "AMD ") != NULL; }

// A driver that is there and gives no device is the likeliest cause of trouble, so it is named.
static void note_empty_platform(hdst__device_list *list, const char *name, cl_int code)
{
    snprintf(list->note, sizeof list->note, "OpenCL platform '%s' gives no device: %s%s", name, hdst__opencl_error_words(code),
             hdst__platform_is_pocl(name) ? " (PoCL needs a directory that it can write, ~/.cache/pocl: set POCL_CACHE_DIR to one)" : "");
}

static void name_part(hdst__device_info *info, uint32_t part, uint32_t parts)
{
    const size_t length = strnlen(info->name, sizeof info->name - 32);
    snprintf(info->name + length, sizeof info->name - length, " (part %u of %u)", part, parts);
    info->memory_bytes /= parts;
}

// `part` counts the sub-devices of a device from 1; 0: it is a whole one. The list has the sub-device from then on.
static bool add_device(hdst__device_list *list, hdst__opencl_devices *own, const char *name, cl_platform_id platform, cl_device_id device, uint32_t part)
{
    void *grown = hdst__realloc(list->allocator, own->at, (own->count + 1) * sizeof *own->at);
    if (grown) own->at = grown;
    hdst__device_info *info = grown ? hdst__device_list_add(list) : NULL;
    if (!info) return false;
    describe(own->cl, name, device, info);
    info->place = (uint32_t)own->count;
    own->at[own->count].platform = platform;
    own->at[own->count].is_part = part > 0;
    own->at[own->count++].device = device;
    if (part) name_part(info, part, list->cpu_parts);
    return true;
}

// A CPU device as several of equal size. False: out of memory. *split is false where the driver does not do it.
static bool add_parts(hdst__device_list *list, hdst__opencl_devices *own, const char *name, cl_platform_id platform, cl_device_id device, bool *split)
{
    cl_device_type type;
    cl_uint units, count = 0;
    cl_device_id part[HDST__MOST_WORKERS];
    query(own->cl, device, CL_DEVICE_TYPE, &type, sizeof type);
    query(own->cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    *split = false;
    if (list->cpu_parts < 2 || list->cpu_parts > HDST__MOST_WORKERS || !(type & CL_DEVICE_TYPE_CPU)) return true;
    list->undivided = units < list->cpu_parts;
    if (list->undivided) return true;
    cl_device_partition_property equally[HDST__MOST_WORKERS + 3] = {CL_DEVICE_PARTITION_BY_COUNTS};
    for (uint32_t i = 0; i < list->cpu_parts; i++) equally[1 + i] = (cl_device_partition_property)(units / list->cpu_parts);
    if (own->cl->clCreateSubDevices(device, equally, list->cpu_parts, part, &count) != CL_SUCCESS || count != list->cpu_parts) return true;
    *split = true;
    for (uint32_t i = 0; i < count; i++) {
        if (add_device(list, own, name, platform, part[i], i + 1)) continue;
        for (; i < count; i++) own->cl->clReleaseDevice(part[i]);
        return false;
    }
    return true;
}

static bool add_platform(hdst__device_list *list, hdst__opencl_devices *own, cl_platform_id platform)
{
    char name[128] = "";
    cl_device_id devices[DEVICES];
    cl_uint count = 0;
    if (own->cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS) snprintf(name, sizeof name, "unnamed");
    cl_int code = own->cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES, devices, &count);
    if (code != CL_SUCCESS || count == 0) {
        note_empty_platform(list, name, code);
        return true;
    }
    if (count > DEVICES) count = DEVICES;
    for (cl_uint i = 0; i < count; i++) {
        bool split;
        if (!add_parts(list, own, name, platform, devices[i], &split)) return false;
        if (!split && !add_device(list, own, name, platform, devices[i], 0)) return false;
    }
    return true;
}

// Asks the drivers. False: out of memory.
static bool add_platforms(hdst__device_list *list, hdst__opencl_devices *own)
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint count = 0;
    if (own->cl->clGetPlatformIDs(PLATFORMS, platforms, &count) != CL_SUCCESS) count = 0;
    if (count > PLATFORMS) count = PLATFORMS;
    for (cl_uint i = 0; i < count; i++)
        if (!add_platform(list, own, platforms[i])) return false;
    return true;
}

hdst_status hdst__opencl_find(hdst__device_list *list, void **out, hdst_error *error)
{
    hdst__opencl_devices *own = *out = hdst__alloc_zero(list->allocator, sizeof *own);
    if (!own) return hdst__error_memory(error, "the list of devices");
    const hdst_status status = hdst__opencl_open(list->allocator, &own->cl, list->note, sizeof list->note, error);
    if (!own->cl) return status;
    if (hdst__driver_is_lost()) return hdst__device_lost(error);
    hdst__driver_ask_begin();
    const bool added = add_platforms(list, own);
    hdst__driver_ask_end();
    if (!added) return hdst__error_memory(error, "the list of devices");
    if (own->count == 0 && !list->note[0])
        snprintf(list->note, sizeof list->note,
                 "no OpenCL driver: the loader found no device (on Debian: apt-get install pocl-opencl-icd, or the GPU's driver)");
    return HDST_OK;
}

void hdst__opencl_forget(const hdst__allocator *allocator, void *own)
{
    hdst__opencl_devices *devices = own;
    if (!devices) return;
    for (size_t i = 0; i < devices->count; i++)
        if (devices->at[i].is_part && !hdst__driver_is_lost()) devices->cl->clReleaseDevice(devices->at[i].device);
    hdst__free(allocator, devices->at);
    hdst__opencl_close(allocator, devices->cl);
    hdst__free(allocator, devices);
}
