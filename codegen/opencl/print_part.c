// SPDX-License-Identifier: Apache-2.0
// GPU form: kernels for accumulator tables with many rows (templates/part_*.cl). What is added becomes pairs of a row and a payload, which are put in order of parts of the table; a
// part's table has room in local memory. For functions that add to one row of one table per record, once to each of its leaves.
#include "codegen/opencl/kernel_parts.h"
#include "base/pieces.h"

#include <inttypes.h>

enum { MOST_PAYLOAD = 3, MOST_TILE_ROWS = 16, HOT_TILES = 16 };
enum { HEAD_WORDS = 8, HOT_WORDS = 4096, CHUNK_WORDS = 6 };     // as in part_gpu.cl

struct hdst__parted {
    uint32_t tile_rows, key_bits, low_bits, parts_high, payload, slots;
    const ir_stmt **stmt;       // by leaf: what is added to it
    uint32_t *word, *slot;      // by leaf: its first word of the payload, its first slot of a key
};

// --- Whether ---

// Two expressions that are the same in a record: variables that are written once stand for what they are set to.
typedef struct definition {
    uint32_t var;
    size_t writes;
    bool added, late;           // an addition was seen; the write stands behind one
    const ir_expr *value;
} definition;

static bool find_definition(ir_stmt *s, void *user)
{
    definition *seek = user;
    seek->added |= s->kind == IR_ACCUM;
    if (!hdst__ir_writes(s, seek->var)) return true;
    seek->writes++;
    seek->late |= seek->added;
    seek->value = s->kind == IR_SET ? s->value : NULL;
    return true;
}

static const ir_expr *defined_as(const ir_func *func, const ir_expr *e, bool *late)
{
    definition seek = {.var = e->var};
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, find_definition, &seek);
    *late = seek.late;
    return seek.writes == 1 ? seek.value : NULL;
}

static bool is_same(const ir_func *func, const ir_expr *a, const ir_expr *b)
{
    if (!a || !b) return a == b;
    if (a->op == IR_VAR && b->op == IR_VAR) {
        bool late;
        const ir_expr *of_a = defined_as(func, a, &late), *of_b = defined_as(func, b, &late);
        return of_a && of_b && (a->var == b->var ? !late : is_same(func, of_a, of_b));
    }
    if (a->op != b->op || a->kind != b->kind || a->op == IR_ELEM) return false;
    return a->param == b->param && a->leaf == b->leaf && a->record == b->record && a->bits == b->bits && is_same(func, a->a, b->a) && is_same(func, a->b, b->b) && is_same(func, a->c, b->c);
}

typedef struct search {
    const ir_func *func;
    const hdst__accum *accum;
    const ir_stmt **stmt;
    size_t found;
    const ir_stmt *last;
    bool other;
} search;

static bool find_added(ir_stmt *s, void *user)
{
    search *seek = user;
    if (s->kind == IR_FOR || s->kind == IR_LOOP) {
        ir_block inside = s->body;
        search in_loop = {.func = seek->func, .accum = seek->accum, .stmt = seek->stmt, .found = seek->found};
        hdst__ir_visit_stmts(&inside, find_added, &in_loop);
        seek->other |= in_loop.found != seek->found || in_loop.other;
    }
    if (s->kind != IR_ACCUM) return !seek->other;
    const bool fits = s->param == seek->accum->param && !seek->stmt[s->leaf] && s->index && !s->index2 && (!seek->last || is_same(seek->func, seek->last->index, s->index));
    seek->other |= !fits;
    if (!fits) return false;
    seek->stmt[s->leaf] = seek->last = s;
    seek->found++;
    return true;
}

static bool stands_in(const ir_block *block, const ir_stmt *s)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->items[i] == s) return true;
    return false;
}

typedef struct home_search {
    ir_stmt *const *stmt;
    size_t leaves;
    bool together;
} home_search;

static void look_in(home_search *seek, const ir_block *block)
{
    size_t here = 0;
    for (size_t l = 0; l < seek->leaves; l++) here += stands_in(block, seek->stmt[l]);
    seek->together |= here == seek->leaves;
}

static bool find_home(ir_stmt *s, void *user)
{
    home_search *seek = user;
    ir_block *nested[HDST__IR_NESTED];
    for (int n = 0, count = hdst__ir_nested(s, nested); n < count; n++) look_in(seek, nested[n]);
    return true;
}

