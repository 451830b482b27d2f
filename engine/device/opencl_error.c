// SPDX-License-Identifier: Apache-2.0
// OpenCL's status codes in words.
#include "engine/device/opencl.h"

static const struct {
    cl_int code;
    const char *name, *words;
} codes[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", "no device of that kind"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE", "the device is not available now"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE", "the driver has no compiler"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "the device has no memory left for the buffer"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", "the device ran out of resources, or a kernel failed on it"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", "the driver ran out of host memory"},
    {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE", "no times were recorded"},
    {CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP", "source and target of a copy overlap"},
    {CL_IMAGE_FORMAT_MISMATCH, "CL_IMAGE_FORMAT_MISMATCH", "image formats differ"},
    {CL_IMAGE_FORMAT_NOT_SUPPORTED, "CL_IMAGE_FORMAT_NOT_SUPPORTED", "image format not supported"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", "the driver's compiler refused the kernel"},
    {CL_MAP_FAILURE, "CL_MAP_FAILURE", "the buffer cannot be mapped"},
    {CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET", "a part of a buffer starts at a misaligned place"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "a command that this one waited for failed"},
    {CL_COMPILE_PROGRAM_FAILURE, "CL_COMPILE_PROGRAM_FAILURE", "the driver's compiler refused the kernel"},
    {CL_LINKER_NOT_AVAILABLE, "CL_LINKER_NOT_AVAILABLE", "the driver has no linker"},
    {CL_LINK_PROGRAM_FAILURE, "CL_LINK_PROGRAM_FAILURE", "the driver's linker refused the kernel"},
    {CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED", "the device cannot be divided so"},
    {CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", "the kernel's arguments were not recorded"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE", "an argument has no meaning"},
    {CL_INVALID_DEVICE_TYPE, "CL_INVALID_DEVICE_TYPE", "not a type of device"},
    {CL_INVALID_PLATFORM, "CL_INVALID_PLATFORM", "not a platform"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE", "not a device of this context"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT", "not a context"},
    {CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES", "the device has no such queue"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE", "not a queue, or the device was lost"},
    {CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR", "host address does not fit the flags"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT", "not a buffer"},
    {CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", "not an image format"},
    {CL_INVALID_IMAGE_SIZE, "CL_INVALID_IMAGE_SIZE", "not an image size"},
    {CL_INVALID_SAMPLER, "CL_INVALID_SAMPLER", "not a sampler"},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY", "a program that was made for another device or driver"},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", "the driver's compiler does not know an option"},
    {CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM", "not a program"},
    {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE", "the program was not built for this device"},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", "the program has no kernel of that name"},
    {CL_INVALID_KERNEL_DEFINITION, "CL_INVALID_KERNEL_DEFINITION", "the kernel was built differently for another device"},
    {CL_INVALID_KERNEL, "CL_INVALID_KERNEL", "not a kernel"},
    {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX", "the kernel has no such argument"},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", "an argument of the kernel has a wrong value"},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", "an argument of the kernel has a wrong size"},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", "an argument of the kernel was not set"},
    {CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION", "not a number of dimensions"},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE", "the device cannot run work-groups of this size"},
    {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE", "the device cannot run so many work-items"},
    {CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET", "the offset is too large"},
    {CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST", "a list of events is wrong"},
    {CL_INVALID_EVENT, "CL_INVALID_EVENT", "not an event"},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION", "not possible in this state"},
    {CL_INVALID_GL_OBJECT, "CL_INVALID_GL_OBJECT", "not a GL object"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", "the buffer is empty or larger than the device allows"},
    {CL_INVALID_MIP_LEVEL, "CL_INVALID_MIP_LEVEL", "not a mip level"},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE", "the device cannot run so many work-items"},
    {CL_INVALID_PROPERTY, "CL_INVALID_PROPERTY", "not a property"},
    {CL_INVALID_IMAGE_DESCRIPTOR, "CL_INVALID_IMAGE_DESCRIPTOR", "not an image description"},
    {CL_INVALID_COMPILER_OPTIONS, "CL_INVALID_COMPILER_OPTIONS", "the driver's compiler does not know an option"},
    {CL_INVALID_LINKER_OPTIONS, "CL_INVALID_LINKER_OPTIONS", "the driver's linker does not know an option"},
    {CL_INVALID_DEVICE_PARTITION_COUNT, "CL_INVALID_DEVICE_PARTITION_COUNT", "the device cannot be divided so"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "the loader found no driver (no file in /etc/OpenCL/vendors works)"},
    {-9999, "NVIDIA's -9999", "a kernel read or wrote outside its buffers"},
};

static size_t find(cl_int code)
{
    size_t i = 0;
    while (i < sizeof codes / sizeof *codes && codes[i].code != code) i++;
    return i;
}

static const char *opencl_error_name(cl_int code)
{
    size_t i = find(code);
    return i < sizeof codes / sizeof *codes ? codes[i].name : "an unknown code";
}

const char *hdst__opencl_error_words(cl_int code)
{
    size_t i = find(code);
    return i < sizeof codes / sizeof *codes ? codes[i].words : "the driver gives a code that OpenCL 1.2 does not name";
}

hdst_status hdst__opencl_fail(hdst_error *error, const char *function, cl_int code, const char *device)
{
    bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;
    hdst_status status = memory ? HDST_E_MEMORY : HDST_E_DRIVER;
    hdst__error_set(error, status, "%s: %s", device, hdst__opencl_error_words(code));
    hdst__error_cause(error, "%s returned %s (%d)", function, opencl_error_name(code), (int)code);
    if (memory) {
        hdst__error_hint(error, "give it less at a time: a smaller --device-memory or --memory, fewer rows, or --device interp");
        if (error) error->retriable = true;
    }
    return status;
}
