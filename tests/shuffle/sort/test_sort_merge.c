// SPDX-License-Identifier: Apache-2.0
// Sorted runs merged on all threads, against qsort by key, run and place: runs of any lengths, empty ones, keys that all are equal, as many runs as may be.
#include "shuffle/sort/sort_merge.h"

#include "base/runtime.h"
#include "engine/engine.h"
#include "engine/common/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct row { uint32_t key; int16_t other; uint16_t run; uint32_t place; } row;

enum { MOST = 20000 };

static row rows[MOST], merged[MOST], expected[MOST];

static int by_all(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->other != y->other) return x->other > y->other ? -1 : 1;     // descending
    if (x->run != y->run) return x->run < y->run ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static const hdst__sort_field fields[] = {{offsetof(row, key), HDST__U32, 32, false}, {offsetof(row, other), HDST__I16, 16, true}};

static void check(hdst__runtime *runtime, uint32_t runs, uint32_t keys, uint64_t most)
{
    hdst__sorted_run run[HDST__SORT_MERGE_RUNS];
    uint64_t count = 0;
    for (uint32_t r = 0; r < runs; r++) {
        const uint64_t length = r % 5 == 3 ? 0 : (uint64_t)rand() % (most / runs + 1);
        for (uint64_t i = 0; i < length; i++) rows[count + i] = (row){(uint32_t)rand() % keys, (int16_t)(rand() % 3 - 1), (uint16_t)r, 0};
        qsort(rows + count, length, sizeof *rows, by_all);
        for (uint64_t i = 0; i < length; i++) rows[count + i].place = (uint32_t)i;
        run[r] = (hdst__sorted_run){(const char *)(rows + count), length};
        count += length;
    }
    memcpy(expected, rows, count * sizeof *rows);
    qsort(expected, count, sizeof *expected, by_all);
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__sort_merge(runtime, fields, 2, sizeof(row), run, runs, (char *)merged, &error), HDST_OK, "%s", error.message);
    for (uint64_t i = 0; i < count; i++)
        cr_assert(!memcmp(&merged[i], &expected[i], sizeof(row)), "%u runs, %u keys: row %d of %d", runs, keys, (int)i, (int)count);
}

Test(sort_merge, any_runs)
{
    static const uint32_t runs[] = {1, 2, 3, 7, 8, 33, HDST__SORT_MERGE_RUNS}, keys[] = {1, 2, 50, 1 << 30};
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.threads = 3});
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            check(hdst__engine_runtime(engine), runs[r], keys[k], MOST);
            check(hdst__engine_runtime(engine), runs[r], keys[k], 2 * runs[r]);
        }
    hdst__engine_destroy(engine);
}

Test(sort_merge, ends_when_cancelled)
{
    hdst__cancel cancel = {0};
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.threads = 2, .cancel = &cancel});
    const hdst__sorted_run run[] = {{(const char *)rows, MOST / 2}, {(const char *)(rows + MOST / 2), MOST / 2}};
    hdst_error error = HDST_ERROR_INIT;
    hdst__cancel_begin(&cancel);
    hdst__cancel_ask(&cancel);
    cr_assert_eq(hdst__sort_merge(hdst__engine_runtime(engine), fields, 2, sizeof(row), run, 2, (char *)merged, &error), HDST_E_CANCELLED);
    hdst__cancel_end(&cancel);
    hdst__engine_destroy(engine);
}
