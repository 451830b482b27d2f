// SPDX-License-Identifier: Apache-2.0
// From the YAML tree of a schema to finished records. Every record is tried, so that one run shows all mistakes.
#include "base/name_set.h"
#include "record/missing.h"
#include "record/schema.h"
#include "record/schema_check.h"
#include "record/yaml_tree.h"

#include <stdarg.h>
#include <string.h>

enum { ASSUMED_PARAM = 4, MAX_SCHEMA_LEAVES = 100000 };

typedef struct declaration {
    yaml_tree *name, *layout, *align, *fields, *null_values;        // all but the name NULL when not given
    hdst__record *record;                           // finished when DONE
    enum { NEW, ACTIVE, DONE, BAD } state;
    uint32_t asked_by;                              // ACTIVE: the declaration that nests this one
    uint32_t nesting;                               // how deep records lie in it; 0: none
} declaration;

typedef struct reader {
    hdst__diags *diags;
    hdst__arena *arena;
    hdst__schema *schema;
    const hdst__param_value *values;
    size_t value_count;
    bool assume_params;
    declaration *declarations;
    size_t count, capacity;
    hdst__name_set record_names, param_names;       // to indices of declarations and of schema->params
    size_t leaves;                                  // of all records
} reader;

// Errors beyond those that are kept need no search for hints.
static bool is_quiet(const reader *r) { return r->diags->errors >= HDST__DIAG_LIMIT; }

static void complain(reader *r, hdst__span span, const hdst__complaint *complaint)
{
    hdst__diag_error(r->diags, span, complaint->hint, "%s", complaint->message);
}

// A hint for an unknown name: the nearest known one, else `otherwise`.
static const char *near_hint(reader *r, const char *name, const char *const *names, size_t count, const char *otherwise)
{
    const char *near = is_quiet(r) ? NULL : hdst__nearest_name(name, names, count);
    return near ? hdst__arena_printf(r->arena, "did you mean '%s'?", near) : otherwise;
}

// --- Mappings with known keys ---

typedef struct key {
    const char *name;
    yaml_tree *value;       // NULL: not given
    hdst__span span;        // of the key itself
} key;

static void unknown_key(reader *r, const yaml_tree *k, const char *what, const key *keys, size_t count)
{
    const char *names[8], *list = "";
    for (size_t i = 0; i < count && !is_quiet(r); i++) {
        names[i] = keys[i].name;
        list = hdst__arena_printf(r->arena, "%s%s%s", list, i ? ", " : "", keys[i].name);
    }
    const char *hint = is_quiet(r) ? NULL : near_hint(r, k->text, names, count, hdst__arena_printf(r->arena, "the keys of %s are %s", what, list));
    hdst__diag_error(r->diags, k->span, hint, "unknown key %s in %s", hdst__quoted(r->arena, k->text), what);
}

static void take_keys(reader *r, const yaml_tree *mapping, const char *what, key *keys, size_t count)
{
    for (size_t i = 0; i + 1 < mapping->count; i += 2) {
        const yaml_tree *k = mapping->items[i];
        size_t j = 0;
        if (k->kind != YAML_TREE_SCALAR) {
            hdst__diag_error(r->diags, k->span, NULL, "a key must be a name");
            continue;
        }
        while (j < count && strcmp(keys[j].name, k->text)) j++;
        if (j == count) unknown_key(r, k, what, keys, count);
        else if (keys[j].value) hdst__diag_error(r->diags, k->span, NULL, "key '%s' is given twice", k->text);
        else keys[j].value = mapping->items[i + 1], keys[j].span = k->span;
    }
}

// --- Params ---

static void set_param(reader *r, hdst__schema_param *param)
{
    for (size_t i = 0; i < r->value_count; i++) {
        if (strcmp(r->values[i].name, param->name)) continue;
        if (r->values[i].is_real) hdst__diag_error(r->diags, param->span, NULL, "param '%s' must be a whole number, not %g", param->name, r->values[i].real);
        param->given = true;
        const bool is_large = r->values[i].is_unsigned && r->values[i].bits > INT64_MAX;
        param->value = r->values[i].is_real ? 1 : is_large ? INT64_MAX : r->values[i].bits;
    }
}

