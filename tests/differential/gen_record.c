// SPDX-License-Identifier: Apache-2.0
// Random records: arrays of one and two dimensions, nested records and arrays of them; as `struct` in the kernel, or in a schema, then sometimes packed. The C
// twin says with gcc's own words where fields lie.
#include "gen.h"

#include <inttypes.h>

enum { DEPTH = 3, MOST_RECORDS = 10 /* of a program; those without others inside may be more */ };             // of expressions

// --- Making ---

static void random_dims(gen *g, gen_field *f, int level)
{
    if (g->wide_row) f->count = 32 + (uint64_t)gen_below(g, 9);
    if (g->wide_row || !gen_chance(g, 30)) return;
    f->count = 1 + (uint64_t)gen_below(g, 5);
    if (g->program->shape == DIFF_REDUCE) return;
    if (gen_chance(g, 20)) f->count = 1 + (uint64_t)gen_below(g, 2), f->count2 = 1 + (uint64_t)gen_below(g, 4);
    else if (level == 0 && gen_chance(g, 50))       // loops over so many are not unrolled
        f->count = gen_chance(g, 50) ? 9 + (uint64_t)gen_below(g, 24) : 32 + (uint64_t)gen_below(g, 9);
    else if (level > 0 && gen_chance(g, 40)) f->count = 12 + (uint64_t)gen_below(g, 40);       // more than the lanes of dot and sum
}

static gen_record *random_record(gen *g, const char *name, int level);

static uint64_t times(const gen_field *f) { return (f->count ? f->count : 1) * (f->count2 ? f->count2 : 1); }

// A field that is a record, or an array of them, of one or two dimensions; their fields may be such too.
static void nested_field(gen *g, gen_record *r, gen_field *f, int level)
{
    f->record = random_record(g, gen_print(g, "%s_part%d", r->hk, (int)(f - r->field)), level - 1);
    f->count = gen_chance(g, 55) ? 1 + (uint64_t)gen_below(g, 3) : 0;
    f->count2 = f->count && gen_chance(g, 15) ? 1 + (uint64_t)gen_below(g, 2) : 0;
}

static void name_field(gen *g, gen_record *r, int i)
{
    const char *others[5];
    for (int k = 0; k < i; k++) others[k] = r->field[k].hk;
    r->field[i] = (gen_field){.hk = gen_inner_name(g, gen_print(g, "f%d", i), others, i), .c = gen_print(g, "f%d", i), .leaf = r->leaves};
}

static void count_field(gen_record *r, const gen_field *f)
{
    r->leaves += f->record ? f->record->leaves : 1;
    r->numbers += times(f) * (f->record ? f->record->numbers : 1);
}

static void random_field(gen *g, gen_record *r, int i, int level)
{
    gen_field *f = &r->field[i];
    name_field(g, r, i);
    f->kind = gen_kind(g);
    if (level > 0 && g->record_count < MOST_RECORDS && gen_chance(g, level > 1 ? 30 : 15)) nested_field(g, r, f, level);
    else if (level > -2) random_dims(g, f, level);
    count_field(r, f);
}

static void write_c(gen *g, const gen_record *r)
{
    if (r->pack) gen_c(g, "#pragma pack(push, %d)", r->pack);
    gen_c(g, "struct %s {", r->c);
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *dims = f->count ? gen_print(g, "[%" PRIu64 "]", f->count) : "";
        if (f->count2) dims = gen_print(g, "%s[%" PRIu64 "]", dims, f->count2);
        gen_c(g, "    %s%s %s%s;", f->record ? "struct " : "", f->record ? f->record->c : gen_c_type(f->kind), f->c, dims);
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
        const char *dims = f->count ? f->count == 4 ? gen_print(g, "[%s]", g->four) : gen_print(g, "[%" PRIu64 "]", f->count) : "";
        if (f->count2) dims = gen_print(g, "%s[%" PRIu64 "]", dims, f->count2);
        gen_hk(g, "    %s %s%s;", f->record ? f->record->hk : gen_c_type(f->kind), f->hk, dims);
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
        hdst__buffer_printf(&g->yaml, "      - {name: %s, type: %s", f->hk, f->record ? f->record->hk : types[f->kind]);
        if (f->count2) hdst__buffer_printf(&g->yaml, ", count: [%" PRIu64 ", %" PRIu64 "]", f->count, f->count2);
        else if (f->count == 4) hdst__buffer_printf(&g->yaml, ", count: %s", g->four);
        else if (f->count) hdst__buffer_printf(&g->yaml, ", count: %" PRIu64, f->count);
        hdst__buffer_puts(&g->yaml, "}\n");
    }
}

static void write_record(gen *g, const gen_record *r)
{
    write_c(g, r);
    if (g->schema) write_yaml(g, r);
    else write_hk(g, r);
}

static gen_record *new_record(gen *g, const char *plain)
{
    gen_record *r = HDST__NEW(g->arena, gen_record);
    r->hk = gen_inner_name(g, plain, g->record_names, g->record_count);
    if (g->record_count < (int)(sizeof g->record_names / sizeof *g->record_names)) g->record_names[g->record_count++] = r->hk;
    r->c = gen_print(g, "p%" PRIu64 "_%s", g->program->seed, plain);
    return r;
}

