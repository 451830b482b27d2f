// SPDX-License-Identifier: Apache-2.0
// Graphs as sources: lists of text, matrices and arrays give their edges in every layout, in blocks of any size; what is no edge is told with its place.
#include "tests/io/helper.h"

#include "io/source_edges.h"

#include <unistd.h>

static hdst__thread_pool *threads;
static void begin(void)
{
    set_up();
    threads = hdst__thread_pool_create(NULL, 3);
}
static void end(void)
{
    hdst__thread_pool_destroy(threads);
    tear_down();
}

TestSuite(source_edges, .init = begin, .fini = end);

typedef struct edge { uint32_t from, to; } edge;
typedef struct weighted { int64_t from, to; double weight; } weighted;
static const char *const ends[] = {"from", "to", "weight"};

static hdst__record *edge_record(hdst__kind kind) { return scalars_record(2, ends, (hdst__kind[]){kind, kind}); }
static hdst__record *weighted_record(void) { return scalars_record(3, ends, (hdst__kind[]){HDST__I64, HDST__I64, HDST__F64}); }

static hdst__source *open_edges(const char *path, uint64_t block_bytes, hdst_error *error)
{
    const hdst__edges_options options = {.block_bytes = block_bytes};
    hdst__source *source = hdst__source_edges(NULL, path, &options, error);
    if (source) source->threads = threads;
    return source;
}

