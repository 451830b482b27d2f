// SPDX-License-Identifier: Apache-2.0
// Meters: what there is, what there was at most, ever and since a mark, also when several threads count.
#include "base/meter.h"
#include "base/memory_owner.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

Test(meter, tells_the_most_of_all_times_and_since_the_mark)
{
    hdst__meter m;
    hdst__meter_init(&m);
    cr_assert_eq(hdst__meter_highest(&m), 0);
    hdst__meter_add(&m, 100);
    hdst__meter_take(&m, 70);
    cr_assert_eq(m.now, 30);
    cr_assert_eq(hdst__meter_highest(&m), 100);
    hdst__meter_mark(&m);
    cr_assert_eq(m.peak, 30, "what is there at the mark counts behind it");
    hdst__meter_add(&m, 20);
    cr_assert_eq(m.peak, 50);
    cr_assert_eq(hdst__meter_highest(&m), 100, "a mark forgets nothing");
    hdst__meter_reset(&m);
    cr_assert_eq(hdst__meter_highest(&m), 50);
    hdst__meter_take(&m, 50);
    hdst__meter_reset(&m);
    cr_assert_eq(hdst__meter_highest(&m), 0);
}

enum { THREADS = 4, TURNS = 100000 };

static void *count(void *meter)
{
    for (int i = 0; i < TURNS; i++) {
        hdst__meter_add(meter, 3);
        hdst__meter_take(meter, 2);
    }
    return NULL;
}

Test(meter, nothing_is_lost_between_threads)
{
    hdst__meter m;
    pthread_t thread[THREADS];
    hdst__meter_init(&m);
    for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&thread[i], NULL, count, &m), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    cr_assert_eq(m.now, THREADS * TURNS);
    cr_assert(m.peak >= m.now + 2 && m.peak <= m.now + 3 * THREADS, "the last additions reached it: %lu", (unsigned long)m.peak);
}

Test(meter, every_owner_has_a_name_of_its_own)
{
    for (int i = 0; i < HDST__OWNERS; i++) {
        const char *name = hdst__owner_name((hdst__owner)i);
        cr_assert(name && *name && strcmp(name, "?"));
        for (int j = 0; j < i; j++) cr_assert_str_neq(name, hdst__owner_name((hdst__owner)j));
    }
    cr_assert_str_eq(hdst__owner_name(HDST__OWNERS), "?");
}
