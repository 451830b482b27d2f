// SPDX-License-Identifier: Apache-2.0
// Writing outputs: a macro for each leaf, LEAF(at, record, element), and stores.
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_combine_gpu.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_text_copies.h"

#include <inttypes.h>

// What is printed stores records that may not come out, and behind a strip's last one is the next strip's.
static bool is_guarded(const hdst__printer *p) { return p->output.spare && !p->func->placed; }

// Its place in the output: that of the input record, or the next one. What is stored whether or not it comes out must not
// meet the records of the next strip.
static const char *output_place(hdst__printer *p, const ir_stmt *stmt)
{
    if (p->func->emits) return is_guarded(p) ? "OWN(place)" : "place";
    if (hdst__writes_dense_strips(p) && !p->in_records) return "place";
    return p->in_records ? "r" : hdst__record_text(p, stmt->record);
}

// Vector loops count from there, so that the compiler sees that addresses of several fields do not wrap.
void hdst__print_block_output(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->param_count && !p->func->emits; i++)
        if (p->func->params[i].kind == IR_OUTPUT)
            hdst__write_line(&p->out, "__global uchar *const %sBlockAt = %sAt + %s * %" PRIu64 ";", p->param_name[i], p->param_name[i],
                hdst__writes_dense_strips(p) ? "place" : "i", p->func->params[i].record->size);
}

static void print_plain_store(hdst__printer *p, const ir_stmt *stmt)
{
    const ir_param *param = &p->func->params[stmt->param];
    const hdst__leaf *leaf = &param->record->leaves[stmt->leaf];
    const char *type = hdst__scalar_cl_name(leaf->kind), *value = hdst__expr_text(p, stmt->value, HDST__WHOLE);
    const char *macro = p->leaf_name[stmt->param][stmt->leaf], *element = hdst__index_text(p, stmt->index, HDST__WHOLE);
    const char *start = p->in_records && !p->func->emits ? "BlockAt" : "At";
    if (p->first_read_input) {      // a fold: the next running value
        hdst__write_line(&p->out, "%sOf[%s] = %s;", macro, element, value);
    } else if (hdst__leaf_is_aligned(param->record, leaf) && leaf->kind != HDST__TEXT) {
        hdst__write_line(&p->out, "%s(%s%s, %s, %s) = %s;", macro, p->param_name[stmt->param], start, output_place(p, stmt), element, value);
    } else if (leaf->kind == HDST__TEXT && p->text_copies) {
        hdst__write_line(&p->out, "write_%stext_apart(%s(%s%s, %s, %s), %s, " HDST__TEXT_COPY ");",
                         hdst__leaf_is_aligned(param->record, leaf) ? "aligned_" : "", macro, p->param_name[stmt->param], start,
                         output_place(p, stmt), element, value);
    } else {
        hdst__write_line(&p->out, "write_%s(%s(%s%s, %s, %s), %s);", type, macro, p->param_name[stmt->param], start, output_place(p, stmt), element, value);
    }
}

void hdst__print_store(hdst__printer *p, const ir_stmt *stmt)
{
    if (stmt->cond) hdst__write_line(&p->out, "if (%s)", hdst__expr_text(p, stmt->cond, HDST__WHOLE));
    p->out.indent += stmt->cond != NULL;
    (p->own_record ? hdst__print_own_store : print_plain_store)(p, stmt);
    p->out.indent -= stmt->cond != NULL;
}

enum { MOST_PARTS = 4, MOST_STORES = MOST_PARTS * IR_LANE_RECORDS };

// Numbers of 32 or of 64 bits that fill the C struct, which is as large as a vector: it lies in device memory, aligned as such. Else 0.
static uint64_t vector_part_bytes(const hdst__record *record)
{
    const uint64_t bytes = record->size / (record->elements ? record->elements : 1);
    if ((record->size != 8 && record->size != 16) || record->elements < 2 || (bytes != 4 && bytes != 8)) return 0;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (record->leaves[l].kind == HDST__TEXT || record->leaves[l].kind == HDST__BOOL || hdst__scalar_size(record->leaves[l].kind) != bytes) return 0;
    return bytes;
}

static uint64_t part_of(const ir_param *param, const ir_stmt *stmt, uint64_t bytes)
{
    return hdst__leaf_offset(&param->record->leaves[stmt->leaf], stmt->index ? stmt->index->bits : 0) / bytes;
}

