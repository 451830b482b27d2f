// Written by hdst from 'smallest.yaml': do not edit.
#ifndef HDST_SMALLEST_YAML_H
#define HDST_SMALLEST_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus) && !defined(_Static_assert)
#define _Static_assert static_assert
#endif

// 1 byte, alignment 1, layout aos
struct byte {
    uint8_t value;
};
_Static_assert(sizeof(struct byte) == 1, "size of byte");
_Static_assert(offsetof(struct byte, value) == 0, "offset of byte.value");

#endif
