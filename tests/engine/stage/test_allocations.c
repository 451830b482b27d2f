// SPDX-License-Identifier: Apache-2.0
// Every allocation of create, run and destroy, and of a look for devices, fails once: no crash, no leak, an error each time.
#include "tests/engine/fixture.h"

#include "engine/device/backend.h"

#include <criterion/criterion.h>
#include <stdlib.h>

typedef struct counter {
    long left, live;            // allocations until one fails; blocks not freed
} counter;

static void *allocate(size_t bytes, void *user)
{
    counter *c = user;
    if (--c->left == 0) return NULL;
    c->live++;
    return malloc(bytes);
}

static void *reallocate(void *pointer, size_t bytes, void *user)
{
    counter *c = user;
    if (--c->left == 0) return NULL;
    c->live += pointer == NULL;
    return realloc(pointer, bytes);
}

static void release(void *pointer, void *user)
{
    counter *c = user;
    c->live -= pointer != NULL;
    free(pointer);
}

static hdst_status once(counter *c, bool cached)
{
    hdst__allocator allocator = {allocate, reallocate, release, c};
    fixture f;
    hdst_status status = fixture_open(&f, &(fixture_options){
        .device = "interp", .layout = HDST__SOA, .records = 2000, .accumulates = true, .outputs = true, .filters = true, .cached = cached,
        .allocator = &allocator});
    if (status == HDST_OK) status = fixture_run(&f);
    if (status == HDST_OK) fixture_expect_right(&f);
    fixture_close(&f);
    return status;
}

static void each_fails(bool cached)
{
    for (long n = 1;; n++) {
        counter c = {n, 0};
        hdst_status status = once(&c, cached);
        cr_assert_eq(c.live, 0, "%ld blocks leak when allocation %ld fails", c.live, n);
        if (c.left > 0) {       // none failed: all were tried
            cr_assert_eq(status, HDST_OK);
            cr_assert_gt(n, 10);
            return;
        }
        // The sample of the data may do without memory; everything else is needed.
        cr_assert(status == HDST_E_MEMORY || status == HDST_OK, "allocation %ld: %d", n, (int)status);
    }
}

// Where there is no memory to look for devices that is what is said, and not that there are none.
Test(allocations, each_failure_of_a_look_for_devices_is_reported)
{
    for (long n = 1;; n++) {
        counter c = {n, 0};
        hdst__allocator allocator = {allocate, reallocate, release, &c};
        hdst__device_list list = {0};
        hdst_error error = HDST_ERROR_INIT;
        const hdst_status status = hdst__backends_find(&list, &allocator, &error);
        const long left = c.left;
        if (status == HDST_OK) hdst__device_list_clear(&list);
        cr_assert_eq(c.live, 0, "%ld blocks leak when allocation %ld fails", c.live, n);
        cr_assert_eq(status, left > 0 ? HDST_OK : HDST_E_MEMORY, "allocation %ld: %s", n, error.message);
        if (left > 0) {
            cr_assert_gt(n, 3);     // OpenCL's list, its loader, and the list of devices at least
            return;
        }
    }
}

Test(allocations, each_failure_of_a_streamed_run_is_survived) { each_fails(false); }
Test(allocations, each_failure_of_a_cached_run_is_survived) { each_fails(true); }
