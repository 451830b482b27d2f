// SPDX-License-Identifier: Apache-2.0
// A net with one hidden layer of tanh and a softmax behind it, trained by mini-batches on hdst.
#ifndef NEURAL_NET_NET_H
#define NEURAL_NET_NET_H

#include "program.h"

typedef struct net {
    uint32_t d, hidden, classes;
    uint64_t records, held_out;     // samples in all; of them not trained with
    uint64_t batch;                 // samples of a step
    double rate, momentum;
    uint64_t random;                // the state of the generator
    char *samples;                  // records rows of d floats between 0 and 1 and a uint32_t, in input order
    uint64_t *order;                // a permutation of the records: first those that it trains with
    char *piece;                    // room for the larger of a batch and the held out samples: what a pass reads
    float *weights, *velocity;      // struct net of neural-net.hk
    hdst_module *module;
    hdst_value *value;
    bool explained;
    double accuracy, loss;          // over the held out samples, or all if there are none
} net;

// Reads the samples, scales every column to 0 ... 1, divides them and draws the first weights. `held_out` and what stands above must be set, and
// records > held_out. net_close is due in any case.
hdst_status net_open(net *n, program_run *run, hdst_error *error);
void net_close(net *n, program_run *run);

// Epochs: each goes once over all samples to train with, in a new order, but for a last batch that would not be whole.
hdst_status net_train(net *n, program_run *run, uint64_t epochs, hdst_error *error);

// Measures accuracy and loss.
hdst_status net_measure(net *n, program_run *run, hdst_error *error);

// Saves the class of each record, in input order, as int32 numbers.
hdst_status net_save_answers(net *n, program_run *run, const char *path, hdst_error *error);

#endif
