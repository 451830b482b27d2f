// SPDX-License-Identifier: Apache-2.0
// The functions in front of a kernel: those that it uses, no others; and that each of them is right OpenCL C, also those that no kernel here uses.
#include "accum/accum_pieces.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/opencl/prelude.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_run.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(prelude, .init = set_up, .fini = tear_down);

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// How often the word stands in the text, comments left out.
static size_t count_words(const char *text, const char *word)
{
    size_t n = 0, length = strlen(word);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *end = line + strcspn(line, "\n"), *comment = strstr(line, "//");
        if (comment && comment < end) end = comment;
        for (const char *at = strstr(line, word); at && at < end; at = strstr(at + 1, word)) n += (at == text || !in_word(at[-1])) && !in_word(at[length]);
    }
    return n;
}

static void expect_used(const char *source, const char *declaration, const char *what)
{
    for (const char *at = strstr(source, declaration); at; at = strstr(at + 1, declaration)) {
        if (at != source && at[-1] != '\n') continue;
        const char *open = at + strcspn(at, "(\n"), *name = open;       // inline T name(...
        if (!strncmp(declaration, "#define ", strlen("#define "))) {
            name = at + strlen("#define ");
            open = name;
            while (in_word(*open)) open++;
        } else {
            while (in_word(name[-1])) name--;
        }
        const char *word = hdst__arena_strndup(&arena, name, (size_t)(open - name));
        cr_expect_geq(count_words(source, word), 2, "%s: '%s' is there and nobody uses it", what, word);
    }
}

Test(prelude, kernels_have_what_they_use_and_no_more)
{
    static const char *const names[] = {"CPU form", "GPU form"};
    const uint64_t rows[] = {0, 50, 50, 1};
    for (int form = 0; form < 2; form++) {
        ir_func *f = ir_kmeans(&arena);
        cr_assert_null(hdst__passes_scalar(f));
        const hdst__kernel_options options = {.facts = {form ? HDST__TARGET_GPU : HDST__TARGET_CPU, 48 << 10, 1024, 2, true, true, true, false},
                                              .input = hdst__storage_make(&arena, f->params[0].record, HDST__SOA, 0, 1000), .rows = rows};
        const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
        cr_assert_not_null(kernel);
        expect_used(kernel->source, "inline ", names[form]);
        expect_used(kernel->source, "__attribute__((noinline)) ", names[form]);
        expect_used(kernel->source, "#define LOOK", names[form]);
        expect_used(kernel->source, "#define TRUNC", names[form]);
        cr_expect(!strstr(kernel->source, "##"), "a family of functions is written out");
    }
}