// All leaves, in one block: a record that adds to one adds to all.
static bool finds_stmts(hdst__parted *t, const ir_func *func, const hdst__accum *accum)
{
    search seek = {.func = func, .accum = accum, .stmt = t->stmt};
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, find_added, &seek);
    if (seek.other || seek.found != accum->leaf_count) return false;
    home_search home = {(ir_stmt *const *)t->stmt, accum->leaf_count, false};
    look_in(&home, &body);
    hdst__ir_visit_stmts(&body, find_home, &home);
    return home.together;
}

// --- Payload ---

// To a wider type that holds all values of the one before; 64 bits hold them as words do. (uint16_t makes 65535 of an int8_t's -1.)
static bool keeps_value(const ir_expr *e)
{
    if (e->op != IR_CONVERT || !hdst__kind_is_integer(e->kind) || !hdst__kind_is_integer(e->a->kind)) return false;
    const uint64_t from = hdst__scalar_size(e->a->kind), to = hdst__scalar_size(e->kind);
    return from < to && (to == 8 || hdst__kind_is_signed(e->kind) || !hdst__kind_is_signed(e->a->kind));
}

static const ir_expr *integer_addend(const ir_stmt *s)
{
    const ir_expr *e = s->value;
    while (keeps_value(e)) e = e->a;
    return e;
}

static uint32_t payload_of(const hdst__printer *p, const hdst__accum *accum, size_t leaf, const ir_stmt *s)
{
    if (accum->cell[leaf].op != HDST__WORD_ADD) return 1;
    if (accum->cell[leaf].digits) return hdst__sums_floats(p, accum->param, (uint32_t)leaf) ? 1 : 2;
    if (s->value->op == IR_CONST) return 0;
    return hdst__scalar_size(integer_addend(s)->kind) <= 4 ? 1 : 2;
}

static bool plan_leaves(hdst__printer *p, hdst__parted *t, const hdst__accum *accum)
{
    for (size_t l = 0; l < accum->leaf_count; l++) {
        const hdst__cell *cell = &accum->cell[l];
        const bool adds = cell->op == HDST__WORD_ADD;
        if (cell->elements != 1 || (adds ? cell->kind == HDST__BOOL : hdst__scalar_size(cell->kind) > 4)) return false;
        t->word[l] = t->payload;
        t->slot[l] = t->slots;
        t->payload += payload_of(p, accum, l, t->stmt[l]);
        t->slots += adds ? 2 : 1;
    }
    return t->payload <= MOST_PAYLOAD;
}

// --- Sizes ---

static uint32_t pair_bytes(const hdst__parted *t) { return t->payload <= 1 ? 8 : 16; }

static uint32_t log2_above(uint64_t n)
{
    return n > 1 ? 64 - (uint32_t)__builtin_clzll(n - 1) : 0;
}

static bool plan_sizes(hdst__parted *t, uint64_t rows, uint64_t local, uint32_t group)
{
    uint64_t most_parts = local / 64 < group ? local / 64 : group;
    t->tile_rows = MOST_TILE_ROWS;
    while (t->tile_rows > 1 && (uint64_t)t->tile_rows * group * pair_bytes(t) > local * 3 / 4) t->tile_rows /= 2;
    for (t->key_bits = 1; ((uint64_t)2 << t->key_bits) * t->slots * 4 <= local * 3 / 4 && t->key_bits < 20;) t->key_bits++;
    const uint64_t parts = ((rows - 1) >> t->key_bits) + 1;
    if (parts > most_parts) t->low_bits = (log2_above(parts) + 1) / 2;
    const uint64_t high = ((parts - 1) >> t->low_bits) + 1;
    t->parts_high = (uint32_t)high;
    return high <= most_parts && (uint64_t)1 << t->low_bits <= most_parts && (uint64_t)t->tile_rows * group * pair_bytes(t) <= local * 3 / 4;
}

bool hdst__plan_parted(hdst__printer *p, const ir_func *single, hdst__gpu_shape *shape)
{
    const hdst__accum *accum = &p->tables->accum[0];
    const uint64_t rows = p->options->rows ? p->options->rows[accum->param] : 0;
    if (!p->options->may_part || rows < 2 || rows > UINT32_MAX) return false;
    hdst__parted *t = HDST__NEW(p->arena, hdst__parted);
    t->stmt = HDST__NEW_ARRAY(p->arena, const ir_stmt *, accum->leaf_count);
    t->word = HDST__NEW_ARRAY(p->arena, uint32_t, accum->leaf_count);
    t->slot = HDST__NEW_ARRAY(p->arena, uint32_t, accum->leaf_count);
    if (!finds_stmts(t, single, accum) || !plan_leaves(p, t, accum) || !plan_sizes(t, rows, p->options->facts.local_bytes, shape->group)) return false;
    while (t->tile_rows % shape->records) shape->records /= 2;
    p->parted = t;
    return true;
}

