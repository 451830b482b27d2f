// SPDX-License-Identifier: Apache-2.0
// Rows that are left out of tables: generated tables with rows that do not parse in many ways between good ones give the good ones, whatever the size of
// blocks and however many threads, in every layout; how many were left out and why the first of them; what stays an error.
#include "packed.h"
#include "text_place.h"

#include "io/source_csv.h"

TestSuite(csv_kept, .init = set_up, .fini = tear_down);

enum { ROWS = 2000 };

typedef struct pair {
    int32_t n, day;
} pair;

typedef struct noted {
    hdst__text_span words;
    int32_t n;
} noted;

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 4) * n) >> 28);
}

static const hdst__record *pair_record(hdst__missing missing)
{
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "n", .type = hdst__type_scalar(HDST__I32), .missing = missing};
    fields[1] = (hdst__field){.name = "day", .type = hdst__type_scalar(HDST__I32), .time = HDST__DAYS};
    return make_record("pair", fields, 2);
}

typedef struct table {
    char *text;
    size_t used, kept, left_out;
    size_t first_line; // of the first row that is left out
    pair rows[ROWS];
} table;

// Rows that are wrong in every way; some hold line ends within quotes.
static const char *const wrong[] = {"x,2024-01-01",        "5,2023-02-29", "5",  "5,2024-01-01,7", "99999999999,2024-01-01", "\"5\"x,2024-01-01",
                                    "5,\"2024-01-01\" y",  ",2024-01-01",  "5,", "1.5,2024-01-01", "\"a\nb\",2024-01-01",    "5,2024-01-01T00:00",
                                    "\"5\n6\"z,2024-01-01"};
enum { WRONG = sizeof wrong / sizeof *wrong };

static table *make_table(bool with_wrong)
{
    table *t = hdst__arena_alloc(&arena, sizeof *t);
    *t = (table){.text = hdst__arena_alloc(&arena, ROWS * 60)};
    size_t lines = 1;
    t->used = (size_t)sprintf(t->text, "n,day\n");
    for (int i = 0; i < ROWS; i++) {
        const char *start = t->text + t->used;
        if (with_wrong && below(4) == 0) {
            if (!t->left_out++) t->first_line = lines + 1;
            t->used += (size_t)sprintf(t->text + t->used, "%s\n", wrong[below(WRONG)]);
        } else if (below(20) == 0)
            t->used += (size_t)sprintf(t->text + t->used, "# a comment, with 1\n");
        else {
            const pair p = {(int32_t)below(1000000) - 500000, (int32_t)below(28)};
            t->used += (size_t)sprintf(t->text + t->used, below(2) ? "%d,1970-01-%02d\n" : "\"%d\", 1970-01-%02d \n", p.n, p.day + 1);
            t->rows[t->kept++] = p;
        }
        for (const char *c = start; c < t->text + t->used; c++) lines += *c == '\n';
    }
    return t;
}

