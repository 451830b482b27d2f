// SPDX-License-Identifier: Apache-2.0
// Which records of a storage matter, where whoever fills it may know of others that nothing comes of them (io/line_search.h): those need not be written.
#ifndef HDST_RECORD_NEEDED_RECORDS_H
#define HDST_RECORD_NEEDED_RECORDS_H

#include <stdint.h>

typedef struct hdst__needed_records {
    uint64_t first, behind;         // of the storage. Equal: none does
} hdst__needed_records;

#endif
