// SPDX-License-Identifier: Apache-2.0
// Bytes of texts that records refer to (record/text_span.h): append only, and where they are until the last who holds such records lets go.
//
// A heap takes blocks from the memory budget as long as it has plenty of room; then blocks are temporary files, mapped, whose pages the system takes back as
// it likes. So spans never change, wherever their records go.
//
// Threads: all functions may be called from several threads at once; a writer is one thread's.
#ifndef HDST_ENGINE_MEMORY_TEXT_HEAP_H
#define HDST_ENGINE_MEMORY_TEXT_HEAP_H

#include "base/error_object.h"
#include "base/runtime.h"
#include "record/text_bytes.h"
#include "record/text_span.h"

typedef struct hdst__text_heap hdst__text_heap;

// With one holder. `owner` is who its memory counts for. The runtime outlives it. NULL: out of memory.
hdst__text_heap *hdst__text_heap_create(hdst__runtime *runtime, hdst__owner owner);
hdst__text_heap *hdst__text_heap_hold(hdst__text_heap *heap);      // one more holder; NULL stays NULL
void hdst__text_heap_drop(hdst__text_heap *heap);                  // one less; the last one frees it. NULL is fine
// Also holds `other`, to which spans kept with this one refer, until it is freed itself. Nothing where it does already, or `other` is this or NULL.
// `other` must not hold this one. false: out of memory.
bool hdst__text_heap_holds(hdst__text_heap *heap, hdst__text_heap *other);
void hdst__text_heap_reset(hdst__text_heap *heap);                 // forgets all bytes, of which nobody may know any more; some memory stays for the next
hdst__bytes_place hdst__text_heap_sink(hdst__text_heap *heap);      // where who fills a storage puts bytes
uint64_t hdst__text_heap_bytes(const hdst__text_heap *heap);       // that were taken

// Memory for `bytes` bytes, HDST__TEXT_SLACK zero ones behind them. HDST_E_MEMORY or HDST_E_IO: neither the budget nor the temporary folder has room.
enum { HDST__TEXT_SLACK = 16 };
hdst_status hdst__text_heap_take(hdst__text_heap *heap, uint64_t bytes, char **at, hdst_error *error);

// What a thread puts into a heap, without meeting the others for each text.
typedef struct hdst__text_writer {
    hdst__text_heap *heap;
    char *at, *end;             // free memory that is its own
} hdst__text_writer;

// The bytes of a long text go to the heap as they are looked at (record/text_span.h), and the span refers to them there; a short one holds its own.
hdst_status hdst__text_keep(hdst__text_writer *writer, hdst__text_span *span, hdst_error *error);
// The same of all texts of `count` C structs.
hdst_status hdst__text_keep_rows(hdst__text_writer *writer, const hdst__record *record, void *rows, uint64_t count, hdst_error *error);
// Only those that are looked at in another case than their bytes have.
hdst_status hdst__text_settle_rows(hdst__text_writer *writer, const hdst__record *record, void *rows, uint64_t count, hdst_error *error);

#endif
