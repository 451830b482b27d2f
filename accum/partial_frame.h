// SPDX-License-Identifier: Apache-2.0
// The frame that the bytes of all partials have, whatever they are of: who they belong to, how many there are, whether they are whole. All numbers are
// little-endian:
//
//     "HDSTPART", u32 version, u32 kind, u64 bytes in all, identity (u64, u64), u64 bytes of the description, the description
//     what is in it: accum/partial_bytes.h, accum/ranged_partial.h
//     checksum (u64, u64): hdst__hash of all before it
#ifndef HDST_ACCUM_PARTIAL_FRAME_H
#define HDST_ACCUM_PARTIAL_FRAME_H

#include "base/buffer.h"
#include "base/error_object.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum hdst__partial_kind { HDST__PARTIAL_ACCUMULATORS, HDST__PARTIAL_FOLD, HDST__PARTIAL_TOP } hdst__partial_kind;

typedef struct hdst__partial_label {
    hdst__hash identity;            // of what the partial is of: those that may meet have the same
    const void *description;        // for whoever writes and reads it
    uint64_t description_bytes;
} hdst__partial_label;

// Behind what `out` holds; what is in the frame comes between the two. `start`: what the first one gave. HDST_E_MEMORY.
size_t hdst__partial_frame_begin(hdst__partial_kind kind, const hdst__partial_label *label, hdst__buffer *out);
hdst_status hdst__partial_frame_end(size_t start, hdst__buffer *out, hdst_error *error);

typedef struct hdst__byte_cursor {      // what is left to read
    const uint8_t *at;
    uint64_t left;
} hdst__byte_cursor;

bool hdst__cursor_take(hdst__byte_cursor *from, void *to, uint64_t bytes);      // false: there are not so many
// `from`: what is in the frame; `kind` may be any number. The label's description is a part of `bytes`. HDST_E_FORMAT: these are no bytes of a partial, or
// damaged ones.
hdst_status hdst__partial_frame_open(const void *bytes, uint64_t size, hdst__byte_cursor *from, uint32_t *kind, hdst__partial_label *label, hdst_error *error);
hdst_status hdst__partial_damaged(hdst_error *error, const char *what);     // HDST_E_FORMAT

static inline void hdst__put_u32(hdst__buffer *out, uint32_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }
static inline void hdst__put_u64(hdst__buffer *out, uint64_t value) { hdst__buffer_add(out, (const char *)&value, sizeof value); }

#endif
