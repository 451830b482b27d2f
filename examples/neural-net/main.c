// SPDX-License-Identifier: Apache-2.0
// The neural-net program: the command line around net.h.
#include "net.h"

#include "target.h"

#include <inttypes.h>

typedef struct settings {
    common_options common;
    const char *target;
    uint64_t hidden, epochs, batch, holdout;
    double rate, momentum;
    net net;
} settings;

static hdst_status check(void *user, hdst_error *error)
{
    const settings *s = user;
    return s->target ? HDST_OK : options_misuse(error, "--target digit, or the index of the column, from 0", "no --target given: which column is the class?");
}

static void write_json(json *j, const void *user)
{
    const settings *s = user;
    json_double(j, "accuracy", s->net.accuracy);
    json_double(j, "loss", s->net.loss);
    json_uint(j, "epochs", s->epochs);
}

static void write_text(FILE *out, const void *user)
{
    const settings *s = user;
    const net *n = &s->net;
    fprintf(out, "%" PRIu32 " columns, %" PRIu32 " hidden units, %" PRIu32 " classes; %" PRIu64 " epochs over %" PRIu64 " samples\n", n->d, n->hidden,
            n->classes, s->epochs, n->records - n->held_out);
    fprintf(out, "accuracy %.4f, loss %.6g over %" PRIu64 " %s\n", n->accuracy, n->loss, n->held_out ? n->held_out : n->records,
            n->held_out ? "held out" : "of them");
}

static hdst_status learn(program_run *run, settings *s, hdst_error *error)
{
    hdst_status status = net_open(&s->net, run, error);
    if (status == HDST_OK) status = net_train(&s->net, run, s->epochs, error);
    if (status == HDST_OK) status = net_measure(&s->net, run, error);
    if (status == HDST_OK && s->common.output) status = net_save_answers(&s->net, run, s->common.output, error);
    if (status == HDST_OK) status = program_show(run, s->net.records, write_json, write_text, s, error);
    net_close(&s->net, run);
    return status;
}

static hdst_status work(program_run *run, void *user, hdst_error *error)
{
    settings *s = user;
    hdst_status status = target_open(run, s->target, error);
    uint64_t records;
    if (status == HDST_OK) status = program_rows(run, &records, error);
    if (status != HDST_OK) return status;
    uint64_t held_out = s->holdout == UINT64_MAX ? records / 5 : s->holdout;
    if (held_out >= records)
        return options_misuse(error, "leave records to train with", "%" PRIu64 " records held out of %" PRIu64, held_out, records);
    s->net = (net){.d = hdst_source_columns(run->source) - 1, .hidden = (uint32_t)s->hidden, .records = records, .held_out = held_out, .batch = s->batch,
                   .rate = s->rate, .momentum = s->momentum, .random = s->common.seed};
    return learn(run, s, error);
}

int main(int argc, char **argv)
{
    settings s = {.hidden = 30, .epochs = 20, .batch = 50, .holdout = UINT64_MAX, .rate = 0.1, .momentum = 0.9};
    const option own[] = {
        {"target", OPTION_TEXT, &s.target, "COLUMN", "the column with the classes, whole numbers from 0: a name or an index", true},
        {"hidden", OPTION_COUNT, &s.hidden, "H", "units of the hidden layer (30)", true, NULL, 1, 10000},
        {"epochs", OPTION_COUNT, &s.epochs, "N", "times that all samples are trained with (20)", true, NULL, 0, UINT32_MAX},
        {"batch", OPTION_COUNT, &s.batch, "B", "samples of a step (50)", true, NULL, 1, UINT32_MAX},
        {"rate", OPTION_NUMBER, &s.rate, "R", "how far a step goes along the mean gradient (0.1)", true},
        {"momentum", OPTION_NUMBER, &s.momentum, "M", "what a step keeps of the one before (0.9)", true},
        {"holdout", OPTION_COUNT, &s.holdout, "N", "samples drawn to measure with, not to train (a fifth); 0: measures with all", true, NULL, 0, UINT32_MAX},
    };
    const program_info program = {
        "neural-net",
        "Trains a net with one hidden layer to find the class of a record. Writes accuracy and loss on records that were held out to\n"
        "standard output, and with --output the class that it finds for each record as int32 numbers in a .npy file.",
        own, sizeof own / sizeof *own};
    const program_steps steps = {.check = check, .work = work};
    return program_main(&program, &s.common, &steps, &s, argc, argv);
}
