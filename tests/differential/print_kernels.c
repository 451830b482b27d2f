// SPDX-License-Identifier: Apache-2.0
// Prints what is made of random programs, as kernels in many forms: two builds whose output is equal print the same
// kernels. A line for each kernel (seed, form, hash of all that an engine gets, comments left out), with --text the
// kernel too.
//
//     build/tests/differential/print_kernels FIRST COUNT [--text] > new; diff old new
#include "harness.h"
#include "accum/tables.h"
#include "codegen/opencl/kernel.h"
#include "record/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct form {
    const char *name;
    hdst__target target;
    hdst__layout layout;
    uint64_t local, rows;           // rows: of each table
    uint32_t bits, group, records;  // bits: of addends of tables in fixed point; group, records: asked for
    int precision;                       // of sums of floats; -1: as they come
    bool first_level, parts, fast, none;
} form;

enum { LARGE = 200000 };

static const form forms[] = {
    {"cpu aos", HDST__TARGET_CPU, HDST__AOS, 0, 64, 0, 0, 0, -1, false, false, false, false},
    {"cpu soa", HDST__TARGET_CPU, HDST__SOA, 0, 64, 0, 0, 0, HDST__CLASS_TWO_WORDS, false, false, false, false},
    {"cpu aosoa", HDST__TARGET_CPU, HDST__AOSOA, 0, 3, 0, 0, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"cpu aop", HDST__TARGET_CPU, HDST__AOP, 0, 64, 0, 0, 0, HDST__CLASS_SUPERACCUMULATOR, false, false, false, false},
    {"cpu front", HDST__TARGET_CPU, HDST__AOS, 0, LARGE, 0, 0, 0, HDST__CLASS_ONE_WORD, true, false, false, false},
    {"cpu front two", HDST__TARGET_CPU, HDST__AOS, 0, LARGE, 0, 0, 0, HDST__CLASS_TWO_WORDS, true, false, false, false},
    {"cpu fast", HDST__TARGET_CPU, HDST__AOS, 0, 64, 0, 0, 0, -1, false, false, true, false},
    {"cpu fast soa", HDST__TARGET_CPU, HDST__SOA, 0, 64, 0, 0, 0, HDST__CLASS_ONE_WORD, false, false, true, false},
    {"cpu none", HDST__TARGET_CPU, HDST__SOA, 0, 64, 0, 0, 0, -1, false, false, false, true},
    {"gpu aos", HDST__TARGET_GPU, HDST__AOS, 48 << 10, 64, 0, 0, 0, -1, false, false, false, false},
    {"gpu soa", HDST__TARGET_GPU, HDST__SOA, 48 << 10, 64, 0, 0, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu two", HDST__TARGET_GPU, HDST__SOA, 48 << 10, 3, 0, 128, 4, HDST__CLASS_TWO_WORDS, false, false, false, false},
    {"gpu wide", HDST__TARGET_GPU, HDST__AOSOA, 48 << 10, 64, 0, 0, 2, HDST__CLASS_SUPERACCUMULATOR, false, false, false, false},
    {"gpu 4 KiB", HDST__TARGET_GPU, HDST__AOP, 4096, 64, 0, 0, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu 512", HDST__TARGET_GPU, HDST__AOS, 512, 64, 0, 64, 0, -1, false, false, false, false},
    {"gpu rows", HDST__TARGET_GPU, HDST__AOS, 8192, 64, 0, 0, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu few rows", HDST__TARGET_GPU, HDST__SOA, 1024, 3, 0, 16, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu few rows two", HDST__TARGET_GPU, HDST__AOS, 1024, 2, 0, 32, 0, HDST__CLASS_TWO_WORDS, false, false, false, false},
    {"gpu one row", HDST__TARGET_GPU, HDST__SOA, 512, 1, 0, 16, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu large", HDST__TARGET_GPU, HDST__AOS, 48 << 10, LARGE, 0, 0, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu large two", HDST__TARGET_GPU, HDST__SOA, 48 << 10, LARGE, 0, 0, 0, HDST__CLASS_TWO_WORDS, false, false, false, false},
    {"gpu in fixed point", HDST__TARGET_GPU, HDST__AOS, 48 << 10, LARGE, 36, 0, 0, HDST__CLASS_ONE_WORD, false, false, false, false},
    {"gpu parts", HDST__TARGET_GPU, HDST__SOA, 48 << 10, LARGE, 36, 0, 0, HDST__CLASS_ONE_WORD, false, true, false, false},
    {"gpu parts 4 KiB", HDST__TARGET_GPU, HDST__AOS, 4096, 64, 36, 0, 0, HDST__CLASS_ONE_WORD, false, true, false, false},
    {"gpu parts twice", HDST__TARGET_GPU, HDST__AOS, 8192, 1 << 22, 32, 0, 0, HDST__CLASS_ONE_WORD, false, true, false, false},
    {"gpu fast", HDST__TARGET_GPU, HDST__AOS, 48 << 10, 64, 0, 0, 0, -1, false, false, true, false},
    {"gpu none", HDST__TARGET_GPU, HDST__AOS, 48 << 10, 64, 0, 0, 0, -1, false, false, false, true},
};

// Of the text without its comments and without the kernel's name, which has a hash of the comments too.
static uint64_t hash_text(uint64_t hash, const char *text, const char *name)
{
    const size_t length = strlen(name);
    while (*text) {
        if (!strncmp(text, "//", 2)) text += strcspn(text, "\n");
        else if (!strncmp(text, name, length)) text += length;
        else hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    }
    return hash;
}

// All that an engine gets beside the text.
static const char *facts_of(hdst__arena *arena, const hdst__kernel *k)
{
    const char *text = hdst__arena_printf(arena, "%s|%s|%u|%u %u|%d %d %d|%u %u %u %u %u|%u %d|%d %" PRIu64 " %" PRIu64 "|%" PRIu64 " %u",
        k->name, k->why, k->local_size, k->shape.group, k->shape.records, k->one_group_per_strip, k->strips_twice, k->merges,
        k->overflow_cell_words, k->tuple_kernel_count, k->tuple_tile, k->tuple_bytes, k->partitions_high, k->merges ? k->group_tables : 0,
        k->tables_in_local, (int)k->output_way, k->emit_bound, k->spare_records, k->private_bytes, k->fast_sums);
    for (size_t i = 0; i < k->arg_count; i++) {
        const hdst__arg *a = &k->args[i];
        text = hdst__arena_printf(arena, "%s|%d %u %" PRIu64, text, (int)a->kind, a->index, a->local_constant);
        for (size_t p = 0; a->local_per_row && p < k->func->param_count; p++) text = hdst__arena_printf(arena, "%s %" PRIu64, text, a->local_per_row[p]);
    }
    for (size_t a = 0; k->tables && a < k->tables->accum_count; a++) {
        const hdst__accum *accum = &k->tables->accum[a];
        text = hdst__arena_printf(arena, "%s|%" PRIu64 " %" PRIu64 " %d %d", text, accum->device_row_words,
            accum->private_row_words, accum->fixed_point, k->tables->first_level);
        for (size_t l = 0; l < accum->leaf_count; l++) text = hdst__arena_printf(arena, "%s %d %d", text, (int)accum->cell[l].precision, accum->cell[l].fast);
    }
    return text;
}

static void print_form(hdst__arena *arena, const diff_program *program, const ir_func *func, const form *f, bool with_text)
{
    const hdst__record *record = func->params[0].record;
    uint64_t *rows = HDST__NEW_ARRAY(arena, uint64_t, func->param_count);
    hdst__precision_class classes[256];
    for (size_t i = 0; i < func->param_count; i++) rows[i] = func->params[i].is_table ? f->rows : 1;
    for (size_t i = 0; i < 256; i++) classes[i] = (hdst__precision_class)f->precision;
    const hdst__kernel_options options = {
        .facts = {.target = f->target, .local_bytes = f->local, .max_group = 1024, .compute_units = 2,
            .correctly_rounded = true, .has_double = true, .has_int64_atomics = true},
        .input = hdst__storage_make(arena, record, f->layout, f->layout == HDST__AOSOA ? 64 : 0, 1 << 20), .rows = rows, .classes = f->precision < 0 ? NULL
            : classes,
        .shape = {.group = f->group, .records = f->records}, .first_level = f->first_level, .fixed_point_bits = f->bits,
            .may_take_tuples = f->parts, .fast_sums = f->fast, .no_blocks = f->none};
    hdst__diags diags;
    hdst__diags_init(&diags, arena);
    const bool folds = program->shape == DIFF_FOLD;
    const hdst__kernel *kernel = (folds ? hdst__kernel_make_fold : hdst__kernel_make)(arena, func, &options, &diags);
    if (!kernel) {
        printf("%" PRIu64 " %s: none\n", program->seed, f->name);
        return;
    }
    const char *facts = facts_of(arena, kernel);
    const uint64_t hash = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), facts, kernel->name), kernel->source, kernel->name);
    printf("%" PRIu64 " %s: %016" PRIx64 "\n", program->seed, f->name, hash);
    if (with_text) printf("%s\n%s\n", facts, kernel->source);
}

static void print_program(hdst__arena *arena, uint64_t seed, bool with_text)
{
    const diff_options options = {.themes = 50, .plain_names = true};
    const diff_program *program = diff_generate(arena, seed, &options);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        hdst__diags diags;
        const diff_compiled compiled = diff_compile(arena, program, &diags, DIFF_SCALAR);
        if (compiled.wrong) printf("%" PRIu64 ": %s\n", seed, compiled.wrong == diff_too_large ? "too large" : compiled.wrong);
        if (compiled.wrong) return;
        print_form(arena, program, compiled.func, &forms[i], with_text);
    }
}

static bool print_seed(uint64_t seed, bool with_text)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) return fprintf(stderr, "out of memory at seed %" PRIu64 "\n", seed), false;
    print_program(&arena, seed, with_text);
    hdst__arena_destroy(&arena);
    return true;
}

int main(int argc, char **argv)
{
    const bool with_text = argc == 4 && !strcmp(argv[3], "--text");
    if (argc != 3 && !with_text) {
        fprintf(stderr, "usage: print_kernels FIRST COUNT [--text]\n");
        return 2;
    }
    const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (uint64_t seed = first; seed < first + count; seed++)
        if (!print_seed(seed, with_text)) return 1;
    return 0;
}
