// SPDX-License-Identifier: Apache-2.0
// Where whoever fills a storage with records puts the bytes of their texts (record/text_span.h): memory that lasts as long as those records do.
#ifndef HDST_RECORD_TEXT_BYTES_H
#define HDST_RECORD_TEXT_BYTES_H

#include "base/error_object.h"

#include <stdint.h>

typedef struct hdst__bytes_place {
    // *at: memory for so many bytes, 16 zero ones behind them. From several threads at once.
    hdst_status (*take)(void *user, uint64_t bytes, char **at, hdst_error *error);
    void *user;
} hdst__bytes_place;

#endif