static void read_params(reader *r, const yaml_tree *list)
{
    if (list->kind != YAML_TREE_LIST) {
        const char *hint = list->kind == YAML_TREE_MAPPING ? "params: [D]; the values are given from outside, with --param D=2" : "params: [D]";
        hdst__diag_error(r->diags, list->span, hint, "'params' must be a list of names");
        return;
    }
    hdst__schema *schema = r->schema;
    for (size_t i = 0; i < list->count; i++) {
        const yaml_tree *item = list->items[i];
        if (item->kind != YAML_TREE_SCALAR) {
            hdst__diag_error(r->diags, item->span, "params: [D]", "a param must be a name");
            continue;
        }
        const hdst__complaint *wrong = hdst__check_name(r->arena, "param", item->text);
        if (wrong) complain(r, item->span, wrong);
        else if (hdst__name_set_add(r->arena, &r->param_names, item->text, (uint32_t)schema->param_count) != HDST__NO_NAME)
            hdst__diag_error(r->diags, item->span, NULL, "param '%s' is declared twice", item->text);
        else {
            hdst__schema_param param = {.name = item->text, .span = item->span};
            set_param(r, &param);
            HDST__PUSH(r->arena, schema->params, schema->param_count, schema->param_capacity, param);
        }
    }
}

// 010: eight in YAML 1.1, ten in YAML 1.2.
static bool is_octal(const char *text) { return text[0] == '0' && text[1] && !text[strspn(text, "0123456789")]; }

static void unknown_param(reader *r, const yaml_tree *node)
{
    const char *hint = is_octal(node->text) ? "numbers are decimal: leave the zeroes in front out"
                                            : "a count is a number, a param, or a list of them: count: 784, count: D, count: [H, D]";
    if (hdst__check_name(r->arena, "param", node->text)) {
        hdst__diag_error(r->diags, node->span, hint, "%s is no count", hdst__quoted(r->arena, node->text));
        return;
    }
    size_t count = is_quiet(r) ? 0 : r->schema->param_count;
    const char **names = HDST__NEW_ARRAY(r->arena, const char *, count);
    for (size_t i = 0; i < count; i++) names[i] = r->schema->params[i].name;
    hint = near_hint(r, node->text, names, count, hdst__arena_printf(r->arena, "declare it at the top: params: [%s]", node->text));
    hdst__diag_error(r->diags, node->span, hint, "unknown param '%s'", node->text);
}

static bool param_value(reader *r, const yaml_tree *node, uint64_t *value)
{
    uint32_t index = hdst__name_set_find(&r->param_names, node->text);
    if (index == HDST__NO_NAME) {
        unknown_param(r, node);
        return false;
    }
    hdst__schema_param *param = &r->schema->params[index];
    if (!param->given && !param->value) {
        if (r->assume_params) {
            hdst__diag_note(r->diags, param->span, "param '%s' has no value: %d is assumed", param->name, ASSUMED_PARAM);
            param->value = ASSUMED_PARAM;
        } else {
            if (param->reported) return false;
            param->reported = true;
            const char *hint = hdst__arena_printf(r->arena, "give it with --param %s=N, or in C with HDST_PARAM(\"%s\", n)", param->name, param->name);
            hdst__diag_error(r->diags, param->span, hint, "param '%s' has no value", param->name);
            return false;
        }
    }
    *value = param->value;
    const hdst__complaint *wrong = hdst__check_count(r->arena, *value);
    if (wrong) hdst__diag_error(r->diags, node->span, wrong->hint, "%s (param '%s')", wrong->message, param->name);
    return !wrong;
}

// --- Numbers and counts ---

// Decimal, with a sign or without. Returns false when the text is no number; a number beyond int64 becomes the largest or smallest.
static bool parse_integer(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    if (negative) text++;
    if (!*text || is_octal(text)) return false;
    *value = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        int digit = *text - '0';
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, negative ? -digit : digit, value))
            *value = negative ? INT64_MIN : INT64_MAX;
        if (*value == INT64_MIN || *value == INT64_MAX) return !text[strspn(text, "0123456789")];
    }
    return true;
}

