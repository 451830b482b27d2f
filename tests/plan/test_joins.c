// SPDX-License-Identifier: Apache-2.0
// Joins against plain C: all kinds of keys, on every form of kernels, sides that are empty, repeated, skewed; with little memory; what is refused.
#include "tests/hdst/support.h"
#include "tests/shuffle/texts.h"

typedef struct left { uint32_t k; int16_t a; uint32_t at; float x; uint64_t wide; uint8_t code[12]; hdst_text_span name; } left;
typedef struct right { uint64_t wide; hdst_text_span name; uint8_t code[12]; uint32_t user; float x; int16_t a; uint32_t at; } right;
typedef struct pair { int32_t l, r; } pair;

static const char kernels[] =
    "struct left { uint32_t k; int16_t a; uint32_t at; float x; uint64_t wide; uint8_t code[12]; text name; };\n"
    "struct right { uint64_t wide; text name; uint8_t code[12]; uint32_t user; float x; int16_t a; uint32_t at; };\n"
    "join inner(left l, right r) -> (int32_t l, int32_t r) { return ((int32_t)l.at, (int32_t)r.at); }\n"
    "join outer(left l, optional right r) -> (int32_t l, int32_t r) { return ((int32_t)l.at, has(r) ? (int32_t)r.at : -1 - (int32_t)r.a); }\n"
    "join other(optional left l, right r) -> (int32_t l, int32_t r) { if (!has(l)) return (-1, (int32_t)r.at); return ((int32_t)l.at, (int32_t)r.at); }\n"
    "join full(optional left l, optional right r) -> (int32_t l, int32_t r)\n"
    "{\n"
    "    return (has(l) ? (int32_t)l.at : -1, has(r) ? (int32_t)r.at : -1);\n"
    "}\n"
    "join far(left l, right r, broadcast float limit) -> uint32_t { return l.a > limit ? l.at : r.at; }\n"
    "join first(left l, right r) -> uint32_t { return l.at; }\n"
    "join checked(left l, right r) -> uint32_t { return 100u / (l.at + r.at - 7u); }\n"
    "map copy(left l) -> left { return l; }\n"
    "filter even(right r) { return r.at % 2u == 0u; }\n"
    "reduce add(uint32_t a, uint32_t b) { return a + b; }\n"
    "struct by_name { text name; }; struct by_number { float x; };\n"
    "join names(by_name a, by_name b) -> by_name { return a; }\n";

// --- The same in C ---

typedef struct key {
    uint32_t hash;
    uint64_t word[3];
    const hdst_text_span *name;     // of keys with a text, which is their first part; word[0] is its hash
    uint32_t at;
} key;

static const char *const left_keys[] = {"k", "wide", "x", "k, a", "wide, k,a", "code", "name", " name , k", "code[3]"};
static const char *const right_keys[] = {"user", "wide", "x", "user,a", "wide,user,a", "code", "name", "name,user", "code[3]"};
enum { KEYS = 9, NAMES = 7 };
static const char *const texts[NAMES] = {"", "a", "ab", "twelve bytes", "a text of many bytes", "a text of many bytes and more", "a text of many bytez"};

static uint32_t hash_of(const uint64_t *word, size_t bytes)
{
    if (bytes <= 4) {
        uint32_t x = (uint32_t)word[0];
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        return x ^ x >> 16;
    }
    if (bytes <= 8) return (uint32_t)(mixed(word[0]) >> 32);
    uint64_t h = 0;
    for (size_t i = 0; i < (bytes + 7) / 8; i++) h = mixed((h ^ word[i]) + STEP);
    return (uint32_t)(h >> 32);
}

static key make_key(int which, uint32_t k, int16_t a, float x, uint64_t wide, const uint8_t *code, const hdst_text_span *name, uint32_t at)
{
    static const size_t sizes[KEYS] = {4, 8, 4, 6, 14, 12, 8, 12, 1};
    key r = {.at = at};
    char *to = (char *)r.word;
    switch (which) {
    case 0: memcpy(to, &k, 4); break;
    case 1: memcpy(to, &wide, 8); break;
    case 2: memcpy(to, &x, 4); break;
    case 3: memcpy(to, &k, 4), memcpy(to + 4, &a, 2); break;
    case 4: memcpy(to, &wide, 8), memcpy(to + 8, &k, 4), memcpy(to + 12, &a, 2); break;
    case 5: memcpy(to, code, 12); break;
    case 8: memcpy(to, &code[3], 1); break;
    default: r.word[0] = text_hash(hdst_text_bytes(name), name->length), r.name = name;
    }
    if (which == 7) memcpy(to + 8, &k, 4);
    r.hash = hash_of(r.word, sizes[which]);
    return r;
}

