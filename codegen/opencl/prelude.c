// SPDX-License-Identifier: Apache-2.0
// What stands in front of a kernel: the macros of its compiler's dialect and the functions that it names, and those that these name in turn.
#include "codegen/opencl/prelude.h"

#include "accum/accum_pieces.h"
#include "accum/value_text.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_combine_gpu.h"

#include <inttypes.h>
#include <string.h>

// In the order in which they are printed: what a file needs stands before it, for C wants it so.
static const hdst__piece_file files[] = {
    {&hdst__kernel_pieces, "integers.cl"},
    {&hdst__kernel_pieces, "floats.cl"},
    {&hdst__kernel_pieces, "doubles.cl"},
    {&hdst__kernel_pieces, "in_double.cl"},
    {&hdst__kernel_pieces, "bytes.cl"},
    {&hdst__kernel_pieces, "bytes_double.cl"},
    {&hdst__kernel_pieces, "text.cl"},
    {&hdst__kernel_pieces, "text_apart.cl"},
    {&hdst__kernel_pieces, "combine_tables_cpu.cl"},
    {&hdst__kernel_pieces, "combine_cpu.cl"},
    {&hdst__kernel_pieces, "combine_gpu.cl"},
    {&hdst__kernel_pieces, "pick.cl"},
    {&hdst__kernel_pieces, "streamed.cl"},
    {&hdst__kernel_pieces, "pick_double.cl"},
    {&hdst__accum_pieces, "integer_words.cl"},
    {&hdst__accum_pieces, "minmax_keys.cl"},
    {&hdst__accum_pieces, "minmax_keys_double.cl"},
    {&hdst__accum_pieces, "superaccumulator.cl"},
    {&hdst__accum_pieces, "fixed_point.cl"},
    {&hdst__accum_pieces, "superaccumulator_double.cl"},
    {&hdst__accum_pieces, "fixed_point_double.cl"},
    {&hdst__kernel_pieces, "combine_rows_cpu.cl"},
    {&hdst__accum_pieces, "integer_words_local.cl"},
    {&hdst__accum_pieces, "first_level.cl"},
    {&hdst__accum_pieces, "run_starts.cl"},
    {&hdst__accum_pieces, "fixed_point_local.cl"},
    {&hdst__accum_pieces, "fixed_point_local_double.cl"},
    {&hdst__accum_pieces, "overflow_table.cl"},
    {&hdst__accum_pieces, "overflow_table_double.cl"},
    {&hdst__accum_pieces, "levels_lane.cl"},
    {&hdst__accum_pieces, "levels_lane_double.cl"},
    {&hdst__accum_pieces, "levels_common.cl"},
    {&hdst__accum_pieces, "levels_float.cl"},
    {&hdst__accum_pieces, "levels_shared.cl"},
    {&hdst__accum_pieces, "levels_double.cl"},
    {&hdst__kernel_pieces, "fast.cl"},
    {&hdst__kernel_pieces, "fast_empty.cl"},
    {&hdst__accum_pieces, "row_sums.cl"},
    {&hdst__accum_pieces, "rounding.cl"},
    {&hdst__accum_pieces, "rounding_double.cl"},
    {&hdst__accum_pieces, "row_words.cl"},
    {&hdst__accum_pieces, "row_words_double.cl"},
    {&hdst__accum_pieces, "minmax_values.cl"},
    {&hdst__base_pieces, "put_bytes.cl"},
    {&hdst__kernel_pieces, "checks.cl"},
};
enum { FILES = sizeof files / sizeof *files };
_Static_assert(sizeof files <= HDST__PRELUDE_FILES * sizeof *files, "room for all files");

size_t hdst__prelude_files(hdst__piece_file to[HDST__PRELUDE_FILES], bool has_double)
{
    memcpy(to, files, sizeof files);
    for (size_t i = 0; i < FILES; i++)
        if (!has_double && !strcmp(files[i].file, "levels_float.cl")) to[i].file = "levels_float_plain.cl";
    return FILES;
}

static bool has_word(const hdst__words *words, const char *word) { return hdst__words_have(words, word, strlen(word)); }

static uint32_t most_digits(const hdst__tables *tables)
{
    uint32_t digits = 0;
    for (size_t a = 0; a < tables->accum_count; a++)
        for (size_t leaf = 0; leaf < tables->accum[a].leaf_count; leaf++)
            if (tables->accum[a].cell[leaf].digits > digits) digits = tables->accum[a].cell[leaf].digits;
    return digits;
}

// Macros that stand for numbers of this kernel.
static const char *numbers_text(const hdst__printer *p, const hdst__words *words)
{
    hdst__writer text = {.arena = p->arena};
    if (has_word(words, "COPIES")) hdst__write_line(&text, "#define COPIES %" PRIu32, p->func->tables->copies);
    if (has_word(words, "OVERFLOW_CELL_WORDS")) hdst__write_line(&text, "#define OVERFLOW_CELL_WORDS %" PRIu32 "", p->func->tables->overflow_words);
    if (has_word(words, "SUPERACCUMULATOR_LIMBS")) hdst__write_line(&text, "#define SUPERACCUMULATOR_LIMBS %" PRIu32,
                                                                    hdst__superaccumulator_limbs(most_digits(p->tables)));
    hdst__write_combine_macros(p, &text);
    hdst__write_gpu_combine_macros(p, &text);
    return hdst__writer_text(&text);
}

static const char *dialect_of(const hdst__printer *p)
{
    return p->options->facts.portable ? "dialect_portable.cl" : p->gpu ? "dialect_plain.cl" : "dialect_clang.cl";
}

hdst__prelude hdst__prelude_of(hdst__printer *p, const char *kernel)
{
    hdst__words words = {.arena = p->arena};
    hdst__writer macros_of_kernel = {.arena = p->arena};
    hdst__write_combine_macros(p, &macros_of_kernel);       // which name functions, too
    hdst__words_add(&words, kernel);
    hdst__words_add(&words, hdst__writer_text(&macros_of_kernel));
    hdst__piece_file of[HDST__PRELUDE_FILES];
    const char *pieces = hdst__pieces_needed(&words, of, hdst__prelude_files(of, p->options->facts.has_double));
    const hdst__piece_file dialect = {&hdst__base_pieces, dialect_of(p)};
    const char *macros = hdst__pieces_needed(&words, &dialect, 1);
    const char *fast = p->options->fast_sums && p->tables->scale_count ? "// Fast sums were asked for.\n" : "";
    const char *doubles = p->uses_double ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
    const char *head = hdst__arena_printf(p->arena, "%s%s%s%s", fast, doubles, hdst__pieces_text(p->arena, &hdst__base_pieces, "head.cl"), macros);
    return (hdst__prelude){head, hdst__arena_printf(p->arena, "%s%s", numbers_text(p, &words), pieces)};
}
