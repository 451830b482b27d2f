// SPDX-License-Identifier: Apache-2.0
// A function of a module with what its parameters are bound to. Made by hdst/spec_object.c; operators keep copies. The context's lock is held.
#ifndef HDST_PLAN_MAP_SPEC_H
#define HDST_PLAN_MAP_SPEC_H

#include "plan/value.h"

typedef struct hdst__bound_lookup hdst__bound_lookup;       // bound_lookup.h

typedef struct hdst__binding {
    const char *parameter;      // belongs to the module's tree
    hdst_value *value;          // of a broadcast, retained; NULL for an accum
    uint64_t rows;              // of an accum
    hdst__bound_lookup *lookup; // of a lookup by key; else NULL
} hdst__binding;

struct hdst_map_spec {
    hdst__object object;
    hdst_module *module;        // retained
    const ast_function *function;
    hdst__binding *bindings;    // one per parameter of the function that is bound, in the order of binding
    size_t binding_count;
    bool separate;              // code was given apart for some class of devices
    hdst__separate code[3];     // by device class; texts are the spec's own
    struct hdst__part_call { hdst_part_function function; hdst_filter_part_function filter; void *user; } call[3];    // by device class
};

// A copy that retains what the spec retains, for the operator that keeps it; the object's error is taken over. NULL: out of memory.
hdst_map_spec *hdst__map_spec_copy(const hdst_map_spec *spec);
hdst_map_spec *hdst__map_spec_make(hdst_module *module, const char *function);
hdst_map_spec *hdst__map_spec_fail(hdst_context *context, const hdst_error *error);     // one with this error and nothing else
typedef const hdst_dataset *hdst__dataset_in_plan(const hdst_dataset *dataset);
// Whether it looks up the records of `dataset`, which `in_plan` says who gives.
bool hdst__map_spec_looks_up_in(const hdst_map_spec *spec, const hdst_dataset *dataset, hdst__dataset_in_plan *in_plan);
bool hdst__map_spec_looks_up(const hdst_map_spec *spec);      // whether one of its parameters is a lookup by key
// HDST_OK if every broadcast and accum table of the function is bound.
hdst_status hdst__map_spec_complete(const hdst_map_spec *spec, hdst_error *error);

// Both texts are copied; HDST_E_MEMORY leaves none.
hdst_status hdst__map_spec_take_text(hdst_map_spec *spec, hdst__separate *code, const char *text, const char *name);
void hdst__map_spec_forget_text(hdst_map_spec *spec, hdst__separate *code);

#endif
