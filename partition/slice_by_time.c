// SPDX-License-Identifier: Apache-2.0
// Slices by the time of a record.
#include "partition/slice_by_time.h"

#include "base/costs_host.h"

uint64_t hdst__slice_by_time(double each, const hdst__slice_limits *limits)
{
    const double fit = each > 0 ? limits->seconds / each : HDST__HOST_FIRST_RECORDS;
    uint64_t records = fit < (double)limits->most ? (uint64_t)fit / limits->unit * limits->unit : limits->most;
    if (records < limits->least) records = limits->least;
    return records < limits->left ? records : limits->left;
}
