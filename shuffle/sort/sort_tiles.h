// SPDX-License-Identifier: Apache-2.0
// A sort whose input has no room on one device, but in the host's memory: devices sort tiles of it, which the host then merges (sort_merge.h). Each worker
// takes the next tile; what a cached input has on a device is sorted there.
#ifndef HDST_SHUFFLE_SORT_SORT_TILES_H
#define HDST_SHUFFLE_SORT_SORT_TILES_H

#include "shuffle/sort/sort_state.h"

// With `room` bytes of the host's memory. *done is false, and nothing has happened, where no device can, there is no room, a device's driver fails (then the
// cache lies nowhere any more), or it does not pay; else sort->rows has the records in order.
hdst_status hdst__sort_in_tiles(hdst__sort *sort, const hdst__reader *input, hdst__dataset_cache *cache, uint64_t room, bool *done, hdst_error *error);

#endif