static void expect_kept(hdst__source *source, const hdst__record *record, const table *t, hdst__thread_pool *pool)
{
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__source_bind_uncounted(source, record, &bound, &error), HDST_OK, "%s", error.message);
    hdst__bound_source_skip_malformed(bound);
    cr_assert_eq(hdst__bound_source_count(bound, pool, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst__bound_source_records(bound), t->kept);
    cr_assert_eq(hdst__bound_source_left_out(bound, &error), t->left_out);
    if (t->left_out) cr_assert(error.code == HDST_E_FORMAT && error.line == t->first_line && error.message[0], "line %u: %s", error.line, error.message);
    for (int which = 0; which < LAYOUTS; which++)
        for (uint64_t piece = 7; piece <= 1000000; piece += 999993) {
            const char *got = fill_layout(bound, record, t->kept, piece, which, &error);
            cr_assert(got, "%s", error.message);
            cr_assert_eq(memcmp(got, t->rows, t->kept * sizeof(pair)), 0, "layout %d, pieces of %d", which, (int)piece);
        }
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

Test(csv_kept, good_rows_are_kept_whatever_the_blocks)
{
    static const uint64_t blocks[] = {0, 1, 50, 700};
    hdst__thread_pool *pool = hdst__thread_pool_create(NULL, 3);
    cr_assert(pool);
    for (seed = 1; seed < 4; seed++) {
        const uint32_t before = seed;
        const table *t = make_table(true);
        const char *path = write_file("a.csv", t->text, t->used);
        for (size_t b = 0; b < 4; b++)
            expect_kept(OPEN_OK(hdst__source_csv_in_blocks(NULL, path, NULL, blocks[b], NULL, error)), pair_record(HDST__MISSING_ERROR), t,
                        b % 2 ? pool : NULL);
        seed = before;
    }
    hdst__thread_pool_destroy(pool);
}

Test(csv_kept, several_files_some_of_them_packed)
{
    seed = 9;
    const table *one = make_table(true), *two = make_table(false);
    const packed_bytes packed = pack_gzip(two->text, two->used);
    hdst__source *parts[2] = {OPEN_OK(hdst__source_csv(NULL, write_file("b.csv.gz", packed.bytes, packed.count), NULL, NULL, error)),
                              OPEN_OK(hdst__source_csv(NULL, write_file("a.csv", one->text, one->used), NULL, NULL, error))};
    hdst__source *source = OPEN_OK(hdst__source_concat(NULL, parts, 2, error));
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT;
    const hdst__record *record = pair_record(HDST__MISSING_ERROR);
    cr_assert_eq(hdst__source_bind_uncounted(source, record, &bound, &error), HDST_OK);
    hdst__bound_source_skip_malformed(bound);
    cr_assert_eq(hdst__bound_source_count(bound, NULL, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst__bound_source_records(bound), one->kept + two->kept);
    cr_assert_eq(hdst__bound_source_left_out(bound, &error), one->left_out);
    cr_assert_eq(error.line, one->first_line);
    const char *got = fill_layout(bound, record, one->kept + two->kept, 100, 0, &error);
    cr_assert(got, "%s", error.message);
    cr_assert_eq(memcmp(got, two->rows, two->kept * sizeof(pair)), 0);
    cr_assert_eq(memcmp(got + two->kept * sizeof(pair), one->rows, one->kept * sizeof(pair)), 0);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// Two records of one source leave out different rows, at the same time.
Test(csv_kept, an_empty_cell_may_leave_its_row_out)
{
    static const char text[] = "n,day,words\n1,1970-01-01,a\n,1970-01-02,b\n3,1970-01-03,\n4,1970-01-04,more than twelve bytes\n";
    hdst__field *fields = HDST__NEW_ARRAY(&arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "words", .type = hdst__type_scalar(HDST__TEXT), .missing = HDST__MISSING_SKIP};
    fields[1] = (hdst__field){.name = "n", .type = hdst__type_scalar(HDST__I32), .missing = HDST__MISSING_ZERO};
    const hdst__record *of_texts = make_record("noted", fields, 2), *of_numbers = pair_record(HDST__MISSING_SKIP);
    hdst__source *source = OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, error));
    hdst__bound_source *texts, *numbers;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__source_bind(source, of_texts, &texts, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst__source_bind(source, of_numbers, &numbers, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst__bound_source_records(texts), 3);
    cr_assert_eq(hdst__bound_source_left_out(texts, &error), 1);
    cr_assert(error.line == 4 && !strcmp(error.message, "there is no text in column 'words'"), "%s", error.message);
    cr_assert_eq(hdst__bound_source_left_out(numbers, &error), 1);
    cr_assert(error.line == 3 && !strcmp(error.message, "there is no number in column 'n'"), "%s", error.message);
    bytes_place *place = make_place();
    noted *got = fill_structs(texts, of_texts, 3, 2, 0, place, NULL, &error);
    cr_assert(got && got[0].n == 1 && got[1].n == 0 && got[2].n == 4, "%s", error.message);
    expect_text(&got[2].words, "more than twelve bytes", 22, "words", 2);
    const char *pairs = fill_layout(numbers, of_numbers, 3, 2, 1, &error);
    cr_assert_eq(memcmp(pairs, (pair[]){{1, 0}, {3, 2}, {4, 3}}, 3 * sizeof(pair)), 0);
    free(got);
    free_place(place);
    hdst__source_unbind(texts);
    hdst__source_unbind(numbers);
    hdst__source_close(source);
}

static void expect_failure(const char *text, hdst__missing missing, bool skip, const char *message)
{
    hdst__bound_source *bound;
    hdst_error error = HDST_ERROR_INIT, *why = &error;
    hdst__source *source = hdst__source_csv(NULL, write_text("a.csv", text), NULL, NULL, why);
    cr_assert(source);
    cr_assert_eq(hdst__source_bind_uncounted(source, pair_record(missing), &bound, why), HDST_OK);
    if (skip) hdst__bound_source_skip_malformed(bound);
    hdst_status status = hdst__bound_source_count(bound, NULL, why);
    if (status == HDST_OK) status = fill_layout(bound, pair_record(missing), hdst__bound_source_records(bound), 5, 0, why) ? HDST_OK : why->code;
    cr_assert_eq(status, HDST_E_FORMAT, "%s", text);
    cr_assert_str_eq(error.message, message);
    hdst__source_unbind(bound);
    hdst__source_close(source);
}

// Nobody can tell where a row ends whose quote is not closed; a field that leaves out rows for empty cells does so for no other mistake.
Test(csv_kept, what_stays_an_error)
{
    expect_failure("n,day\n1,1970-01-01\n2,\"1970-01-02\n3,1970-01-03\n", HDST__MISSING_ERROR, true, "a quoted field is not closed");
    expect_failure("n,day\n1,1970-01-01\n,1970-01-02\nx,1970-01-03\n", HDST__MISSING_SKIP, false, "'x' is not a number, in column 'n'");
    expect_failure("n,day\n1,1970-01-01\n,1970-01-02\n5\n", HDST__MISSING_SKIP, false, "the row has 1 field, line 1 has 2");
    expect_failure("n,day\n1,1970-01-01\n,1970-01-02\n", HDST__MISSING_ERROR, false, "there is no number in column 'n'");
}

Test(csv_kept, no_row_may_be_left)
{
    static table none = {.left_out = 2, .first_line = 2};
    expect_kept(OPEN_OK(hdst__source_csv(NULL, write_text("a.csv", "n,day\nx,1970-01-01\ny,1970-01-02\n"), "0,1", NULL, error)),
                pair_record(HDST__MISSING_ERROR), &none, NULL);
}