static int order_of(const key *a, const key *b)
{
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->name) {
        const uint32_t least = a->name->length < b->name->length ? a->name->length : b->name->length;
        const int order = memcmp(hdst_text_bytes(a->name), hdst_text_bytes(b->name), least);
        if (order) return order;
        if (a->name->length != b->name->length) return a->name->length < b->name->length ? -1 : 1;
    }
    for (int w = a->name != NULL; w < 3; w++)
        if (a->word[w] != b->word[w]) return a->word[w] < b->word[w] ? -1 : 1;
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const key *x = a, *y = b;
    const int order = order_of(x, y);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

typedef struct pairs { pair *pair; uint64_t count, capacity; } pairs;

static void add_pair(pairs *p, int64_t l, int64_t r)
{
    if (p->count == p->capacity) p->pair = realloc(p->pair, (p->capacity = 2 * p->capacity + 64) * sizeof *p->pair);
    p->pair[p->count++] = (pair){(int32_t)l, (int32_t)r};
}

static uint64_t run_end(const key *keys, uint64_t first, uint64_t count)
{
    uint64_t end = first + 1;
    while (end < count && !order_of(&keys[first], &keys[end])) end++;
    return end;
}

// All of a full join; sides that are alone have -1 in place of the other.
static pairs expected_pairs(const key *l, uint64_t lefts, const key *r, uint64_t rights)
{
    pairs p = {0};
    for (uint64_t i = 0, k = 0; i < lefts || k < rights;) {
        const int order = i == lefts ? 1 : k == rights ? -1 : order_of(&l[i], &r[k]);
        const uint64_t i_end = order <= 0 ? run_end(l, i, lefts) : i, k_end = order >= 0 ? run_end(r, k, rights) : k;
        for (uint64_t x = i; x < i_end || (order > 0 && x == i); x++)
            for (uint64_t y = k; y < k_end || (order < 0 && y == k); y++) add_pair(&p, order > 0 ? -1 : l[x].at, order < 0 ? -1 : r[y].at);
        i = i_end, k = k_end;
    }
    return p;
}

// --- Records ---

enum { MOST_LEFT = 10000, MOST_RIGHT = 6000, LARGE = 70000 };
static left lefts[LARGE];
static right rights[LARGE];
static char elsewhere[NAMES][40];       // the same bytes in another place

static hdst_text_span name_of(uint32_t which, bool other)
{
    const char *bytes = other ? strcpy(elsewhere[which], texts[which]) : texts[which];
    return hdst_text_span_of(bytes, (uint32_t)strlen(bytes));
}

static float float_of(uint32_t which)
{
    static const uint32_t bits[] = {0, 0x80000000u, 0x7fc00000u, 0x7fc00001u, 0xffc00000u, 0x7f800000u, 0x3f800000u, 0xbf800000u};
    float x = (float)which;
    if (which < 8) memcpy(&x, &bits[which], 4);
    return x;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*state >> 33) % below;
}

