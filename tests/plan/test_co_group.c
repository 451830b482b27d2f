// SPDX-License-Identifier: Apache-2.0
// Groups of two datasets: what a function sees of both sides is what loops over all records give in C, also of keys that one side has alone; pairs that it
// emits are those of hdst_join, in its order; on every device, in little memory. What does not fit is told.
#include "tests/hdst/support.h"

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

typedef struct user { int64_t id; float age; hdst_text_span name; } user;
typedef struct order { uint16_t pad; double price; int64_t buyer; } order;
typedef struct seen { int64_t key; uint32_t users, orders; double age, price, last; uint64_t letters; } seen;
typedef struct pair { float age; double price; } pair;

static const char kernels[] =
    "struct user { int64_t id; float age; text name; };\n"
    "struct order { uint16_t pad; double price; int64_t buyer; };\n"
    "struct seen { int64_t key; uint32_t users, orders; double age, price, last; uint64_t letters; };\n"
    "struct pair { float age; double price; };\n"
    "struct both { int64_t id; uint16_t pad; };\n"
    "struct label { int64_t id; uint16_t pad; uint32_t n; };\n"
    "group meet(key int64_t k, stream user u, stream order o, broadcast double scale) -> seen\n"
    "{\n"
    "    seen s = { .key = k };\n"
    "    for (order e : o) { s.orders += 1; s.price += scale * e.price; s.last = e.price; }\n"
    "    for (user e : u) { s.users += 1; s.age += e.age; s.letters += len(e.name); }\n"
    "    return s;\n"
    "}\n"
    "group pairs(key int64_t k, stream user u, stream order o) -> pair { for (user a : u) for (order b : o) emit(a.age, b.price); }\n"
    "join joined(user a, order b) -> pair { return (pair){ a.age, b.price }; }\n"
    "join outer(optional user a, optional order b) -> int64_t { return has(a) ? a.id : b.buyer; }\n"
    "group of_two(key both k, stream label a, stream label b) -> label\n"
    "{\n"
    "    uint32_t n = 0;\n"
    "    for (label e : a) n += e.n;\n"
    "    for (label e : b) n += 1000 * e.n;\n"
    "    return (label){ k.id, k.pad, n };\n"
    "}\n"
    "group alone(key int64_t id, stream user u) -> seen { seen s; for (user e : u) s.users += 1; return s; }\n"
    "map label_user(user u) -> label { return (label){ (u.id + 700) % 7, (uint16_t)((u.id + 700) % 3), 1 }; }\n"
    "map label_order(order o) -> label { return (label){ (o.buyer + 700) % 7, (uint16_t)((o.buyer + 700) % 5), 1 }; }\n";

enum { USERS = 700, ORDERS = 1500, MANY = 30000, KEYS = 900, MOST = 2 * KEYS };

static user users[MANY];
static order orders[MANY];
static char names[20][40];

// Users have keys that are even or a multiple of 3, orders such as are odd or a multiple of 3; ages and prices are small sums, so that they are exact.
static void fill(int user_count, int order_count)
{
    uint32_t state = 11;
    for (int i = 0; i < 20; i++) snprintf(names[i], sizeof names[i], i % 2 ? "u%d" : "somebody whose number is %d", i);
    for (int i = 0; i < user_count || i < order_count; i++) {
        state = state * 1664525 + 1013904223;
        const int64_t key = (int64_t)(state >> 8) % KEYS - 100, other = (int64_t)(state >> 16) % KEYS - 100;
        const char *name = names[i % 20];
        if (i < user_count) users[i] = (user){key % 2 && key % 3 ? key + 1 : key, (float)(i % 64) / 4, hdst_text_span_of(name, (uint32_t)strlen(name))};
        if (i < order_count) orders[i] = (order){(uint16_t)i, (double)(i % 1000) / 8, other % 2 || other % 3 == 0 ? other : other + 1};
    }
}

static seen expected(int64_t key, int user_count, int order_count)
{
    seen s = {.key = key};
    for (int i = 0; i < order_count; i++)
        if (orders[i].buyer == key) s.orders++, s.price += 3 * orders[i].price, s.last = orders[i].price;
    for (int i = 0; i < user_count; i++)
        if (users[i].id == key) s.users++, s.age += users[i].age, s.letters += users[i].name.length;
    return s;
}

