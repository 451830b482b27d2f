// SPDX-License-Identifier: Apache-2.0
// CPU: what the template of tables of rows of words leaves open (codegen/opencl/print_combine_rows.h).
#include "codegen/opencl/print_combine_rows.h"

#include <inttypes.h>

enum { WORD = 8 };

static const char *float_name(hdst__kind kind) { return kind == HDST__F32 ? "float" : "double"; }

static void write_scale(hdst__writer *out, const hdst__leaf *leaf, uint32_t sum)
{
    const char *type = float_name(leaf->kind);
    for (int down = 0; down < 2; down++)
        hdst__write(out, " const %s %s_%" PRIu32 " = %s_power(%s%s_scale((int)scale[%" PRIu32 "]));", type, down ? "down" : "up", sum, type, down ? "-" : "",
                    type, sum);
}

// Sums of integers wrap at 64 bits, of which narrower ones are the lower part.
static void write_word(hdst__writer *out, const hdst__leaf *leaf, uint32_t sum)
{
    if (!hdst__kind_is_float(leaf->kind)) {
        hdst__write(out, " word[%" PRIu32 "][i] = *(__global const %s *)(one + %" PRIu64 ");", sum, hdst__scalar_size(leaf->kind) == WORD ? "ulong" : "uint",
                    leaf->offset);
        return;
    }
    const char *type = float_name(leaf->kind);
    hdst__write(out, " { const %s v = *(__global const %s *)(one + %" PRIu64 "); fits &= fits_%s(v, up_%" PRIu32 ", down_%" PRIu32 ");", type, type,
                leaf->offset, type, sum, sum);
    hdst__write(out, " word[%" PRIu32 "][i] = fixed_%s(v, up_%" PRIu32 ", down_%" PRIu32 "); }", sum, type, sum, sum);
}

static void write_each(const hdst__combining *combining, hdst__writer *out, void (*write)(hdst__writer *out, const hdst__leaf *leaf, uint32_t sum),
                       bool floats)
{
    uint32_t sum = 0;
    for (uint32_t l = 0; l < combining->record->leaf_count; l++) {
        if (l == combining->key) continue;
        if (!floats || hdst__kind_is_float(combining->record->leaves[l].kind)) write(out, &combining->record->leaves[l], sum);
        sum++;
    }
}

static uint32_t fixed_sums(const hdst__combining *combining)
{
    uint32_t sum = 0, bits = 0;
    for (uint32_t l = 0; l < combining->record->leaf_count; l++)
        if (l != combining->key) bits |= (uint32_t)hdst__kind_is_float(combining->record->leaves[l].kind) << sum++;
    return bits;
}

void hdst__write_combined_rows_macros(const hdst__combining *combining, uint64_t row_bytes, hdst__writer *out)
{
    const hdst__record *record = combining->record;
    const uint64_t key_at = record->leaves[combining->key].offset;
    const uint32_t key_words = hdst__combined_key_words(combining);
    const char *type = key_words ? "ulong" : "uint";
    hdst__write_line(out, "#define COMBINED_ROW_WORDS %" PRIu64, row_bytes / WORD);
    hdst__write_line(out, "#define COMBINED_BYTES %" PRIu64, record->size);
    hdst__write_line(out, "#define COMBINED_KEY_WORDS %" PRIu32, key_words);
    hdst__write_line(out, "#define COMBINED_KEY *(__global const %s *)(one + %" PRIu64 ")", type, key_at);
    hdst__write_line(out, "#define COMBINED_HASH key_hash_%s(COMBINED_KEY)", key_words ? "8" : "4");
    hdst__write_line(out, "#define COMBINED_VALUES %zu", record->leaf_count - 1);
    hdst__write_line(out, "#define COMBINED_FIXED %" PRIu32, fixed_sums(combining));
    hdst__write(out, "#define COMBINED_SUMS");
    write_each(combining, out, write_scale, true);
    hdst__write(out, "\n");
    hdst__write(out, "#define COMBINE_WORDS");
    write_each(combining, out, write_word, false);
    hdst__write(out, "\n");
}
