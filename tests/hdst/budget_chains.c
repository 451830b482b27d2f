// SPDX-License-Identifier: Apache-2.0
// A plain program: random chains of operators that hold records, at small memory budgets (budget.h tells what is
// looked at), over 0.3 to 4 times as much input. Answers are compared, record by record, with what plain C makes of
// the same items (chain_operations.h).
//
// Use: budget_chains DEVICE MIB SEEDS...: at budgets of up to so many MiB; SEEDS: 7, or 1-100. DEVICE "team": several, other ones for each seed.
#include "tests/hdst/budget.h"
#include "tests/hdst/chain_operations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_STEPS = 7, GROWTH = 3 };

typedef enum source_kind { FROM_CALLBACK, FROM_MEMORY, FROM_FILE, SOURCES } source_kind;
typedef enum ending { ROWS, COLLECTED, SAVED, TAKEN, COUNTED, ENDINGS } ending;
static const char *const source_names[] = {"callback", "memory", "file"}, *const ending_names[] = {"rows", "collect", "save", "take", "count"};

typedef struct node {
    const chain_operation *op;      // NULL: the source
    unsigned in, other;             // earlier nodes
    uint64_t number;
    chain_rows rows;                // what it must give
} node;

typedef struct chain {
    unsigned load;
    uint64_t keys;
    source_kind source;
    ending end;
    bool twice;
    unsigned least;                 // the error for memory is right below so many MiB only
    uint32_t rows;                  // of tables
    node nodes[1 + 2 * MOST_STEPS];
    unsigned count;
    char name[600];
} chain;

// --- Making one ---

static chain_item source_item(const chain *c, uint64_t i, uint64_t seed)
{
    const uint64_t dice = chain_random(&(uint64_t){seed + i});
    const uint64_t key = c->keys ? dice % c->keys : dice % 2 ? 0 : i;        // 0: half of the items have one key, the others each its own
    return (chain_item){key * UINT64_C(0x9e3779b97f4a7c15), (uint32_t)(dice >> 44), (uint32_t)i};
}

static void make_source(chain *c, uint64_t *state, uint64_t budget)
{
    static const unsigned loads[] = {0, 0, 0, 2, 6, 30};
    const double factor = 0.3 + 3.7 * (double)(chain_random(state) % 1000) / 1000 * (double)(chain_random(state) % 1000) / 1000;
    c->load = loads[chain_random(state) % (sizeof loads / sizeof *loads)];
    const uint64_t records = (uint64_t)((double)budget * factor / (double)chain_item_size(c->load));
    const uint64_t keys[] = {1, 10, 1000, records / 3 + 1, records * 10, 0};
    c->keys = keys[chain_random(state) % (sizeof keys / sizeof *keys)];
    c->source = (source_kind)(chain_random(state) % SOURCES);
    c->rows = (uint32_t)(records / 4 + 1);
    c->nodes[0].rows = (chain_rows){malloc((records + 1) * sizeof(chain_item)), records, CHAIN_NO_PARTS};
    const uint64_t seed = chain_random(state);
    for (uint64_t i = 0; i < records; i++) c->nodes[0].rows.item[i] = source_item(c, i, seed);
    c->count = 1;
}

static void add(chain *c, const chain_scene *scene, const chain_operation *op, unsigned in, unsigned other, uint64_t number)
{
    node *n = &c->nodes[c->count++];
    *n = (node){op, in, other, number, op->expect(op, scene, &c->nodes[in].rows, &c->nodes[other].rows, number)};
    if (c->least < op->least) c->least = op->least;
}

static const chain_operation *random_operation(uint64_t *state)
{
    uint64_t all = 0;
    for (size_t i = 0; i < chain_operation_count; i++) all += chain_operations[i].weight;
    uint64_t dice = chain_random(state) % all;
    size_t i = 0;
    for (; dice >= chain_operations[i].weight; i++) dice -= chain_operations[i].weight;
    return &chain_operations[i];
}

static void add_random(chain *c, const chain_scene *scene, uint64_t *state)
{
    const chain_operation *op = random_operation(state);
    unsigned in = chain_random(state) % 5 ? c->count - 1 : (unsigned)(chain_random(state) % c->count);
    const unsigned other = (unsigned)(chain_random(state) % c->count);
    const chain_rows *rows = &c->nodes[in].rows;
    if (op->filled && !rows->count) return;
    if (rows->parts > op->most_parts) {
        add(c, scene, &chain_operations[0], in, 0, 0);
        in = c->count - 1;
    }
    add(c, scene, op, in, other, chain_random(state));
    node *made = &c->nodes[c->count - 1];
    if (made->rows.count <= GROWTH * c->nodes[0].rows.count + CHAIN_FEW) return;
    free(made->rows.item);
    c->count--;
}

