// SPDX-License-Identifier: Apache-2.0
// Values: rows that broadcast parameters read (plan/value.h).
#include "plan/value.h"

bool hdst__same_struct(const hdst__record *a, const hdst__record *b)
{
    if (a == b) return true;
    if (a->size != b->size || a->leaf_count != b->leaf_count) return false;
    for (size_t i = 0; i < a->leaf_count; i++)
        if (a->leaves[i].kind != b->leaves[i].kind || a->leaves[i].offset != b->leaves[i].offset ||
            a->leaves[i].elements != b->leaves[i].elements)
            return false;
    return true;
}

// How many numbers a record is that has nothing but one number, or one array of them, without a gap; 0: it is something else.
static uint64_t numbers_of(const hdst__record *record)
{
    const uint64_t count = record->leaf_count == 1 && !record->has_text ? record->leaves[0].elements : 0;
    return count * hdst__scalar_size(record->leaves[0].kind) == record->size ? count : 0;
}

bool hdst__value_can_take(const hdst__record *to, const hdst__record *from)
{
    if (hdst__same_struct(to, from)) return true;
    return numbers_of(to) && numbers_of(from) && to->leaves[0].kind == from->leaves[0].kind;
}

hdst_status hdst__value_rows_from(const hdst_value *value, const hdst__record *from, uint64_t count, uint64_t *rows, hdst_error *error)
{
    *rows = count;
    if (hdst__same_struct(value->record, from)) return HDST_OK;
    const uint64_t numbers = count * numbers_of(from), of_row = numbers_of(value->record);      // they are in memory: there is no overflow
    *rows = numbers / of_row;
    if (numbers % of_row == 0) return HDST_OK;
    const bool is_one = numbers == 1;
    hdst__error_set(error, HDST_E_USAGE, "%llu number%s of '%s' %s of '%s', which has %llu", (unsigned long long)numbers, is_one ? "" : "s", from->name,
                    is_one ? "is no whole row" : "are no whole rows", value->record->name, (unsigned long long)of_row);
    hdst__error_hint(error, "rows of numbers of one type become rows of other lengths when they are laid end to end");
    return HDST_E_USAGE;
}

hdst_status hdst__value_on_host(const hdst_value *value, const void **rows, hdst_error *error)
{
    if (value->on_device) return hdst__value_rows_read(value->resident, rows, error);
    *rows = value->data;
    return HDST_OK;
}
