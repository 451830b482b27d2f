// SPDX-License-Identifier: Apache-2.0
// Devices that take longer than they do (engine/stage/device_pace.h): times as long, or so long for each record, which does not depend on what else the
// machine has to do as long as that is more than the device needs.
#include "engine/stage/device_pace.h"

#include "base/clock.h"

double hdst__device_pace(const hdst__device *device, uint64_t records, double seconds)
{
    const hdst__limits *limits = device->limits;
    const uint32_t index = device->info->index;
    double takes = seconds;
    if (limits->slow_times > 1 && limits->slow_device == index && seconds > 0) takes *= limits->slow_times;
    if (index < HDST__PACED_DEVICES && takes < (double)records * limits->pace[index]) takes = (double)records * limits->pace[index];
    if (takes > seconds) hdst__sleep(takes - seconds);
    return takes;
}
