// SPDX-License-Identifier: Apache-2.0
// Work of the library itself on several threads (base/threads.h).
#include "base/threads.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct task {
    void (*run)(void *user, uint32_t i);
    void *user;
    uint32_t i;
} task;

static void *run_task(void *user)
{
    const task *t = user;
    t->run(t->user, t->i);
    return NULL;
}

void hdst__in_threads(uint32_t count, void (*run)(void *user, uint32_t i), void *user)
{
    task tasks[HDST__MOST_THREADS];
    pthread_t thread[HDST__MOST_THREADS];
    bool started[HDST__MOST_THREADS] = {false};
    for (uint32_t i = 0; i < count; i++) {
        tasks[i] = (task){run, user, i};
        if (i > 0) started[i] = pthread_create(&thread[i], NULL, run_task, &tasks[i]) == 0;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!started[i]) run_task(&tasks[i]);
    for (uint32_t i = 1; i < count; i++)
        if (started[i]) pthread_join(thread[i], NULL);
}
