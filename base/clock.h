// SPDX-License-Identifier: Apache-2.0
// The time, for measuring how long something took.
#ifndef HDST_BASE_CLOCK_H
#define HDST_BASE_CLOCK_H

double hdst__now(void);                 // seconds, monotonic
double hdst__thread_time(void);         // seconds of a processor that the calling thread had: what it waits for and other programs are not in it
double hdst__process_time(void);        // the same of all threads of the process together
void hdst__sleep(double seconds);

#endif
