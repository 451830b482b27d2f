// SPDX-License-Identifier: Apache-2.0
// What an operator is to the planner: one struct of functions, which stands in the operator's own file (op_*.c, beside the public function that makes
// its datasets), and one line in the table below. The graph, plans, explain and what is given back in the middle of a run call through it; none of
// them knows an operator by its name.
//
// An operator is a function of single records, or has a node of its own. Functions are fused: one after another they are a stage, which is a node
// (stage_node.h). The context's lock is held in all calls.
#ifndef HDST_PLAN_OPERATOR_H
#define HDST_PLAN_OPERATOR_H

#include "base/arena.h"
#include "base/buffer.h"
#include "plan/dataset.h"

typedef struct hdst__plan hdst__plan;
typedef struct hdst__plan_param hdst__plan_param;

// How many records it gives, of those of its input.
typedef enum hdst__gives {
    HDST__GIVES_NONE,               // no records, an accumulator alone
    HDST__GIVES_OTHERS,             // as many as come of all of the input together
    HDST__GIVES_EACH,               // one for each, but for those that fail where such are left out
    HDST__GIVES_SOME,               // for each one or none
    HDST__GIVES_FEW,                // the same, and hardly any
    HDST__GIVES_MANY,               // for each any number
} hdst__gives;

// Containers of reductions by key that a program may insist on (hdst_with_container).
typedef struct hdst__container_rule {
    uint32_t allowed;               // a bit for each hdst_container
    void (*set)(hdst_dataset *dataset, hdst_container container);       // NULL: what is allowed makes no difference
    const char *why, *hint;         // what is wrong with the others
} hdst__container_rule;

struct hdst__operator {
    const char *name;               // of the public function; of one that the planner makes, what it is
    hdst__gives gives;
    size_t own_bytes;               // of the struct that its datasets have of their own (dataset->own); its file says what is in it
    const hdst__container_rule *containers;     // NULL: it is no reduction by key
    // What it does, behind "records of 3" or another function's text: " -> map f". Appended.
    void (*describe)(const hdst_dataset *dataset, hdst__buffer *out);

    // --- A function ---
    // In IR, in the arena; NULL with the error filled. NULL: it is none, and the rest has its node.
    ir_func *(*lower)(hdst__arena *arena, const hdst_dataset *dataset, hdst_error *error);
    // What a parameter of it reads or fills; NULL: what the dataset's spec binds.
    hdst__plan_param (*bind)(const ir_func *func, const ir_param *param, const hdst_dataset *dataset);
    // The operator of a node of its own, where it had better not be fused, once it is lowered (dataset->mark.func); or NULL, as without this function.
    const hdst__operator *(*runs_as)(hdst__arena *arena, const hdst__plan *plan, const hdst_dataset *dataset);
    // A run of it ended so: from the next plan on it runs in another way, which may take less memory. False: there is none that would end otherwise.
    bool (*runs_otherwise)(hdst_dataset *dataset, hdst_status status);
    // With `runs_as`: the function that the functions in front end with, a dataset of the plan's own, in the arena, between the parent and this one.
    // NULL: none.
    hdst_dataset *(*in_front)(hdst__arena *arena, const hdst_dataset *dataset);
    bool always_in_front;           // even if there are no functions in front

    // A dataset of the plan's own, in the arena, a function that gives the same records in a way that suits this plan, with its parent and what it looks up
    // set; all that read it are known. NULL: itself. Also of operators that have a node.
    hdst_dataset *(*stands_in)(hdst__arena *arena, const hdst__plan *plan, hdst_dataset *dataset);

    // --- A node ---
    // Makes node->own in the arena, once all nodes before it are made. NULL: it has none.
    hdst_status (*build)(hdst__arena *arena, hdst__node *node, hdst_error *error);
    // Sets the node's reader, which gives its records; inputs have run. Figures are added to the plan's.
    hdst_status (*run)(hdst__plan *plan, hdst__node *node, hdst_error *error);
    // What is known of its records before a run: whether its reader can be asked, for their number and for them, and nothing is computed.
    bool (*known)(const hdst__node *node);
    // The node's line where `describe` is not enough, without its number. Appended.
    void (*line)(const hdst__node *node, hdst__buffer *out);
    // How it runs, or ran: lines. NULL: there is nothing to say, and nothing is done when it runs. Appended.
    hdst_status (*explain)(hdst__node *node, hdst__buffer *out, hdst_error *error);
    // Gives the records of the last run back where memory is short; how it ran stays. NULL: it holds none, its reader reads other ones.
    void (*drop)(hdst__node *node);
    bool reads_on;                  // with `drop`: its reader asks that of its first input whenever it is asked, so what that gives must stay as long
    // A run of the node ended for want of memory: from the next plan on it runs in a way that takes less, noted at its dataset. False: there is none.
    bool (*node_takes_less)(hdst__node *node);
    // Ends what build and runs took beside the arena. The node can run again. NULL: nothing.
    void (*release)(hdst__node *node);

