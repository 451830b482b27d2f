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

hdst_status hdst__value_on_host(const hdst_value *value, const void **rows, hdst_error *error)
{
    if (value->on_device) return hdst__value_rows_read(value->resident, rows, error);
    *rows = value->data;
    return HDST_OK;
}