static void expect_vertices(hdst__source *source, uint64_t want)
{
    uint64_t vertices = 99;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__edges_vertices(source, threads, &vertices, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(vertices, want, "%llu vertices", (unsigned long long)vertices);
    cr_assert_eq(hdst__edges_vertices(source, NULL, &vertices, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(vertices, want, "%llu vertices when asked again", (unsigned long long)vertices);
}

static void expect_edges(const char *path, const edge *want, uint64_t count, uint64_t vertices)
{
    static const uint64_t blocks[] = {0, 1, 7, 64};
    for (size_t i = 0; i < 4; i++) {
        hdst__source *source = OPEN_OK(open_edges(path, blocks[i], error));
        expect_records(source, edge_record(HDST__U32), want, count);
        expect_vertices(source, vertices);
        hdst__source_close(source);
    }
}

Test(source_edges, lists)
{
    static const edge three[] = {{30, 1412}, {0, 3}, {7, 7}};
    static const char *const lists[] = {
        "30\t1412\n0\t3\n7\t7\n",
        "# Directed graph\n# FromNodeId\tToNodeId\n30\t1412\n0\t3\n7\t7",
        "% a comment\n%% another\n30 1412\r\n\r\n0 3\r\n  % indented\n7 7\r\n",
        "30,1412\n0,3\n7,7\n",
        "30; 1412\n0 ;3\n7;7\n",
        "\xEF\xBB\xBF  30 \t 1412  \n\n0 3 \n#7 8\n\t7\t\t7\n\n",
        "+30 1412.0\n0 3e0\n7 7\n",
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) expect_edges(write_text("list.txt", lists[i]), three, 3, 1413);
}

Test(source_edges, no_edges)
{
    static const char *const lists[] = {"", "\n", "# nothing\n% here\n"};
    for (size_t i = 0; i < 3; i++) {
        const char *path = write_text("empty.txt", lists[i]);
        expect_edges(path, NULL, 0, 0);
        hdst__source *source = OPEN_OK(open_edges(path, 0, error));
        expect_records(source, weighted_record(), NULL, 0);
        hdst__source_close(source);
    }
}

// Fields are found by name in pairs of names, else they come in order.
Test(source_edges, names_of_fields)
{
    static const struct { const char *name[3]; int place[3]; } cases[] = {
        {{"from", "to", "weight"}, {0, 1, 2}}, {{"to", "from", "w"}, {1, 0, 2}}, {{"cost", "dst", "src"}, {2, 1, 0}}, {{"target", "x", "source"}, {1, 2, 0}},
        {{"a", "b", "c"}, {0, 1, 2}}, {{"to", "a", "weight"}, {0, 1, 2}}};
    const char *path = write_text("list.txt", "4 5 6\n7 8 9\n");
    static const int64_t rows[2][3] = {{4, 5, 6}, {7, 8, 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t want[2][3];
        for (int r = 0; r < 2; r++)
            for (int f = 0; f < 3; f++) want[r][f] = rows[r][cases[i].place[f]];
        hdst__source *source = OPEN_OK(open_edges(path, 0, error));
        expect_records(source, scalars_record(3, cases[i].name, (hdst__kind[]){HDST__I64, HDST__I64, HDST__I64}), want, 2);
        hdst__source_close(source);
    }
    hdst__source *source = OPEN_OK(open_edges(path, 0, error));
    expect_records(source, array_record(HDST__I64, 3), rows, 2);
    hdst__source_close(source);
}

Test(source_edges, weights)
{
    static const weighted want[] = {{0, 1, 0.1}, {INT64_MAX, 0, -2.5e300}, {2, 2, 3}};
    const char *path = write_text("weights.txt", "0 1 0.1\n9223372036854775807 0 -2.5e300\n2 2 3\n");
    hdst__source *source = OPEN_OK(open_edges(path, 0, error));
    expect_records(source, weighted_record(), want, 3);
    expect_vertices(source, UINT64_C(1) << 63);
    hdst__source_close(source);
}

// --- How many vertices there are is known once all edges were read: the file is cut off then, and nobody notices ---

enum { SEEN = 3000 };

static hdst__source *open_array(bool by_column, const edge *edges)
{
    static int32_t numbers[2 * SEEN];
    for (int i = 0; i < SEEN; i++) {
        numbers[by_column ? i : 2 * i] = (int32_t)edges[i].from;
        numbers[by_column ? SEEN + i : 2 * i + 1] = (int32_t)edges[i].to;
    }
    const char *header = by_column ? "{'descr': '<i4', 'fortran_order': True, 'shape': (3000, 2), }"
                                   : "{'descr': '<i4', 'fortran_order': False, 'shape': (3000, 2), }";
    return OPEN_OK(open_edges(write_npy("seen.npy", header, numbers, sizeof numbers), 0, error));
}

// Edges first, first + step ...
static void read_some(hdst__bound_source *bound, const hdst__record *record, uint64_t first, uint64_t step, uint64_t count)
{
    const hdst__storage *storage = hdst__storage_make(&arena, record, HDST__AOS, 0, SEEN);
    void *buffer = malloc(storage->buffer_bytes[0]);
    hdst_error error = HDST_ERROR_INIT;
    for (uint64_t i = 0; i < count; i++)
        cr_assert_eq(hdst__bound_source_fill(bound, first + i * step, 1, storage, &buffer, first + i * step, &error), HDST_OK, "%s", error.message);
    free(buffer);
}

static void expect_seen(bool by_column, uint64_t (*const part)[3], size_t parts, bool known)
{
    edge edges[SEEN];
    for (uint32_t i = 0; i < SEEN; i++) edges[i] = (edge){i * 7 % 1000, i == 1234 ? 4711 : i % 500};
    hdst__source *source = open_array(by_column, edges);
    const hdst__record *record = edge_record(HDST__U32);
    hdst__bound_source *bound;
    uint64_t vertices = 0;
    cr_assert_eq(hdst__source_bind(source, record, &bound, NULL), HDST_OK);
    for (size_t i = 0; i < parts; i++) read_some(bound, record, part[i][0], part[i][1], part[i][2]);
    hdst__source_unbind(bound);
    cr_assert_eq(truncate(path_of("seen.npy"), 200), 0);
    cr_assert_eq(hdst__edges_vertices(source, threads, &vertices, NULL) == HDST_OK, known, "%d parts", (int)parts);
    if (known) cr_assert_eq(vertices, 4712);
    hdst__source_close(source);
}

Test(source_edges, vertices_of_edges_that_were_read)
{
    uint64_t all[1][3] = {{0, 1, SEEN}}, mixed[3][3] = {{1000, 1, 2000}, {0, 1, 700}, {500, 1, 500}}, apart[2][3] = {{0, 2, 60}, {0, 1, SEEN}};
    uint64_t gap[2][3] = {{0, 1, 1234}, {1235, 1, SEEN - 1235}}, behind[1][3] = {{1, 1, SEEN - 1}}, short_of[1][3] = {{0, 1, SEEN - 1}};
    uint64_t many[2][3] = {{0, 2, SEEN / 2}, {1, 2, SEEN / 2}};
    for (int by_column = 0; by_column < 2; by_column++) {
        expect_seen(by_column, all, 1, true);
        expect_seen(by_column, mixed, 3, true);
        expect_seen(by_column, apart, 2, true);
        expect_seen(by_column, gap, 2, false);
        expect_seen(by_column, behind, 1, false);
        expect_seen(by_column, short_of, 1, false);
        expect_seen(by_column, many, 2, false);         // more stretches than are noted
    }
}

// A list of many edges against the numbers that it was written from.
Test(source_edges, many)
{
    enum { COUNT = 20000 };
    edge *want = malloc(COUNT * sizeof *want);
    FILE *file = fopen(path_of("many.txt"), "w");
    uint64_t state = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        want[i] = (edge){(uint32_t)(state >> 40) >> state % 24, (uint32_t)(state >> 33) & 0xFFFFF};
        if (state % 97 == 0) fprintf(file, "%c %u\n", state % 2 ? '#' : '%', i);
        fprintf(file, "%u%s%u%s", want[i].from, state % 5 ? "\t" : "  ", want[i].to, state % 3 ? "\n" : "\r\n");
    }
    fclose(file);
    uint32_t largest = 0;
    for (int i = 0; i < COUNT; i++) {
        largest = want[i].from > largest ? want[i].from : largest;
        largest = want[i].to > largest ? want[i].to : largest;
    }
    for (uint64_t block = 0; block <= 1000; block += 500) {
        hdst__source *source = OPEN_OK(open_edges(path_of("many.txt"), block, error));
        expect_records(source, edge_record(HDST__U32), want, COUNT);
        expect_vertices(source, largest + UINT64_C(1));
        hdst__source_close(source);
    }
    free(want);
}

Test(source_edges, compressed)
{
    static const edge want[] = {{1, 2}, {3, 4}};
    char command[256];
    write_text("list.txt", "1 2\n3 4\n");
    snprintf(command, sizeof command, "gzip '%s'", path_of("list.txt"));
    cr_assert_eq(system(command), 0);
    expect_edges(path_of("list.txt.gz"), want, 2, 5);
}

static const edge neighbours[] = {{3, 1}, {3, 4}, {0, 0}, {0, 0}};
static hdst_error adjacency_failure(const char *text)
{
    const hdst__edges_options options = {.adjacency = true};
    hdst__source *source = OPEN_OK(hdst__source_edges(NULL, write_text("wrong.txt", text), &options, error));
    return failure_of(source, edge_record(HDST__U32), (hdst_error)HDST_ERROR_INIT);
}

Test(source_edges, adjacency_lists)
{
    static const char *const lists[] = {"3: 1 4\n# c\n9\n0:0,0\n", "3 1 4\r\n9\r\n%\n0\t0\t0", "3 :1\n3:\n3,4\n\n9:\n 0 0\n0:0\n"};
    const hdst__edges_options options = {.adjacency = true};
    for (size_t i = 0; i < 3; i++) {
        hdst__source *source = OPEN_OK(hdst__source_edges(NULL, write_text("list.txt", lists[i]), &options, error));
        expect_records(source, edge_record(HDST__U32), neighbours, 4);
        expect_vertices(source, 10);
        hdst__source_close(source);
    }
    hdst__source *source = OPEN_OK(hdst__source_edges(NULL, write_text("none.txt", ""), &options, error));
    expect_records(source, edge_record(HDST__U32), NULL, 0);
    expect_vertices(source, 0);
    hdst__source_close(source);
    static const struct { const char *text; uint32_t line, column; } wrong[] = {{"1: 2\n3: x\n", 2, 4}, {"1 -2\n", 1, 3}, {"1::2\n", 1, 3}, {": 2\n", 1, 1},
        {"1 2:3\n", 1, 4}, {"1 9223372036854775808\n", 1, 21}, {"1 2.5\n", 1, 4}, {"1 2 # c\n", 1, 5}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const hdst_error error = adjacency_failure(wrong[i].text);
        cr_assert(error.code == HDST_E_FORMAT && error.line == wrong[i].line && error.column == wrong[i].column, "%s: %s at %u:%u", wrong[i].text,
                  error.message, error.line, error.column);
    }
}

// More pairs than are written at once.
Test(source_edges, adjacency_list_of_many_neighbours)
{
    enum { COUNT = 30000 };
    edge *want = malloc(COUNT * sizeof *want);
    FILE *file = fopen(path_of("hub.txt"), "w");
    fprintf(file, "7:");
    for (uint32_t i = 0; i < COUNT; i++) {
        want[i] = (edge){7, i * UINT32_C(2654435761)};
        fprintf(file, " %u", want[i].to);
    }
    fclose(file);
    const hdst__edges_options options = {.adjacency = true};
    hdst__source *source = OPEN_OK(hdst__source_edges(NULL, path_of("hub.txt"), &options, error));
    expect_records(source, edge_record(HDST__U32), want, COUNT);
    hdst__source_close(source);
    free(want);
}

Test(source_edges, sizes_first)
{
    static const edge want[] = {{1, 2}, {3, 4}};
    const hdst__edges_options options = {.sizes_first = true};
    const char *right = write_text("right.txt", "# a graph\n9\t2\n1 2\n3 4\n"), *wrong = write_text("wrong.txt", "9\t3\n1 2\n3 4\n");
    const char *none = write_text("none.txt", "1 2 3\n1 2\n3 4\n");
    hdst__source *source = OPEN_OK(hdst__source_edges(NULL, right, &options, error));
    expect_records(source, edge_record(HDST__U32), want, 2);
    hdst__source_close(source);
    hdst_error failed = failure_of(OPEN_OK(hdst__source_edges(NULL, wrong, &options, error)), edge_record(HDST__U32), (hdst_error)HDST_ERROR_INIT);
    cr_assert(strstr(failed.message, "says that there are 3 edges, the list has 2") && failed.line == 1, "%s", failed.message);
    failed = failure_of(OPEN_OK(hdst__source_edges(NULL, none, &options, error)), edge_record(HDST__U32), (hdst_error)HDST_ERROR_INIT);
    cr_assert(strstr(failed.message, "not how many vertices"), "%s", failed.message);
}

Test(source_edges, matrices)
{
    static const edge general[] = {{0, 1}, {2, 2}, {1, 0}}, symmetric[] = {{1, 0}, {2, 2}, {2, 0}, {0, 1}, {0, 2}};
    expect_edges(write_text("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 4 3\n1 2\n3 3\n2 1\n"), general, 3, 4);
    expect_edges(write_text("s.mtx", "%%matrixmarket MATRIX Coordinate Pattern Symmetric\r\n%\r\n3 3 3\r\n2 1\r\n3 3\r\n3 1\r\n"), symmetric, 5, 3);
    expect_edges(write_text("e.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 0\n"), NULL, 0, 5);
    static const weighted values[] = {{1, 0, 0.5}, {0, 0, -1}, {0, 1, 0.5}};
    hdst__source *source =
        OPEN_OK(open_edges(write_text("v.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 0.5\n1 1 -1\n"), 0, error));
    expect_records(source, weighted_record(), values, 3);
    hdst__source_close(source);
}

// Entries on the diagonal at random places: the mirrored ones are those of the others, in their order.
Test(source_edges, symmetric_matrix_of_many_entries)
{
    enum { COUNT = 70000 };
    edge *want = malloc(2 * COUNT * sizeof *want);
    FILE *file = fopen(path_of("many.mtx"), "w");
    fprintf(file, "%%%%MatrixMarket matrix coordinate pattern symmetric\n1000 1000 %d\n", COUNT);
    uint64_t state = 7, count = COUNT;
    for (uint32_t i = 0; i < COUNT; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        want[i].from = (uint32_t)(state >> 40) % 1000;
        want[i].to = i > 33000 && i < 33200 ? want[i].from : (uint32_t)(state >> 20) % (want[i].from + 1);
        if (i % 3 == 0) want[i].to = want[i].from;
        fprintf(file, "%u %u\n", want[i].from + 1, want[i].to + 1);
    }
    fclose(file);
    for (uint32_t i = 0; i < COUNT; i++)
        if (want[i].from != want[i].to) want[count++] = (edge){want[i].to, want[i].from};
    hdst__source *source = OPEN_OK(open_edges(path_of("many.mtx"), 0, error));
    hdst__bound_source *bound;
    hdst_error failed = HDST_ERROR_INIT;
    const hdst__record *record = edge_record(HDST__U32);
    cr_assert_eq(hdst__source_bind(source, record, &bound, &failed), HDST_OK, "%s", failed.message);
    cr_assert_eq(source->rows, count);
    for (uint64_t piece = 997; piece <= 1000000; piece += 999003)
        cr_assert_eq(memcmp(fill_layout(bound, record, count, piece, 0, &failed), want, count * sizeof *want), 0, "pieces of %d", (int)piece);
    hdst__source_unbind(bound);
    hdst__source_close(source);
    free(want);
}

Test(source_edges, arrays)
{
    static const int32_t numbers[] = {1, 2, 3, 4, 0, 9}, by_column[] = {1, 3, 0, 2, 4, 9};
    static const double reals[] = {1, 2, 3, 4, 0, 9};
    static const edge want[] = {{1, 2}, {3, 4}, {0, 9}};
    static const weighted third[] = {{1, 2, 3}, {4, 0, 9}};
    const char *rows = write_npy("rows.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }", numbers, sizeof numbers);
    expect_edges(rows, want, 3, 10);
    expect_edges(write_npy("columns.npy", "{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2), }", by_column, sizeof by_column), want, 3, 10);
    expect_edges(write_npy("reals.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }", reals, sizeof reals), want, 3, 10);
    expect_edges(write_npy("named.npy", "{'descr': [('a', '<i4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,), }", numbers, sizeof numbers),
                 want, 3, 10);
    hdst__source *source =
        OPEN_OK(open_edges(write_npy("w.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", numbers, sizeof numbers), 0, error));
    expect_records(source, weighted_record(), third, 2);
    expect_vertices(source, 5);
    hdst__source_close(source);
}

// --- Mistakes ---

typedef struct mistake {
    const char *text, *message;
    uint32_t line, column;
    const char *hint;
    hdst__kind kind;        // of both fields
} mistake;

static const mistake mistakes[] = {
    {"1 2\n3 x\n", "'x' is not a number, in column 'to'", 2, 3, "two whole numbers", HDST__U32},
    {"FromNodeId ToNodeId\n1 2\n", "'FromNodeId' is not a number, in column 'from'", 1, 1, "begin with # or %", HDST__U32},
    {"1 2\n# c\n-3 4\n", "'-3' is too small for uint32 in column 'from'", 3, 1, "numbered from 0", HDST__U32},
    {"1 2\n\n3 -4\n", "edge 1: -4 is no vertex", 3, 3, "numbered from 0", HDST__I64},
    {"1 2\n9223372036854775808 0\n", "edge 1: 9223372036854775808 is no vertex", 2, 1, "2^63", HDST__U64},
    {"1 2\n9223372036854775808 0\n", "'9223372036854775808' is too large for int64", 2, 1, "type that holds it", HDST__I64},
    {"1 2\n4294967296 0\n", "'4294967296' is too large for uint32", 2, 1, "type that holds it", HDST__U32},
    {"1 2\n1.5 0\n", "'1.5' is not a whole number for uint32", 2, 1, "type that holds it", HDST__U32},
    {"1 2\n3 4 5\n", "the row has 3 fields, line 1 has 2", 2, 5, "", HDST__U32},
    {"# c\n1 2 3\n", "edges of '", 2, 0, "give the record a third field", HDST__U32},
    {"1\n2\n", "the row has 1 field, where 2 or 3 are due", 1, 2, "two whole numbers", HDST__U32},
    {"1 2 3 4\n", "the row has 4 fields, where 2 or 3 are due", 1, 7, "two whole numbers", HDST__U32},
    {"1 2\n", "field 'from' of record 'row' is a float32", 0, 0, "integer", HDST__F32},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "a dense matrix is no list of edges", 1, 1, "coordinate", HDST__U32},
    {"%%MatrixMarket matrix coordinate complex general\n2 2 0\n", "a matrix of such numbers", 1, 1, "pattern", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern hermitian\n2 2 0\n", "a matrix of such symmetry", 1, 1, "symmetric", HDST__U32},
    {"%%MatrixMarket\n2 2 0\n", "does not say which matrix", 1, 1, "coordinate", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern general\n% c\n2 x 0\n", "these are no sizes", 3, 1, "7 7 15", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern general\n", "these are no sizes", 0, 1, "7 7 15", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern symmetric\n2 3 0\n", "as many rows as columns", 2, 1, "7 7 15", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n", "there are 1 entries, and 2 are due", 2, 1, "", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "an entry has 3 numbers, and 2 are due", 3, 1, "pattern", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern general\n2 9 2\n1 9\n3 1\n", "3 is no row of a matrix of 2 rows and 9 columns", 4, 1, "from 1", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 0\n", "0 is no column", 3, 3, "from 1", HDST__U32},
    {"%%MatrixMarket matrix coordinate pattern general\n300 300 1\n1 300\n", "edge 0: vertex 299 is too large for uint8", 0, 0, "type that holds", HDST__U8},
};

Test(source_edges, mistakes)
{
    static const uint64_t blocks[] = {0, 1, 7};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        for (size_t b = 0; b < 3; b++) {
            const mistake *m = &mistakes[i];
            hdst_error opened = HDST_ERROR_INIT;
            hdst__source *source = open_edges(write_text("wrong.txt", m->text), blocks[b], &opened);
            const hdst_error error = failure_of(source, edge_record(m->kind), opened);
            cr_assert(strstr(error.message, m->message), "case %zu: '%s' for '%s'", i, error.message, m->message);
            cr_assert(strstr(error.hint, m->hint), "case %zu: '%s'", i, error.hint);
            cr_assert(error.line == m->line && error.column == m->column, "case %zu: %u:%u", i, error.line, error.column);
        }
}

// One of many numbers of each kind that has a sign, or room for 2^63: found by whoever looks for the largest, and by whoever reads.
Test(source_edges, one_mistake_in_an_array)
{
    enum { ROWS = 3000, BAD = 2 * 2711 + 1 };
    static int32_t small[2 * ROWS];
    static int64_t wide[2 * ROWS];
    static const struct { const char *kind, *text; hdst__kind into; int64_t bad; } cases[] = {
        {"<i4", "-4", HDST__U32, -4}, {"<i4", "-4", HDST__I64, -4}, {"<i8", "-4", HDST__U64, -4}, {"<u8", "9223372036854775808", HDST__I64, INT64_MIN}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const bool is_small = cases[c].kind[2] == '4';
        char header[96], told[64];
        for (int i = 0; i < 2 * ROWS; i++) small[i] = (int32_t)(wide[i] = i == BAD ? cases[c].bad : i % 1000);
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, 2), }", cases[c].kind, ROWS);
        snprintf(told, sizeof told, "edge %d: %s is no vertex", BAD / 2, cases[c].text);
        const char *path = write_npy("bad.npy", header, is_small ? (const void *)small : wide, is_small ? sizeof small : sizeof wide);
        const hdst_error read = failure_of(OPEN_OK(open_edges(path, 0, error)), edge_record(cases[c].into), (hdst_error)HDST_ERROR_INIT);
        cr_assert(strstr(read.message, told), "case %zu: %s", c, read.message);
        hdst__source *source = OPEN_OK(open_edges(path, 0, error));
        hdst_error error = HDST_ERROR_INIT;
        uint64_t vertices;
        cr_assert_eq(hdst__edges_vertices(source, NULL, &vertices, &error), HDST_E_FORMAT);
        cr_assert(strstr(error.message, told), "case %zu: %s", c, error.message);
        hdst__source_close(source);
    }
}

Test(source_edges, the_largest_of_an_array)
{
    static const uint32_t small[] = {5, 3000000000u, 4294967295u, 7};
    static const int64_t wide[] = {5, INT64_C(1) << 40, 3, 7};
    hdst__source *source =
        OPEN_OK(open_edges(write_npy("u4.npy", "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 2), }", small, sizeof small), 0, error));
    expect_vertices(source, UINT64_C(1) << 32);
    hdst__source_close(source);
    source = OPEN_OK(open_edges(write_npy("i8.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", wide, sizeof wide), 0, error));
    expect_vertices(source, (UINT64_C(1) << 40) + 1);
    hdst__source_close(source);
}

Test(source_edges, mistakes_in_arrays)
{
    static const int64_t numbers[] = {1, 2, 3, -4};
    const char *negative = write_npy("n.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", numbers, sizeof numbers);
    const char *wide = write_npy("w.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 4), }", numbers, sizeof numbers);
    hdst_error failed = failure_of(OPEN_OK(open_edges(negative, 0, error)), edge_record(HDST__I64), (hdst_error)HDST_ERROR_INIT);
    cr_assert(strstr(failed.message, "edge 1: -4 is no vertex"), "%s", failed.message);
    cr_assert_null(open_edges(wide, 0, &failed));
    cr_assert(strstr(failed.message, "an array of 4 numbers"), "%s", failed.message);
    uint64_t vertices;
    hdst__source *table = OPEN_OK(hdst__source_csv(NULL, write_text("t.csv", "1,2\n"), NULL, NULL, error));
    cr_assert_eq(hdst__edges_vertices(table, NULL, &vertices, &failed), HDST_E_USAGE);
    hdst__source_close(table);
}
