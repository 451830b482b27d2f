// SPDX-License-Identifier: Apache-2.0
// How many records the next slice has, going by the time of a record.
#ifndef HDST_PARTITION_SLICE_BY_TIME_H
#define HDST_PARTITION_SLICE_BY_TIME_H

#include "partition/policy.h"

// As many as take the time that it is given (each: seconds of a record; 0: not known, then HDST__HOST_FIRST_RECORDS): a whole number of units, no fewer
// than are worth a launch, no more than there is room for.
uint64_t hdst__slice_by_time(double each, const hdst__slice_limits *limits);

#endif
