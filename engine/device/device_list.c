// SPDX-License-Identifier: Apache-2.0
// Discovery over all platforms. Only cheap queries: nothing here makes a context or starts a device.
#include "engine/device/device_list.h"

#include "base/diag.h"
#include "base/budget.h"
#include "engine/device/driver_gate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLATFORMS = 32, DEVICES = 64 };      // of the machine, of a platform; more are not looked at

const char *hdst__device_class_name(hdst__device_class class_)
{
    return class_ == HDST__DEVICE_GPU ? "gpu" : class_ == HDST__DEVICE_CPU ? "cpu" : "interp";
}

void hdst__device_list_interp(hdst__device_info *info, uint32_t index)
{
    uint64_t memory = hdst__host_memory_limit();
    *info = (hdst__device_info){
        .index = index, .class_ = HDST__DEVICE_INTERP, .name = "interpreter", .platform = "hdst", .cl_version = "",
        .compute_units = 1, .max_group = 1, .memory_bytes = memory, .max_alloc_bytes = memory,
        .has_double = true, .has_int64_atomics = true, .correctly_rounded = true, .usable = true,
    };
}

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

static bool grow(hdst__device_list *list, const hdst__allocator *allocator, size_t more)
{
    size_t count = list->count + more;
    void *info = hdst__realloc(allocator, list->info, count * sizeof *list->info);
    if (info) list->info = info;
    void *platform = hdst__realloc(allocator, list->platform, count * sizeof *list->platform);
    if (platform) list->platform = platform;
    void *device = hdst__realloc(allocator, list->device, count * sizeof *list->device);
    if (device) list->device = device;
    return info && platform && device;
}

bool hdst__platform_is_pocl(const char *platform) { return strstr(platform, "Portable Computing Language") != NULL; }

// A driver that is there and gives no device is the likeliest cause of trouble, so it is named.
static void note_empty_platform(hdst__device_list *list, const char *name, cl_int code)
{
    snprintf(list->note, sizeof list->note, "OpenCL platform '%s' gives no device: %s%s", name, hdst__opencl_error_words(code),
             hdst__platform_is_pocl(name) ? " (PoCL needs a directory that it can write, ~/.cache/pocl: set POCL_CACHE_DIR to one)" : "");
}

static bool add_platform(hdst__device_list *list, const hdst__allocator *allocator, const hdst__opencl *cl, cl_platform_id platform)
{
    char name[128] = "";
    cl_device_id devices[DEVICES];
    cl_uint count = 0;
    if (cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS) snprintf(name, sizeof name, "unnamed");
    cl_int code = cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES, devices, &count);
    if (code != CL_SUCCESS || count == 0) {
        note_empty_platform(list, name, code);
        return true;
    }
    if (count > DEVICES) count = DEVICES;
    if (!grow(list, allocator, count + 1)) return false;
    for (cl_uint i = 0; i < count; i++) {
        hdst__device_info *info = &list->info[list->count];
        *info = (hdst__device_info){.index = (uint32_t)list->count};
        describe(cl, name, devices[i], info);
        list->platform[list->count] = platform;
        list->device[list->count++] = devices[i];
    }
    return true;
}

// Asks the drivers. False: out of memory.
static bool add_platforms(hdst__device_list *list, const hdst__allocator *allocator, const hdst__opencl *cl)
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint count = 0;
    if (cl->clGetPlatformIDs(PLATFORMS, platforms, &count) != CL_SUCCESS) count = 0;
    if (count > PLATFORMS) count = PLATFORMS;
    for (cl_uint i = 0; i < count; i++)
        if (!add_platform(list, allocator, cl, platforms[i])) return false;
    return true;
}

hdst_status hdst__device_lost(hdst_error *error)
{
    hdst__error_set(error, HDST_E_DEVICE, "this process was forked from one that uses OpenCL: the drivers' threads are not here");
    hdst__error_hint(error, "fork before the first context looks for devices, or let the child exec a program; device 'interp' works here");
    return HDST_E_DEVICE;
}

hdst_status hdst__device_list_fill(hdst__device_list *list, const hdst__allocator *allocator, const hdst__opencl *cl, hdst_error *error)
{
    if (cl && hdst__driver_is_lost()) return hdst__device_lost(error);
    hdst__driver_ask_begin();
    bool added = !cl || add_platforms(list, allocator, cl);
    hdst__driver_ask_end();
    if (!added) return hdst__error_memory(error, "the list of devices");
    if (list->count == 0 && !list->note[0])
        snprintf(list->note, sizeof list->note,
                 "no OpenCL driver: the loader found no device (on Debian: apt-get install pocl-opencl-icd, or the GPU's driver)");
    if (!grow(list, allocator, 1)) return hdst__error_memory(error, "the list of devices");
    hdst__device_list_interp(&list->info[list->count], (uint32_t)list->count);
    list->platform[list->count] = NULL;
    list->device[list->count++] = NULL;
    return HDST_OK;
}