typedef struct shape { uint32_t lefts, rights, keys, skewed; } shape;       // of `skewed` of 100 records the key is 0
static const shape shapes[] = {{0, 0, 1, 0}, {0, 5, 3, 0}, {7, 0, 3, 0}, {1, 1, 1, 0}, {300, 200, 100, 0}, {MOST_LEFT, MOST_RIGHT, 9000, 0},
                               {2000, 300, 500, 20}, {LARGE, 500, 900, 0}, {700, LARGE, 2000, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void fill_rows(const shape *s)
{
    uint64_t state = 5 + s->lefts;
    for (uint32_t i = 0; i < s->lefts; i++) {
        const uint32_t k = draw(&state, 100) < s->skewed ? 0 : draw(&state, s->keys);
        lefts[i] = (left){.k = k, .a = (int16_t)(k % 3) - 1, .at = i, .x = float_of(k), .wide = k * UINT64_C(0x123456789),
                          .code = {(uint8_t)k, (uint8_t)(k >> 8)}, .name = name_of(k % NAMES, i % 2)};
        lefts[i].code[11] = (uint8_t)(k % 5);
    }
    for (uint32_t i = 0; i < s->rights; i++) {
        const uint32_t k = draw(&state, 100) < s->skewed ? 0 : draw(&state, s->keys);
        rights[i] = (right){.user = k, .a = (int16_t)(k % 3) - 1, .at = i, .x = float_of(k), .wide = k * UINT64_C(0x123456789),
                            .code = {(uint8_t)k, (uint8_t)(k >> 8)}, .name = name_of(k % NAMES, i % 3)};
        rights[i].code[11] = (uint8_t)(k % 5);
    }
}

static key *left_list(int which, uint32_t count)
{
    key *keys = malloc((count + 1) * sizeof *keys);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = make_key(which, lefts[i].k, lefts[i].a, lefts[i].x, lefts[i].wide, lefts[i].code, &lefts[i].name, i);
    qsort(keys, count, sizeof *keys, by_key);
    return keys;
}

static key *right_list(int which, uint32_t count)
{
    key *keys = malloc((count + 1) * sizeof *keys);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = make_key(which, rights[i].user, rights[i].a, rights[i].x, rights[i].wide, rights[i].code, &rights[i].name, i);
    qsort(keys, count, sizeof *keys, by_key);
    return keys;
}

// --- Comparing ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *left, *right;
} job;

static void read_rows(job *j, const shape *s)
{
    j->left = hdst_read(hdst_source_from_memory(j->context, lefts, s->lefts, sizeof *lefts), j->module, "left");
    j->right = hdst_read(hdst_source_from_memory(j->context, rights, s->rights, sizeof *rights), j->module, "right");
}

static uint64_t collect(hdst_dataset *dataset, const char *what, void **rows)
{
    uint64_t n = 0;
    hdst_error error = HDST_ERROR_INIT;
    char text[2048];
    if (hdst_collect(dataset, rows, &n, &error) == HDST_OK) return n;
    hdst_error_format(&error, text, sizeof text);
    cr_assert_fail("%s: %s", what, text);
    return 0;
}

// Those of the full join that a kind has: `alone` of the left, of the right.
static void check_pairs(job *j, const pairs *all, int which, const char *function, bool alone_left, bool alone_right, const char *what)
{
    pair *got;
    const uint64_t n = collect(hdst_join(j->left, left_keys[which], j->right, right_keys[which], j->module, function), what, (void **)&got);
    uint64_t at = 0;
    for (uint64_t i = 0; i < all->count; i++) {
        const pair *p = &all->pair[i];
        if ((p->r < 0 && !alone_left) || (p->l < 0 && !alone_right)) continue;
        cr_assert(at < n && got[at].l == p->l && got[at].r == p->r, "%s, %s by %s: pair %d of %d", what, function, left_keys[which], (int)at, (int)n);
        at++;
    }
    cr_assert_eq(at, n, "%s, %s by %s: %d pairs of %d", what, function, left_keys[which], (int)n, (int)at);
    hdst_rows_destroy(j->context, got);
}

// Bits, but for padding, where the bytes of a text lie, and NaNs, of which a map in front makes one.
static bool same(const left *a, const left *b)
{
    return a->k == b->k && a->a == b->a && a->at == b->at &&
           (!memcmp(&a->x, &b->x, 4) || (a->x != a->x && b->x != b->x)) && a->wide == b->wide && !memcmp(a->code, b->code, 12) &&
           a->name.length == b->name.length && !memcmp(hdst_text_bytes(&a->name), hdst_text_bytes(&b->name), a->name.length);
}

static void check_half(job *j, const pairs *all, int which, bool anti, const char *what)
{
    left *got;
    hdst_dataset *d = (anti ? hdst_anti_join : hdst_semi_join)(j->left, left_keys[which], j->right, right_keys[which]);
    const uint64_t n = collect(d, what, (void **)&got);
    uint64_t at = 0;
    for (uint64_t i = 0; i < all->count; i++) {
        const int32_t l = all->pair[i].l;
        if (l < 0 || (all->pair[i].r < 0) != anti || (i && all->pair[i - 1].l == l)) continue;
        cr_assert(at < n && same(&got[at], &lefts[l]), "%s, %s by %s: record %d", what, anti ? "anti" : "semi", left_keys[which], (int)at);
        at++;
    }
    cr_assert_eq(at, n, "%s, %s by %s", what, anti ? "anti" : "semi", left_keys[which]);
    hdst_rows_destroy(j->context, got);
}

static void check_all(job *j, const shape *s, int which, const char *what)
{
    key *l = left_list(which, s->lefts), *r = right_list(which, s->rights);
    pairs all = expected_pairs(l, s->lefts, r, s->rights);
    check_pairs(j, &all, which, "inner", false, false, what);
    check_pairs(j, &all, which, "outer", true, false, what);
    check_pairs(j, &all, which, "other", false, true, what);
    check_pairs(j, &all, which, "full", true, true, what);
    for (int anti = 0; anti < 2; anti++) check_half(j, &all, which, anti, what);
    free(all.pair);
    free(l);
    free(r);
}

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

Test(joins, all_kinds_of_keys_and_sides_on_every_form)
{
    const bool cpu = have_cpu(), team = cpu && have_team();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if ((f && !cpu) || (f == 3 && !team)) continue;
        job j = {.context = context_in_form(forms[f])};
        j.module = module_of(j.context, kernels);
        for (int s = 0; s < SHAPES; s++) {
            fill_rows(&shapes[s]);
            for (int which = 0; which < KEYS; which++) {
                const bool few_names = which == 6 || which == 8;        // all pairs of many records
                if (s > 6 && (f > 1 || (which && which != 4))) continue;        // a side that is read through the hashes of the other one
                if ((few_names && shapes[s].lefts > 300) || (f && s > 0 && s < 4) || (f > 1 && which % 3)) continue;
                read_rows(&j, &shapes[s]);
                check_all(&j, &shapes[s], which, forms[f]);
            }
        }
        hdst_context_destroy(j.context);
    }
}

