// SPDX-License-Identifier: Apache-2.0
// The files of a module, before they are checked: parsed kernel files, the schemas they import.
#ifndef HDST_CODEGEN_FRONT_MODULE_H
#define HDST_CODEGEN_FRONT_MODULE_H

#include "codegen/front/check.h"

enum { HDST__MAX_IMPORTS = 256, HDST__MAX_SOURCE = 1 << 20 };

typedef struct hdst__module_schema {
    const char *name;           // of the file, from where the first kernel stands
    const char *text;
    size_t length;
} hdst__module_schema;

typedef struct hdst__module_files {
    hdst__diags *diags;
    const hdst__front_options *options;
    hdst__name_map seen;           // by name: what was read already
    ast_file **files;
    size_t file_count, file_capacity;
    hdst__module_schema *schemas;
    size_t schema_count, schema_capacity;
    size_t imports;
} hdst__module_files;

// The name among the sources of what the file `importing` imports as `name`.
const char *hdst__module_path(hdst__arena *arena, const char *name, const char *importing);

// Parses the text and what it imports, each file once. Errors go to diags.
void hdst__module_read(hdst__module_files *files, const char *name, const char *text, size_t length);

#endif