typedef struct shop { hdst_context *context; hdst_module *module; hdst_dataset *users, *orders; hdst_map_spec *meet; } shop;

static shop open_shop(hdst_context *context, int user_count, int order_count)
{
    shop s = {.context = context, .module = module_of(context, kernels)};
    fill(user_count, order_count);
    s.users = hdst_read(hdst_source_from_memory(context, users, (uint64_t)user_count, sizeof *users), s.module, "user");
    s.orders = hdst_read(hdst_source_from_memory(context, orders, (uint64_t)order_count, sizeof *orders), s.module, "order");
    s.meet = hdst_map_spec_create(s.module, "meet");
    hdst_value *scale = hdst_value_create(s.module, "double", 1);
    hdst_value_set(scale, &(double){3}, 1);
    cr_assert_eq(hdst_bind_value(s.meet, "scale", scale), HDST_OK);
    return s;
}

// Every key once, and of each what there is to see. The order is that of a full join's keys.
static void check_seen(const shop *s, hdst_result *met, int user_count, int order_count, const char *form)
{
    uint64_t count, rows, at = 0;
    hdst_result *outer = hdst_result_create(hdst_join(s->users, "id", s->orders, "buyer", s->module, "outer"));
    RUN(outer);
    const int64_t *keys = hdst_result_rows(outer, NULL, &rows);
    const seen *got = hdst_result_rows(met, NULL, &count);
    for (uint64_t i = 0; i < rows; i++) {
        if (i && keys[i] == keys[i - 1]) continue;
        cr_assert_lt(at, count, "too few keys on %s", form);
        const seen want = expected(keys[i], user_count, order_count), *is = &got[at++];
        cr_assert(is->key == want.key && is->users == want.users && is->orders == want.orders && is->age == want.age && is->price == want.price &&
                  is->last == want.last && is->letters == want.letters, "key %d on %s: key %d, %u users, %u orders, %g %g %g", (int)want.key, form,
                  (int)is->key, is->users, is->orders, is->age, is->price, is->last);
    }
    cr_assert_eq(at, count, "%d keys on %s, not %d", (int)count, form, (int)at);
    hdst_result_destroy(outer);
}

Test(co_group, both_sides_of_each_key)
{
    ON_EACH_FORM {
        shop s = open_shop(context_in_form(forms[form]), USERS, ORDERS);
        hdst_result *met = hdst_result_create(hdst_co_group_by(s.users, "id", s.orders, "buyer", s.meet));
        for (int run = 0; run < 2; run++) {
            RUN(met);
            check_seen(&s, met, USERS, ORDERS, forms[form]);
        }
        hdst_context_destroy(s.context);
    }
}

Test(co_group, one_side_without_records)
{
    for (int empty = 0; empty < 3; empty++) {
        const int user_count = empty % 2 ? USERS : 0, order_count = empty < 2 ? 0 : ORDERS;
        shop s = open_shop(context_in_form("interp"), user_count, order_count);
        hdst_result *met = hdst_result_create(hdst_co_group_by(s.users, "id", s.orders, "buyer", s.meet));
        RUN(met);
        check_seen(&s, met, user_count, order_count, "interp");
        hdst_context_destroy(s.context);
    }
}

Test(co_group, pairs_are_those_of_a_join)
{
    for (size_t form = 0; form < (have_cpu() ? 3 : 1); form++) {
        shop s = open_shop(context_in_form(forms[form]), USERS, ORDERS);
        hdst_result *of_group = hdst_result_create(hdst_co_group(s.users, "id", s.orders, "buyer", s.module, "pairs"));
        hdst_result *of_join = hdst_result_create(hdst_join(s.users, "id", s.orders, "buyer", s.module, "joined"));
        RUN(of_group);
        RUN(of_join);
        uint64_t count, wanted;
        const pair *got = hdst_result_rows(of_group, NULL, &count), *want = hdst_result_rows(of_join, NULL, &wanted);
        cr_assert(count == wanted && count > USERS / 2, "%d pairs on %s, not %d", (int)count, forms[form], (int)wanted);
        for (uint64_t i = 0; i < count; i++) cr_assert(got[i].age == want[i].age && got[i].price == want[i].price, "pair %d on %s", (int)i, forms[form]);
        hdst_context_destroy(s.context);
    }
}

