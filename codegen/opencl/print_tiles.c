// SPDX-License-Identifier: Apache-2.0
// GPU form: the loops with a tile, which a work-group makes for all its records (codegen/pass/row_tiles.h). A work-item has one of
// the lanes of a dot or sum, of several records and turns of the loop; neighbours read what lies side by side: elements of a row in C
// structs, records elsewhere. The sums of the lanes meet in local memory, where a work-item for each record brings them together.
#include "codegen/opencl/print_tiles.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_ordered_tiles.h"
#include "codegen/opencl/print_stmt.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

struct hdst__tiles {
    const ir_func *func;
    const char **memory;        // by variable: of arrays in tiles
    const char *scratch;        // the lanes of as many records as are made at once
    hdst__kind kind;            // of the widest of them
    uint32_t records;           // so many
    bool *own;                  // by variable
};

typedef struct tile_look {
    struct hdst__tiles *tiles;
    size_t *outside;            // by variable: mentions outside of tiles
} tile_look;

static const ir_stmt *inner_loop(const ir_stmt *tile) { return tile->tile->across ? tile->body.items[1] : tile->body.items[0]->body.items[1]; }

static bool see_tile(ir_stmt *s, void *user)
{
    tile_look *look = user;
    if (!s->tile) return true;
    const ir_block one = {&s, 1, 1};
    hdst__ir_tally(&one, look->outside, true);
    if (s->tile->across) return true;
    const hdst__kind kind = s->body.items[1]->value->kind;
    const uint32_t records = hdst__row_tile_records(look->tiles->func, s->tile);
    if (hdst__scalar_size(kind) > hdst__scalar_size(look->tiles->kind)) look->tiles->kind = kind;
    if (records > look->tiles->records) look->tiles->records = records;
    return true;
}

struct hdst__tiles *hdst__tiles_create(hdst__arena *arena, const ir_func *func)
{
    struct hdst__tiles *tiles = HDST__NEW(arena, struct hdst__tiles);
    *tiles = (struct hdst__tiles){.func = func, .memory = HDST__NEW_ARRAY(arena, const char *, func->var_count + 1), .kind = HDST__F32,
                                  .own = HDST__NEW_ARRAY(arena, bool, func->var_count + 1)};
    tile_look look = {tiles, HDST__NEW_ARRAY(arena, size_t, func->var_count + 1)};
    hdst__ir_tally(&func->body, look.outside, false);
    hdst__ir_visit_stmts((ir_block *)&func->body, see_tile, &look);
    for (uint32_t v = 0; v < func->var_count; v++) tiles->own[v] = look.outside[v] == 0 && !func->vars[v].in_tile && !func->vars[v].init;
    return tiles;
}

bool hdst__tiles_own(const hdst__printer *p, uint32_t var) { return p->tiles && p->tiles->func == p->func && p->tiles->own[var]; }

bool hdst__tiles_part(const hdst__printer *p, const ir_block *block)
{
    if (!p->tiles || !block || p->tiles->func != p->func) return false;
    for (size_t i = 0; i < block->count; i++)
        if (hdst__has_tile(block->items[i])) return true;
    return false;
}

// --- Local memory ---

void hdst__print_tile_memory(hdst__printer *p)
{
    struct hdst__tiles *tiles = p->tiles;
    for (uint32_t v = 0; tiles && v < tiles->func->var_count; v++) {
        const ir_var *var = &tiles->func->vars[v];
        if (!var->in_tile) continue;
        tiles->memory[v] = hdst__name_take(p->names, hdst__arena_printf(p->arena, "%s of records", var->name));
        hdst__write_line(&p->out, "__local %s %s[%" PRIu64 " * SPAN];", hdst__cl_name(var->kind), tiles->memory[v], hdst__row_tile_stride(var));
    }
    if (!tiles) return;
    hdst__print_ordered_memory(p, tiles->func);
    if (!tiles->records) return;
    tiles->scratch = "lane_sums";
    hdst__write_line(&p->out, "__local %s %s[%" PRIu32 " * %d];", hdst__cl_name(tiles->kind), tiles->scratch, tiles->records, HDST__LANES + 1);
}

void hdst__print_tile_of_record(hdst__printer *p, uint32_t v)
{
    const ir_var *var = &p->func->vars[v];
    hdst__write_line(&p->out, "__local const %s *%s = %s + lane * %" PRIu64 ";", hdst__cl_name(var->kind), p->var_name[v], p->tiles->memory[v],
                     hdst__row_tile_stride(var));
}

// --- A tile ---

typedef struct tile {
    hdst__printer *p;
    const ir_stmt *loop, *lanes, *inner, *set;      // set: the element of the tile
    const char *counter;        // type of the loop's counter
    const char *sum;            // type of the sums
    uint32_t groups, records, units, at_once;       // groups of HDST__LANES work-items; records of all of them
    bool clamps;                // the last units may be no turns of the loop
} tile;

static const char *number(hdst__printer *p, const char *name, uint32_t n) { return hdst__arena_printf(p->arena, "%s%" PRIu32, name, n); }

