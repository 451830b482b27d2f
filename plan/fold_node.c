// SPDX-License-Identifier: Apache-2.0
// Reduces that are not field-wise: a function of two records, and what stands for no record.
#include "plan/stage_node.h"

#include "codegen/ir/eval.h"
#include "plan/map_spec.h"
#include "record/scalar_convert.h"

#include <string.h>

// The bits of a constant: a number, or one that is negated or converted.
static bool constant_bits(const ast_expr *e, uint64_t *bits)
{
    if (e->kind == AST_NUMBER) {
        *bits = e->number.bits;
        return true;
    }
    if (e->kind == AST_CONVERT && constant_bits(e->left, bits)) *bits = hdst__scalar_convert(e->type->kind, e->left->type->kind, *bits);
    else if (e->kind == AST_UNARY && e->op == AST_NEG && constant_bits(e->left, bits)) *bits = hdst__eval_unary(IR_NEG, e->type->kind, e->type->kind, *bits);
    else return false;
    return true;
}

// Writes `identity { .d = INFINITY }` into a zeroed row. false: something in it is not constant.
static bool write_constant(const ast_expr *e, char *at)
{
    uint64_t bits;
    if (e->kind != AST_COMPOUND) {
        if (!constant_bits(e, &bits)) return false;
        if (hdst__kind_is_float(e->type->kind)) bits = hdst__eval_unary(IR_CANONICAL, e->type->kind, e->type->kind, bits);
        memcpy(at, &bits, hdst__scalar_size(e->type->kind));    // little endian, as all of hdst's raw data
        return true;
    }
    for (size_t i = 0; i < e->arg_count; i++) {
        const ast_init *init = &e->inits[i];
        if (!write_constant(e->args[i], at + (init->target ? init->target->offset : init->index * hdst__type_size(e->type->element)))) return false;
    }
    return true;
}

const void *hdst__plan_identity(hdst__arena *arena, const ast_function *reduce, const hdst__record *record, hdst_error *error)
{
    if (!reduce->identity) return NULL;
    char *written = hdst__arena_alloc(arena, record->size);
    if (write_constant(reduce->identity, written)) return written;
    hdst__error_set(error, HDST_E_UNSUPPORTED, "the identity of '%s' is computed; only constants are possible so far", reduce->name);
    return NULL;
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst_dataset *reduce = node->dataset;
    hdst__stage_node_list_items(arena, node);
    hdst__stage_node *own = node->own;
    own->folds = true;
    node->inputs[0]->folded = true;
    own->call.func = reduce->mark.func;
    const ast_function *users = reduce->spec ? reduce->spec->function : NULL;
    own->identity = users ? hdst__plan_identity(arena, users, reduce->record, error) : NULL;
    return own->identity || !users || !users->identity ? hdst__plan_passes(reduce->mark.func, error) : error->code;
}

const hdst__operator hdst__op_fold = {
    .name = "a fold", .build = build, .run = hdst__stage_node_run_in_turn, .known = hdst__node_has_run, .line = hdst__stage_node_line,
    .explain = hdst__stage_node_explain,
    .drop = hdst__stage_node_drop, .release = hdst__stage_node_release,
};
