// SPDX-License-Identifier: Apache-2.0
// Memory for the texts that a reader makes (engine/memory/text_room.h).
#include "engine/memory/text_room.h"

hdst_status hdst__text_room_open(hdst__text_room *room, hdst__runtime *runtime, hdst__owner owner, const hdst__reader *reader, const hdst__storage **storage,
                                 hdst_error *error)
{
    if (!reader->makes_texts) return HDST_OK;
    if (room->heap) hdst__text_heap_reset(room->heap);
    else room->heap = hdst__text_heap_create(runtime, owner);
    if (!room->heap) return hdst__error_memory(error, "texts");
    room->sink = hdst__text_heap_sink(room->heap);
    room->with = **storage;
    room->with.text = &room->sink;
    *storage = &room->with;
    return HDST_OK;
}

void hdst__text_room_close(hdst__text_room *room)
{
    hdst__text_heap_drop(room->heap);
    room->heap = NULL;
}