static bool read_one_count(reader *r, const yaml_tree *node, uint64_t *count)
{
    int64_t number;
    if (node->kind != YAML_TREE_SCALAR || !*node->text) {
        hdst__diag_error(r->diags, node->span, "count: 784, count: D, count: [H, D]", "a count is a number, a param, or a list of them");
        return false;
    }
    if (!parse_integer(node->text, &number)) return param_value(r, node, count);
    *count = (uint64_t)number;
    const hdst__complaint *wrong = hdst__check_count(r->arena, *count);
    if (wrong) complain(r, node->span, wrong);
    return !wrong;
}

// Wraps `type` into arrays by the field's `count`; NULL after an error.
static const hdst__type *read_count(reader *r, const yaml_tree *node, const hdst__type *type)
{
    uint64_t counts[HDST__LEAF_DIMS];
    bool is_list = node->kind == YAML_TREE_LIST;
    size_t dims = is_list ? node->count : 1;
    if (!dims || dims > HDST__LEAF_DIMS) {
        hdst__diag_error(r->diags, node->span, NULL, "a list of counts has 1 to %d entries, not %zu", HDST__LEAF_DIMS, dims);
        return NULL;
    }
    bool good = true;
    for (size_t d = 0; d < dims; d++) good &= read_one_count(r, is_list ? node->items[d] : node, &counts[d]);
    while (good && dims-- > 0) type = hdst__type_array(r->arena, type, counts[dims]);
    return good ? type : NULL;
}

// --- Fields ---

static void resolve(reader *r, uint32_t index, uint32_t asked_by, uint32_t depth, hdst__span from);

static void unknown_type(reader *r, const yaml_tree *node, const char *elsewhere)
{
    size_t records = is_quiet(r) ? 0 : r->count, count = 0;
    const char **names = HDST__NEW_ARRAY(r->arena, const char *, HDST__SCALAR_KINDS + 2 + records), *hint;
    for (; count < HDST__SCALAR_KINDS; count++) names[count] = hdst__scalar_yaml_name((hdst__kind)count);
    names[count++] = "date32";
    names[count++] = "timestamp";
    for (size_t i = 0; i < records; i++) names[count++] = r->declarations[i].name->text;
    if (elsewhere) hint = hdst__arena_printf(r->arena, "did you mean '%s'?", elsewhere);
    else
        hint = near_hint(r, node->text, names, count,
                         "types are bool, int8 ... int64, uint8 ... uint64, float32, float64, text, date32, timestamp, float32x3 and the like, and the "
                         "records of this file");
    hdst__diag_error(r->diags, node->span, hint, "unknown type %s", hdst__quoted(r->arena, node->text));
}

static const hdst__type *read_type(reader *r, const yaml_tree *node, uint32_t record, uint32_t depth)
{
    if (node->kind != YAML_TREE_SCALAR) {
        hdst__diag_error(r->diags, node->span, "type: float32", "a type is a name");
        return NULL;
    }
    const char *elsewhere;
    const hdst__type *type = hdst__schema_scalar_type(r->arena, node->text, &elsewhere);
    if (type) return type;
    uint32_t index = hdst__name_set_find(&r->record_names, node->text);
    if (index == HDST__NO_NAME) {
        unknown_type(r, node, elsewhere);
        return NULL;
    }
    resolve(r, index, record, depth + 1, node->span);
    if (r->declarations[index].nesting >= r->declarations[record].nesting) r->declarations[record].nesting = r->declarations[index].nesting + 1;
    return r->declarations[index].state == DONE ? hdst__type_record(r->arena, r->declarations[index].record) : NULL;
}