// level: above 0: may hold records, which are of the level below; 0: only numbers and arrays; -1: they are short; below: only numbers
static gen_record *random_record(gen *g, const char *plain, int level)
{
    gen_record *r = new_record(g, plain);
    r->field_count = 1 + gen_below(g, level < 0 || g->record_count > 10 ? 2 : 4);
    if (g->schema && gen_chance(g, 40)) r->pack = 1 << gen_below(g, 4);
    for (int i = 0; i < r->field_count; i++) random_field(g, r, i, level);
    write_record(g, r);
    return r;
}

const gen_record *gen_wished_record(gen *g, const char *plain, const gen_wish *wish, int count)
{
    gen_record *r = new_record(g, plain);
    r->field_count = count;
    if (g->schema && gen_chance(g, g->program->theme == DIFF_TOTALS ? 60 : 15)) r->pack = 1 << gen_below(g, 4);
    for (int i = 0; i < count; i++) {
        name_field(g, r, i);
        r->field[i].kind = wish[i].kind;
        r->field[i].count = wish[i].count;
        r->field[i].count2 = wish[i].count2;
        count_field(r, &r->field[i]);
    }
    write_record(g, r);
    return r;
}

const gen_record *gen_new_record(gen *g, const char *name, bool nested) { return random_record(g, name, nested ? gen_chance(g, 30) ? 3 : 1 : 0); }

// One initializer of diff_leaf for each leaf; `dims` is that of the arrays around.
static const char *leaf_list(gen *g, const gen_record *outer, const gen_record *r, const char *path, const char *dims, int dim_count, uint64_t around)
{
    const char *list = "";
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *name = gen_print(g, "%s%s%s%s", path, f->c, f->count ? "[0]" : "", f->count2 ? "[0]" : ""), *inner = dims;
        const char *size = f->record ? gen_print(g, "sizeof(struct %s)", f->record->c) : gen_print(g, "sizeof(%s)", gen_c_type(f->kind));
        if (f->count) inner = gen_print(g, "%s{%" PRIu64 ", %s * %" PRIu64 "}, ", inner, f->count, size, f->count2 ? f->count2 : 1);
        if (f->count2) inner = gen_print(g, "%s{%" PRIu64 ", %s}, ", inner, f->count2, size);
        const int inner_count = dim_count + (f->count > 0) + (f->count2 > 0);
        if (f->record) list = gen_print(g, "%s%s", list, leaf_list(g, outer, f->record, gen_print(g, "%s.", name), inner, inner_count, around * times(f)));
        else
            list = gen_print(g, "%s{%d, offsetof(struct %s, %s), %" PRIu64 ", %d, {%s}}, ", list, (int)f->kind,
                             outer->c, name, around * times(f), inner_count, inner);
    }
    return list;
}

const char *gen_leaf_list(gen *g, const gen_record *r) { return leaf_list(g, r, r, "", "", 0, 1); }

static int kinds_of(const gen_record *r, diff_kind *kinds, uint64_t *counts, int count, uint64_t around)
{
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        if (f->record) {
            count = kinds_of(f->record, kinds, counts, count, around * times(f));
        } else {
            kinds[count] = f->kind;
            counts[count++] = around * times(f);
        }
    }
    return count;
}

int gen_leaves_of(const gen_record *r, diff_kind *kinds, uint64_t *counts) { return kinds_of(r, kinds, counts, 0, 1); }

static int paths_of(gen *g, const gen_record *r, const char **paths, int count, const char *path)
{
    for (int i = 0; i < r->field_count; i++) {
        const gen_field *f = &r->field[i];
        const char *name = gen_print(g, "%s%s%s%s", path, f->hk, f->count ? "[0]" : "", f->count2 ? "[0]" : "");
        if (f->record) count = paths_of(g, f->record, paths, count, gen_print(g, "%s.", name));
        else paths[count++] = name;
    }
    return count;
}

void gen_paths_of(gen *g, const gen_record *r, const char **paths) { paths_of(g, r, paths, 0, ""); }

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
    if (!count)
        return f->record ? gen_print(g, "%s%s", gen_chance(g, 30) ? gen_print(g, "(%s)", f->record->hk) : "",
                                     gen_braces(g, f->record, path))
                         : number(g, f, path);
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
        list = gen_print(g, "%s%s%s", list, i ? ", " : "", number(g, &r->field[i], gen_print(g, "%s.%s", path, r->field[i].c)));
    return list;
}

// A zero for a field without name.
static const char *zero_text(gen *g, const gen_field *f)
{
    const char *text = f->record ? gen_print(g, "{ %s }", zero_text(g, &f->record->field[0])) : "0";
    if (f->count) text = gen_print(g, "{ %s }", text);
    return f->count2 ? gen_print(g, "{ %s }", text) : text;
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
        const char *text = field_text(g, f, gen_print(g, "%s.%s", path, f->c), 0);
        list = gen_print(g, named ? "%s%s.%s = %s" : "%s%s%.0s%s", list, *list ? ", " : "", f->hk, text);
    }
    return gen_print(g, "{ %s }", *list ? list : zero_text(g, &r->field[0]));
}
