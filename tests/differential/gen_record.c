// SPDX-License-Identifier: Apache-2.0
// Random records: arrays of one and two dimensions, nested records and arrays of them; as `struct` in the kernel, or in a schema, then sometimes packed. The C
// twin says with gcc's own words where fields lie.
#include "gen.h"

#include <inttypes.h>

enum { DEPTH = 3 };             // of expressions

// --- Making ---

static void random_dims(gen *g, gen_field *f, bool wide)
{
    if (g->wide_row) f->count = 32 + (uint64_t)gen_below(g, 9);
    if (g->wide_row || !gen_chance(g, 30)) return;
    f->count = 1 + (uint64_t)gen_below(g, 5);
    if (g->program->shape == DIFF_REDUCE) return;
    if (gen_chance(g, 20)) f->count = 1 + (uint64_t)gen_below(g, 2), f->count2 = 1 + (uint64_t)gen_below(g, 4);
    else if (!wide && gen_chance(g, 50)) f->count = gen_chance(g, 50) ? 9 + (uint64_t)gen_below(g, 24) : 32 + (uint64_t)gen_below(g, 9);         // loops over them are not unrolled
    else if (wide && gen_chance(g, 40)) f->count = 12 + (uint64_t)gen_below(g, 40);       // more than the lanes of dot and sum
}

static gen_record *random_record(gen *g, const char *name, int level);

static void random_field(gen *g, gen_record *r, int i, int level)
{
    gen_field *f = &r->field[i];
    *f = (gen_field){.name = gen_print(g, "f%d", i), .kind = gen_kind(g), .leaf = r->leaves};
    if (level >= 0) random_dims(g, f, level > 0);
    if (level > 0 && gen_chance(g, 15)) {
        const bool many = gen_chance(g, 40);
        f->record = random_record(g, gen_print(g, "%s_part%d", r->hk, i), many ? -1 : 0);
        f->count = many ? 1 + (uint64_t)gen_below(g, 3) : 0;
        f->count2 = 0;
    }
    r->leaves += f->record ? f->record->leaves : 1;
}

static void write_c(gen *g, const gen_record *r)
{
    if (r->pack) gen_c(g, "#pragma pack(push, %d)", r->pack);
    gen_c(g, "struct %s {", r->c);
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *dims = f->count ? gen_print(g, "[%" PRIu64 "]", f->count) : "";
        if (f->count2) dims = gen_print(g, "%s[%" PRIu64 "]", dims, f->count2);
        gen_c(g, "    %s%s %s%s;", f->record ? "struct " : "", f->record ? f->record->c : gen_c_type(f->kind), f->name, dims);
    }
    if (r->pack) gen_c(g, "} __attribute__((aligned(%d)));", r->pack);
    else gen_c(g, "};");
    if (r->pack) gen_c(g, "#pragma pack(pop)");
}

static void write_hk(gen *g, const gen_record *r)
{
    gen_hk(g, "struct %s {", r->hk);
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *dims = f->count ? gen_print(g, f->count == 4 ? "[FOUR]" : "[%" PRIu64 "]", f->count) : "";
        if (f->count2) dims = gen_print(g, "%s[%" PRIu64 "]", dims, f->count2);
        gen_hk(g, "    %s %s%s;", f->record ? f->record->hk : gen_c_type(f->kind), f->name, dims);
    }
    gen_hk(g, "};");
}

static void write_yaml(gen *g, const gen_record *r)
{
    static const char *const types[K_COUNT] = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"};
    hdst__buffer_printf(&g->yaml, "  %s:\n", r->hk);
    if (r->pack) hdst__buffer_printf(&g->yaml, "    align: %d\n", r->pack);
    hdst__buffer_puts(&g->yaml, "    fields:\n");
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        hdst__buffer_printf(&g->yaml, "      - {name: %s, type: %s", f->name, f->record ? f->record->hk : types[f->kind]);
        if (f->count2) hdst__buffer_printf(&g->yaml, ", count: [%" PRIu64 ", %" PRIu64 "]", f->count, f->count2);
        else if (f->count) hdst__buffer_printf(&g->yaml, f->count == 4 ? ", count: FOUR" : ", count: %" PRIu64, f->count);
        hdst__buffer_puts(&g->yaml, "}\n");
    }
}

