// SPDX-License-Identifier: Apache-2.0
// Which open orders of a market segment are worth the most: customers, orders and items of orders joined.
#include "program.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct open_order {     // as join.hk gives it
    int64_t orderkey;
    hdst_text_span date;
    int32_t priority;
    double revenue;
} open_order;

typedef struct question {
    hdst_text_span segment, date;
} question;

typedef struct job {
    const char *customers, *orders, *items, *segment, *date;
    uint64_t top;
    hdst_module *module;
    hdst_value *asked;
    const open_order *rows;
    uint64_t count;
} job;

static bool is_date(const char *text)
{
    static const char form[] = "0000-00-00";
    if (strlen(text) != sizeof form - 1) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i]) return false;
    return true;
}

static hdst_status check(void *from, hdst_error *error)
{
    const job *w = from;
    if (!w->customers || !w->orders || !w->items) return options_misuse(error, "--customers, --orders and --lineitems each name a file", "a table is missing");
    if (!is_date(w->date)) return options_misuse(error, "as in 1995-03-15", "--date '%s' is no date", w->date);
    return HDST_OK;
}

// --- The datasets ---

static hdst_dataset *table(program_run *run, const job *w, const char *path, const char *columns, const char *record, const char *filter)
{
    hdst_map_spec *spec = hdst_map_spec_create(w->module, filter);
    hdst_bind_value(spec, "q", w->asked);
    hdst_dataset *rows = hdst_read(hdst_source_open_columns(run->context, path, columns), w->module, record);
    hdst_dataset *kept = hdst_filter(hdst_with_layout(rows, program_layout(run, HDST_AOS)), spec);
    hdst_map_spec_destroy(spec);
    return kept;
}

static hdst_dataset *find_orders(program_run *run, const job *w)
{
    hdst_dataset *customers = table(run, w, w->customers, "c_custkey,c_mktsegment", "customer", "in_segment");
    hdst_dataset *orders = table(run, w, w->orders, "o_orderkey,o_custkey,o_orderdate,o_shippriority", "order", "before");
    hdst_dataset *items = table(run, w, w->items, "l_orderkey,l_extendedprice,l_discount,l_shipdate", "item", "after");
    hdst_dataset *of_segment = hdst_join(customers, "custkey", orders, "custkey", w->module, "of_customer");
    hdst_dataset *revenues = hdst_join(of_segment, "orderkey", items, "orderkey", w->module, "of_order");
    hdst_dataset *all = program_contained(run, hdst_reduce_by_key(revenues, w->module, "add"));
    return hdst_slice(hdst_sort(all, "revenue desc, date, orderkey"), 0, w->top);
}

// --- What is shown ---

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_open(j, "orders", '[');
    for (uint64_t i = 0; i < w->count; i++) {
        char date[16] = "";
        const open_order *o = &w->rows[i];
        memcpy(date, hdst_text_bytes(&o->date), o->date.length < sizeof date ? o->date.length : sizeof date - 1);
        json_open(j, NULL, '{');
        json_int(j, "orderkey", o->orderkey);
        json_double(j, "revenue", o->revenue);
        json_text(j, "orderdate", date);
        json_int(j, "shippriority", o->priority);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    for (uint64_t i = 0; i < w->count; i++) {
        const open_order *o = &w->rows[i];
        fprintf(out, "%" PRId64 " %.4f %.*s %" PRId32 "\n", o->orderkey, o->revenue, (int)o->date.length, hdst_text_bytes(&o->date), o->priority);
    }
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    hdst_status status = program_load(run, "join.hk", NULL, 0, &w->module, error);
    if (status != HDST_OK) return status;
    const question asked = {hdst_text_span_of(w->segment, (uint32_t)strlen(w->segment)), hdst_text_span_of(w->date, (uint32_t)strlen(w->date))};
    w->asked = hdst_value_create(w->module, "question", 1);
    hdst_value_set(w->asked, &asked, 1);
    hdst_dataset *best = find_orders(run, w);
    hdst_result *result = hdst_result_create(best);
    status = program_run_result(run, result, NULL, error);
    if (status == HDST_OK) w->rows = hdst_result_rows(result, NULL, &w->count);
    if (status == HDST_OK) status = program_show(run, w->count, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = hdst_save(best, run->common->output, error);
    hdst_result_destroy(result);
    hdst_value_destroy(w->asked);
    hdst_module_destroy(w->module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.segment = "BUILDING", .date = "1995-03-15", .top = 10};
    common_options common;
    const option own[] = {
        {"customers", OPTION_TEXT, &w.customers, "FILE", "a table with the columns c_custkey, c_mktsegment", true},
        {"orders", OPTION_TEXT, &w.orders, "FILE", "one with o_orderkey, o_custkey, o_orderdate, o_shippriority", true},
        {"lineitems", OPTION_TEXT, &w.items, "FILE", "one with l_orderkey, l_extendedprice, l_discount, l_shipdate", true},
        {"segment", OPTION_TEXT, &w.segment, "NAME", "the market segment of the customers (BUILDING)", true},
        {"date", OPTION_TEXT, &w.date, "DATE", "ordered before it, shipped after it (1995-03-15)", true},
        {"top", OPTION_COUNT, &w.top, "N", "how many orders (10)", true, NULL, 1, UINT32_MAX},
        OPTION_CONTAINER(common),
    };
    const program_info info = {"join",
                               "Finds the orders of a market segment that are open on a date and worth the most (query 3 of TPC-H): customers, orders and\n"
                               "the items of orders from separated text, joined, totalled by order and sorted. Writes a line for each order: its key, its\n"
                               "revenue, its date and its priority; with --output the same as .csv, .tsv or .raw.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.no_input = true, .check = check, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
