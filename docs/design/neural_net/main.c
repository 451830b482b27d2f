// SPDX-License-Identifier: Apache-2.0
// Trains the net of neural_net.hk on images.npy (a structured array: 784 pixels, a digit) and counts what it reads wrong.
#include "hdst/hdst.h"

#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 784, HIDDEN = 32, DIGITS = 10 };

typedef struct net {        // as hdst kernel header neural_net.hk --param PIXELS=784 writes it
    float w1[HIDDEN][PIXELS], b1[HIDDEN], w2[DIGITS][HIDDEN], b2[DIGITS];
} net;
enum { NUMBERS = sizeof(net) / sizeof(float) };

// Every number of the net one step down the gradient.
static void descend(net *n, const net *gradient, float step)
{
    float *to = (float *)n;
    const float *from = (const float *)gradient;
    for (size_t i = 0; i < NUMBERS; i++) to[i] -= step * from[i];
}

int main(void)
{
    static net weights;
    hdst_error err = HDST_ERROR_INIT;
    hdst_context *ctx = hdst_context_create(NULL);
    hdst_source *in = hdst_source_open(ctx, "images.npy");
    hdst_module *hk = hdst_module_load(ctx, "neural_net.hk", HDST_PARAM("PIXELS", PIXELS));
    hdst_dataset *images = hdst_cache(hdst_read(in, hk, "image"));
    hdst_value *n = hdst_value_create(hk, "net", 1);
    hdst_map_spec *train = hdst_map_spec_create(hk, "train");
    hdst_bind_value(train, "n", n);
    hdst_result *r = hdst_result_create(hdst_map(images, train));
    srand(1);
    for (size_t i = 0; i < NUMBERS; i++) ((float *)&weights)[i] = ((float)rand() / (float)RAND_MAX - 0.5f) / 10;
    for (int epoch = 0; epoch < 100; epoch++) {
        hdst_value_set(n, &weights, 1);
        if (hdst_run(r, &err) != HDST_OK) break;
        descend(&weights, hdst_result_rows(r, "gradient", NULL), 1.0f / (float)hdst_source_rows(in));
        fprintf(stderr, "epoch %d: loss %g, %lld wrong\n", epoch, hdst_view_double(hdst_result_field(r, "loss", NULL), 0, 0),
                (long long)hdst_view_int64(hdst_result_field(r, "wrong", NULL), 0, 0));
    }
    hdst_context_destroy(ctx);
    return hdst_status_exit_code(err.code);
}