// level: 1: may hold records; 0: only numbers and arrays; -1: only numbers
static gen_record *random_record(gen *g, const char *name, int level)
{
    gen_record *r = HDST__NEW(g->arena, gen_record);
    r->hk = name;
    r->c = gen_print(g, "p%" PRIu64 "_%s", g->program->seed, name);
    r->field_count = 1 + gen_below(g, level < 0 ? 2 : 4);
    if (g->schema && gen_chance(g, 40)) r->pack = 1 << gen_below(g, 4);
    for (int i = 0; i < r->field_count; i++) random_field(g, r, i, level);
    write_c(g, r);
    if (g->schema) write_yaml(g, r);
    else write_hk(g, r);
    return r;
}

const gen_record *gen_new_record(gen *g, const char *name, bool nested) { return random_record(g, name, nested); }

const char *gen_leaf_list(gen *g, const gen_record *outer, const gen_record *r, const char *path)
{
    const char *list = "";
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *name = gen_print(g, "%s%s", path, f->name);
        const uint64_t count = (f->count ? f->count : 1) * (f->count2 ? f->count2 : 1);
        if (f->record && f->count) {
            for (int k = 0; k < f->record->field_count; k++) {
                const gen_field *inner = &f->record->field[k];
                list = gen_print(g, "%s{%d, offsetof(struct %s, %s[0].%s), %" PRIu64 ", sizeof(struct %s)}, ", list, (int)inner->kind, outer->c, name, inner->name, count,
                                 f->record->c);
            }
        } else if (f->record) {
            list = gen_print(g, "%s%s", list, gen_leaf_list(g, outer, f->record, gen_print(g, "%s.", name)));
        } else {
            list = gen_print(g, "%s{%d, offsetof(struct %s, %s), %" PRIu64 ", sizeof(%s)}, ", list, (int)f->kind, outer->c, name, count, gen_c_type(f->kind));
        }
    }
    return list;
}

// --- Lists in braces ---

static const char *number(gen *g, const gen_field *f, const char *path)
{
    const gen_value v = gen_is_float(f->kind) && gen_chance(g, 40) ? gen_mix(g) : gen_expr(g, f->count ? 1 : DEPTH);
    gen_c(g, "%s = %s;", path, gen_converted(g, v, f->kind));
    return gen_argument(v);
}

static const char *field_text(gen *g, const gen_field *f, const char *path, int dim)
{
    const uint64_t count = dim == 0 ? f->count : dim == 1 ? f->count2 : 0;
    if (!count) return f->record ? gen_print(g, "%s%s", gen_chance(g, 30) ? gen_print(g, "(%s)", f->record->hk) : "", gen_braces(g, f->record, path)) : number(g, f, path);
    const char *list = "";
    for (uint64_t e = 0; e < count && (e == 0 || e < 12); e++)         // what is not given is zero
        list = gen_print(g, "%s%s%s", list, e ? ", " : "", field_text(g, f, gen_print(g, "%s[%" PRIu64 "]", path, e), dim + 1));
    return gen_print(g, "{ %s }", list);
}

// `a, b, c` for a record of numbers alone; NULL for others.
const char *gen_numbers(gen *g, const gen_record *r, const char *path)
{
    const char *list = "";
    for (int i = 0; i < r->field_count; i++)
        if (r->field[i].record || r->field[i].count || r->field_count < 2) return NULL;
    for (int i = 0; i < r->field_count; i++)
        list = gen_print(g, "%s%s%s", list, i ? ", " : "", number(g, &r->field[i], gen_print(g, "%s.%s", path, r->field[i].name)));
    return list;
}

const char *gen_braces(gen *g, const gen_record *r, const char *path)
{
    const char *list = "";
    const bool named = gen_chance(g, 70);
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        if (gen_chance(g, 10)) {                // left out: zero
            if (named) continue;
            break;
        }
        const char *text = field_text(g, f, gen_print(g, "%s.%s", path, f->name), 0);
        list = gen_print(g, named ? "%s%s.%s = %s" : "%s%s%.0s%s", list, *list ? ", " : "", f->name, text);
    }
    return gen_print(g, "{ %s }", *list ? list : r->field[0].record || r->field[0].count ? "{ 0 }" : "0");
}
