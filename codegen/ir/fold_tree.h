// SPDX-License-Identifier: Apache-2.0
// The shape of the tree by which a reduce that is declared associative folds its records: the same on every back end, by the number of records alone.
#ifndef HDST_CODEGEN_IR_FOLD_TREE_H
#define HDST_CODEGEN_IR_FOLD_TREE_H


enum { HDST__FOLD_RECORDS = 64 };     // that become one, from one level to the next

#endif
