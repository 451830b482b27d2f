// SPDX-License-Identifier: Apache-2.0
// The reference: C translations compiled by gcc, loaded, run record by record; accumulators by the tests' own arithmetic (exact sums with big integers).
#include "harness.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// --- Compiling and loading ---

static bool write_source(const char *path, diff_program *const *programs, int count)
{
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fprintf(file, "#include \"runtime.h\"\n");
    for (int i = 0; i < count; i++) fprintf(file, "// ---\n%s", programs[i]->c);
    return fclose(file) == 0;
}

bool diff_library_open(diff_library *library, diff_program *const *programs, int count)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(library->folder, sizeof library->folder, "%s/hdst-diff-XXXXXX", tmp && strlen(tmp) < 32 ? tmp : "/tmp");
    char command[1024], path[128];
    if (!mkdtemp(library->folder)) return false;
    snprintf(path, sizeof path, "%s/programs.c", library->folder);
    if (!write_source(path, programs, count)) return false;
    // -frounding-math: without it gcc 12 folds 0.0f - (float)i to -(float)i, which is -0 where i is 0.
    snprintf(command, sizeof command,
             "%s -std=gnu11 -O0 -w -fwrapv -ffp-contract=off -frounding-math -fno-math-errno -fvisibility=hidden -fPIC -shared -I'%s' -o %s/programs.so %s -lm",
             HDST_DIFF_CC, HDST_DIFF_INCLUDE, library->folder, path);
    if (system(command) != 0) return false;
    snprintf(path, sizeof path, "%s/programs.so", library->folder);
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle) fprintf(stderr, "%s\n", dlerror());
    return library->handle != NULL;
}

const diff_exports *diff_library_find(const diff_library *library, const diff_program *program)
{
    char name[32];
    snprintf(name, sizeof name, "p%" PRIu64, program->seed);
    return dlsym(library->handle, name);
}

