// SPDX-License-Identifier: Apache-2.0
// The files of codegen/templates/, built into the library by embed.py.
#ifndef HDST_CODEGEN_TEMPLATES_H
#define HDST_CODEGEN_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hdst__template {
    const char *name;       // "cpu_strip.cl"
    const char *text;
    bool is_kernel;         // a skeleton with holes; else a part of the prelude
} hdst__template;

extern const hdst__template hdst__templates[];
extern const size_t hdst__template_count;

const char *hdst__template_text(const char *name);     // of a file that exists; never NULL

#endif