Test(joins, sides_that_are_computed_cached_or_in_another_layout)
{
    const char *const where[] = {"interp", "gpu-form"};
    for (int f = 0; f < (have_cpu() ? 2 : 1); f++) {
        job j = {.context = context_in_form(where[f])};
        j.module = module_of(j.context, kernels);
        fill_rows(&shapes[4]);
        read_rows(&j, &shapes[4]);
        j.left = hdst_with_layout(hdst_cache(hdst_map_function(j.left, j.module, "copy")), HDST_SOA);
        j.right = hdst_cache(j.right);
        check_all(&j, &shapes[4], 3, where[f]);
        check_all(&j, &shapes[4], 7, where[f]);
        hdst_context_destroy(j.context);
    }
}

static void expect_run(hdst_result *r, const shape *s, bool full, const char *words, const char *no_words)
{
    key *l = left_list(0, s->lefts), *k = right_list(0, s->rights);
    pairs all = expected_pairs(l, s->lefts, k, s->rights);
    uint64_t n, at = 0;
    RUN(r);
    const pair *got = hdst_result_rows(r, NULL, &n);
    for (uint64_t i = 0; i < all.count; i++) {
        if (!full && (all.pair[i].l < 0 || all.pair[i].r < 0)) continue;
        cr_assert(at < n && got[at].l == all.pair[i].l && got[at].r == all.pair[i].r, "pair %d of %d", (int)at, (int)n);
        at++;
    }
    cr_assert_eq(at, n);
    cr_expect(strstr(hdst_explain(r, NULL), words) && !strstr(hdst_explain(r, NULL), no_words), "%s, but not %s: %s", words, no_words, hdst_explain(r, NULL));
    free(all.pair);
    free(l);
    free(k);
}

static void change_rights(const shape *s)
{
    for (uint32_t i = 0; i < s->rights; i++) rights[i].user = rights[i].user * 5 % s->keys;
}

