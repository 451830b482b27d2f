// SPDX-License-Identifier: Apache-2.0
// Rows and packed keys with texts (record/text_span.h) as bytes: the rows with nothing in place of addresses, then the bytes of their long texts, one behind
// the other in the order of the rows. Equal rows are equal bytes, wherever their texts lie.
#ifndef HDST_ACCUM_ROW_TEXTS_H
#define HDST_ACCUM_ROW_TEXTS_H

#include "accum/partial_frame.h"
#include "record/key_texts.h"
#include "record/text_bytes.h"
#include "record/type.h"

// Rows of one kind: C structs of `record`, or else packed keys of `key_words` words with `texts` (NULL: none).
typedef struct hdst__text_rows {
    const hdst__record *record;
    const hdst__key_texts *texts;
    uint32_t key_words;
} hdst__text_rows;

bool hdst__text_rows_have_any(const hdst__text_rows *of);
uint64_t hdst__text_rows_bytes(const hdst__text_rows *of);      // of a row, without its texts
// As hdst__record_texts does.
bool hdst__text_rows_visit(const hdst__text_rows *of, void *rows, uint64_t count, bool (*visit)(void *user, hdst__text_span *span), void *user);
void hdst__text_rows_write(const hdst__text_rows *of, const void *rows, uint64_t count, hdst__buffer *out);
// Into memory of the caller's; the bytes of long texts go where `place` says. HDST_E_FORMAT without a message: the caller has one. Or what `place` says.
hdst_status hdst__text_rows_read(const hdst__text_rows *of, void *rows, uint64_t count, hdst__byte_cursor *from, const hdst__bytes_place *place,
                                 hdst_error *error);

#endif