// A date32, or a timestamp of the unit that stands beside it. HDST__NO_TIME: it is neither, or there was an error.
static hdst__time_unit read_time(reader *r, const yaml_tree *type, const key *unit)
{
    hdst__time_unit time;
    const bool is_time = type->kind == YAML_TREE_SCALAR && hdst__schema_time_type(type->text, &time);
    if (is_time && time == HDST__NO_TIME && !unit->value)
        hdst__diag_error(r->diags, type->span, "{name: t, type: timestamp, unit: ms}; units are s, ms, us and ns", "a timestamp needs a unit");
    else if ((!is_time || time) && unit->value) hdst__diag_error(r->diags, unit->span, NULL, "only a timestamp has a unit");
    if (!is_time || time || !unit->value) return is_time ? time : HDST__NO_TIME;
    for (int u = HDST__SECONDS; u <= HDST__NANOSECONDS; u++)
        if (unit->value->kind == YAML_TREE_SCALAR && !strcmp(unit->value->text, hdst__time_unit_names[u])) return (hdst__time_unit)u;
    hdst__diag_error(r->diags, unit->value->span, "units are s, ms, us and ns", "unknown unit of a timestamp");
    return HDST__NO_TIME;
}

// What becomes of empty cells, `missing: nan`, and which field says so, `valid: has_x`.
static void read_missing(reader *r, const key *missing, const key *valid, hdst__field *field)
{
    if (valid->value && (valid->value->kind != YAML_TREE_SCALAR || !*valid->value->text))
        hdst__diag_error(r->diags, valid->value->span, "valid: has_x", "what says whether a field is valid is the name of a field");
    else if (valid->value) field->valid = valid->value->text;
    if (!missing->value) return;
    for (int m = HDST__MISSING_ERROR; m <= HDST__MISSING_SKIP; m++)
        if (missing->value->kind == YAML_TREE_SCALAR && !strcmp(missing->value->text, hdst__missing_names[m])) field->missing = (hdst__missing)m;
    if (!field->missing)
        hdst__diag_error(r->diags, missing->value->span, "missing: error, missing: zero, missing: nan, missing: skip",
                         "what an empty cell becomes is one of a few words");
}

// Which words say as much as an empty cell, `null_values: [NA, "-"]`. NULL: none are given, or there was an error.
static const hdst__null_values *read_null_values(reader *r, const yaml_tree *list)
{
    static const char example[] = "null_values: [NA, \"-\"]";
    if (!list) return NULL;
    if (list->kind != YAML_TREE_LIST || !list->count || list->count > HDST__NULL_VALUES) {
        hdst__diag_error(r->diags, list->span, example, "'null_values' is a list of 1 to 64 words");
        return NULL;
    }
    hdst__null_value *words = HDST__NEW_ARRAY(r->arena, hdst__null_value, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const bool is_word = list->items[i]->kind == YAML_TREE_SCALAR;
        const char *wrong = is_word ? hdst__null_value_wrong(list->items[i]->text, list->items[i]->length) : "a null value is a word";
        if (wrong) hdst__diag_error(r->diags, list->items[i]->span, example, "%s", wrong);
        if (wrong) return NULL;
        words[i] = (hdst__null_value){list->items[i]->text, list->items[i]->length};
    }
    hdst__null_values *values = HDST__NEW(r->arena, hdst__null_values);
    *values = (hdst__null_values){words, list->count};
    return values;
}