    // --- What few have ---
    void (*end)(hdst_dataset *dataset);     // frees what dataset->own holds; also of one that was not made whole. NULL: nothing
    bool takes_some;                // records by their numbers: functions before it need only run over these
    bool gives_blocks;              // a function that gives the records of a block for each of its input: where failing records are left out, one that comes
                                    // behind must not take the whole block along
    bool may_stay_on_host;          // it runs without the device where its input is small; one that is not there is an error all the same
    // Its records are those of a plan of its own, which is made when the others no longer need what they note at datasets.
    hdst__plan *(*below)(const hdst__node *node);
    // Of a function whose accumulator has a row for each key of its arranged input: where the records of each of so many rows begin, once the input has run.
    // NULL: unknown.
    const struct hdst__plan_rows *(*row_starts)(const hdst_dataset *dataset, uint64_t rows);
    // Where the records of each key begin, for keys below `keys`, once a run has come by: of datasets in the order of a key. NULL: unknown.
    const struct hdst__plan_rows *(*key_starts)(const hdst_dataset *dataset, uint64_t keys);
    // A consumer takes the records of the stage before it slice by slice, and runs it: where they go; NULL: no memory. And whether they had better
    // come in whole, at most so many.
    const hdst__consumer *(*consumer)(hdst__node *node, hdst_error *error);
    bool (*wants_whole)(hdst__node *node, uint64_t records, hdst_error *error);
    bool (*is_range)(const hdst__node *node, uint64_t *first);      // whether its records are the numbers of a range, which wrap; the first one
    // Says in the error which records the one of its own is made of that failed in the stage which reads them. NULL: it is a record of its dataset.
    void (*name_failed)(const hdst__node *node, hdst_error *error);
    // A number that is another one whenever its records may be others than in the last run; 0: they may always be. NULL: 0.
    uint64_t (*version)(const hdst__node *node);
    bool (*drives)(const hdst__node *node);                 // whether the next run needs the stage before it, which it drives
};

// The table: a line for each, and its file.
#define HDST__OPERATORS(X)                                                                                                      \
    X(read)             /* op_read.c: records of a source */                                                                    \
    X(read_rows)        /* op_read.c: the same with texts, in memory */                                                         \
    X(read_value)       /* op_read_value.c: the rows of a value */                                                              \
    X(loop)             /* op_loop.c: a body that runs turn after turn */                                                       \
    X(map)              /* op_map.c */                                                                                          \
    X(filter)           /* op_filter.c */                                                                                       \
    X(flat_map)         /* op_flat_map.c */                                                                                     \
    X(sample)           /* op_sample.c */                                                                                       \
    X(zip_with_index)   /* op_zip_with_index.c */                                                                               \
    X(field)            /* op_renumber.c: one field, for hdst_dictionary */                                                     \
    X(renumber)         /* op_renumber.c: numbers in place of keys */                                                           \
    X(scan)             /* op_scan.c: sums of all records so far */                                                             \
    X(scan_blocks)      /* op_scan_function.c: blocks of records, with what is in front of them */                              \
    X(scan_function)    /* op_scan_function.c: a function over them */                                                          \
    X(window)           /* op_window.c: each with its neighbours */                                                             \
    X(count)            /* op_count.c: how many records there are, for hdst_count */                                            \
    X(reduce)           /* op_reduce.c */                                                                                       \
    X(reduce_dense)     /* op_reduce_dense.c: by a key that is the number of a record of the result */                          \
    X(reduce_to_rows)   /* op_reduce_dense.c: the same where there are very many records */                                     \
    X(key_in_range)     /* op_reduce_dense.c: what a function in front ends with then */                                        \
    X(reduce_arranged)  /* op_reduce_arranged.c: by the key that the input is arranged by */                                    \
    X(sums_of_keys)     /* op_reduce_arranged.c: what functions in front end with then */                                       \
    X(rows_of_keys)     /* op_reduce_arranged.c: these, in the order of a reduce by key */                                      \
    X(layout)           /* op_layout.c: the same records, read in another layout */                                             \
    X(slice)            /* op_slice.c: some, by their numbers */                                                                \
    X(union)            /* op_union.c */                                                                                        \
    X(cache)            /* op_cache.c: what another plan computed once */                                                       \
    X(arrange)          /* op_arrange.c: sorted by a key and cached */                                                          \
    X(sort)             /* op_sort.c */                                                                                         \
    X(partition)        /* op_partition.c: in the order of parts that a function names */                                       \
    X(candidates)       /* op_top.c: a threshold filter, in front of top */                                                     \
    X(top)              /* op_top.c: the largest or smallest ones */                                                            \
    X(group)            /* op_group.c: a function over the records of each key */                                               \
    X(one_side)         /* op_co_group.c: records that have room for those of two datasets */                                   \
    X(join_pairs)       /* op_join.c: pairs of records with equal keys */                                                       \
    X(probe)            /* op_probe.c: the same as a function of one side, for who does not ask for their order */              \
    X(join_table)       /* op_probe.c: the other side, as a hash table */                                                       \
    X(lookup_table)     /* op_lookup.c: records that a function looks up, as a hash table */                                    \
    X(stretches)        /* op_stretches.c: the same, all records of a key one behind another */                                 \
    X(join)             /* op_join.c: a function over them */                                                                   \
    X(cross_pairs)      /* op_cross.c: all records with all */                                                                  \
    X(semi_join)        /* op_semi_join.c: records that have a partner */                                                       \
    X(anti_join)        /* op_semi_join.c: those that have none */                                                              \
    X(reduce_by_key)    /* op_reduce_by_key.c */                                                                                \
    X(ones)             /* op_count_by_key.c: the key, and a 1 */                                                               \
    X(count_by_key)     /* op_count_by_key.c: sums of these */                                                                  \
    X(distinct)         /* op_distinct.c */                                                                                     \
    X(stage)            /* stage_node.c: fused functions */                                                                     \
    X(fold)             /* fold_node.c: a reduce that is no accumulation */

#define HDST__OPERATOR_DECLARE(name) extern const hdst__operator hdst__op_##name;
HDST__OPERATORS(HDST__OPERATOR_DECLARE)
#undef HDST__OPERATOR_DECLARE

extern const hdst__operator *const hdst__operators[];      // all of them, then NULL

#endif