void diff_library_close(diff_library *library)
{
    char path[128];
    if (library->handle) dlclose(library->handle);
    if (getenv("HDST_DIFF_KEEP")) return;
    snprintf(path, sizeof path, "%s/programs.c", library->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/programs.so", library->folder);
    unlink(path);
    rmdir(library->folder);
}

// --- Accumulators ---

typedef struct cell {
    bool touched, nan, infinite[2];
    big sum;
    diff_addends addends;   // of float sums
    uint64_t word;
} cell;

typedef struct addition {           // of the record that runs
    cell *cell;
    diff_kind kind;
    diff_law law;
    uint64_t bits;
} addition;

typedef struct reference {
    hdst__arena *arena;
    const diff_program *program;
    const diff_exports *exports;
    cell *cells[DIFF_PARAMS];
    char *output;
    uint64_t outputs;
    size_t room;                // bytes
    addition *additions;
    size_t addition_count, addition_capacity;
} reference;

static bool is_float(diff_kind kind) { return kind == K_F32 || kind == K_F64; }

static double real_of(diff_kind kind, uint64_t bits) { return kind == K_F32 ? (double)float_of((uint32_t)bits) : double_of(bits); }

static bool below(diff_kind kind, uint64_t a, uint64_t b)
{
    if (kind == K_F32 || kind == K_F64) {
        const double x = real_of(kind, a), y = real_of(kind, b);
        return x < y || (x == y && signbit(x) && !signbit(y));
    }
    return kind >= K_I8 && kind <= K_I64 ? (int64_t)a < (int64_t)b : a < b;
}

static void add_float(cell *c, double v)
{
    c->addends.count++;
    if (!isnan(v)) *((double)(float)v == v ? &c->addends.floats : &c->addends.doubles) += fabs(v);
    if (isnan(v)) c->nan = true;
    else if (isinf(v)) c->infinite[signbit(v) != 0] = true;
    else {
        const big b = big_of(v);
        big_add(&c->sum, &b);
    }
}

static void extreme(cell *c, diff_kind kind, diff_law law, uint64_t bits)
{
    if (is_float(kind) && isnan(real_of(kind, bits))) c->nan = true;
    else if (!c->touched || (law == L_MIN ? below(kind, bits, c->word) : below(kind, c->word, bits))) c->word = bits, c->touched = true;
}

static void add(const addition *a)
{
    cell *c = a->cell;
    switch (a->law) {
    case L_SUM:
        if (is_float(a->kind)) add_float(c, real_of(a->kind, a->bits));
        else c->word += a->bits;
        break;
    case L_MIN: case L_MAX: extreme(c, a->kind, a->law, a->bits); break;
    case L_AND: c->word |= ~a->bits; break;
    case L_OR: c->word |= a->bits; break;
    case L_XOR: c->word ^= a->bits; break;
    }
}

// Nothing is added before the record has come to its end: it may fail.
static void accumulate(diff_context *ctx, int param, uint64_t row, int leaf, uint64_t element, uint64_t bits)
{
    reference *r = ctx->user;
    const addition a = {&r->cells[param][diff_cell(r->exports, param, row, leaf, element)],
                        r->exports->row[param][leaf].kind, r->program->params[param].law[leaf], bits};
    HDST__PUSH(r->arena, r->additions, r->addition_count, r->addition_capacity, a);
}

static void add_all(reference *r)
{
    for (size_t i = 0; i < r->addition_count; i++) add(&r->additions[i]);
}

static uint64_t infinity_of(diff_kind kind, bool negative)
{
    if (kind == K_F32) return negative ? 0xff800000 : 0x7f800000;
    return negative ? UINT64_C(0xfff0000000000000) : UINT64_C(0x7ff0000000000000);
}

static uint64_t identity(diff_kind kind, diff_law law)      // of minimum and maximum
{
    static const uint64_t most[] = {1, INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX};
    static const int64_t least[] = {0, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN, 0, 0, 0, 0};
    if (is_float(kind)) return infinity_of(kind, law == L_MAX);
    return law == L_MIN ? most[kind] : (uint64_t)least[kind];
}

static uint64_t cut(diff_kind kind, uint64_t word)
{
    switch (kind) {
    case K_BOOL: return word & 1;
    case K_I8: return (uint64_t)(int8_t)word;
    case K_I16: return (uint64_t)(int16_t)word;
    case K_I32: return (uint64_t)(int32_t)word;
    case K_U8: return (uint8_t)word;
    case K_U16: return (uint16_t)word;
    case K_U32: return (uint32_t)word;
    default: return word;
    }
}

static uint64_t finish(const cell *c, diff_kind kind, diff_law law)
{
    if (c->nan || (c->infinite[0] && c->infinite[1])) return kind == K_F32 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
    if (c->infinite[0] || c->infinite[1]) return infinity_of(kind, c->infinite[1]);
    if (law == L_SUM && is_float(kind)) return big_round(&c->sum, kind == K_F32);
    if (law == L_MIN || law == L_MAX) return c->touched ? c->word : identity(kind, law);
    return cut(kind, law == L_AND ? ~c->word : c->word);
}

uint64_t diff_sum(diff_kind kind, const uint64_t *numbers, uint64_t count)
{
    cell c = {0};
    for (uint64_t i = 0; i < count; i++) add(&(addition){&c, kind, L_SUM, numbers[i]});
    return finish(&c, kind, L_SUM);
}

// --- Running ---

static void emit(diff_context *ctx, const void *record)
{
    reference *r = ctx->user;
    const size_t size = r->exports->out_size, at = r->outputs * size;
    r->output = hdst__arena_grow(r->arena, r->output, &r->room, at + size, 1);
    memcpy(r->output + at, record, size);
    r->outputs++;
}

static void finish_cells(hdst__arena *arena, const reference *r, diff_result *result)
{
    for (int i = 1; i < r->program->param_count; i++) {
        const diff_param *p = &r->program->params[i];
        if (p->kind != DIFF_ACCUM) continue;
        const uint64_t count = diff_cells(r->exports, i, p->rows);
        result->cells[i] = HDST__NEW_ARRAY(arena, uint64_t, count);
        result->addends[i] = HDST__NEW_ARRAY(arena, diff_addends, count);
        for (uint64_t row = 0; row < p->rows; row++)
            for (int l = 0; l < r->exports->row_leaves[i]; l++)
                for (uint64_t e = 0; e < r->exports->row[i][l].count; e++) {
                    const uint64_t at = diff_cell(r->exports, i, row, l, e);
                    result->cells[i][at] = finish(&r->cells[i][at], r->exports->row[i][l].kind, p->accumulated[l] ? p->law[l] : L_SUM);
                    result->addends[i][at] = r->cells[i][at].addends;
                }
    }
}

static bool run_record(const diff_exports *exports, diff_context *ctx, const void *in)
{
    if (setjmp(ctx->failed)) return false;
    exports->run(ctx, in);
    return true;
}

// --- Data ---

enum { TURNS = 3000, TRIES = 4 };       // of loops, of one record

static void accumulate_nothing(diff_context *ctx, int param, uint64_t row, int leaf, uint64_t element, uint64_t bits)
{
    (void)ctx, (void)param, (void)row, (void)leaf, (void)element, (void)bits;
}

static void emit_nothing(diff_context *ctx, const void *record) { (void)ctx, (void)record; }

static bool ends(const diff_exports *exports, diff_context *ctx, const void *in)
{
    ctx->fault = FAULT_NONE;
    ctx->turns = TURNS;
    return run_record(exports, ctx, in) || ctx->fault != FAULT_ENDLESS;
}

// Most themes are about sums that fit a few words; in sums of all records each addend is to count.
static diff_reals reals_of(const diff_program *program)
{
    static const diff_reals any[] = {DIFF_ALL_REALS, DIFF_FEW_ODD, DIFF_TAME};
    static const diff_reals of_rows[] = {DIFF_ALL_REALS, DIFF_ALL_REALS, DIFF_FEW_ODD, DIFF_FEW_ODD, DIFF_FEW_ODD, DIFF_FEW_FINITE, DIFF_TAME, DIFF_TAME};
    static const diff_reals of_all[] = {DIFF_ALL_REALS, DIFF_FEW_ODD, DIFF_FEW_FINITE, DIFF_FEW_FINITE, DIFF_FEW_FINITE, DIFF_TAME, DIFF_TAME, DIFF_TAME};
    const uint64_t dice = program->seed * UINT64_C(0x9e3779b97f4a7c15) >> 50;
    if (!program->theme) return any[program->seed % 3];
    return (program->theme == DIFF_LAYER || program->theme == DIFF_TOTALS ? of_all : of_rows)[dice % 8];
}

// Records for which the program takes too many turns become others, or one for which it ends. Returns how many records there are then: none, or all.
static uint64_t settle(hdst__arena *arena, const diff_program *program, const diff_exports *exports, diff_data *data)
{
    diff_context ctx = {.accumulate = accumulate_nothing, .emit = emit_nothing};
    const size_t size = exports->in_size;
    char *other = hdst__arena_alloc(arena, size);
    const char *good = NULL;
    for (int i = 1; i < program->param_count; i++) {
        ctx.table[i] = data->tables[i];
        ctx.rows[i] = program->params[i].rows;
    }
    for (uint64_t i = 0; i < data->count; i++) {
        char *record = (char *)data->records + i * size;
        ctx.record = data->first + i;
        bool fine = ends(exports, &ctx, record);
        for (uint64_t k = 1; !fine && k <= TRIES; k++) {
            diff_fill(program->seed + (i * TRIES + k) * 3000003, reals_of(program), exports->in, exports->in_leaves, size, 1, other);
            if (k == TRIES && good) memcpy(other, good, size);
            fine = ends(exports, &ctx, other);
            if (fine) memcpy(record, other, size);
        }
        if (!fine) return 0;
        good = record;
    }
    return data->count;
}

diff_data diff_make_data(hdst__arena *arena, const diff_program *program, const diff_exports *exports, uint64_t count, bool at_zero)
{
    diff_data data = {.count = count, .first = program->seed % 3 || at_zero ? 0 : 1000000};
    const diff_reals reals = reals_of(program);
    data.records = hdst__arena_alloc(arena, exports->in_size * count);
    diff_fill(program->seed, reals, exports->in, exports->in_leaves, exports->in_size, count, data.records);
    for (int i = 1; i < program->param_count; i++) {
        if (program->params[i].kind != DIFF_BROADCAST) continue;
        data.tables[i] = hdst__arena_alloc(arena, exports->row_size[i] * program->params[i].rows);
        diff_fill(program->seed + (uint64_t)i * 1000002, reals, exports->row[i], exports->row_leaves[i],
                  exports->row_size[i], program->params[i].rows, data.tables[i]);
    }
    if (!exports->fold) data.count = settle(arena, program, exports, &data);
    return data;
}

// Runs of so many records become one, in order, again and again until one is left.
static diff_result fold(hdst__arena *arena, const diff_exports *exports, const diff_data *data, uint64_t run)
{
    const size_t size = exports->in_size;
    diff_context ctx = {.turns = UINT64_MAX};
    char *records = hdst__arena_alloc(arena, size * data->count), *between = hdst__arena_alloc(arena, size);
    memcpy(records, data->records, size * data->count);
    for (uint64_t count = data->count, made; count > 1; count = made) {
        made = 0;
        for (uint64_t first = 0; first < count; first += run) {
            char *to = memmove(records + made++ * size, records + first * size, size);
            for (uint64_t i = first + 1; i < first + run && i < count; i++) {
                exports->fold(&ctx, to, records + i * size, between);
                memcpy(to, between, size);
            }
        }
    }
    return (diff_result){.failed_record = UINT64_MAX, .output = records, .outputs = 1};
}

enum { FOLD_RUN = 64 };         // docs/architecture.md: runs of 64 records in order, then runs of 64 partial results, and so on

diff_result diff_reference(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data)
{
    if (exports->fold) return fold(arena, exports, data, program->ordered ? data->count : FOLD_RUN);
    reference r = {.arena = arena, .program = program, .exports = exports};
    diff_context ctx = {.accumulate = accumulate, .emit = emit, .user = &r, .turns = UINT64_MAX};
    for (int i = 1; i < program->param_count; i++) {
        ctx.table[i] = data->tables[i];
        ctx.rows[i] = program->params[i].rows;
        if (program->params[i].kind == DIFF_ACCUM) r.cells[i] = HDST__NEW_ARRAY(arena, cell, diff_cells(exports, i, program->params[i].rows));
    }
    diff_result result = {.failed_record = UINT64_MAX, .gives = HDST__NEW_ARRAY(arena, uint32_t, data->count)};
    for (uint64_t i = 0; i < data->count; i++) {
        ctx.record = data->first + i;
        const uint64_t before = r.outputs;
        r.addition_count = 0;
        if (!run_record(exports, &ctx, (const char *)data->records + i * exports->in_size)) {
            r.outputs = before;
            if (data->skip) {
                result.skipped++;
                continue;
            }
            result.failed_record = data->first + i;
            result.fault = ctx.fault;
            result.fault_index = ctx.fault_index;
            result.fault_limit = ctx.fault_limit;
            return result;
        }
        add_all(&r);
        result.gives[i] = (uint32_t)(r.outputs - before);
    }
    result.output = r.output;
    result.outputs = r.outputs;
    finish_cells(arena, &r, &result);
    return result;
}

// --- Comparing ---

static uint64_t load(const void *base, uint64_t size, uint64_t i, const diff_leaf *leaf, uint64_t e)
{
    static const size_t sizes[K_COUNT] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    uint64_t bits = 0;
    memcpy(&bits, (const char *)base + i * size + diff_leaf_at(leaf, e), sizes[leaf->kind]);
    return bits;
}

uint64_t diff_load(const void *base, uint64_t size, uint64_t i, const diff_leaf *leaf, uint64_t e)
{
    const uint64_t bits = load(base, size, i, leaf, e);
    return leaf->kind == K_BOOL ? bits : cut(leaf->kind, bits);
}

static const char *compare_faults(hdst__arena *arena, const diff_result *expected, const diff_result *found)
{
    if (expected->failed_record != found->failed_record)
        return hdst__arena_printf(arena, "record %" PRIu64 " should fail first, not %" PRIu64, expected->failed_record, found->failed_record);
    if (expected->fault != found->fault)
        return hdst__arena_printf(arena, "record %" PRIu64 ": fault %d, not %d", expected->failed_record, expected->fault, found->fault);
    if (found->fault == FAULT_INDEX && found->fault_limit == 0) return NULL;     // block form does not say
    if (expected->fault_index == found->fault_index && expected->fault_limit == found->fault_limit) return NULL;
    return hdst__arena_printf(arena, "record %" PRIu64 ": index %" PRId64 " of %" PRIu64 ", not %" PRId64 " of %" PRIu64, expected->failed_record,
                              (int64_t)expected->fault_index, expected->fault_limit, (int64_t)found->fault_index, found->fault_limit);
}

// Whether a sum that was rounded at each addition, in any order, is as close to the exact one as that lets it be
// (Higham, Accuracy and Stability of Numerical Algorithms, 4.2). Floats are added as floats even where the sum is a
// double. Where a part of it may have overflowed anything will do.
static bool is_close(diff_kind kind, uint64_t exact, uint64_t found, diff_addends addends)
{
    const double a = real_of(kind, exact), b = real_of(kind, found), roundings = (double)addends.count + 8;
    const bool single = kind == K_F32;
    const double floats = addends.floats + (single ? addends.doubles : 0), doubles = single ? 0 : addends.doubles;
    if (!(floats < 1e37 && doubles < 1e307)) return true;
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return fabs(a - b) <= roundings * (floats * 0x1p-24 + 0x1p-149 + doubles * 0x1p-53);
}

static bool is_same(const diff_result *expected, const diff_result *found, int param, int leaf, diff_kind kind, uint64_t at)
{
    const uint64_t a = expected->cells[param][at], b = found->cells[param][at];
    if (a == b) return true;
    return found->rounded[param] && found->rounded[param][leaf] && expected->addends[param] && is_close(kind, a, b, expected->addends[param][at]);
}

static const char *compare_cells(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_result *expected,
                                 const diff_result *found)
{
    for (int i = 1; i < program->param_count; i++) {
        if (program->params[i].kind != DIFF_ACCUM) continue;
        for (uint64_t row = 0; row < program->params[i].rows; row++)
            for (int l = 0; l < exports->row_leaves[i]; l++)
                for (uint64_t e = 0; e < exports->row[i][l].count; e++) {
                    const uint64_t at = diff_cell(exports, i, row, l, e);
                    if (!is_same(expected, found, i, l, exports->row[i][l].kind, at))
                        return hdst__arena_printf(arena, "accumulator %s row %" PRIu64 " leaf %d element %" PRIu64 ": %" PRIx64 ", not %" PRIx64,
                                                  program->params[i].name, row, l, e, expected->cells[i][at], found->cells[i][at]);
                }
    }
    return NULL;
}

static const char *compare_outputs(hdst__arena *arena, const diff_exports *exports, const diff_data *data,
                                   const diff_result *expected, const diff_result *found)
{
    for (uint64_t i = 0; found->gives && expected->gives && i < data->count; i++)
        if (expected->gives[i] != found->gives[i])
            return hdst__arena_printf(arena, "record %" PRIu64 " gives %u records, not %u", i, expected->gives[i],
                                      found->gives[i]);
    if (expected->outputs != found->outputs) return hdst__arena_printf(arena, "%" PRIu64 " records come out, not %" PRIu64, expected->outputs, found->outputs);
    for (uint64_t i = 0; i < expected->outputs; i++)
        for (int l = 0; l < exports->out_leaves; l++)
            for (uint64_t e = 0; e < exports->out[l].count; e++) {
                const uint64_t a = load(expected->output, exports->out_size, i, &exports->out[l], e),
                               b = load(found->output, exports->out_size, i, &exports->out[l], e);
                if (a != b)
                    return hdst__arena_printf(arena, "output record %" PRIu64 " leaf %d element %" PRIu64 ": %" PRIx64 ", not %" PRIx64, i, l, e, a, b);
            }
    return NULL;
}

const char *diff_compare(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data, const diff_result *expected,
                         const diff_result *found)
{
    if (expected->failed_record != UINT64_MAX || found->failed_record != UINT64_MAX) return compare_faults(arena, expected, found);
    if (expected->skipped != found->skipped)
        return hdst__arena_printf(arena, "%" PRIu64 " records are skipped, not %" PRIu64, expected->skipped,
                                  found->skipped);
    const char *wrong = exports->out_leaves ? compare_outputs(arena, exports, data, expected, found) : NULL;     // else nobody asks what was kept
    return wrong ? wrong : compare_cells(arena, program, exports, expected, found);
}
