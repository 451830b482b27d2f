// SPDX-License-Identifier: Apache-2.0
// GPU: functions whose work-groups look through texts together (codegen/opencl/print_search_pieces.h).
#include "codegen/opencl/print_search_pieces.h"

#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_stmt.h"

const char *hdst__search_pieces_scope(const hdst__printer *p)
{
    if (!p->func->search) return "";
    return hdst__arena_printf(p->arena, "%s%s", hdst__pieces_text(p->arena, &hdst__kernel_pieces, "pieces_gpu.cl"),
                              hdst__pieces_text(p->arena, &hdst__kernel_pieces, "search_gpu.cl"));
}

const char *hdst__search_pieces_memory(const hdst__printer *p, bool has_sums)
{
    if (!p->func->search) return "";
    return hdst__arena_printf(p->arena, "__local uint %sstarts[LANES + 1], found[LANES], longer[3];\nuint turn = 0;\n"
                                        "if (lane < 3) longer[lane] = 0;\nbarrier(CLK_LOCAL_MEM_FENCE);\n", has_sums ? "" : "sums[LANES], ");
}

static void print_piece(hdst__printer *p)
{
    const char *result = p->var_name[p->func->search_result];
    hdst__print_function(p);
    hdst__write_line(&p->out, "if (%s >= 0) atomic_min(&found[record], piece_from + (uint)%s);", result, result);
}

const char *hdst__search_pieces_tile(hdst__printer *p)
{
    if (!p->func->search) return "";
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    p->record = "i";
    hdst__write_line(&p->out, "{");
    hdst__write_line(&p->out, "    const bool has = base + lane < count;\n    uint length = 0;\n    if (has) {\n        const ulong i = base + lane;");
    hdst__write_line(&p->out, "        length = %s.length;\n    }", hdst__expr_text(p, p->func->search_text, HDST__PRIMARY));
    hdst__write_line(&p->out, "    found[lane] = NOT_FOUND;");
    hdst__write_line(&p->out, "    const bool shared = any_longer(longer, &turn, lane, length);       // else each lane has its own text");
    hdst__write_line(&p->out, "    const uint pieces = shared ? place_search(starts, sums, lane, has, length) : has ? lane + 1 : 0;");
    hdst__write_line(&p->out, "    for (uint piece = lane; piece < pieces; piece += LANES) {");
    hdst__write_line(&p->out, "        const uint record = shared ? record_of_piece(starts, piece) : lane;");
    hdst__write_line(&p->out, "        const uint piece_from = shared ? (piece - starts[record]) * SEARCH_BYTES : 0;");
    hdst__write_line(&p->out, "        const ulong i = base + record;");
    p->out.indent += 2;
    hdst__print_count_of(p, p->func->search, print_piece);
    p->out.indent -= 2;
    hdst__write_line(&p->out, "    }\n    if (shared) barrier(CLK_LOCAL_MEM_FENCE);\n}");
    hdst__write_line(&p->out, "const long found_at = found[lane] == NOT_FOUND ? -1L : (long)found[lane];");
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

const char *hdst__search_pieces_why(const hdst__printer *p)
{
    return p->func->search ? "texts: a work-group looks through them together, a lane a piece, so long texts are shared out among lanes\n" : "";
}
