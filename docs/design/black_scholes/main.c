// SPDX-License-Identifier: Apache-2.0
// Prices the options of options.csv and sums them up, in one pass over the input for each result.
#include "hdst/hdst.h"

#include <stdio.h>

int main(void)
{
    hdst_error err = HDST_ERROR_INIT;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_source *in = hdst_source_open(ctx, "options.csv");
    hdst_module *hk = hdst_module_load(ctx, "black_scholes.hk", HDST_NO_PARAMS);
    hdst_dataset *quotes = hdst_map_function(hdst_read(in, hk, "option"), hk, "price");
    hdst_result *prices = hdst_result_create(quotes);
    hdst_result *worth = hdst_result_create(hdst_map_function(quotes, hk, "value"));        // price and value become one kernel
    if (hdst_run(prices, &err) == HDST_OK && hdst_run(worth, &err) == HDST_OK) {
        hdst_view_save(hdst_result_field(prices, NULL, "price"), "prices.npy", &err);
        printf("%.17g\n", hdst_view_double(hdst_result_field(worth, "portfolio", NULL), 0, 0));
    }
    hdst_context_destroy(ctx);
    return hdst_status_exit_code(err.code);
}