// A side that holds what it held in the last run keeps its order; of a large one that was read through the hashes of a small one all are ordered then.
Test(joins, sides_that_are_the_same_again)
{
    static const char both[] = "both sides in the order", one[] = "the left side in the order", any[] = "in the order in which";
    static const char some[] = "of the left side only ";
    job j = {.context = context_on("interp")};
    j.module = module_of(j.context, kernels);
    for (int large = 0; large < 2; large++) {
        const shape *s = &shapes[large ? 7 : 5];
        fill_rows(s);
        read_rows(&j, s);
        j.left = hdst_arrange(j.left, "k");
        j.right = hdst_cache(j.right);
        hdst_result *r = hdst_result_create(hdst_join(j.left, "k", j.right, "user", j.module, large ? "inner" : "full"));
        expect_run(r, s, !large, large ? some : "full", any);
        expect_run(r, s, !large, both, "nothing");
        change_rights(s);
        hdst_uncache(j.right);
        expect_run(r, s, !large, large ? "in memory" : one, large ? some : both);
        change_rights(s);
        hdst_uncache(j.right);
        expect_run(r, s, !large, one, some);
        hdst_uncache(j.left);
        expect_run(r, s, !large, large ? some : "the right side in the order", both);
        hdst_result_destroy(r);
    }
    hdst_context_destroy(j.context);
}

// A value, a reduce behind it, other values in the next run, both sides the same dataset.
Test(joins, what_is_bound_and_what_comes_behind)
{
    job j = {.context = context_on("interp")};
    j.module = module_of(j.context, kernels);
    fill_rows(&shapes[4]);
    read_rows(&j, &shapes[4]);
    key *l = left_list(3, shapes[4].lefts), *r = right_list(3, shapes[4].rights);
    const pairs all = expected_pairs(l, shapes[4].lefts, r, shapes[4].rights);
    hdst_value *limit = hdst_value_create(j.module, "float", 1);
    hdst_map_spec *spec = hdst_map_spec_create(j.module, "far");
    hdst_bind_value(spec, "limit", limit);
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_join_by(j.left, "k,a", j.right, "user,a", spec), j.module, "add"));
    for (int turn = 0; turn < 2; turn++) {
        const float bound = turn ? 0 : -5;
        uint32_t sum = 0;
        hdst_value_set(limit, &bound, 1);
        RUN(result);
        for (uint64_t i = 0; i < all.count; i++)
            if (all.pair[i].l >= 0 && all.pair[i].r >= 0) sum += (uint32_t)(lefts[all.pair[i].l].a > bound ? all.pair[i].l : all.pair[i].r);
        cr_assert_eq(hdst_view_int64(hdst_result_field(result, NULL, "value"), 0, 0), sum, "%s", hdst_explain(result, NULL));
    }
    const char *told = hdst_explain(result, NULL);
    cr_assert(strstr(told, "-> pairs by k, a = user, a\n") && strstr(told, "-> join far -> reduce add"), "%s", told);
    uint64_t n;
    cr_assert_eq(hdst_count(hdst_semi_join(j.right, "at", j.right, "at"), &n, NULL), HDST_OK);
    cr_assert_eq(n, shapes[4].rights);
    cr_assert_eq(hdst_count(hdst_anti_join(j.right, "at", hdst_filter_function(j.right, j.module, "even"), "at"), &n, NULL), HDST_OK);
    cr_assert_eq(n, shapes[4].rights / 2);
    free(all.pair);
    free(l);
    free(r);
    hdst_context_destroy(j.context);
}

// --- Each with each ---

Test(joins, each_with_each)
{
    const bool cpu = have_cpu(), team = cpu && have_team();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if ((f && !cpu) || (f == 3 && !team)) continue;
        job j = {.context = context_in_form(forms[f])};
        j.module = module_of(j.context, kernels);
        for (int s = 0; s < 5; s++) {
            fill_rows(&shapes[s]);
            read_rows(&j, &shapes[s]);
            pair *got;
            const uint64_t n = collect(hdst_cross(j.left, j.right, j.module, "inner"), forms[f], (void **)&got);
            cr_assert_eq(n, (uint64_t)shapes[s].lefts * shapes[s].rights, "%s", forms[f]);
            for (uint64_t i = 0; i < n; i++)
                cr_assert(got[i].l == (int32_t)(i / shapes[s].rights) && got[i].r == (int32_t)(i % shapes[s].rights), "%s: pair %d", forms[f], (int)i);
            hdst_rows_destroy(j.context, got);
        }
        hdst_context_destroy(j.context);
    }
}

