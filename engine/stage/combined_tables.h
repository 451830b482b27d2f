// SPDX-License-Identifier: Apache-2.0
// Tables of a CPU's cores in which records with equal keys become one before anybody takes them (codegen/opencl/templates/combine_cpu.cl). A run has them once
// it has given enough records for whoever takes them to know what they are like, and gives what they hold when all slices have ended.
#ifndef HDST_ENGINE_STAGE_COMBINED_TABLES_H
#define HDST_ENGINE_STAGE_COMBINED_TABLES_H

#include "engine/device/device.h"

typedef struct hdst__combined_tables {      // of one run
    hdst__device *device;
    const hdst__kernel *kernel;             // which combines
    const hdst__combining *combining;
    const struct hdst__consumer *consumer;  // of the records
    uint64_t tables;                        // one for each core
    uint32_t bits;                          // logarithm of the rows of one at most
    void *allocation;                       // NULL: there are none yet
    char *at;                               // in it
    hdst__memory memory;                    // of the host, as the device sees it
    bool tried;                             // there was no memory, or there is
} hdst__combined_tables;

// Has the slices from here on look for their records in tables, where there is memory for some; they run without else. `came`: records of this run so far.
void hdst__combined_tables_offer(hdst__combined_tables *tables, uint64_t came, hdst__launch *launch);
// When no slice is in flight and none is to come: the tables are the host's.
hdst_status hdst__combined_tables_close(hdst__combined_tables *tables, hdst_error *error);
// Then: records in the table that has most of them.
uint64_t hdst__combined_tables_most(const hdst__combined_tables *tables);
// And what they hold, one table after another: records for `give`, which lie in the tables' memory.
typedef hdst_status hdst__give_records(void *user, const char *records, uint64_t count, hdst_error *error);
hdst_status hdst__combined_tables_give(const hdst__combined_tables *tables, hdst__give_records *give, void *user, hdst_error *error);
// The same of rows of words, for the consumer. *records: so many became rows.
hdst_status hdst__combined_tables_give_rows(hdst__combined_tables *tables, uint64_t *records, hdst_error *error);
void hdst__combined_tables_end(hdst__combined_tables *tables);      // gives the memory back; fine where there is none

#endif
