// SPDX-License-Identifier: Apache-2.0
// Loops whose turns the lanes of a work-group share (codegen/opencl/print_flat_loop.h). Each lane goes through what leads to its record's loop; from how many
// turns each has follows which turns of which record are whose. What a turn needs of its record is worked out again: it is read from the cache.
#include "codegen/opencl/print_flat_loop.h"
#include "codegen/opencl/print_homes.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/pass/gpu_form.h"

void hdst__print_flat_memory(hdst__printer *p)
{
    if (p->flat) hdst__write_line(&p->out, "__local ulong turns_to[LANES];");
}

const char *hdst__flat_why(const hdst__printer *p) { return p->flat ? "output: turns of its loop are shared by the lanes of a work-group\n" : ""; }

// --- Of the form ---

static bool is_head(const hdst__printer *p) { return p->flat && (p->func == p->flat->head || p->func == p->flat->count_head); }
static bool is_turn(const hdst__printer *p) { return p->flat && (p->func == p->flat->turn || p->func == p->flat->count_turn); }

void hdst__flat_begin_record(hdst__printer *p)
{
    if (!is_turn(p)) return;
    hdst__write_line(&p->out, "const ulong %s = at - (owner ? turns_to[owner - 1] : 0);", p->var_name[p->flat->at]);
    p->homes->declared[p->flat->at] = true;
}

void hdst__flat_end_record(hdst__printer *p)
{
    if (is_head(p)) hdst__write_line(&p->out, "own_turns = %s;", p->var_name[p->flat->turns]);
}

bool hdst__flat_carries(const hdst__printer *p, uint32_t var) { return is_head(p) && var == p->flat->turns; }

// --- Sections ---

static void print_part(hdst__printer *p, const ir_func *func, const char *head)
{
    const ir_func *outer = p->func;
    hdst__print_function_in(p, func, head);
    hdst__printer_use(p, outer);
}

static void print_head(hdst__printer *p, const ir_func *head)
{
    hdst__write_line(&p->out, "ulong own_turns = 0;");
    print_part(p, head, "if (base + lane < count) {\n    const ulong i = base + lane;");
    hdst__write_line(&p->out, "const ulong turns = turns_until(turns_to, lane, own_turns);");
}

void hdst__print_flat_counts(hdst__printer *p)
{
    print_head(p, p->flat->count_head);
    hdst__write_line(&p->out, "for (ulong at = lane; at < turns; at += LANES) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const uint owner = lane_of_turn(turns_to, at);");
    print_part(p, p->flat->count_turn, "{\n    const ulong i = base + owner;");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_count_turn(hdst__printer *p)
{
    const bool checks = p->has_checks;
    p->has_checks = false;
    print_part(p, p->flat->count_turn, "if (at < turns) {");
    p->has_checks = checks;
}

// A turn's output stands behind that of all turns before it, so records come out as they would one by one.
void hdst__print_flat_records(hdst__printer *p)
{
    print_head(p, p->flat->head);
    hdst__write_line(&p->out, "ulong next = places[1 + base / LANES];");
    hdst__write_line(&p->out, "for (ulong done = 0; done < turns; done += LANES) {");
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong at = done + lane;");
    hdst__write_line(&p->out, "const uint owner = lane_of_turn(turns_to, min(at, turns - 1));");
    hdst__write_line(&p->out, "const ulong i = base + owner;\nulong place = 0;");
    print_count_turn(p);
    hdst__write_line(&p->out, "const uint gives = (uint)place;");
    hdst__write_line(&p->out, "place = next + before_lane(sums, lane, gives);");
    print_part(p, p->flat->turn, "if (at < turns) {");
    hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);\nnext += sums[LANES - 1];");
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}
