// SPDX-License-Identifier: Apache-2.0
// A sort on the device: all at once, or run by run.
#ifndef HDST_SHUFFLE_SORT_SORT_ON_DEVICE_H
#define HDST_SHUFFLE_SORT_SORT_ON_DEVICE_H

#include "shuffle/sort/sort_state.h"

// *done is false, and nothing has happened, where the device cannot, has no room or does not pay. On a CPU device the host's threads sort small records,
// from `rows` where the host has all of them (else NULL).
hdst_status hdst__sort_on_device(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, const void *rows, bool keep, bool *done,
                                 hdst_error *error);
// Whether the host's threads sort records of this kind, from the highest digit.
hdst_status hdst__sort_goes_by_digits(hdst__sort *sort, bool *by_digits, hdst_error *error);
// Such a sort of runs, which the caller keeps.
hdst__msd_sort hdst__sort_by_digits_of(const hdst__sort *sort, const hdst__row_run *runs, uint64_t run_count, uint64_t records);
// As hdst__sort_on_device, of records that were dealt as they came.
hdst_status hdst__sort_dealt_on_device(hdst__sort *sort, hdst__msd_slices *dealt, bool keep, bool *done, hdst_error *error);
// Run by run, which go to sort->runs, with `room` bytes of the host's memory.
hdst_status hdst__sort_runs_on_device(hdst__sort *sort, const hdst__reader *input, uint64_t room, bool *done, hdst_error *error);
void hdst__sort_release_device(hdst__sort *sort);       // gives all memory there back; the next run may try again

#endif
