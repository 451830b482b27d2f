// Written by hdst from 'empty_params.yaml': do not edit.
#ifndef HDST_EMPTY_PARAMS_YAML_H
#define HDST_EMPTY_PARAMS_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus) && !defined(_Static_assert)
#define _Static_assert static_assert
#endif

// 16 bytes, alignment 8, layout aos
struct pair {
    uint64_t key;
    float value;
};
_Static_assert(sizeof(struct pair) == 16, "size of pair");
_Static_assert(offsetof(struct pair, key) == 0, "offset of pair.key");
_Static_assert(offsetof(struct pair, value) == 8, "offset of pair.value");

#endif