Test(co_group, little_memory)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = UINT64_C(3) << 20;
    shop s = open_shop(hdst_context_create(&options), MANY, MANY);
    hdst_result *met = hdst_result_create(hdst_co_group_by(s.users, "id", s.orders, "buyer", s.meet));
    RUN(met);
    check_seen(&s, met, MANY, MANY, "interp with 3 MiB");
    hdst_context_destroy(s.context);
}

// A key of two fields, which stand elsewhere on the two sides.
Test(co_group, keys_of_several_fields)
{
    shop s = open_shop(context_in_form("interp"), USERS, ORDERS);
    hdst_dataset *left = hdst_map_function(s.users, s.module, "label_user"), *right = hdst_map_function(s.orders, s.module, "label_order");
    hdst_result *r = hdst_result_create(hdst_co_group(left, "id, pad", right, "id, pad", s.module, "of_two"));
    RUN(r);
    uint64_t count;
    uint32_t want[7][5] = {{0}}, keys = 0;
    struct { int64_t id; uint16_t pad; uint32_t n; } const *got = hdst_result_rows(r, NULL, &count);
    for (int i = 0; i < USERS; i++) want[(users[i].id + 700) % 7][(users[i].id + 700) % 3]++;
    for (int i = 0; i < ORDERS; i++) want[(orders[i].buyer + 700) % 7][(orders[i].buyer + 700) % 5] += 1000;
    for (int i = 0; i < 35; i++) keys += want[i / 5][i % 5] != 0;
    cr_assert_eq(count, keys);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert(got[i].id >= 0 && got[i].id < 7 && got[i].pad < 5 && got[i].n == want[got[i].id][got[i].pad], "key %d, %d", (int)got[i].id, got[i].pad);
        want[got[i].id][got[i].pad] = 0;        // so that it fails where a key comes again
    }
    hdst_context_destroy(s.context);
}

static void fails(hdst_dataset *dataset, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(dataset);
    cr_assert_eq(hdst_run(result, &error), HDST_E_USAGE, "%s", error.message);
    cr_assert(strstr(error.message, message) && strstr(error.hint, hint), "%s (%s)", error.message, error.hint);
    hdst_result_destroy(result);
}

Test(co_group, what_does_not_fit_is_told)
{
    shop s = open_shop(context_in_form("interp"), USERS, ORDERS);
    fails(hdst_co_group(s.users, "id", s.orders, "price", s.module, "pairs"),
          "key 1 of the right dataset, 'price', is double; key 'k' of 'pairs' is int64_t there",
          "a map in front of it makes keys of one type");
    fails(hdst_co_group(s.users, "id, age", s.orders, "buyer", s.module, "pairs"),
          "key 'k' of 'pairs' has 1 field, hdst_co_group was given 2 of the left dataset", "");
    fails(hdst_co_group(s.orders, "buyer", s.orders, "buyer", s.module, "pairs"), "'pairs' takes records of 'user' as 'u'; the left dataset has 'order'", "");
    fails(hdst_co_group(s.users, "id", s.users, "id", s.module, "alone"), "'alone', which is no group of two streams", "stream A a, stream B b");
    fails(hdst_co_group(s.users, "id", s.orders, "buyer", s.module, "joined"), "'joined', which is no group of two streams", "");
    fails(hdst_co_group(s.users, "id", NULL, "buyer", s.module, "pairs"), "hdst_co_group", "");
    fails(hdst_co_group(s.users, "id", s.orders, NULL, s.module, "pairs"), "hdst_co_group", "");
    fails(hdst_group_function(s.users, "id", s.module, "pairs"), "'pairs', which takes the records of two datasets", "hdst_co_group");
    hdst_context_destroy(s.context);
}