static bool read_field(reader *r, const yaml_tree *node, uint32_t record, uint32_t depth, hdst__name_set *names, hdst__field *field)
{
    static const char example[] = "{name: x, type: float32}";
    if (node->kind != YAML_TREE_MAPPING) {
        hdst__diag_error(r->diags, node->span, example, "a field is a mapping of name, type and count");
        return false;
    }
    key keys[] = {{"name"}, {"type"}, {"count"}, {"unit"}, {"missing"}, {"valid"}, {"null_values"}};
    size_t errors = r->diags->errors;
    take_keys(r, node, "a field", keys, 7);
    const yaml_tree *name = keys[0].value, *type = keys[1].value, *count = keys[2].value;
    // A key that was misspelt is also missing: say so once.
    if (r->diags->errors == errors && !name) hdst__diag_error(r->diags, node->span, example, "the field has no name");
    else if (r->diags->errors == errors && !type) hdst__diag_error(r->diags, node->span, example, "the field has no type");
    if (name && name->kind != YAML_TREE_SCALAR) hdst__diag_error(r->diags, name->span, example, "the name of a field must be a name");
    else if (name) {
        const hdst__complaint *wrong = hdst__check_name(r->arena, "field", name->text);
        if (wrong) complain(r, name->span, wrong);
        else if (hdst__name_set_add(r->arena, names, name->text, 0) != HDST__NO_NAME)
            hdst__diag_error(r->diags, name->span, NULL, "field '%s' is declared twice", name->text);
        field->name = name->text;
    }
    const size_t before = r->diags->errors;
    if (type) field->time = read_time(r, type, &keys[3]);
    if (type && r->diags->errors == before) field->type = field->time ? hdst__time_type(field->time) : read_type(r, type, record, depth);
    read_missing(r, &keys[4], &keys[5], field);
    field->null_values = read_null_values(r, keys[6].value);
    if (type && count) {
        const hdst__type *wrapped = read_count(r, count, field->type ? field->type : hdst__type_scalar(HDST__U8));
        if (field->type) field->type = wrapped;
    }
    return field->type && r->diags->errors == errors;
}

static bool read_fields(reader *r, uint32_t index, uint32_t depth)
{
    declaration *d = &r->declarations[index];
    static const char example[] = "fields: [{name: x, type: float32}]";
    if (!d->fields) hdst__diag_error(r->diags, d->name->span, example, "record '%s' has no fields", d->name->text);
    else if (d->fields->kind != YAML_TREE_LIST)
        hdst__diag_error(r->diags, d->fields->span, example, "'fields' must be a list: the order of fields is their order in memory");
    else if (!d->fields->count) hdst__diag_error(r->diags, d->fields->span, example, "record '%s' has no fields", d->name->text);
    else {
        hdst__field *fields = HDST__NEW_ARRAY(r->arena, hdst__field, d->fields->count);
        hdst__name_set names = {0};
        bool good = true;
        const hdst__null_values *of_all = read_null_values(r, d->null_values);
        good = of_all || !d->null_values;
        for (size_t i = 0; i < d->fields->count; i++) {
            good &= read_field(r, d->fields->items[i], index, depth, &names, &fields[i]);
            if (!fields[i].null_values && fields[i].type && hdst__type_base(fields[i].type)->kind != HDST__RECORD) fields[i].null_values = of_all;
        }
        d->record->fields = fields;
        d->record->field_count = d->fields->count;
        return good;
    }
    return false;
}

// --- Records ---

static bool read_align(reader *r, const yaml_tree *node, hdst__record *record)
{
    int64_t align = 0;
    if (node->kind == YAML_TREE_SCALAR && !parse_integer(node->text, &align)) align = 0;
    const hdst__complaint *wrong = hdst__check_align(r->arena, align < 0 ? 0 : (uint64_t)align);
    if (wrong) complain(r, node->span, wrong);
    record->pack = (uint64_t)align;
    return !wrong;
}

static bool read_layout_name(reader *r, const yaml_tree *node, hdst__record *record)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(node->text, hdst__layout_names[i])) continue;
        record->layout = (hdst__layout)i;
        record->block = i == HDST__AOSOA ? HDST__DEFAULT_BLOCK : 0;
        return true;
    }
    hdst__diag_error(r->diags, node->span, near_hint(r, node->text, hdst__layout_names, 4, "layouts are aos, soa, aosoa and aop"), "unknown layout %s",
                     hdst__quoted(r->arena, node->text));
    return false;
}