uint64_t hdst__kernel_part_words(const hdst__kernel *kernel, uint64_t groups)
{
    const uint64_t high = kernel->parts_high, low = kernel->parts_low, chunks = groups + high;
    const uint64_t counters = high * groups > low * chunks ? high * groups : low * chunks;
    return HEAD_WORDS + high + 1 + high * low + 1 + HOT_WORDS + groups + CHUNK_WORDS * chunks + counters;
}

// --- The body's additions ---

static const char *const component = "xyzw";

static void print_payload(hdst__printer *p, const ir_stmt *s, const char *at)
{
    const hdst__parted *t = p->parted;
    const uint32_t word = t->word[s->leaf];
    const hdst__cell *cell = &p->plan[0].accum->cell[s->leaf];
    if (cell->op != HDST__WORD_ADD) {
        hdst__write_line(&p->out, "%s.%c = (uint)(%s);", at, component[1 + word], hdst__cell_word_text(p, cell, s->value));
    } else if (cell->digits && hdst__sums_floats(p, s->param, s->leaf)) {
        hdst__write_line(&p->out, "%s.%c = as_uint(%s);", at, component[1 + word], hdst__addend_text(p, s->param, s->leaf, s->value));
    } else if (cell->digits || hdst__scalar_size(integer_addend(s)->kind) > 4) {
        const char *bits = cell->digits ? hdst__arena_printf(p->arena, "as_ulong(%s)", hdst__expr_text(p, s->value, HDST__WHOLE)) : hdst__arena_printf(p->arena, "(ulong)(%s)", hdst__expr_text(p, s->value, HDST__WHOLE));
        hdst__write_line(&p->out, "%s.%c = (uint)(%s);", at, component[1 + word], bits);
        hdst__write_line(&p->out, "%s.%c = (uint)(%s >> 32);", at, component[2 + word], bits);
    } else {
        hdst__write_line(&p->out, "%s.%c = (uint)(%s);", at, component[1 + word], hdst__expr_text(p, integer_addend(s), HDST__WHOLE));
    }
}

size_t hdst__print_pair(hdst__printer *p, const ir_stmt *s)
{
    const bool first = s->leaf == 0;
    const char *row = hdst__index_text(p, s->index, HDST__WHOLE);
    if (p->sink == HDST__SINK_COUNT && first) hdst__write_line(&p->out, "atomic_inc((volatile __local uint *)(rows_of + PART_HIGH((uint)(%s))));", row);
    if (p->sink != HDST__SINK_PAIRS) return 1;
    const char *at = hdst__arena_printf(p->arena, "pair_of[at + %" PRIu32 "]", s->record);
    if (first) hdst__write_line(&p->out, "%s.x = (uint)(%s);", at, row);
    if (payload_of(p, p->plan[0].accum, s->leaf, s)) print_payload(p, s, at);
    return 1;
}

// --- Sections ---

static void print_body(hdst__printer *p, const ir_func *func, const char *head, hdst__sink sink)
{
    hdst__printer_use(p, func);
    p->sink = sink;
    hdst__write_line(&p->out, "%s", head);
    p->out.indent++;
    hdst__print_function(p);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->sink = HDST__SINK_TABLE;
}

// A lane of which a record failed goes through its records one by one: which it was is told there.
static const char *count_text(hdst__printer *p, const ir_func *single, const ir_func *spans)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    const bool many = spans->lane_records > 1;
    if (many && p->has_checks) hdst__write_line(&p->out, "bool whole = true;");
    print_body(p, spans, "{\n    const ulong i = base + lane;", HDST__SINK_COUNT);
    if (many && p->has_checks) {
        p->plain_loops = true;
        print_body(p, single, "if (!whole) for (ulong i = base + lane; i < base + SPAN; i += LANES) {", HDST__SINK_NOTHING);
        p->plain_loops = false;
    }
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

static const char *pairs_text(hdst__printer *p, const ir_func *spans, uint32_t records)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    if (spans->lane_records > 1 && p->has_checks) hdst__write_line(&p->out, "bool whole;");
    hdst__write_line(&p->out, "for (uint r = 0; r < TILE_ROWS; r++) pair_of[r].x = NOBODY;");
    hdst__write_line(&p->out, "#pragma unroll");
    print_body(p, spans, hdst__arena_printf(p->arena, "for (uint at = 0; at < TILE_ROWS; at += %" PRIu32 ") {\n    const ulong i = tile + at * LANES + lane;", records), HDST__SINK_PAIRS);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

