// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree whose nodes know their place in the source. Only what a schema needs: no aliases, no tags, one document.
#ifndef HDST_RECORD_YAML_TREE_H
#define HDST_RECORD_YAML_TREE_H

#include "base/diag.h"

#include <stdbool.h>

typedef enum yaml_tree_kind { YAML_TREE_SCALAR, YAML_TREE_LIST, YAML_TREE_MAPPING } yaml_tree_kind;

typedef struct yaml_tree {
    yaml_tree_kind kind;
    hdst__span span;            // of a scalar as written; the first byte of a list or mapping
    const char *text;           // scalar, NUL-terminated
    size_t length;
    struct yaml_tree **items;   // list: its items; mapping: key, value, key, value ...
    size_t count, capacity;
} yaml_tree;

// The tree of a registered source; NULL, with an error reported, when it is no well-formed YAML, is empty, too large or too deep.
// libyaml's memory is released even when the arena runs out and leaves by longjmp.
yaml_tree *hdst__yaml_tree_read(hdst__diags *diags, uint32_t source);

#endif
