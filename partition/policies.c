// SPDX-License-Identifier: Apache-2.0
// The table of scheduling policies.
#include "partition/policy.h"

#include <stddef.h>

// The first one that suits a job has it.
static const hdst__policy *const policies[] = {
    &hdst__policy_one_worker,
    &hdst__policy_static,
    &hdst__policy_dynamic,
    &hdst__policy_auto,
};

const hdst__policy *hdst__policy_for(const hdst__job *job)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (policies[i]->suits(job)) return policies[i];
    return NULL;
}
