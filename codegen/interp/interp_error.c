// SPDX-License-Identifier: Apache-2.0
// The message of a failed check: what failed, where in the kernel, in which record.
#include "codegen/interp/interp.h"

#include <stdio.h>
#include <string.h>

// 1048577 as "1,048,577"
static void with_separators(uint64_t value, char text[32])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t out = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = 0;
}

void hdst__quote_text(const char *bytes, uint64_t length, char quoted[HDST__CHECK_TEXT])
{
    static const char rest[] = "...\"";
    size_t out = 0;
    quoted[out++] = '"';
    for (uint64_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)bytes[i];
        const bool escaped = byte == '"' || byte == '\\', seen = byte >= ' ' && byte < 0x7f;
        if (out + 4 + sizeof rest > HDST__CHECK_TEXT) {
            snprintf(quoted + out, HDST__CHECK_TEXT - out, "%s", rest);
            return;
        }
        out += (size_t)snprintf(quoted + out, HDST__CHECK_TEXT - out, seen ? escaped ? "\\%c" : "%c" : "\\x%02x", byte);
    }
    snprintf(quoted + out, HDST__CHECK_TEXT - out, "\"");
}

static bool is_key(const ir_check *check) { return check->kind == IR_CHECK_KEY || check->kind == IR_CHECK_UNSIGNED_KEY; }

// A negative key arrives as a number near 2^64; an unsigned one may be as large.
static void describe_key(const ir_check *check, uint64_t key, uint64_t limit, char *text, size_t size)
{
    char number[24];
    if (check->kind == IR_CHECK_UNSIGNED_KEY) snprintf(number, sizeof number, "%llu", (unsigned long long)key);
    else snprintf(number, sizeof number, "%lld", (long long)key);
    if (limit == 0) snprintf(text, size, "key '%s' is %s, and the result has no rows,", check->what, number);
    else snprintf(text, size, "key '%s' is %s, out of range 0..%llu,", check->what, number, (unsigned long long)limit - 1);
}

static void describe_length(const char *what, uint64_t length, uint64_t bytes, char *text, size_t size)
{
    if (length > INT64_MAX) snprintf(text, size, "a text of %lld bytes of '%s'", (long long)length, what);
    else snprintf(text, size, "a text of %llu bytes of '%s', which has %llu,", (unsigned long long)length, what, (unsigned long long)bytes);
}

static hdst__kind kind_of_number(const hdst__type *key, uint64_t which)
{
    if (!key || key->kind != HDST__RECORD) return key ? key->kind : HDST__U64;      // one number
    const hdst__record *record = key->record;
    for (size_t i = 0; i < record->leaf_count; which -= record->leaves[i++].elements)
        if (which < record->leaves[i].elements) return record->leaves[i].kind;
    return HDST__VOID;                      // it has no such number
}

static void show_number(hdst__kind kind, uint64_t bits, char number[24])
{
    if (hdst__kind_is_signed(kind)) snprintf(number, 24, "%lld", (long long)bits);
    else snprintf(number, 24, "%llu", (unsigned long long)bits);
}

// 7, (7, -1), (7, -1, ...)
static void describe_missing(const ir_check *check, uint64_t first, uint64_t second, char *text, size_t size)
{
    char numbers[2][24];
    const bool is_record = check->key && check->key->kind == HDST__RECORD;
    show_number(kind_of_number(check->key, 0), first, numbers[0]);
    if (!is_record || kind_of_number(check->key, 1) == HDST__VOID) {
        snprintf(text, size, "lookup '%s' has no key %s,", check->what ? check->what : "", numbers[0]);
        return;
    }
    show_number(kind_of_number(check->key, 1), second, numbers[1]);
    const bool more = kind_of_number(check->key, 2) != HDST__VOID;
    snprintf(text, size, "lookup '%s' has no key (%s, %s%s),", check->what ? check->what : "", numbers[0], numbers[1], more ? ", ..." : "");
}

enum { OUT_OF_RANGE = 2 };      // of codegen/math/parse.hk