static const char *macros_text(hdst__printer *p)
{
    const hdst__parted *t = p->parted;
    return hdst__arena_printf(p->arena,
                              "#define TILE_ROWS %" PRIu32 "\n#define KEY_BITS %" PRIu32 "\n#define LOW_BITS %" PRIu32 "\n#define PARTS_HIGH %" PRIu32 "\n#define PARTS_LOW %" PRIu32
                              "\n#define SLOTS %" PRIu32 "\n#define LEAST_HOT (%d * TILE)\ntypedef %s pair_t;\n",
                              t->tile_rows, t->key_bits, t->low_bits, t->parts_high, 1u << t->low_bits, t->slots, HOT_TILES, t->payload <= 1 ? "uint2" : "uint4");
}

static void print_add_float(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l)
{
    const hdst__parted *t = p->parted;
    const hdst__cell *cell = &plan->accum->cell[l];
    const bool floats = hdst__sums_floats(p, plan->accum->param, l), is_float = cell->kind == HDST__F32;
    const char *scale = hdst__scale_name(p, plan->accum->param, l), *type = floats ? "float" : "double";
    const char *place = hdst__arena_printf(p->arena, "(ulong)(%sTotal - device_table) + (ulong)pair.x * %" PRIu64 " + %" PRIu64, plan->name, plan->accum->device_row_words, cell->device_first);
    const char *limit = hdst__arena_printf(p->arena, "0x1p%" PRIu32 "%s", p->options->compact_bits, floats ? "f" : "");
    p->part[HDST__PART_EXACT] = p->part[HDST__PART_SPARE] = true;
    if (!is_float) p->part[HDST__PART_EXACT_DOUBLE] = p->part[HDST__PART_SPARE_DOUBLE] = p->uses_double = true;
    if (floats) hdst__write_line(&p->out, "const float addend = as_float(pair.%c);", component[1 + t->word[l]]);
    else hdst__write_line(&p->out, "const double addend = as_double((ulong)pair.%c << 32 | pair.%c);", component[2 + t->word[l]], component[1 + t->word[l]]);
    hdst__write_line(&p->out, "bool fits;");
    hdst__write_line(&p->out, "long word = likely_below_%s(addend, %sUp, %s%s, %s, &fits);", type, scale, scale, floats ? "Least" : "Down", limit);
    if (floats) hdst__write_line(&p->out, "if (!fits) word = settle_word_float%s(spares, %s, addend, %sUp, %sDown, %s);", is_float ? "" : "_as_double", place, scale, scale, limit);
    else hdst__write_line(&p->out, "if (!fits) settle_word_double(spares, %s, addend);", place);
}

static void print_add_integer(hdst__printer *p, uint32_t l)
{
    const hdst__parted *t = p->parted;
    const ir_stmt *s = t->stmt[l];
    const hdst__kind kind = integer_addend(s)->kind;
    if (s->value->op == IR_CONST) hdst__write_line(&p->out, "const long word = (long)%s;", hdst__constant_text(p->arena, s->value->kind, s->value->bits));
    else if (hdst__scalar_size(kind) > 4) hdst__write_line(&p->out, "const long word = (long)((ulong)pair.%c << 32 | pair.%c);", component[2 + t->word[l]], component[1 + t->word[l]]);
    else hdst__write_line(&p->out, "const long word = (long)%spair.%c;", hdst__kind_is_signed(kind) ? "(int)" : "", component[1 + t->word[l]]);
}

static const char *const op_name[] = {"add", "max", "or", "xor"};

