// SPDX-License-Identifier: Apache-2.0
// Opens the OpenCL loader at first use and fills the table of functions.
#include "engine/device/opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *library_name(void)
{
    const char *name = getenv("HDST_OPENCL_LIBRARY");
    return name && *name ? name : "libOpenCL.so.1";
}

// Returns the first function that the library lacks, or NULL.
static const char *fill_table(hdst__opencl *cl)
{
#define LOOK_UP(name)                                                                                                  \
    do {                                                                                                               \
        void *symbol = dlsym(cl->library, #name);                                                                      \
        if (!symbol) return #name;                                                                                     \
        memcpy(&cl->name, &symbol, sizeof symbol); /* ISO C has no cast from object to function pointer */             \
    } while (0);
    HDST__CL_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return NULL;
}

hdst_status hdst__opencl_open(const hdst__allocator *allocator, hdst__opencl **out, char *why, size_t why_size, hdst_error *error)
{
    *out = NULL;
    hdst__opencl *cl = hdst__alloc_zero(allocator, sizeof *cl);
    if (!cl) return hdst__error_memory(error, "the OpenCL loader");
    // RTLD_NODELETE: drivers start threads that outlive the last release, so their code must stay mapped.
    cl->library = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!cl->library) {
        const char *cause = dlerror();
        snprintf(why, why_size, "no OpenCL loader: %s", cause ? cause : library_name());
        hdst__free(allocator, cl);
        return HDST_OK;
    }
    const char *missing = fill_table(cl);
    if (missing) {
        snprintf(why, why_size, "%s is no OpenCL 1.2 loader: it lacks %s", library_name(), missing);
        hdst__opencl_close(allocator, cl);
        return HDST_OK;
    }
    *out = cl;
    return HDST_OK;
}

void hdst__opencl_close(const hdst__allocator *allocator, hdst__opencl *cl)
{
    if (!cl) return;
    dlclose(cl->library);
    hdst__free(allocator, cl);
}