// 60 million pairs in 2 MiB; a right side that does not fit.
Test(joins, each_with_each_in_little_memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = have_cpu() ? "cpu" : "interp";
    options.memory = 2 << 20;
    job j = {.context = hdst_context_create(&options)};
    j.module = module_of(j.context, kernels);
    const shape s = {.lefts = MOST_LEFT, .rights = have_cpu() ? MOST_RIGHT : 60, .keys = 9000};
    fill_rows(&s);
    read_rows(&j, &s);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < s.lefts; i++) sum += lefts[i].at * s.rights;
    hdst_result *r = hdst_result_create(hdst_reduce(hdst_cross(j.left, j.right, j.module, "first"), j.module, "add"));
    RUN(r);
    cr_assert_eq((uint32_t)hdst_view_int64(hdst_result_field(r, NULL, "value"), 0, 0), sum);
    cr_assert_leq(j.context->engine->runtime.memory.peak, 2 << 20);
    hdst_error error = HDST_ERROR_INIT;
    static right many[20000];
    hdst_dataset *large = hdst_read(hdst_source_from_memory(j.context, many, 20000, sizeof *many), j.module, "right");
    cr_assert_eq(hdst_run(hdst_result_create(hdst_reduce(hdst_cross(j.left, large, j.module, "first"), j.module, "add")), &error), HDST_E_MEMORY);
    cr_assert(strstr(error.message, "the right side of hdst_cross"), "%s", error.message);
    hdst_context_destroy(j.context);
}

// --- Little memory ---

Test(joins, sides_that_memory_has_no_room_for)
{
    static const uint64_t budgets[] = {2 << 20, 3 << 20};
    const char *const where[] = {"interp", "cpu"};
    for (int f = 0; f < (have_cpu() ? 2 : 1); f++) {
        for (int b = 0; b < 2; b++) {
            hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
            options.device = where[f];
            options.memory = budgets[b];
            job j = {.context = hdst_context_create(&options)};
            j.module = module_of(j.context, kernels);
            fill_rows(&shapes[5]);
            read_rows(&j, &shapes[5]);
            for (int which = 1; which < KEYS; which += 3) check_all(&j, &shapes[5], which, "little memory");
            hdst_result *r = hdst_result_create(hdst_join(j.left, "k", j.right, "user", j.module, "inner"));
            RUN(r);
            cr_assert_null(strstr(hdst_explain(r, NULL), "only"));
            if (b == 0) cr_assert(strstr(hdst_explain(r, NULL), "10000 records (sorted"), "%s", hdst_explain(r, NULL));
            fill_rows(&shapes[7]);
            read_rows(&j, &shapes[7]);
            check_all(&j, &shapes[7], 0, "a large side in little memory");
            cr_assert_leq(j.context->engine->runtime.memory.peak, budgets[b]);
            hdst_context_destroy(j.context);
        }
    }
}

// Of the large side only what may have a partner is ordered, unless it comes alone.
Test(joins, a_large_side_is_read_through_the_hashes_of_a_small_one)
{
    job j = {.context = context_on("interp")};
    j.module = module_of(j.context, kernels);
    for (int s = 7; s < SHAPES; s++) {
        fill_rows(&shapes[s]);
        read_rows(&j, &shapes[s]);
        const char *const functions[] = {"inner", "outer", "other", "full"};
        for (int f = 0; f < 4; f++) {
            hdst_result *r = hdst_result_create(hdst_join(j.left, "k", j.right, "user", j.module, functions[f]));
            RUN(r);
            const bool some = f == 0 || f == (s == 7 ? 2 : 1);
            cr_assert_eq(strstr(hdst_explain(r, NULL), s == 7 ? "of the left side only " : "of the right side only ") != NULL, some, "%s: %s", functions[f],
                         hdst_explain(r, NULL));
            hdst_result_destroy(r);
        }
    }
    hdst_context_destroy(j.context);
}