static bool read_layout(reader *r, const yaml_tree *node, hdst__record *record)
{
    static const char example[] = "layout: soa, or layout: {aosoa: 256} to set the records of a block";
    if (node->kind == YAML_TREE_SCALAR && *node->text) return read_layout_name(r, node, record);
    if (node->kind != YAML_TREE_MAPPING || node->count != 2 || node->items[0]->kind != YAML_TREE_SCALAR) {
        hdst__diag_error(r->diags, node->span, example, "a layout is a name");
        return false;
    }
    const yaml_tree *name = node->items[0], *block = node->items[1];
    if (!read_layout_name(r, name, record)) return false;
    if (record->layout != HDST__AOSOA) {
        hdst__diag_error(r->diags, name->span, example, "layout '%s' has no blocks", name->text);
        return false;
    }
    int64_t records = 0;
    if (block->kind == YAML_TREE_SCALAR && !parse_integer(block->text, &records)) records = 0;
    const hdst__complaint *wrong = hdst__check_block(r->arena, records < 0 ? 0 : (uint64_t)records);
    if (wrong) complain(r, block->span, wrong);
    record->block = (uint64_t)records;
    return !wrong;
}

static void report_cycle(reader *r, uint32_t target, uint32_t asked_by, hdst__span from)
{
    const char *target_name = r->declarations[target].name->text, *path = target_name;
    for (uint32_t i = asked_by; i != target; i = r->declarations[i].asked_by)
        path = hdst__arena_printf(r->arena, "%s -> %s", r->declarations[i].name->text, path);
    hdst__diag_error(r->diags, from, "a record cannot hold itself: keep an index (uint32, uint64) instead", "record '%s' contains itself: %s -> %s",
                     target_name, target_name, path);
}

// Makes the record of a declaration, after the records nested in it. `from` is the type name that refers to it.
static void resolve(reader *r, uint32_t index, uint32_t asked_by, uint32_t depth, hdst__span from)
{
    declaration *d = &r->declarations[index];
    if (d->state == ACTIVE) report_cycle(r, index, asked_by, from);
    else if (d->state == NEW && depth > HDST__MAX_NESTING)
        hdst__diag_error(r->diags, from, NULL, "records are nested more than %d deep", HDST__MAX_NESTING);
    if (d->state != NEW || depth > HDST__MAX_NESTING) return;
    d->state = ACTIVE;
    d->asked_by = asked_by;
    hdst__record *record = d->record = HDST__NEW(r->arena, hdst__record);
    record->name = d->name->text;
    record->source = d->name->span.source;
    record->offset = d->name->span.offset;
    bool good = !d->layout || read_layout(r, d->layout, record);
    if (d->align) good &= read_align(r, d->align, record);
    good &= read_fields(r, index, depth);
    const char *why = NULL;
    if (good && !hdst__record_finish(r->arena, record, &why)) {
        hdst__diag_error(r->diags, d->name->span, NULL, "record '%s': %s", record->name, why);
        good = false;
    }
    r->leaves += record->leaf_count;
    if (good && r->leaves > MAX_SCHEMA_LEAVES) {
        hdst__diag_error(r->diags, d->name->span, NULL, "the schema has more than %d fields, nested ones counted", MAX_SCHEMA_LEAVES);
        good = false;
    }
    if (good && d->nesting > HDST__MAX_NESTING) {
        hdst__diag_error(r->diags, d->name->span, NULL, "records are nested more than %d deep", HDST__MAX_NESTING);
        good = false;
    }
    d->state = good ? DONE : BAD;
}

static void declare(reader *r, yaml_tree *name, const key *layout_align_fields)
{
    if (name->kind != YAML_TREE_SCALAR) {
        hdst__diag_error(r->diags, name->span, name->kind == YAML_TREE_MAPPING ? "did you mean 'records'? `record: point` names a single one" : "record: point",
                         "the name of a record must be a name");
        return;
    }
    const hdst__complaint *wrong = hdst__check_name(r->arena, "record", name->text);
    if (wrong) complain(r, name->span, wrong);
    else if (hdst__name_set_add(r->arena, &r->record_names, name->text, (uint32_t)r->count) != HDST__NO_NAME) {
        hdst__diag_error(r->diags, name->span, NULL, "record '%s' is declared twice", name->text);
        return;
    }
    declaration d = {.name = name, .layout = layout_align_fields[0].value, .align = layout_align_fields[1].value, .fields = layout_align_fields[2].value,
                     .null_values = layout_align_fields[3].value};
    HDST__PUSH(r->arena, r->declarations, r->count, r->capacity, d);
}

