// SPDX-License-Identifier: Apache-2.0
// The functions in front of a kernel: those that it uses, no others; and that each of them is right OpenCL C, also those that no kernel here uses.
#include "codegen/opencl/prelude.h"
#include "base/pieces.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_run.h"

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
    const char *source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    source = hdst__arena_printf(&arena, "%s%s#define LOOK(word) (*(word))\n#define LOOK_LOCAL(word) (*(word))\n#define TRUNC_FLOAT trunc\n#define TRUNC_DOUBLE trunc\n"
                                        "#define COPIES 4\n#define SPARE_WORDS 67\n", source, hdst__template_text("head.cl"));
    for (int part = 0; part < HDST__PART_COUNT; part++)
        for (size_t i = 0; i < hdst__piece_count; i++)
            if (!strcmp(hdst__pieces[i].file, hdst__prelude_file((hdst__part)part)))
                source = hdst__arena_printf(&arena, "%s%s", source, hdst__pieces[i].text);
    source = hdst__arena_printf(&arena, "%s__kernel void nothing(__global int *out) { *out = 1; }\n", source);
    cl_kernel kernel = cl_run_build(&run, source, "-cl-std=CL1.2 -w", "nothing");
    cr_expect_not_null(kernel);
    if (kernel) cl_run_release(kernel);
    cl_run_close(&run);
}

Test(prelude, every_piece_is_of_a_part_and_has_the_names_that_it_declares)
{
    for (size_t i = 0; i < hdst__piece_count; i++) {
        const hdst__piece *piece = &hdst__pieces[i];
        int part = 0;
        while (part < HDST__PART_COUNT && strcmp(hdst__prelude_file((hdst__part)part), piece->file)) part++;
        cr_expect_lt(part, HDST__PART_COUNT, "%s", piece->file);
        for (const char *name = piece->names; *name; name += strcspn(name, " "), name += *name == ' ')
            cr_expect_geq(count_words(piece->text, hdst__arena_strndup(&arena, name, strcspn(name, " "))), 1, "%s", piece->names);
        cr_expect(*piece->names || piece->text[0] == '/', "%s", piece->text);
    }
}
