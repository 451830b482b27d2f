// SPDX-License-Identifier: Apache-2.0
// The time, for measuring how long something took.
#ifndef HDST_BASE_CLOCK_H
#define HDST_BASE_CLOCK_H

double hdst__now(void);                 // seconds, monotonic
void hdst__sleep(double seconds);

#endif
