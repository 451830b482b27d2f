// SPDX-License-Identifier: Apache-2.0
// Bills the orders of this year, finds the highest bill and each user's longest pause.
#include "hdst/hdst.h"

#include <stdio.h>

int main(void)
{
    const int32_t first_day = 20454;
    hdst_error err = HDST_ERROR_INIT;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_module *hk = hdst_module_load(ctx, "join.hk", HDST_NO_PARAMS);
    hdst_dataset *users = hdst_read(hdst_source_open(ctx, "users.csv"), hk, "user");
    hdst_dataset *orders = hdst_read(hdst_source_open(ctx, "orders.csv"), hk, "order");

    hdst_value *first = hdst_value_create(hk, "int32_t", 1);
    hdst_value_set(first, &first_day, 1);
    hdst_map_spec *since = hdst_map_spec_create(hk, "since");
    hdst_bind_value(since, "first_day", first);
    hdst_dataset *bills = hdst_join(users, "id", hdst_filter(orders, since), "user", hk, "pay");    // keys are named here

    hdst_result *highest = hdst_result_create(hdst_reduce(bills, hk, "highest"));
    hdst_result *pauses = hdst_result_create(hdst_group_function(bills, "user", hk, "longest_pause"));
    if (hdst_run(highest, &err) == HDST_OK && hdst_run(pauses, &err) == HDST_OK) {
        printf("user %lld pays %g\n", (long long)hdst_view_int64(hdst_result_field(highest, NULL, "user"), 0, 0),
               hdst_view_double(hdst_result_field(highest, NULL, "due"), 0, 0));
        hdst_view_save(hdst_result_field(pauses, NULL, "days"), "pauses.npy", &err);
    }
    hdst_context_destroy(ctx);
    return hdst_status_exit_code(err.code);
}
