// SPDX-License-Identifier: Apache-2.0
// Ranges of units in a random order of taking and giving back, beside a model that knows of each unit who has it: no two overlap, none passes the end, free
// neighbours are one range again, and nothing is refused while there is a gap.
#include "engine/device/sub_allocator.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

typedef struct model {
    uint32_t units;
    int owner[HDST__SUB_MOST_UNITS];        // of each unit; 0: nobody
} model;

static uint32_t longest_gap(const model *m)
{
    uint32_t longest = 0, now = 0;
    for (uint32_t i = 0; i < m->units; i++) {
        now = m->owner[i] ? 0 : now + 1;
        if (now > longest) longest = now;
    }
    return longest;
}

static void set(model *m, uint32_t first, uint32_t units, int from, int to)
{
    cr_assert_leq(first + units, m->units);
    for (uint32_t i = first; i < first + units; i++) {
        cr_assert_eq(m->owner[i], from, "unit %u", i);
        m->owner[i] = to;
    }
}

// The free ranges that are listed are the gaps of the model, each as a whole and in the class of its length.
static void check_lists(const hdst__sub_allocator *a, const model *m)
{
    uint32_t listed = 0, gaps = 0, free_units = 0;
    for (uint32_t c = 0; c < HDST__SUB_CLASSES; c++)
        for (uint16_t at = a->head[c]; at != HDST__SUB_NONE; at = a->next[at]) {
            const uint32_t units = a->length[at];
            cr_assert(units >= 1u << c && units < 2u << c);
            cr_assert(at == 0 || m->owner[at - 1], "a free neighbour before %u", at);
            cr_assert(at + units == m->units || m->owner[at + units], "a free neighbour behind %u", at);
            for (uint32_t i = at; i < at + units; i++) cr_assert_eq(m->owner[i], 0);
            listed++;
        }
    for (uint32_t i = 0; i < m->units; i++) {
        free_units += !m->owner[i];
        gaps += !m->owner[i] && (i == 0 || m->owner[i - 1]);
    }
    cr_assert_eq(listed, gaps);
    cr_assert_eq(a->free_units, free_units);
}

static void run_random(uint32_t units, uint32_t most, int turns)
{
    enum { HELD = 200 };
    hdst__sub_allocator *a = malloc(sizeof *a);
    model *m = calloc(1, sizeof *m);
    uint16_t first[HELD];
    uint32_t length[HELD] = {0};
    int refused = 0;
    m->units = units;
    hdst__sub_allocator_init(a, units);
    for (int turn = 0; turn < turns; turn++) {
        const uint32_t i = draw(HELD);
        if (length[i]) {
            cr_assert_eq(hdst__sub_allocator_length(a, first[i]), length[i]);
            hdst__sub_allocator_give(a, first[i]);
            set(m, first[i], length[i], (int)i + 1, 0);
            length[i] = 0;
        } else {
            const uint32_t wanted = 1 + draw(draw(4) ? most / 8 + 1 : most);
            const bool got = hdst__sub_allocator_take(a, wanted, &first[i]);
            cr_assert_eq(got, wanted <= longest_gap(m), "%u units", wanted);
            refused += !got;
            if (got) set(m, first[i], length[i] = wanted, 0, (int)i + 1);
        }
        if (turn % 7 == 0) check_lists(a, m);
    }
    cr_assert_gt(refused, 0, "there was always room: nothing was tried");
    for (uint32_t i = 0; i < HELD; i++)
        if (length[i]) hdst__sub_allocator_give(a, first[i]);
    memset(m->owner, 0, sizeof m->owner);
    check_lists(a, m);
    cr_assert(hdst__sub_allocator_take(a, units, &first[0]) && first[0] == 0, "all of it is one range again");
    free(a);
    free(m);
}

Test(sub_allocator, random_ranges_are_those_of_a_model)
{
    run_random(HDST__SUB_MOST_UNITS, 400, 20000);
    run_random(300, 40, 20000);
    run_random(90, 1, 3000);
}

Test(sub_allocator, the_smallest_range_with_room_is_taken)
{
    hdst__sub_allocator *a = malloc(sizeof *a);
    uint16_t at[7], got;
    static const uint32_t lengths[] = {7, 1, 5, 1, 6, 1, 79};
    hdst__sub_allocator_init(a, 100);
    for (int i = 0; i < 7; i++) cr_assert(hdst__sub_allocator_take(a, lengths[i], &at[i]));
    cr_assert(!hdst__sub_allocator_take(a, 1, &got), "nothing is left");
    for (int i = 0; i < 7; i += 2) hdst__sub_allocator_give(a, at[i]);
    cr_assert(hdst__sub_allocator_take(a, 5, &got) && got == at[2]);
    cr_assert(hdst__sub_allocator_take(a, 6, &got) && got == at[4]);
    cr_assert(hdst__sub_allocator_take(a, 3, &got) && got == at[0], "of another class: what is longer stays whole");
    free(a);
}