// The stores of one record among those that stand together, by their place in the struct. False: some of it comes from elsewhere.
static bool parts_of_record(const ir_param *param, ir_stmt *const *stmts, size_t count, uint32_t record, uint64_t bytes, const ir_stmt **part)
{
    size_t found = 0;
    for (size_t n = 0; n < count; n++) {
        if (stmts[n]->record != record) continue;
        if (stmts[n]->index && stmts[n]->index->op != IR_CONST) return false;
        part[part_of(param, stmts[n], bytes)] = stmts[n];
        found++;
    }
    for (uint64_t k = 0; k < param->record->elements; k++)
        if (!part[k]) return false;
    return found == param->record->elements;
}

static void print_vector_store(hdst__printer *p, const ir_param *param, const ir_stmt *const *part, uint64_t bytes)
{
    const char *type = bytes == 4 ? "uint" : "ulong", *values = "";
    for (uint64_t k = 0; k < param->record->elements; k++)
        values = hdst__arena_printf(p->arena, "%s%sas_%s(%s)", values, k ? ", " : "", type, hdst__expr_text(p, part[k]->value, HDST__WHOLE));
    hdst__write_line(&p->out, "*(__global %s%" PRIu64 " *)(%sAt + (%s) * %" PRIu64 ") = (%s%" PRIu64 ")(%s);", type, param->record->elements,
        p->param_name[part[0]->param], output_place(p, part[0]), param->record->size, type, param->record->elements, values);
}

size_t hdst__print_vector_stores(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const ir_param *param = &p->func->params[stmts[0]->param];
    const uint64_t bytes = vector_part_bytes(param->record);
    size_t n = 0;
    if (!bytes) return 0;
    while (n < count && n < MOST_STORES && stmts[n]->kind == IR_STORE && !stmts[n]->cond && stmts[n]->param == stmts[0]->param) n++;
    const ir_stmt *part[IR_LANE_RECORDS][MOST_PARTS] = {{0}};
    const uint32_t records = p->func->lane_records > 1 ? p->func->lane_records : 1;
    if (n != records * param->record->elements) return 0;
    for (uint32_t r = 0; r < records; r++)
        if (!parts_of_record(param, stmts, n, r, bytes, part[r])) return 0;
    for (uint32_t r = 0; r < records; r++) print_vector_store(p, param, part[r], bytes);
    return n;
}

enum { MOST_RECORDS = 1 << 16 };        // of a block, and more

// Records of a block are numbered by an int, which vector loops want; their bytes may be more than it holds.
static const char *output_record(const hdst__printer *p, const ir_param *param)
{
    return !p->gpu && param->record->size > INT32_MAX / MOST_RECORDS ? "(ulong)(i)" : "(i)";
}

void hdst__print_output_macros(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_OUTPUT) continue;
        const char *record = output_record(p, param);
        for (size_t l = 0; l < param->record->leaf_count; l++) {
            const hdst__leaf *leaf = &param->record->leaves[l];
            const char *address = hdst__arena_printf(p->arena, "(at) + %s * %" PRIu64 " + %" PRIu64 "%s", record, param->record->size,
                leaf->offset, hdst__element_offset(p->arena, leaf));
            if (hdst__leaf_is_aligned(param->record, leaf) && leaf->kind != HDST__TEXT)
                hdst__write_line(&p->out, "#define %s(at, i, e) (*(__global %s *)(%s))", p->leaf_name[i][l], hdst__scalar_cl_name(leaf->kind), address);
            else
                hdst__write_line(&p->out, "#define %s(at, i, e) (%s)", p->leaf_name[i][l], address);
        }
    }
}

void hdst__print_put(hdst__printer *p, const hdst__record *record, const hdst__leaf *leaf, const char *at, const char *bits)
{
    const uint64_t size = hdst__scalar_size(leaf->kind);
    const char *type = hdst__unsigned_cl_name(size);
    if (hdst__leaf_is_aligned(record, leaf)) hdst__write_line(&p->out, "*(__global %s *)(%s) = (%s)(%s);", type, at, type, bits);
    else hdst__write_line(&p->out, "put_bytes(%s, %s, %" PRIu64 ");", at, bits, size);
}
