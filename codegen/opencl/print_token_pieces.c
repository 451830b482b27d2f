// SPDX-License-Identifier: Apache-2.0
// GPU: functions whose lanes take pieces of texts (codegen/opencl/print_token_pieces.h).
#include "codegen/opencl/print_token_pieces.h"

#include "codegen/opencl/kernel_pieces.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/pass/token_pieces.h"

static const char place_pieces[] = "uint length = 0;\n"
                                   "{\n"
                                   "    const ulong i = base + lane;\n"
                                   "    %s\n"
                                   "}\n"
                                   "const uint pieces = place_pieces(starts, sums, lane, length);\n";

const char *hdst__token_pieces_scope(const hdst__printer *p)
{
    return p->func->token_pieces ? hdst__pieces_text(p->arena, &hdst__kernel_pieces, "pieces_gpu.cl") : "";
}

const char *hdst__token_pieces_memory(const hdst__printer *p) { return p->func->token_pieces ? "__local uint starts[LANES + 1];\n" : ""; }

const char *hdst__token_pieces_length(hdst__printer *p)
{
    if (!p->func->token_pieces) return "";
    return hdst__arena_printf(p->arena, "if (i < count) length = %s.length;", hdst__expr_text(p, hdst__token_pieces_text(p->func), HDST__PRIMARY));
}

const char *hdst__token_pieces_count(hdst__printer *p, const char *count_record)
{
    hdst__writer out = {.arena = p->arena};
    hdst__write(&out, place_pieces, hdst__token_pieces_length(p));
    hdst__write_line(&out, "for (uint piece = lane; piece < pieces; piece += LANES) {");
    hdst__write_line(&out, "    const uint record = record_of_piece(starts, piece), piece_from = (piece - starts[record]) * PIECE_BYTES;");
    hdst__write_line(&out, "    const ulong i = base + record;");
    hdst__write_line(&out, "%s}", count_record);
    return hdst__writer_text(&out);
}

// Lanes count what their pieces emit and write it behind what the pieces before them do, LANES pieces at a time.
const char *hdst__token_pieces_records(hdst__printer *p, const char *count_record, const char *record)
{
    hdst__writer out = {.arena = p->arena};
    hdst__write(&out, place_pieces, hdst__token_pieces_length(p));
    hdst__write_line(&out, "ulong tile_place = places[1 + base / LANES];");
    hdst__write_line(&out, "for (uint turn = 0; turn < pieces; turn += LANES) {");
    hdst__write_line(&out, "    const uint piece = turn + lane, record = record_of_piece(starts, piece), piece_from = (piece - starts[record]) * PIECE_BYTES;");
    hdst__write_line(&out, "    const ulong i = base + record;");
    hdst__write_line(&out, "    ulong place = 0;");
    hdst__write_line(&out, "    if (piece < pieces) {\n%s    }", count_record);
    hdst__write_line(&out, "    place = tile_place + before_lane(sums, lane, (uint)place);");
    hdst__write_line(&out, "    barrier(CLK_LOCAL_MEM_FENCE);");
    hdst__write_line(&out, "    tile_place += sums[LANES - 1];");
    hdst__write_line(&out, "    if (piece < pieces) {\n%s    }", record);
    hdst__write_line(&out, "}");
    return hdst__writer_text(&out);
}

const char *hdst__token_pieces_why(const hdst__printer *p)
{
    return p->func->token_pieces ? "texts: a lane takes the tokens that begin in a piece of a text, so long texts are shared out among lanes\n" : "";
}
