// SPDX-License-Identifier: Apache-2.0
// Names on devices: a program computes the same whatever its names are, also where they are words that generated kernels are made of.
//
// usage: name_bits [--passes N] [--each N] [--from K] [DEVICE ...]   (default: interp and cpu; names as
// hdst_context_options has them: interp, cpu, gpu, 0, 1 ...) Every word of generated text stands in a place of each
// role (local, parameter, field, table, function, record or constant), 24 words in a program; --passes leaves roles
// out, --each runs every N-th program only, from the K-th on. What is computed is compared with the same in C. Exit
// code 1 when something differs; 4: no such device.
#include <hdst/hdst.h>

#include "name_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLES = 6, PLACES_OF_ROLE = 4, PLACES = ROLES * PLACES_OF_ROLE, RECORDS = 50000, ROWS = 8, MOST_TEXT = 1 << 14 };

// '$' and a letter is a place for a name: 'a' to 'x', four of a role each.
enum place {
    L,
    N,
    O,
    I,
    /* locals */ P,
    Q,
    A,
    H,
    /* parameters */ X,
    Y,
    K,
    V,
    /* fields */ T,
    G,
    D,
    B,
    /* tables */ F,
    M,
    E,
    U,
    /* functions */ R,
    S,
    W,
    Z /* records, a constant */
};

static const char program[] =
    "const float $x[4] = { 0.25f, 0.5f, 0.75f, 1.0f };\n"
    "struct $u { float $i; float $j[3]; uint32_t $k; };\n"
    "struct $v { float $l; uint64_t $k; };\n"
    "struct $w { float $i; uint32_t $l; };\n"
    "float $q(float $e, uint32_t $f) { float $a = $e * 2.0f + 1.0f; for (uint32_t $d = 0; $d < ($f & 3u); $d++) $a += 0.5f; return $a; }\n"
    "float $t(float $e) { float $b = $e - $x[1]; return $b < 0 ? -$b : $b; }\n"
    "map $r($u $g, broadcast $v $p[], accum float $m, accum $v $n[], accum double $o)\n"
    "{\n"
    "    float $b = $q($g.$i, $g.$k);\n"
    "    uint32_t $c = $g.$k & 7u;\n"
    "    $m += $b;\n"
    "    for (uint32_t $d = 0; $d < 3; $d++) $o += $g.$j[$d] * $p[$c].$l;\n"
    "    if ($t($b) < 40.0f) $n[$c].$k += 1;\n"
    "    $n[$c].$l += $b;\n"
    "}\n"
    "map $s($u $h) -> $w { float $a = $t($h.$i); return ($w){ .$i = $a + $x[$h.$k & 3u], .$l = $h.$k + 1 }; }\n";

typedef struct item { float x, y[3]; uint32_t k; } item;
typedef struct row { float v; uint64_t n; } row;
typedef struct made { float x; uint32_t v; } made;

typedef struct answer {
    float total;
    double dots;
    row rows[ROWS];
    made *made;
} answer;

static item *items;
static row weights[ROWS];

// Multiples of 1/8 below 64: every sum of them, and of their products, is exact in double.
static void make_data(void)
{
    uint32_t state = 12345;
    items = malloc(RECORDS * sizeof *items);
    for (uint32_t i = 0; items && i < RECORDS; i++) {
        float *value[] = {&items[i].x, &items[i].y[0], &items[i].y[1], &items[i].y[2]};
        for (int v = 0; v < 4; v++) *value[v] = (float)((state = state * 1664525u + 1013904223u) >> 23) / 8.f;
        items[i].k = (state = state * 1664525u + 1013904223u) >> 16;
    }
    for (int r = 0; r < ROWS; r++) weights[r] = (row){(float)r - 2.5f, 0};
}

static float away_from_half(float x) { return x < 0.5f ? 0.5f - x : x - 0.5f; }

static answer in_c(void)
{
    static const float shares[4] = {0.25f, 0.5f, 0.75f, 1.f};
    double total = 0, sums[ROWS] = {0};
    answer a = {.made = calloc(RECORDS, sizeof(made))};
    for (uint32_t i = 0; a.made && i < RECORDS; i++) {
        const item *p = &items[i];
        const uint32_t at = p->k % ROWS;
        const float moved = p->x * 2.f + 1.f + 0.5f * (float)(p->k % 4);
        total += moved;
        sums[at] += moved;
        a.rows[at].n += away_from_half(moved) < 40.f;
        for (int j = 0; j < 3; j++) a.dots += (double)(p->y[j] * weights[at].v);
        a.made[i] = (made){away_from_half(p->x) + shares[p->k % 4], p->k + 1};
    }
    a.total = (float)total;
    for (int r = 0; r < ROWS; r++) a.rows[r].v = (float)sums[r];
    return a;
}

static void write_program(char *text, const char *const names[PLACES])
{
    char *to = text;
    for (const char *from = program; *from; from++) {
        if (*from != '$') *to++ = *from;
        else to += snprintf(to, 128, "%s", names[*++from - 'a']);
    }
    *to = '\0';
}

static const char *plain_name(int place)
{
    static char names[PLACES][16];
    snprintf(names[place], sizeof names[place], "zebra_%c", 'a' + place);
    return names[place];
}

// Whether the language lets a program call something so, whatever its role: its own words and built-ins it keeps.
static bool is_a_name(hdst_context *context, const char *word)
{
    static char text[MOST_TEXT];
    for (int role = 0; role < ROLES; role++) {
        const char *names[PLACES];
        for (int p = 0; p < PLACES; p++) names[p] = plain_name(p);
        names[role * PLACES_OF_ROLE] = word;
        write_program(text, names);
        hdst_module *module = hdst_module_parse(context, "name.hk", text, NULL);
        const bool good = hdst_module_status(module, NULL) == HDST_OK;
        hdst_module_destroy(module);
        if (!good) return false;
    }
    return true;
}

