// SPDX-License-Identifier: Apache-2.0
// Memory for the texts that a reader makes (hdst__reader.makes_texts), for as long as the records are looked at that it filled in last.
#ifndef HDST_ENGINE_MEMORY_TEXT_ROOM_H
#define HDST_ENGINE_MEMORY_TEXT_ROOM_H

#include "engine/memory/reader.h"
#include "engine/memory/text_heap.h"

typedef struct hdst__text_room {        // zeroed at first
    hdst__text_heap *heap;
    hdst__bytes_place sink;
    hdst__storage with;
} hdst__text_room;

// Before records are read: *storage becomes one with room for their texts, valid until the next call or the room is closed. The texts of records that were read
// with this room before are gone. Nothing where the reader makes none.
hdst_status hdst__text_room_open(hdst__text_room *room, hdst__runtime *runtime, hdst__owner owner, const hdst__reader *reader, const hdst__storage **storage,
                                 hdst_error *error);
void hdst__text_room_close(hdst__text_room *room);      // safe on a zeroed one, and twice

#endif
