// SPDX-License-Identifier: Apache-2.0
// What a user probably meant by a name that is not known: one rule for kernels, schemas, columns, options and commands.
#ifndef HDST_BASE_SUGGEST_H
#define HDST_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

// The entry of `names` that `name` probably is a misspelling of, or NULL. Case makes no difference; an extra, missing or wrong
// letter counts as one mistake, and so do two neighbours swapped; one mistake is allowed for every three letters of the longer
// name. Else an entry that begins with `name`, if `name` has three letters or more.
const char *hdst__nearest_name(const char *name, const char *const *names, size_t count);

// The hint: "did you mean 'x'?", else what there is, as far as it fits: "its fields are x, y and 5 more". "" for
// none. `what` may be NULL: then nothing is listed.
void hdst__suggest(char *hint, size_t bytes, const char *what, const char *name, const char *const *names, size_t count);

#endif
