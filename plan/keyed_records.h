// SPDX-License-Identifier: Apache-2.0
// Records with a key, as operators by key take them: which fields are the key, and whether the others are those that a reduce takes.
#ifndef HDST_PLAN_KEYED_RECORDS_H
#define HDST_PLAN_KEYED_RECORDS_H

#include "plan/dataset.h"

// The leaves of the fields declared `key`; where none is, of the field called "key". Writes them, in order, to `leaves`, and returns their number; 0: no key.
uint32_t hdst__key_leaves(const hdst__record *record, uint32_t *leaves);
bool hdst__is_key_leaf(const hdst__record *record, uint32_t leaf);
// Whether the fields beside the key are what `reduce` takes, in order; HDST_E_USAGE says which is not, and both types.
hdst_status hdst__keyed_values_fit(const hdst__record *keyed, const ast_function *reduce, hdst_error *error);
// "float 'x[3]'"
const char *hdst__leaf_text(const hdst__leaf *leaf, char text[160]);

#endif
