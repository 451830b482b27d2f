// SPDX-License-Identifier: Apache-2.0
// The IR text reader: where accumulators are (codegen/ir/placement.h).
#include "tests/support/ir_text_words.h"

static void read_leaf_placement(reader *r, const hdst__record *record, ir_placement *p)
{
    const int found = hdst__record_leaf(record, name(r, true));
    if (found < 0) fail(r, "no such leaf before");
    ir_leaf_placement *leaf = &p->leaf[found];
    int w = 0;
    while (w < IR_WAYS && !accept(r, hdst__ir_way_name((ir_way)w))) w++;
    if (w == IR_WAYS) fail(r, "no such way");
    leaf->way = (ir_way)w;
    if (p->slots) {
        leaf->slot = (uint32_t)whole(r);
        expect(r, "by");
        leaf->slot_words = (uint32_t)whole(r);
    }
    leaf->levels[0] = accept(r, "blocks of floats");
    leaf->levels[1] = accept(r, "blocks of doubles");
    leaf->fast = accept(r, "fast");
    if (!accept(r, "values")) return;
    leaf->value = (uint32_t)whole(r);
    expect(r, "of");
    leaf->values = (uint32_t)whole(r);
    expect(r, "sum");
    leaf->sum = (uint32_t)whole(r);
}

void ir_text_placement(reader *r)
{
    ir_param *of = &r->func->params[param(r, name(r, false))];
    ir_placement *p = HDST__NEW(r->arena, ir_placement);
    p->leaf = HDST__NEW_ARRAY(r->arena, ir_leaf_placement, of->record->leaf_count + 1);
    int k = 0;
    while (k < IR_PLACES && !accept(r, hdst__ir_place_name((ir_place)k))) k++;
    if (k == IR_PLACES) fail(r, "no such place");
    p->place = (ir_place)k;
    blank(r);
    if (isdigit((unsigned char)*r->at)) {
        p->slots = (uint32_t)whole(r);
        expect(r, "slots");
    }
    if (accept(r, ":")) do read_leaf_placement(r, of->record, p); while (accept(r, ","));
    of->placement = p;
}

static ir_tables *tables_of(reader *r)
{
    if (!r->func->tables) r->func->tables = HDST__NEW(r->arena, ir_tables);
    return r->func->tables;
}

void ir_text_tables(reader *r)
{
    ir_tables *t = tables_of(r);
    const struct { const char *what; uint32_t *value; } numbers[] = {{"copies", &t->copies}, {"shared", &t->shared},
        {"turns", &t->turns}, {"overflow", &t->overflow_words}, {"lane adds", &t->lane_adds}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (accept(r, numbers[i].what)) *numbers[i].value = (uint32_t)whole(r);
    t->lane_room = accept(r, "lane room");
    t->first_level = accept(r, "first level");
    t->apart = accept(r, "apart");
    t->has_tile = accept(r, "tile");
    if (!t->has_tile) return;
    t->tile = param(r, name(r, false));
    expect(r, "of");
    t->tile_words = (uint32_t)whole(r);
}

void ir_text_tuples(reader *r)
{
    ir_tables *t = tables_of(r);
    const struct { const char *what; uint32_t *value; } numbers[] = {{"rows", &t->tuples.tile_rows}, {"keys",
        &t->tuples.key_bits}, {"low", &t->tuples.low_bits},
                                                                      {"parts", &t->tuples.partitions_high}, {"values",
                                                                          &t->tuples.values}, {"sums",
                                                                          &t->tuples.sums}};
    t->has_tuples = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        expect(r, numbers[i].what);
        *numbers[i].value = (uint32_t)whole(r);
    }
}

const ir_tile *ir_text_tile(reader *r)
{
    ir_tile *tile = HDST__NEW(r->arena, ir_tile);
    tile->records = (uint32_t)whole(r);
    expect(r, "by");
    tile->units = (uint32_t)whole(r);
    if (accept(r, "across")) tile->across = (uint32_t)whole(r);
    return tile;
}

const ir_product *ir_text_product(reader *r)
{
    ir_product *product = HDST__NEW(r->arena, ir_product);
    product->factors = (uint32_t)whole(r);
    expect(r, "by");
    product->elements = (uint32_t)whole(r);
    expect(r, "across");
    product->across = (uint32_t)whole(r);
    expect(r, "steps");
    product->steps = (uint32_t)whole(r);
    product->beside = accept(r, "beside");
    return product;
}

void ir_text_shape(reader *r)
{
    ir_shape *shape = HDST__NEW(r->arena, ir_shape);
    expect(r, "group");
    shape->group = (uint32_t)whole(r);
    expect(r, "records");
    shape->records = (uint32_t)whole(r);
    if (accept(r, "span")) shape->span = (uint32_t)whole(r);
    r->func->shape = shape;
}

void ir_text_output(reader *r)
{
    ir_output *output = HDST__NEW(r->arena, ir_output);
    output->way = accept(r, "bounded") ? IR_OUTPUT_BOUNDED : IR_OUTPUT_COUNTED;
    if (output->way == IR_OUTPUT_COUNTED) {
        expect(r, "counted");
        output->at_most = accept(r, "at most");
        expect(r, "spare");
    }
    *(output->way == IR_OUTPUT_BOUNDED ? &output->bound : &output->spare) = whole(r);
    r->func->output = output;
}
