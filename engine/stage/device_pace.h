// SPDX-License-Identifier: Apache-2.0
// Devices that take longer than they do, for tests and benchmarks of schedules (engine/common/limits.h).
#ifndef HDST_ENGINE_STAGE_DEVICE_PACE_H
#define HDST_ENGINE_STAGE_DEVICE_PACE_H

#include "engine/device/device.h"

// Behind a slice of so many records, which took the device `seconds`: sleeps for as long as it should have taken longer. What it has taken then.
double hdst__device_pace(const hdst__device *device, uint64_t records, double seconds);

#endif
