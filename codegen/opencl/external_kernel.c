// SPDX-License-Identifier: Apache-2.0
// Kernels that users write in OpenCL C themselves: the records they name are declared in front of their text, and the arguments are listed for the engine.
#include "base/name_set.h"
#include "codegen/opencl/external_kernel.h"
#include "base/writer.h"

#include <inttypes.h>

static const char fixed_width[] = "typedef char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long int64_t;\n"
                                  "typedef uchar uint8_t;\ntypedef ushort uint16_t;\ntypedef uint uint32_t;\ntypedef ulong uint64_t;\n";

// --- Records as OpenCL structs ---

static void print_field(hdst__writer *out, const hdst__record *record, const hdst__field *field, bool packed)
{
    const hdst__type *base = hdst__type_base(field->type);
    hdst__write(out, "%s %s", base->kind == HDST__RECORD ? base->record->name : hdst__scalar_cl_name(base->kind), field->name);
    for (const hdst__type *type = field->type; type->kind == HDST__ARRAY; type = type->element) hdst__write(out, "[%" PRIu64 "]", type->count);
    if (packed) hdst__write(out, " __attribute__((aligned(%" PRIu64 ")))", hdst__type_align(field->type, record->pack));
    hdst__write_line(out, ";");
}

// Those it holds come first.
static void print_record(hdst__writer *out, hdst__name_set *seen, const hdst__record *record)
{
    if (record->is_scalar || hdst__name_set_add(out->arena, seen, record->name, 0) != HDST__NO_NAME) return;
    for (size_t i = 0; i < record->field_count; i++) {
        const hdst__type *base = hdst__type_base(record->fields[i].type);
        if (base->kind == HDST__RECORD) print_record(out, seen, base->record);
    }
    bool packed = hdst__record_is_packed(record);
    hdst__write_line(out, "typedef struct __attribute__((%saligned(%" PRIu64 "))) %s {", packed ? "packed, " : "", record->align, record->name);
    out->indent++;
    for (size_t i = 0; i < record->field_count; i++) print_field(out, record, &record->fields[i], packed);
    out->indent--;
    hdst__write_line(out, "} %s;", record->name);
}

// --- Arguments ---

typedef struct arguments {
    hdst__arg *items;
    size_t count;
} arguments;

static void add(arguments *args, hdst__arg_kind kind, uint32_t index)
{
    args->items[args->count++] = (hdst__arg){.kind = kind, .index = index};
}

static arguments list_arguments(hdst__arena *arena, const ir_func *func)
{
    arguments args = {HDST__NEW_ARRAY(arena, hdst__arg, 5 + 2 * func->param_count), 0};
    add(&args, HDST__ARG_FIRST, 0);
    add(&args, HDST__ARG_SKIP, 0);
    add(&args, HDST__ARG_COUNT, 0);
    add(&args, HDST__ARG_INPUT, 0);
    for (uint32_t i = 0; i < func->param_count; i++) {
        if (func->params[i].kind != IR_BROADCAST_TABLE) continue;
        add(&args, HDST__ARG_BROADCAST, i);
        if (func->params[i].is_table) add(&args, HDST__ARG_ROWS, i);
    }
    add(&args, HDST__ARG_OUTPUT, 0);
    return args;
}

static bool has_text(const ir_func *func)
{
    for (size_t i = 0; i < func->param_count; i++)
        if (func->params[i].record->has_text) return true;
    return false;
}

const hdst__kernel *hdst__kernel_separate(hdst__arena *arena, const ir_func *func, const char *name, const char *text, uint32_t local_size,
                                          const hdst__target_facts *facts, hdst__diags *diags)
{
    if (has_text(func)) {
        hdst__diag_error(diags, (hdst__span){0}, NULL, "'%s' has text in its records, which OpenCL C given apart cannot reach", func->name);
        return NULL;
    }
    hdst__writer out = {.arena = arena};
    hdst__name_set seen = {0};
    if (facts->has_double) hdst__write_line(&out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable");
    hdst__write(&out, "%s", fixed_width);
    for (size_t i = 0; i < func->param_count; i++) print_record(&out, &seen, func->params[i].record);
    hdst__write(&out, "#line 1 \"%s\"\n%s\n", func->name, text);
    arguments args = list_arguments(arena, func);
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){
        .name = name, .source = hdst__writer_text(&out), .build_options = "-cl-std=CL1.2", .args = args.items, .arg_count = args.count, .func = func,
        .local_size = local_size ? local_size : HDST__SEPARATE_GROUP, .why = "OpenCL C given by the program\n",
    };
    if (kernel->local_size > facts->max_group) kernel->local_size = facts->max_group;
    return kernel;
}