static void name_chain(chain *c, uint64_t seed)
{
    int at = snprintf(c->name, sizeof c->name, "%" PRIu64 ": %" PRIu64 " of %zu B from %s, %" PRIu64 " keys", seed, c->nodes[0].rows.count,
                      chain_item_size(c->load), source_names[c->source], c->keys);
    for (unsigned i = 1; i < c->count && at < (int)sizeof c->name - 60; i++) {
        const node *n = &c->nodes[i];
        at += snprintf(c->name + at, sizeof c->name - (size_t)at, " | %s", n->op->name);
        if (n->in != i - 1) at += snprintf(c->name + at, sizeof c->name - (size_t)at, " of %u", n->in);
        if (n->op->two) at += snprintf(c->name + at, sizeof c->name - (size_t)at, " with %u", n->other);
    }
    snprintf(c->name + at, sizeof c->name - (size_t)at, " | %s%s", ending_names[c->end], c->twice ? " twice" : "");
}

static void make_chain(chain *c, uint64_t seed, uint64_t budget, uint64_t *state)
{
    *c = (chain){.count = 0};
    make_source(c, state, budget);
    const chain_scene scene = {.load = c->load, .rows = c->rows};
    const unsigned steps = 2 + (unsigned)(chain_random(state) % (MOST_STEPS - 1));
    for (unsigned i = 0; i < steps; i++) add_random(c, &scene, state);
    c->end = chain_random(state) % 2 ? ROWS : (ending)(chain_random(state) % ENDINGS);
    c->twice = chain_random(state) % 3 == 0;
    name_chain(c, seed);
}

static void free_chain(chain *c)
{
    for (unsigned i = 0; i < c->count; i++) free(c->nodes[i].rows.item);
}

// --- Running it ---

typedef struct place { const chain *c; const char *file; void *packed; } place;

static void *packed(const chain *c)
{
    const size_t size = chain_item_size(c->load);
    char *records = malloc((c->nodes[0].rows.count + 1) * size);
    for (uint64_t i = 0; i < c->nodes[0].rows.count; i++) chain_pack(&c->nodes[0].rows.item[i], c->load, records + i * size);
    return records;
}

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const chain *c = user;
    for (uint64_t i = 0; i < count; i++) chain_pack(&c->nodes[0].rows.item[first + i], c->load, (char *)records + i * chain_item_size(c->load));
    return true;
}

static hdst_dataset *read_source(const place *p, const chain_scene *scene)
{
    const chain *c = p->c;
    const uint64_t count = c->nodes[0].rows.count, size = chain_item_size(c->load);
    hdst_source *source = c->source == FROM_CALLBACK ? hdst_source_from_callback(scene->context, count, fill, (void *)c)
                        : c->source == FROM_MEMORY   ? hdst_source_from_memory(scene->context, p->packed, count, size)
                                                     : hdst_source_open_raw(scene->context, p->file);
    hdst_dataset *data = hdst_read(source, scene->module, "item");
    hdst_source_destroy(source);
    return data;
}

static void compare(const chain *c, const void *records, uint64_t count, uint64_t expected, budget_cell *cell)
{
    const chain_rows *want = &c->nodes[c->count - 1].rows;
    const size_t size = chain_item_size(c->load);
    if (count != expected) snprintf(cell->wrong, sizeof cell->wrong, "%" PRIu64 " records, not %" PRIu64, count, expected);
    for (uint64_t i = 0; i < count && i < expected && !cell->wrong[0]; i++) {
        if (chain_same(&want->item[i], c->load, (const char *)records + i * size)) continue;
        chain_item got;
        memcpy(&got, (const char *)records + i * size, sizeof got);
        snprintf(cell->wrong, sizeof cell->wrong, "record %" PRIu64 " of %" PRIu64 " is %" PRIx64 " %u %u, not %" PRIx64 " %u %u", i,
                 count, got.key, (unsigned)got.v, (unsigned)got.at,
                 want->item[i].key, (unsigned)want->item[i].v, (unsigned)want->item[i].at);
    }
}

static void check_saved(const chain *c, hdst_dataset *d, budget_cell *cell)
{
    const char *path = "chain.saved.raw";
    const uint64_t expected = c->nodes[c->count - 1].rows.count;
    cell->status = hdst_save(d, path, &cell->error);
    if (cell->status != HDST_OK) return;
    const size_t size = chain_item_size(c->load);
    char *records = malloc((expected + 2) * size);
    FILE *file = fopen(path, "rb");
    compare(c, records, file ? fread(records, size, expected + 1, file) : 0, expected, cell);
    if (file) fclose(file);
    remove(path);
    free(records);
}