static void print_add(hdst__printer *p)
{
    const hdst__accum_plan *plan = &p->plan[0];
    for (uint32_t l = 0; l < plan->accum->leaf_count; l++) {
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        const hdst__cell *cell = &plan->accum->cell[l];
        if (cell->digits) print_add_float(p, plan, l);
        else if (cell->op == HDST__WORD_ADD) print_add_integer(p, l);
        if (cell->op != HDST__WORD_ADD)
            hdst__write_line(&p->out, "atomic_%s((volatile __local uint *)(table + %" PRIu32 " * KEYS + key), pair.%c);", op_name[cell->op], p->parted->slot[l], component[1 + p->parted->word[l]]);
        else hdst__write_line(&p->out, "part_add(table + %" PRIu32 " * KEYS + key, word);", p->parted->slot[l]);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

static void print_write(hdst__printer *p, bool hot)
{
    const hdst__accum_plan *plan = &p->plan[0];
    if (hot) p->part[HDST__PART_ATOMICS] = true;
    for (uint32_t l = 0; l < plan->accum->leaf_count; l++) {
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        const hdst__cell *cell = &plan->accum->cell[l];
        const char *combined[] = {"*to + word", "max(*to, word)", "*to | word", "*to ^ word"};
        if (cell->op == HDST__WORD_ADD)
            hdst__write_line(&p->out, "const long word = (long)((ulong)table[%" PRIu32 " * KEYS + key] << 32 | table[%" PRIu32 " * KEYS + key]);", p->parted->slot[l] + 1, p->parted->slot[l]);
        else hdst__write_line(&p->out, "const long word = table[%" PRIu32 " * KEYS + key];", p->parted->slot[l]);
        hdst__write_line(&p->out, "__global long *to = %sTotal + row * %" PRIu64 " + %" PRIu64 ";", plan->name, plan->accum->device_row_words, cell->device_first);
        if (hot) hdst__write_line(&p->out, "device_%s(to, word);", op_name[cell->op]);
        else hdst__write_line(&p->out, "*to = first ? %s : word;       // the table's first words, if nothing came before", combined[cell->op]);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

static void print_write_one(hdst__printer *p) { print_write(p, false); }
static void print_write_hot(hdst__printer *p) { print_write(p, true); }

static const char *add_text(hdst__printer *p)
{
    hdst__writer text = {.arena = p->arena};
    hdst__hole leaves = {"part_add_leaves", hdst__print_section(p, print_add)};
    hdst__template_expand(&text, hdst__template_text("part_add.cl"), &leaves, 1);
    return hdst__writer_text(&text);
}

void hdst__parted_texts(hdst__printer *p, const ir_func *single, const ir_func *spans, uint32_t records, const char *setup, hdst__hole holes[HDST__PARTED_HOLES])
{
    const char *rows = hdst__arena_printf(p->arena, "%sStored", p->plan[0].name);
    hdst__hole all[HDST__PARTED_HOLES] = {
        {"part_macros", macros_text(p)}, {"part_setup", setup}, {"part_count", count_text(p, single, spans)}, {"part_pairs", pairs_text(p, spans, records)},
        {"part_tile", hdst__template_text("part_tile.cl")}, {"part_rows", rows}, {"part_add", add_text(p)}, {"part_write", hdst__print_section(p, print_write_one)},
        {"part_write_hot", hdst__print_section(p, print_write_hot)}, {"part_total_setup", hdst__print_section(p, hdst__print_table_bases)},
    };
    for (size_t i = 0; i < HDST__PARTED_HOLES; i++) holes[i] = all[i];
}

static const char *const kernels_high[] = {"count_high", "sum_high", "scan_high", "chunks", "place_high"};
static const char *const kernels_low[] = {"count_low", "sum_low", "scan_low", "place_low"};
static const char *const kernels_end[] = {"total", "hot"};

static void add_names(hdst__printer *p, hdst__kernel *kernel, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) kernel->part_name[kernel->part_count++] = hdst__arena_printf(p->arena, "%s_%s", kernel->name, names[i]);
}

void hdst__parted_finish(hdst__printer *p, hdst__kernel *kernel)
{
    const hdst__parted *t = p->parted;
    if (!t) return;
    add_names(p, kernel, kernels_high, sizeof kernels_high / sizeof *kernels_high);
    if (t->low_bits) add_names(p, kernel, kernels_low, sizeof kernels_low / sizeof *kernels_low);
    add_names(p, kernel, kernels_end, sizeof kernels_end / sizeof *kernels_end);
    kernel->part_tile = t->tile_rows * kernel->local_size;
    kernel->pair_bytes = pair_bytes(t) * (t->low_bits ? 2 : 1);
    kernel->parts_high = t->parts_high;
    kernel->parts_low = 1u << t->low_bits;
}

const char *hdst__parted_templates(const hdst__printer *p, size_t n)
{
    static const char *const once[] = {"group_sums.cl", "part_gpu.cl", "part_total.cl"}, *const twice[] = {"group_sums.cl", "part_gpu.cl", "part_low.cl", "part_total.cl"};
    if (!p->parted) return NULL;
    if (p->parted->low_bits) return n < 4 ? twice[n] : NULL;
    return n < 3 ? once[n] : NULL;
}

const char *hdst__parted_why(const hdst__printer *p)
{
    const hdst__parted *t = p->parted;
    if (!t->low_bits) return hdst__arena_printf(p->arena, "pairs are put in order of %" PRIu32 " parts of %u rows, each of which has a table in local memory", t->parts_high, 1u << t->key_bits);
    return hdst__arena_printf(p->arena, "pairs are put in order of %" PRIu32 " parts, then of %u parts of each, of %u rows; each has a table in local memory", t->parts_high, 1u << t->low_bits,
                              1u << t->key_bits);
}
