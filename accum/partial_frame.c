// SPDX-License-Identifier: Apache-2.0
// The frame of a partial's bytes (accum/partial_frame.h): what is cut off, damaged or something else is told here.
#include "accum/partial_frame.h"

#include <inttypes.h>
#include <string.h>

static const char magic[8] = {'H', 'D', 'S', 'T', 'P', 'A', 'R', 'T'};
enum { VERSION = 1, HASH_BYTES = 16, TOTAL_AT = 16, HEAD_BYTES = 48 };

// --- Writing ---

static void put_hash(hdst__buffer *out, const hdst__hash *hash)
{
    hdst__put_u64(out, hash->high);
    hdst__put_u64(out, hash->low);
}

size_t hdst__partial_frame_begin(hdst__partial_kind kind, const hdst__partial_label *label, hdst__buffer *out)
{
    const size_t start = out->length;
    hdst__buffer_add(out, magic, sizeof magic);
    hdst__put_u32(out, VERSION);
    hdst__put_u32(out, kind);
    hdst__put_u64(out, 0);
    put_hash(out, &label->identity);
    hdst__put_u64(out, label->description_bytes);
    hdst__buffer_add(out, label->description, label->description_bytes);
    return start;
}

hdst_status hdst__partial_frame_end(size_t start, hdst__buffer *out, hdst_error *error)
{
    hdst__hash checksum = HDST__HASH_INIT;
    if (out->failed) return hdst__error_memory(error, "a partial as bytes");
    const uint64_t bytes = out->length - start + HASH_BYTES;
    memcpy(out->data + start + TOTAL_AT, &bytes, sizeof bytes);
    hdst__hash_add(&checksum, out->data + start, out->length - start);
    put_hash(out, &checksum);
    return out->failed ? hdst__error_memory(error, "a partial as bytes") : HDST_OK;
}

// --- Reading ---

bool hdst__cursor_take(hdst__byte_cursor *from, void *to, uint64_t bytes)
{
    if (from->left < bytes) return false;
    memcpy(to, from->at, bytes);
    from->at += bytes;
    from->left -= bytes;
    return true;
}

hdst_status hdst__partial_damaged(hdst_error *error, const char *what)
{
    hdst__error_set(error, HDST_E_FORMAT, "the partial is damaged: %s", what);
    hdst__error_hint(error, "take the bytes again from where they were written");
    return HDST_E_FORMAT;
}

static hdst_status check_size(uint64_t size, uint64_t written, hdst_error *error)
{
    if (size == written) return HDST_OK;
    hdst__error_set(error, HDST_E_FORMAT, "the partial is damaged: it has %" PRIu64 " bytes, and was written with %" PRIu64, size, written);
    hdst__error_hint(error, size < written ? "it is cut off: take the bytes again from where they were written"
                     : "what follows is something else: give the size that it was written with");
    return HDST_E_FORMAT;
}

// Magic, version, size, checksum; `from` is then what lies between head and checksum.
static hdst_status open_frame(hdst__byte_cursor *from, uint32_t *kind, hdst__partial_label *label, hdst_error *error)
{
    const uint8_t *start = from->at;
    const uint64_t size = from->left;
    uint8_t name[sizeof magic];
    uint32_t version = 0;
    uint64_t written = 0;
    hdst__hash checksum = HDST__HASH_INIT, stored;
    if (!hdst__cursor_take(from, name, sizeof name) || memcmp(name, magic, sizeof magic)) {
        hdst__error_set(error, HDST_E_FORMAT, "these bytes are no partial: they do not begin with 'HDSTPART'");
        hdst__error_hint(error, "give what hdst_partial_write wrote, from its first byte on");
        return HDST_E_FORMAT;
    }
    if (size < HEAD_BYTES + HASH_BYTES || !hdst__cursor_take(from, &version, sizeof version)) return hdst__partial_damaged(error, "its head is cut off");
    if (version != VERSION)
        return hdst__error_set(error, HDST_E_FORMAT, "the partial is of version %" PRIu32 " of its format; this library reads version %d", version, VERSION);
    (void)hdst__cursor_take(from, kind, sizeof *kind);
    (void)hdst__cursor_take(from, &written, sizeof written);
    hdst_status status = check_size(size, written, error);
    if (status != HDST_OK) return status;
    memcpy(&stored, start + size - HASH_BYTES, HASH_BYTES);
    hdst__hash_add(&checksum, start, size - HASH_BYTES);
    if (checksum.high != stored.high || checksum.low != stored.low) return hdst__partial_damaged(error, "its checksum does not match");
    (void)hdst__cursor_take(from, &label->identity, sizeof label->identity);
    from->left -= HASH_BYTES;
    return HDST_OK;
}

static hdst_status take_description(hdst__byte_cursor *from, hdst__partial_label *label, hdst_error *error)
{
    (void)hdst__cursor_take(from, &label->description_bytes, sizeof label->description_bytes);
    if (label->description_bytes > from->left) return hdst__partial_damaged(error, "its description is longer than it");
    label->description = from->at;
    from->at += label->description_bytes;
    from->left -= label->description_bytes;
    return HDST_OK;
}

hdst_status hdst__partial_frame_open(const void *bytes, uint64_t size, hdst__byte_cursor *from, uint32_t *kind, hdst__partial_label *label, hdst_error *error)
{
    *from = (hdst__byte_cursor){bytes, size};
    const hdst_status status = open_frame(from, kind, label, error);
    return status == HDST_OK ? take_description(from, label, error) : status;
}
