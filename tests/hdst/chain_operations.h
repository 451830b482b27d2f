// SPDX-License-Identifier: Apache-2.0
// Operators that take items and give items, so that any of them may stand behind any other: each as the library has it, and as plain C has it.
#ifndef TESTS_HDST_CHAIN_OPERATIONS_H
#define TESTS_HDST_CHAIN_OPERATIONS_H

#include "hdst/hdst.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Behind these fields records have `load` more numbers, which follow from them: only the library carries those along.
typedef struct chain_item { uint64_t key; uint32_t v, at; } chain_item;

// What is known of the parts that records lie in: a reduction by key keeps them, and refuses a key that lies in two.
typedef enum chain_parts { CHAIN_NO_PARTS, CHAIN_PARTS_OF_KEYS, CHAIN_PARTS } chain_parts;

typedef struct chain_rows {
    chain_item *item;               // from malloc
    uint64_t count;
    chain_parts parts;
} chain_rows;

typedef struct chain_scene {
    hdst_context *context;
    hdst_module *module;
    unsigned load;
    uint32_t rows;                  // of the larger dense reduction, and of the larger value
} chain_scene;

typedef struct chain_operation chain_operation;
struct chain_operation {
    const char *name;
    unsigned weight;                // how often it is taken
    hdst_dataset *(*make)(const chain_operation *op, const chain_scene *scene, hdst_dataset *in, hdst_dataset *other, uint64_t number);
    chain_rows (*expect)(const chain_operation *op, const chain_scene *scene, const chain_rows *in, const chain_rows *other, uint64_t number);
    const char *function;           // or fields
    unsigned (*each)(const chain_item *in, uint32_t numbers, chain_item *out);      // what a function makes of an item: up to CHAIN_MOST
    unsigned least;                 // it has something that must be in memory: the error for memory is right below so many MiB
    bool two;                       // takes another dataset too
    bool filled;                    // takes no empty dataset
    chain_parts most_parts;         // which it can stand behind
    bool keeps_parts;
};

enum { CHAIN_MOST = 3, CHAIN_FEW = 1000 };

extern const chain_operation chain_operations[];
extern const size_t chain_operation_count;

// The module's text; free() takes it back. It has a param ROWS, for `rows` of the scene.
char *chain_kernels(unsigned load);
size_t chain_item_size(unsigned load);
void chain_pack(const chain_item *item, unsigned load, void *record);
bool chain_same(const chain_item *item, unsigned load, const void *record);
uint64_t chain_random(uint64_t *state);

#endif
