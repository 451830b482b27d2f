// SPDX-License-Identifier: Apache-2.0
// Two ordered sides side by side (shuffle/join/join_walk.h).
#include "shuffle/join/join_walk.h"

// Below 0: the left record comes first, 0: equal keys.
static int compare(const hdst__join_walk *w, uint64_t left, uint64_t right)
{
    const uint32_t a = hdst__join_hash(w->left, left), b = hdst__join_hash(w->right, right);
    if (a != b) return a < b ? -1 : 1;
    if (!w->left->key.has_text && w->left->key.bytes <= 4) return 0;       // which no two keys share
    return hdst__key_fields_compare_with(&w->left->key, hdst__join_row(w->left, left), &w->right->key, hdst__join_row(w->right, right));
}

static uint64_t count_run(const hdst__join_side *side, uint64_t first, uint64_t end)
{
    uint64_t next = first + 1;
    while (next < end && hdst__join_same_key(side, first, next)) next++;
    return next - first;
}

static bool take(const hdst__join_walk *w, hdst__join_place *at, hdst__join_match *run, int order)
{
    *run = (hdst__join_match){.left = at->left, .right = at->right, .first = at->result};
    if (order <= 0) run->lefts = count_run(w->left, at->left, w->end_left);
    if (order >= 0) run->rights = count_run(w->right, at->right, w->end_right);
    at->left += run->lefts;
    at->right += run->rights;
    run->results = order > 0 ? run->rights : run->lefts;
    return order || !w->pairs || !__builtin_mul_overflow(run->lefts, run->rights, &run->results);
}

bool hdst__join_next(const hdst__join_walk *w, hdst__join_place *at, hdst__join_match *run, bool *overflow)
{
    while (at->left < w->end_left || at->right < w->end_right) {
        const int order = at->left == w->end_left ? 1 : at->right == w->end_right ? -1 : compare(w, at->left, at->right);
        if (order < 0 && !w->left_alone) at->left++;
        else if (order > 0 && !w->right_alone) at->right++;
        else {
            *overflow = !take(w, at, run, order) || __builtin_add_overflow(at->result, run->results, &at->result);
            if (order || w->partners || *overflow) return !*overflow;
            at->result -= run->results;
        }
    }
    return false;
}