static void end_with(const chain *c, const chain_scene *scene, hdst_dataset *d, hdst_result *r, budget_cell *cell)
{
    enum { SOME = 100 };
    const uint64_t expected = c->nodes[c->count - 1].rows.count;
    uint64_t count = 0;
    char some[SOME * 256];
    void *records = NULL;
    switch (c->end) {
    case ROWS:
        cell->status = hdst_run(r, &cell->error);
        if (cell->status != HDST_OK) return;
        const void *rows = hdst_result_rows(r, NULL, &count);
        if (!rows && (cell->status = hdst_result_status(r, &cell->error)) != HDST_OK) return;
        compare(c, rows, count, expected, cell);
        return;
    case COLLECTED:
        cell->status = hdst_collect(d, &records, &count, &cell->error);
        if (cell->status == HDST_OK) compare(c, records, count, expected, cell);
        hdst_rows_destroy(scene->context, records);
        return;
    case TAKEN:
        cell->status = hdst_take(d, SOME, some, &count, &cell->error);
        if (cell->status == HDST_OK) compare(c, some, count, expected < SOME ? expected : SOME, cell);
        return;
    case COUNTED:
        cell->status = hdst_count(d, &count, &cell->error);
        if (cell->status == HDST_OK && count != expected) snprintf(cell->wrong, sizeof cell->wrong, "%" PRIu64 " are counted, not %" PRIu64, count, expected);
        return;
    default:
        check_saved(c, d, cell);
    }
}

static void run_chain(const budget_job *what, hdst_context *context, budget_cell *cell)
{
    const place *p = what->what;
    const chain *c = p->c;
    hdst_dataset *made[sizeof c->nodes / sizeof *c->nodes];
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    const hdst_param rows = {"ROWS", c->rows};
    char *text = chain_kernels(c->load);
    options.params = &rows;
    options.param_count = 1;
    const chain_scene scene = {context, hdst_module_parse(context, "chain.hk", text, &options), c->load, c->rows};
    free(text);
    if (hdst_module_status(scene.module, &cell->error) != HDST_OK) fprintf(stderr, "%s\n", hdst_module_diagnostics(scene.module));
    made[0] = read_source(p, &scene);
    for (unsigned i = 1; i < c->count; i++)
        made[i] = c->nodes[i].op->make(c->nodes[i].op, &scene, made[c->nodes[i].in], made[c->nodes[i].other], c->nodes[i].number);
    hdst_result *r = c->end == ROWS ? hdst_result_create(made[c->count - 1]) : NULL;
    for (int turn = 0; turn < 1 + c->twice; turn++) {
        end_with(c, &scene, made[c->count - 1], r, cell);
        if (cell->status != HDST_OK || cell->wrong[0]) return;
    }
}

// --- Many ---

static bool write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    const bool good = file && fwrite(bytes, 1, size, file) == size;
    return file && fclose(file) == 0 && good;
}

static bool try_seed(const char *device, uint64_t seed, uint64_t most)
{
    static const unsigned budgets[] = {2, 2, 3, 4, 5, 6, 8, 12, 16};
    uint64_t state = seed * UINT64_C(0xd1342543de82ef95), budget;
    do budget = budgets[chain_random(&state) % (sizeof budgets / sizeof *budgets)]; while (budget > most);
    budget <<= 20;
    static chain c;
    make_chain(&c, seed, budget, &state);
    place p = {.c = &c, .file = "chain.raw"};
    if (c.source != FROM_CALLBACK) p.packed = packed(&c);
    const uint64_t bytes = c.nodes[0].rows.count * chain_item_size(c.load);
    bool good = c.source != FROM_FILE || write_file(p.file, p.packed, bytes);
    // How much of a larger budget those take who hold records can only be guessed by the library.
    const budget_job job = {.name = c.name, .bytes = bytes, .least = c.least, .within = 4, .run = run_chain, .what = &p};
    char team[32];
    snprintf(team, sizeof team, "team:%" PRIu64, seed);
    good = good && budget_check(&job, strcmp(device, "team") ? device : team, budget, false);
    if (c.source == FROM_FILE) remove(p.file);
    free(p.packed);
    free_chain(&c);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 4) return fprintf(stderr, "budget_chains DEVICE MIB SEEDS...\n"), 1;
    if (!budget_have(argv[1])) {
        fprintf(stderr, "no device '%s': skipped\n", argv[1]);
        return 77;
    }
    char folder[] = "/tmp/budget-chains-XXXXXX", *end;
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    uint64_t bad = 0, count = 0;
    for (int i = 3; i < argc; i++) {
        const uint64_t first = strtoull(argv[i], &end, 10), last = *end == '-' ? strtoull(end + 1, NULL, 10) : first;
        for (uint64_t seed = first; seed <= last; seed++, count++) bad += !try_seed(argv[1], seed, strtoull(argv[2], NULL, 10));
    }
    if (chdir("/") == 0) rmdir(folder);
    printf("%" PRIu64 " of %" PRIu64 " chains are bad\n", bad, count);
    return bad || !count;
}