// --- One program ---

static bool is_right(hdst_result *result, const char *const names[PLACES], const void *collected, uint64_t count, const answer *right, hdst_error *error)
{
    const double total = hdst_view_double(hdst_result_field(result, names[T], NULL), 0, 0),
                 dots = hdst_view_double(hdst_result_field(result, names[D], NULL), 0, 0);
    uint64_t rows = 0;
    const row *sums = hdst_result_rows(result, names[G], &rows);
    bool good = hdst_result_status(result, error) == HDST_OK && total == right->total && dots == right->dots && rows == ROWS && count == RECORDS;
    for (int r = 0; good && r < ROWS; r++) good = sums[r].v == right->rows[r].v && sums[r].n == right->rows[r].n;
    for (uint32_t i = 0; good && i < RECORDS; i++)
        good = ((const made *)collected)[i].x == right->made[i].x && ((const made *)collected)[i].v == right->made[i].v;
    if (!good)
        printf("%s is %.17g (must be %.17g), %s %.17g (%.17g), or rows of %s or records of %s are wrong\n", names[T], total, right->total, names[D], dots,
               right->dots, names[G], names[E]);
    return good;
}

static bool run_program(hdst_context *context, const char *text, const char *const names[PLACES], const answer *right)
{
    hdst_error error = HDST_ERROR_INIT;
    void *collected = NULL;
    uint64_t count = 0;
    hdst_module *module = hdst_module_parse(context, "names.hk", text, NULL);
    hdst_source *source = hdst_source_from_memory(context, items, RECORDS, sizeof *items);
    hdst_dataset *records = hdst_read(source, module, names[R]);
    hdst_value *value = hdst_value_create(module, names[S], ROWS);
    hdst_map_spec *spec = hdst_map_spec_create(module, names[M]);
    hdst_value_set(value, weights, ROWS);
    hdst_bind_value(spec, names[B], value);
    hdst_bind_accum(spec, names[G], ROWS);
    hdst_result *result = hdst_result_create(hdst_map(records, spec));
    bool good = hdst_run(result, &error) == HDST_OK && hdst_collect(hdst_map_function(records, module, names[E]), &collected, &count, &error) == HDST_OK;
    if (good) good = is_right(result, names, collected, count, right, &error);
    if (error.code != HDST_OK) {
        char words[4096];
        hdst_error_format(&error, words, sizeof words);
        printf("%s\n%s", words, hdst_module_diagnostics(module));
    }
    if (!good) printf("in\n%s\n", text);
    hdst_rows_destroy(context, collected);
    hdst_result_destroy(result);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(value);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    return good;
}

// In each pass every word stands in a place of the next role.
static size_t run_all(hdst_context *context, const char **words, size_t count, int passes, size_t each, size_t from, const answer *right, size_t *programs)
{
    static char text[MOST_TEXT];
    size_t wrong = 0, turn = 0;
    for (int pass = 0; pass < passes; pass++)
        for (size_t first = 0; first < count; first += PLACES) {
            const char *names[PLACES];
            for (size_t w = 0; w < PLACES; w++) names[(w + (size_t)pass * PLACES_OF_ROLE) % PLACES] = words[(first + w) % count];
            if (turn++ % each != from) continue;
            write_program(text, names);
            wrong += !run_program(context, text, names, right);
            ++*programs;
        }
    return wrong;
}

static int run_device(const char *device, int passes, size_t each, size_t from, const answer *right)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_device_info info;
    hdst_error error = HDST_ERROR_INIT;
    static const char *words[sizeof diff_words / sizeof *diff_words];
    size_t count = 0, refused = 0, programs = 0, wrong = 0;
    options.device = device;
    hdst_context *context = hdst_context_create(&options);
    if (hdst_device_chosen(context, &info, &error) != HDST_OK) {
        fprintf(stderr, "name_bits: %s: %s\n", device, error.message);
        hdst_context_destroy(context);
        return 4;
    }
    for (size_t w = 0; w < sizeof diff_words / sizeof *diff_words; w++) {
        if (is_a_name(context, diff_words[w])) words[count++] = diff_words[w];
        else refused++;
    }
    wrong = run_all(context, words, count, passes, each, from, right, &programs);
    printf("%s (%s): %zu words (the language keeps %zu for itself), %zu programs, %zu wrong\n", device, info.name, count, refused, programs, wrong);
    hdst_context_destroy(context);
    return wrong || count < 1000 ? 1 : 0;
}

int main(int argc, char **argv)
{
    static char *usual[] = {"interp", "cpu"};
    int passes = ROLES, code = 0;
    size_t each = 1, from = 0;
    while (argc > 2 && argv[1][0] == '-') {
        if (!strcmp(argv[1], "--passes")) passes = atoi(argv[2]);
        else if (!strcmp(argv[1], "--each")) each = (size_t)atoi(argv[2]);
        else if (!strcmp(argv[1], "--from")) from = (size_t)atoi(argv[2]);
        else return fprintf(stderr, "usage: name_bits [--passes N] [--each N] [--from K] [DEVICE ...]\n"), 2;
        argc -= 2, argv += 2;
    }
    if (passes < 1 || each < 1 || from >= each) return fprintf(stderr, "name_bits: numbers above 0, please, and K below N\n"), 2;
    make_data();
    answer right = in_c();
    if (!items || !right.made) return 5;
    char **devices = argc > 1 ? argv + 1 : usual;
    const int count = argc > 1 ? argc - 1 : 2;
    for (int d = 0; d < count && !code; d++) code = run_device(devices[d], passes, each, from, &right);
    free(right.made);
    free(items);
    return code;
}