static const char *sum_name(hdst__printer *p, uint32_t record, uint32_t unit)
{
    return hdst__arena_printf(p->arena, "sum%" PRIu32 "_%" PRIu32, record, unit);
}

static void print_places(const tile *t)
{
    hdst__printer *p = t->p;
    const bool in_rows = p->options->input->layout == HDST__AOS;
    if (in_rows) hdst__write_line(&p->out, "const uint part = lane %% %d, own = lane / %d;", HDST__LANES, HDST__LANES);
    else hdst__write_line(&p->out, "const uint part = lane / %" PRIu32 ", own = lane %% %" PRIu32 ";", t->groups, t->groups);
    hdst__write_line(&p->out, "const uint last = (uint)min(count - base, (ulong)SPAN) - 1;");
    hdst__write_line(&p->out, "const %s end = %s;", t->counter, hdst__expr_text(p, t->loop->hi, HDST__WHOLE));
}

static void print_units(const tile *t)
{
    hdst__printer *p = t->p;
    for (uint32_t u = 0; u < t->units; u++) {
        if (!t->clamps || !u) hdst__write_line(&p->out, "const %s unit%" PRIu32 " = unit + %" PRIu32 ";", t->counter, u, u);
        else hdst__write_line(&p->out, "const %s unit%" PRIu32 " = min((%s)(unit + %" PRIu32 "), (%s)(end - 1));", t->counter, u, t->counter, u, t->counter);
    }
    for (uint32_t r = 0; r < t->records; r++)
        for (uint32_t u = 0; u < t->units; u++)
            hdst__write_line(&p->out, "%s %s = %s;", t->sum, sum_name(p, r, u), hdst__expr_text(p, t->lanes->body.items[0]->value, HDST__WHOLE));
}

// One step of one record's sum for one turn of the loop: variables have names of their own.
static void print_step(const tile *t, uint32_t record, uint32_t unit)
{
    hdst__printer *p = t->p;
    const ir_block *body = &t->inner->body;
    p->record = number(p, "record", record);
    p->var_name[t->loop->var] = number(p, "unit", unit);
    p->var_name[t->lanes->body.items[0]->var] = sum_name(p, record, unit);
    for (size_t i = 0; i + 1 < body->count; i++) p->var_name[body->items[i]->var] = hdst__arena_printf(p->arena, "value%" PRIu32 "_%" PRIu32 "_%" PRIu32,
        body->items[i]->var, record, unit);
    for (size_t i = 0; i < body->count; i++) {
        const ir_stmt *s = body->items[i];
        const ir_block before = {body->items, i, i};
        const bool known = i + 1 == body->count || hdst__ir_block_writes(&before, s->var);
        const char *type = known ? "" : hdst__arena_printf(p->arena, "%s ", hdst__cl_name(p->func->vars[s->var].kind));
        const char *value = hdst__expr_text(p, s->value, HDST__WHOLE);
        hdst__write_line(&p->out, "%s%s = %s;", type, p->var_name[s->var], value);
    }
}

// Every step of all sums, `steps` of them one behind another.
static void print_steps(const tile *t, const char *name, uint32_t steps)
{
    hdst__printer *p = t->p;
    for (uint32_t k = 0; k < steps; k++) {
        p->var_name[t->inner->var] = k ? hdst__arena_printf(p->arena, "(%s + %" PRIu32 ")", name, k * HDST__LANES) : name;
        if (t->inner->body.count > 1) hdst__write_line(&p->out, "{");
        for (uint32_t r = 0; r < t->records; r++)
            for (uint32_t u = 0; u < t->units; u++) print_step(t, r, u);
        if (t->inner->body.count > 1) hdst__write_line(&p->out, "}");
    }
    p->var_name[t->inner->var] = name;
}

// Many loads are to be under way where there are few sums. Where there are many, more of them would need too many registers, and compilers
// that unroll the loop all the same make it several times slower; two turns are quicker where no table needs registers beside.
static void print_sums(const tile *t)
{
    hdst__printer *p = t->p;
    const uint32_t steps = t->units >= HDST__GPU_TILE_FEW_TURNS ? 1 : t->records < HDST__GPU_TILE_STEPS ? HDST__GPU_TILE_STEPS / t->records : 1;
    const bool few = t->records * t->units <= HDST__GPU_TILE_UNROLLED_SUMS;
    const int unroll = steps > 1 ? 1 : p->func->tables->apart ? HDST__GPU_TILE_APART_UNROLLED : few ? 2 : 1;
    const uint64_t elements = t->inner->hi->bits, whole = elements - elements % (steps * HDST__LANES);
    const char *name = p->var_name[t->inner->var], *type = hdst__cl_name(p->func->vars[t->inner->var].kind);
    p->var_name[t->lanes->var] = "part";
    hdst__write_line(&p->out, "%s %s = part;", type, name);
    for (uint32_t at_once = steps;; at_once = 1) {
        const uint64_t end = at_once > 1 ? whole : elements;
        if (end && !p->options->facts.portable) hdst__write_line(&p->out, "#pragma unroll %d", unroll);
        if (end) hdst__write_line(&p->out, "for (; %s < %" PRIu64 "; %s += %" PRIu32 ") {", name, end, name, at_once * HDST__LANES);
        p->out.indent++;
        if (end) print_steps(t, name, at_once);
        p->out.indent--;
        if (end) hdst__write_line(&p->out, "}");
        if (at_once == 1 || whole == elements) break;
    }
}

