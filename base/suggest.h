// SPDX-License-Identifier: Apache-2.0
// What a user probably meant by a name that is not known: one rule for kernels, schemas, columns, options and commands.
#ifndef HDST_BASE_SUGGEST_H
#define HDST_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

// The entry of `names` that `name` is a slip of the pen of, or NULL: letters of the other case are no difference; a
// letter too much, missing, wrong or changed with its neighbour is one, and there may be one for every three letters
// of the longer name. Else an entry that begins with `name`, if that has three letters or more.
const char *hdst__nearest_name(const char *name, const char *const *names, size_t count);

// The hint: "did you mean 'x'?", else what there is, as far as it fits: "its fields are x, y and 5 more". "" for
// none. `what` may be NULL: then nothing is listed.
void hdst__suggest(char *hint, size_t bytes, const char *what, const char *name, const char *const *names, size_t count);

#endif