// --- What is refused ---

static void refused(hdst_dataset *d, hdst_status status, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_dataset_status(d, &error), status, "%s", message);
    cr_assert(strstr(error.message, message), "%s, not %s", error.message, message);
    if (hint) cr_assert(strstr(error.hint, hint), "%s, not %s", error.hint, hint);
}

Test(joins, what_is_wrong_is_told)
{
    job j = {.context = context_on("interp")};
    hdst_module *m = j.module = module_of(j.context, kernels);
    read_rows(&j, &shapes[4]);
    hdst_dataset *l = j.left, *r = j.right;
    refused(hdst_join(l, "k", r, "wide", m, "inner"), HDST_E_USAGE, "key 1 of hdst_join is uint32_t 'k' of 'left' on the left, and uint64_t 'wide' of 'right'",
            "one type");
    refused(hdst_join(l, "k, name", r, "user, code", m, "inner"), HDST_E_USAGE, "key 2 of hdst_join is text 'name' of 'left' on the left", NULL);
    refused(hdst_semi_join(l, "code", r, "code[1]"), HDST_E_USAGE, "key 1 of hdst_semi_join", NULL);
    refused(hdst_join(l, "k, a", r, "user", m, "inner"), HDST_E_USAGE, "was given 2 keys of 'left' and 1 of 'right'", "as many fields");
    refused(hdst_join(l, "id", r, "user", m, "inner"), HDST_E_USAGE, "record 'left' has no field 'id'", "its fields are");
    refused(hdst_join(l, "k", r, "usr", m, "inner"), HDST_E_USAGE, "record 'right' has no field 'usr'", "did you mean 'user'?");
    refused(hdst_anti_join(l, "k", r, ""), HDST_E_USAGE, "a key of hdst_anti_join has no name", NULL);
    refused(hdst_join(l, NULL, r, "user", m, "inner"), HDST_E_USAGE, "left_key", NULL);
    refused(hdst_join(l, "k", NULL, "user", m, "inner"), HDST_E_USAGE, "right", NULL);
    refused(hdst_join(r, "user", l, "k", m, "inner"), HDST_E_USAGE, "'inner' takes records of 'left' as 'l'; the left dataset has 'right'", NULL);
    refused(hdst_join(l, "k", l, "k", m, "inner"), HDST_E_USAGE, "'inner' takes records of 'right' as 'r'; the right dataset has 'left'", NULL);
    refused(hdst_join(l, "k", r, "user", m, "even"), HDST_E_USAGE, "hdst_join was given 'even', which is no join", "join even(A a, B b)");
    refused(hdst_join(l, "k", r, "user", m, "iner"), HDST_E_USAGE, "iner", "inner");
    refused(hdst_join(l, "k", r, "user", m, "far"), HDST_E_USAGE, "parameter 'limit' of 'far' is not bound", NULL);
    refused(hdst_cross(l, r, m, "outer"), HDST_E_USAGE, "hdst_cross was given a join with an optional side", "leave `optional` out");
    refused(hdst_cross(l, l, m, "inner"), HDST_E_USAGE, "'inner' takes records of 'right' as 'r'", NULL);
    refused(hdst_cross(l, r, m, "copy"), HDST_E_USAGE, "hdst_cross was given 'copy', which is no join", NULL);
    refused(hdst_map_function(l, m, "inner"), HDST_E_USAGE, "hdst_map was given 'inner', which is a join", NULL);
    hdst_context_destroy(j.context);
}

// The number of the pair.
Test(joins, a_pair_that_fails_is_told)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.replay_dir = "";
    job j = {.context = hdst_context_create(&options)};
    j.module = module_of(j.context, kernels);
    fill_rows(&(shape){4, 4, 1, 0});            // one key: 16 pairs
    read_rows(&j, &(shape){4, 4, 1, 0});
    lefts[2].at = 5, rights[2].at = 2;          // pair 10 has 5 + 2 - 7
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_run(hdst_result_create(hdst_join(j.left, "k", j.right, "user", j.module, "checked")), &error), HDST_E_RECORD);
    cr_assert(strstr(error.message, "in record 10") && error.record == 10, "%s", error.message);
    hdst_context_destroy(j.context);
}