Test(prelude, every_function_builds)
{
    cl_run run;
    cr_assert(cl_run_open(&run, CL_DEVICE_TYPE_CPU), "this test needs PoCL");
    const char *head = hdst__pieces_text(&arena, &hdst__base_pieces, "head.cl"), *dialect = hdst__pieces_text(&arena, &hdst__base_pieces, "dialect_plain.cl");
    const char *source = hdst__arena_printf(&arena, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n%s%s", head, dialect);
    source = hdst__arena_printf(&arena, "%s#define COPIES 4\n#define OVERFLOW_CELL_WORDS 67\n#define SUPERACCUMULATOR_LIMBS 69\n", source);
    // And of records that are combined (codegen/opencl/print_combine.c, print_combine_gpu.c).
    source = hdst__arena_printf(&arena, "%s#define COMBINED_RECORD_WORDS 3\n#define COMBINED_ROW_WORDS 4\n#define COMBINED_KEY 0\n"
                                        "#define COMBINE_VALUES row[2] += record[2]\n#define COMBINED_HOT_BITS 9\n#define COMBINED_TURN own[2] ^= 1\n"
                                        "#define COMBINED_ADD_GLOBAL row[4] += own[2]\n#define COMBINED_ADD_LOCAL row[4] += own[2]\n", source);
    source = hdst__arena_printf(&arena, "%s#define COMBINED_BYTES 8\n#define COMBINED_KEY_WORDS 0\n"
                                        "#define COMBINED_HASH key_hash_4(*(__global const uint *)one)\n"
                                        "#define COMBINED_VALUES 1\n#define COMBINED_SUMS const ulong unit = scale[0]\n#define COMBINED_FIXED 1\n"
                                        "#define COMBINED_AHEAD 16\n"
                                        "#define COMBINE_WORDS word[0][i] = unit * *(__global const uint *)(one + 4)\n", source);
    hdst__piece_file files[HDST__PRELUDE_FILES];
    const size_t count = hdst__prelude_files(files, true);
    for (size_t f = 0; f < count; f++) source = hdst__arena_printf(&arena, "%s%s", source, hdst__pieces_text(&arena, files[f].folder, files[f].file));
    // What kernels have printed (codegen/opencl/print_sum_loops.c).
    static const char *const loops = "bool levels_take_float(float_levels *s, const float *a, uint records) { return false; }\n"
                                     "bool levels_take_double(double_levels *s, const double *a, uint records) { return false; }\n";
    source = hdst__arena_printf(&arena, "%s%s", source, loops);
    source = hdst__arena_printf(&arena, "%s__kernel void nothing(__global int *out) { *out = 1; }\n", source);
    cl_kernel kernel = cl_run_build(&run, source, "-cl-std=CL1.2 -w", "nothing");
    cr_expect_not_null(kernel);
    if (kernel) cl_run_release(kernel);
    cl_run_close(&run);
}

// A program of its own, those that stand elsewhere in kernels, and what takes another's place on devices without doubles.
static bool is_elsewhere(const char *file)
{
    static const char *const others[] = {"add_words.cl", "emit_gpu.cl", "flat_gpu.cl", "levels_float_plain.cl", "pieces_gpu.cl", "search_gpu.cl"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(file, others[i])) return true;
    return false;
}

Test(prelude, every_piece_is_of_a_file_that_is_looked_through_and_has_the_names_that_it_declares)
{
    hdst__piece_file files[HDST__PRELUDE_FILES];
    const size_t count = hdst__prelude_files(files, true);
    const hdst__pieces *const folders[] = {&hdst__kernel_pieces, &hdst__accum_pieces};
    for (size_t i = 0; i < folders[0]->count + folders[1]->count; i++) {
        const hdst__piece *piece = i < folders[0]->count ? &folders[0]->items[i] : &folders[1]->items[i - folders[0]->count];
        size_t f = 0;
        while (f < count && strcmp(files[f].file, piece->file)) f++;
        cr_expect(f < count || *piece->macros || is_elsewhere(piece->file), "%s", piece->file);
        for (const char *name = piece->names; *name; name += strcspn(name, " "), name += *name == ' ')
            cr_expect_geq(count_words(piece->text, hdst__arena_strndup(&arena, name, strcspn(name, " "))), 1, "%s", piece->names);
        cr_expect(*piece->names || *piece->macros || piece->text[0] == '/', "%s", piece->text);
    }
}

// What a frame's text and its fillings are, without kernels around them.
Test(prelude, words_of_frames_are_filled_in_whole_and_sections_take_the_indentation)
{
    hdst__writer out = {.arena = &arena};
    const hdst__filling fillings[] = {{"BODY", "first;\nsecond;\n"}, {"NONE", ""}, {"TYPE", "BODY"}};
    hdst__text_fill(&out, "void KERNEL(TYPE BODY_x)   // TYPE\n{\n    BODY\n    NONE\n        BODY\n}", fillings, sizeof fillings / sizeof *fillings);
    cr_expect_str_eq(hdst__writer_text(&out), "void KERNEL(BODY BODY_x)   // BODY\n{\n    first;\n    second;\n        first;\n        second;\n}\n");
}

Test(prelude, pieces_are_taken_by_name_with_what_they_name_in_turn)
{
    static const hdst__piece items[] = {
        {"fixed_point.cl", "", "// about a\n", ""}, {"fixed_point.cl", "one", "int one() { return 1; }\n", ""},
        {"fixed_point.cl", "two", "int two() { return one() + one(); }\n", ""},
        {"fixed_point.cl", "three", "int three() { return 3; }\n", ""}, {"minmax_keys.cl", "two", "int two() { return 2; }\n", ""},
        {"minmax_keys.cl", "FOUR FIVE", "enum { FOUR = 4, FIVE };    // three\n", ""},
    };
    const hdst__pieces folder = {items, sizeof items / sizeof *items};
    const hdst__piece_file a = {&folder, "fixed_point.cl"}, both[] = {{&folder, "minmax_keys.cl"}, {&folder, "fixed_point.cl"}};
    hdst__words words = {.arena = &arena};
    hdst__words_add(&words, "two();  // three");
    cr_expect_str_eq(hdst__pieces_needed(&words, &a, 1), "// about a\nint one() { return 1; }\nint two() { return one() + one(); }\n");
    hdst__words others = {.arena = &arena};
    hdst__words_add(&others, "x(FIVE + one2 + three)");
    cr_expect_str_eq(hdst__pieces_needed(&others, both, 2), "enum { FOUR = 4, FIVE };    // three\n// about a\nint three() { return 3; }\n");
}