static void declare_records(reader *r, const yaml_tree *records)
{
    static const char example[] = "records: {point: {fields: [{name: x, type: float32}]}}";
    if (records->kind != YAML_TREE_MAPPING || !records->count) {
        hdst__diag_error(r->diags, records->span, example, "'records' must be a mapping from names to records");
        return;
    }
    for (size_t i = 0; i + 1 < records->count; i += 2) {
        yaml_tree *name = records->items[i], *body = records->items[i + 1];
        key keys[] = {{"layout"}, {"align"}, {"fields"}, {"null_values"}};
        if (body->kind == YAML_TREE_MAPPING) take_keys(r, body, "a record", keys, 4);
        else if (name->kind == YAML_TREE_SCALAR)
            hdst__diag_error(r->diags, name->span, example, "record %s must be a mapping of layout, align and fields", hdst__quoted(r->arena, name->text));
        if (body->kind == YAML_TREE_MAPPING || name->kind != YAML_TREE_SCALAR) declare(r, name, keys);
    }
}

static void declare_all(reader *r, const yaml_tree *root)
{
    if (root->kind != YAML_TREE_MAPPING) {
        hdst__diag_error(r->diags, root->span, "it starts with 'records:', or with 'record: NAME' for a single one", "a schema must be a mapping");
        return;
    }
    key keys[] = {{"params"}, {"records"}, {"record"}, {"layout"}, {"align"}, {"fields"}, {"null_values"}};
    enum { PARAMS, RECORDS, RECORD, LAYOUT, KEYS = 7 };
    size_t errors = r->diags->errors;
    take_keys(r, root, "a schema", keys, KEYS);
    if (keys[PARAMS].value) read_params(r, keys[PARAMS].value);
    if (keys[RECORDS].value && keys[RECORD].value)
        hdst__diag_error(r->diags, keys[RECORD].span, "declare it among the others under 'records:'", "a schema has either 'records:' or 'record:'");
    if (keys[RECORDS].value) {
        for (int i = LAYOUT; i < KEYS; i++)
            if (keys[i].value && !keys[RECORD].value)
                hdst__diag_error(r->diags, keys[i].span, NULL, "'%s' belongs to a record: move it below the record's name", keys[i].name);
        declare_records(r, keys[RECORDS].value);
    } else if (keys[RECORD].value) {
        declare(r, keys[RECORD].value, &keys[LAYOUT]);
    } else if (r->diags->errors == errors) {
        hdst__diag_error(r->diags, root->span, "add 'records:', or 'record: NAME' for a single one", "the schema has no records");
    }
}

bool hdst__schema_read(hdst__diags *diags, const char *name, const char *text, size_t length, const hdst__param_value *params, size_t param_count,
                       bool assume_params, hdst__schema *out)
{
    *out = (hdst__schema){.name = hdst__arena_strdup(diags->arena, name)};
    size_t errors = diags->errors;
    uint32_t source = hdst__diags_add_source(diags, name, text, length);
    const yaml_tree *root = hdst__yaml_tree_read(diags, source);
    if (!root) return false;
    reader r = {.diags = diags, .arena = diags->arena, .schema = out, .values = params, .value_count = param_count, .assume_params = assume_params};
    declare_all(&r, root);
    for (uint32_t i = 0; i < r.count; i++) {
        resolve(&r, i, i, 0, r.declarations[i].name->span);
        bool named = hdst__name_set_find(&r.record_names, r.declarations[i].name->text) == i;   // not so after an error in the name
        if (named && r.declarations[i].state == DONE) HDST__PUSH(r.arena, out->records, out->record_count, out->record_capacity, r.declarations[i].record);
    }
    return diags->errors == errors;
}

hdst__record *hdst__schema_record(const hdst__schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->record_count; i++)
        if (!strcmp(schema->records[i]->name, name)) return schema->records[i];
    return NULL;
}
