// SPDX-License-Identifier: Apache-2.0
// A reader that several threads may call: one after another, unless it can do better itself.
#ifndef HDST_ENGINE_MEMORY_SHARED_READER_H
#define HDST_ENGINE_MEMORY_SHARED_READER_H

#include "engine/memory/reader.h"

#include <pthread.h>

typedef struct hdst__shared_reader {
    hdst__reader reader, shared;    // the one that is called; what the threads are given
    pthread_mutex_t mutex;
} hdst__shared_reader;

// It stays where it is until it is destroyed.
void hdst__shared_reader_init(hdst__shared_reader *shared, const hdst__reader *reader);
void hdst__shared_reader_destroy(hdst__shared_reader *shared);

#endif