static bool is_of_int(const ir_check *check) { return check->what && !strcmp(check->what, "parse_int"); }

static void describe(const ir_check *check, uint64_t index, uint64_t limit, const char *of, char *text, size_t size)
{
    const char *what = check->what ? check->what : "";
    if (check->kind == IR_CHECK_EMIT)
        snprintf(text, size, "'%s' emits %llu records, room is for %llu,", what, (unsigned long long)index, (unsigned long long)limit);
    else if (check->kind == IR_CHECK_DIVISION) snprintf(text, size, "division by zero");
    else if (check->kind == IR_CHECK_NUMBER && limit == OUT_OF_RANGE) snprintf(text, size, "%s is out of range of int64_t", of);
    else if (check->kind == IR_CHECK_NUMBER) snprintf(text, size, "%s is %s", of, is_of_int(check) ? "no integer" : "no number");
    else if (check->kind == IR_CHECK_LOOKUP) describe_missing(check, index, limit, text, size);
    else if (check->kind == IR_CHECK_LOOKUP_TEXT) snprintf(text, size, "lookup '%s' has no key %s,", what, of);
    else if (check->kind == IR_CHECK_LENGTH) describe_length(what, index, limit, text, size);
    else if (is_key(check)) describe_key(check, index, limit, text, size);
    else if (limit == 0) snprintf(text, size, "index %lld out of range: %s has no rows", (long long)index, *what ? what : "the table");
    // An index that was negative in the source arrives as a number near 2^64.
    else if (index > INT64_MAX) snprintf(text, size, "index %lld out of range 0..%llu", (long long)index, (unsigned long long)limit - 1);
    else snprintf(text, size, "index %llu out of range 0..%llu", (unsigned long long)index, (unsigned long long)limit - 1);
}

static const char *hint_of(const ir_check *check, char *text, size_t size)
{
    if (check->kind == IR_CHECK_DIVISION) return "test the divisor before you divide";
    if (check->kind == IR_CHECK_NUMBER) {
        snprintf(text, size, "%s(t, otherwise) has a value for such texts", check->what);
        return text;
    }
    if (check->kind == IR_CHECK_EMIT) return "raise --memory (the output of a record must fit a quarter of it), or emit less from one record";
    if (is_key(check)) return "a dense result has a row for each key from 0 on: give hdst_reduce_dense more rows, or use hdst_reduce_by_key";
    if (check->kind == IR_CHECK_LOOKUP || check->kind == IR_CHECK_LOOKUP_TEXT) {
        snprintf(text, size, "ask before: has(%s, k) ? %s[k] : ...", check->what ? check->what : "t", check->what ? check->what : "t");
        return text;
    }
    if (check->kind != IR_CHECK_TABLE_INDEX || !check->what) return NULL;
    snprintf(text, size, "`len(%s)` is the number of its rows, set when the table is bound", check->what);
    return text;
}

void hdst__check_to_error(const ir_func *func, uint32_t check, uint64_t index, uint64_t limit, const char *of, uint64_t record, hdst_error *error)
{
    const ir_check *c = &func->checks[check];
    char what[160], number[32], message[224], hint[256];
    describe(c, index, limit, of ? of : "a text", what, sizeof what);
    with_separators(record, number);
    snprintf(message, sizeof message, "%s in record %s", what, number);
    // One diagnostic of its own, so that place and source line look as those of the compiler.
    hdst__diag diag = {.severity = HDST__ERROR, .span = c->span, .message = message, .hint = hint_of(c, hint, sizeof hint)};
    const hdst__diags *home = c->diags ? c->diags : func->diags;
    if (home) {
        hdst__diags diags = *home;
        diags.items = &diag;
        diags.count = diags.errors = 1;
        hdst__diags_to_error(&diags, HDST_E_RECORD, error);
    } else {
        hdst__error_set(error, HDST_E_RECORD, "%s", message);
        if (diag.hint) hdst__error_hint(error, "%s", diag.hint);
    }
    if (error) error->record = record;
}
