// SPDX-License-Identifier: Apache-2.0
// Calls the operator of operator.c if the table of operators has it, and prints what it gives of 0 ... 4.
#include "plan/operator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const hdst__operator *find(const char *name)
{
    for (size_t i = 0; hdst__operators[i]; i++)
        if (!strcmp(hdst__operators[i]->name, name)) return hdst__operators[i];
    return NULL;
}

int main(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_error error = HDST_ERROR_INIT;
    void *rows = NULL;
    uint64_t count = 0;
    const hdst__operator *op = find("hdst_recipe");
    if (!op) return puts("no operator of that name"), 1;
    options.device = "interp";
    hdst_context *context = hdst_context_create(&options);
    hdst_module *module = hdst_module_parse(context, "numbers.hk", "map next(int64_t n) -> int64_t { return n + 1; }\n", NULL);
    hdst_dataset *halves = hdst_recipe(hdst_read(hdst_source_from_range(context, 0, 5), module, "int64_t"));
    if (halves->op == op) hdst_collect(hdst_map_function(halves, module, "next"), &rows, &count, &error);
    printf("recipe: an operator, then a map:%s", error.message);
    for (uint64_t i = 0; i < count; i++) printf(" %" PRId64, ((const int64_t *)rows)[i]);
    puts("");
    hdst_rows_destroy(context, rows);
    hdst_context_destroy(context);
    return error.code != HDST_OK;
}