static void print_together(const tile *t, uint32_t unit)
{
    hdst__printer *p = t->p;
    const char *sums = hdst__arena_printf(p->arena, "((__local %s *)%s)", t->sum, p->tiles->scratch);
    const uint64_t stride = hdst__row_tile_stride(&p->func->vars[t->set->var]);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    for (uint32_t r = 0; r < t->records; r++)
        hdst__write_line(&p->out, "%s[(own + %" PRIu32 ") * %d + part] = %s;", sums, r * t->groups, HDST__LANES + 1, sum_name(p, r, unit));
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    const char *within = t->clamps && unit ? hdst__arena_printf(p->arena, " && unit + %" PRIu32 " < end", unit) : "";
    hdst__write_line(&p->out, "if (lane < %" PRIu32 "%s) {", t->at_once, within);
    p->out.indent++;
    p->var_name[t->loop->var] = number(p, "unit", unit);
    p->var_name[t->lanes->body.items[2]->var] = "parts";
    hdst__write_line(&p->out, "__local const %s *parts = %s + lane * %d;", t->sum, sums, HDST__LANES + 1);
    hdst__write_line(&p->out, "%s[(from + lane) * %" PRIu64 " + %s] = %s;", p->tiles->memory[t->set->var], stride,
                     hdst__expr_text(p, t->set->index, HDST__OPERAND), hdst__expr_text(p, t->set->value, HDST__WHOLE));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_records(const tile *t)
{
    hdst__printer *p = t->p;
    hdst__write_line(&p->out, "for (uint from = 0; from <= last; from += %" PRIu32 ") {", t->at_once);
    p->out.indent++;
    for (uint32_t r = 0; r < t->records; r++)
        hdst__write_line(&p->out, "const ulong record%" PRIu32 " = base + min(from + own + %" PRIu32 ", last);", r, r * t->groups);
    hdst__write_line(&p->out, "for (%s unit = %s; unit < end; unit += %" PRIu32 ") {", t->counter, hdst__expr_text(p, t->loop->lo, HDST__WHOLE), t->units);
    p->out.indent++;
    print_units(t);
    print_sums(t);
    for (uint32_t u = 0; u < t->units; u++) print_together(t, u);
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

void hdst__print_tile(hdst__printer *p, const ir_stmt *loop)
{
    if (loop->tile->across) {
        hdst__print_ordered_tile(p, loop, p->tiles->memory[loop->body.items[2]->var]);
        return;
    }
    const ir_stmt *lanes = loop->body.items[0];
    const uint32_t groups = p->func->shape->group / HDST__LANES;
    const bool known = loop->lo->op == IR_CONST && loop->hi->op == IR_CONST;
    uint32_t units = loop->tile->units;
    if (known && loop->hi->bits < units) units = (uint32_t)loop->hi->bits;
    const tile t = {.p = p, .loop = loop, .lanes = lanes, .inner = inner_loop(loop), .set = loop->body.items[1],
                    .counter = hdst__cl_name(p->func->vars[loop->var].kind), .sum = hdst__cl_name(loop->body.items[1]->value->kind),
                    .groups = groups, .records = loop->tile->records, .units = units, .at_once = groups * loop->tile->records,
                    .clamps = !known || loop->hi->bits % units != 0};
    const char *record = p->record;
    hdst__print_source_line(p, loop);
    hdst__write_line(&p->out, "{");
    p->out.indent++;
    print_places(&t);
    print_records(&t);
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
    p->record = record;
}

void hdst__print_tile_steps(hdst__printer *p, const ir_stmt *loop)
{
    const char *name = p->var_name[loop->var], *type = hdst__cl_name(p->func->vars[loop->var].kind);
    hdst__write_line(&p->out, "for (%s %s = %s; %s < %s; %s += %" PRIu64 ") {", type, name, hdst__expr_text(p, loop->lo, HDST__WHOLE), name,
                     hdst__expr_text(p, loop->hi, HDST__OPERAND), name, loop->step);
}

static bool first_tile(ir_stmt *s, void *user)
{
    if (s->tile && !*(const ir_stmt **)user) *(const ir_stmt **)user = s;
    return !s->tile;
}

const char *hdst__tiles_why(hdst__printer *p)
{
    const ir_stmt *s = NULL;
    if (!p->tiles) return "";
    hdst__ir_visit_stmts((ir_block *)&p->tiles->func->body, first_tile, &s);
    return hdst__arena_printf(p->arena, "tiles: sums over %" PRIu64 " elements need the record and broadcasts alone; a work-group of %" PRIu32
                              " makes those of %" PRIu32 " records, a lane %" PRIu32 " by %" PRIu32 " at once\n", inner_loop(s)->hi->bits,
                              p->tiles->func->shape->group, p->tiles->func->shape->span, s->tile->records, s->tile->units);
}
