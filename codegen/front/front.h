// SPDX-License-Identifier: Apache-2.0
// The front end: from the text of a module, and what it imports, to a checked syntax tree.
#ifndef HDST_CODEGEN_FRONT_FRONT_H
#define HDST_CODEGEN_FRONT_FRONT_H

#include "codegen/front/ast.h"
#include "record/layout.h"

// How `import "x.yaml"` and `import "x.hk"` are read. Returns false when there is no such file. The text is copied.
typedef bool (*hdst__import_reader)(const char *name, const char *importing_file, char **text, size_t *length, const hdst__allocator *allocator, void *user);

typedef struct hdst__front_options {
    const hdst__param_value *params;
    size_t param_count;
    hdst__import_reader read_import;    // NULL: from the file system, relative to the importing file
    void *import_user;
    hdst__record *const *records;       // known without an import: schemas made in C or given on the command line
    size_t record_count;
    bool assume_params;                 // `hdst kernel check` without --param: an unset param counts as 4, with a note
} hdst__front_options;

// Lexes, parses and checks. Never NULL; errors are in diags (made in the same arena by the caller). Sources are registered there.
ast_module *hdst__module_compile(hdst__diags *diags, const char *name, const char *text, size_t length, const hdst__front_options *options);
ast_function *hdst__module_function(const ast_module *module, const char *name);    // NULL when absent
hdst__record *hdst__module_record(const ast_module *module, const char *name);

#endif