void hdst__device_list_clear(hdst__device_list *list, const hdst__allocator *allocator)
{
    hdst__free(allocator, list->info);
    hdst__free(allocator, list->platform);
    hdst__free(allocator, list->device);
    *list = (hdst__device_list){0};
}

// --- Choice ---

static void list_for_hint(const hdst__device_list *list, hdst_error *error)
{
    char text[448];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < list->count && used < sizeof text; i++) {
        const hdst__device_info *info = &list->info[i];
        int length = snprintf(text + used, sizeof text - used, "%s%" PRIu32 " %s (%s%s%s)", i ? ", " : "", info->index, info->name,
                              hdst__device_class_name(info->class_), info->usable ? "" : ", not usable: ", info->why_not);
        used += length > 0 ? (size_t)length : 0;
    }
    hdst__error_hint(error, "there is: %s", text);
    if (list->note[0]) hdst__error_cause(error, "%s", list->note);
}

static hdst_status not_there(const hdst__device_list *list, const char *wanted, const char *why, hdst_error *error)
{
    hdst__error_set(error, HDST_E_DEVICE, "device '%s' is not there%s%s", wanted, *why ? ": " : "", why);
    list_for_hint(list, error);
    return HDST_E_DEVICE;
}

static const char *const names[] = {"all", "cpu", "gpu", "interp"};
enum { NAMES = sizeof names / sizeof *names };

static hdst_status malformed(const char *wanted, hdst_error *error)
{
    const char *near = hdst__nearest_name(wanted, names, NAMES), *what = "all, cpu, gpu, interp, or indices as `hdst devices` shows them: 0 or 0,1";
    hdst__error_set(error, HDST_E_USAGE, "'%s' does not name a device", wanted);
    if (near) hdst__error_hint(error, "did you mean '%s'? %s", near, what);
    else hdst__error_hint(error, "%s", what);
    return HDST_E_USAGE;
}

static bool is_name(const char *wanted)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(wanted, names[i]) == 0) return true;
    return false;
}

hdst_status hdst__device_list_check(const char *wanted, hdst_error *error)
{
    if (!wanted || !*wanted || is_name(wanted)) return HDST_OK;
    for (const char *at = wanted;; at++) {
        const size_t digits = strspn(at, "0123456789");
        at += digits;
        if (!digits || (*at && *at != ',')) return malformed(wanted, error);
        if (!*at) return HDST_OK;
    }
}

// Enumerators are in order of speed: the interpreter, CPUs, GPUs. Within a class more compute units win, then the first.
static bool faster(const hdst__device_info *a, const hdst__device_info *b)
{
    if (a->class_ != b->class_) return a->class_ > b->class_;
    return a->compute_units > b->compute_units;
}

static void consider(const hdst__device_list *list, size_t i, size_t *best, size_t *named)
{
    if (*named == 0 || faster(&list->info[i], &list->info[*best])) *best = i;
    ++*named;
}

static hdst_status choose_class(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error)
{
    size_t named = 0, best = 0;
    const char *why = "";
    for (size_t i = 0; i < list->count; i++) {
        const hdst__device_info *info = &list->info[i];
        bool all = strcmp(wanted, "all") == 0 && info->class_ != HDST__DEVICE_INTERP;
        if (!all && strcmp(wanted, hdst__device_class_name(info->class_)) != 0) continue;
        if (info->usable) consider(list, i, &best, &named);
        else why = info->why_not;
    }
    if (named == 0 && strcmp(wanted, "all") == 0) consider(list, list->count - 1, &best, &named);
    if (named == 0) return not_there(list, wanted, why, error);
    *chosen = best;
    *others = named - 1;
    return HDST_OK;
}

static hdst_status choose_indices(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error)
{
    size_t named = 0, best = 0;
    const char *at = wanted;
    do {
        if (*at < '0' || *at > '9') return malformed(wanted, error);
        char *end;
        uint64_t index = strtoull(at, &end, 10);
        if (index >= list->count) return not_there(list, wanted, "", error);
        if (!list->info[index].usable) return not_there(list, wanted, list->info[index].why_not, error);
        consider(list, index, &best, &named);
        if (*end && *end != ',') return malformed(wanted, error);
        at = *end ? end + 1 : end;
        if (*end == ',' && !*at) return malformed(wanted, error);
    } while (*at);
    *chosen = best;
    *others = named - 1;
    return HDST_OK;
}

hdst_status hdst__device_list_choose(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error)
{
    if (is_name(wanted)) return choose_class(list, wanted, chosen, others, error);
    return choose_indices(list, wanted, chosen, others, error);
}
