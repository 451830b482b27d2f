// SPDX-License-Identifier: Apache-2.0
// What the turns of a program's loop did (turns.h).
#include "turns.h"

#include <math.h>

static hdst_loop_report report_of(const hdst_dataset *loop)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    if (loop) hdst_loop_read_report(loop, &report, NULL);
    return report;
}

double turns_sum(const hdst_dataset *loop)
{
    const hdst_loop_report report = report_of(loop);
    double sum = 0;
    for (uint64_t i = 0; i < report.turns; i++) sum += isnan(report.turn[i].value) ? 0 : report.turn[i].value;
    return sum;
}

uint64_t turns_count(const hdst_dataset *loop) { return report_of(loop).turns; }

void turns_json(json *j, const hdst_dataset *loop, const char *value)
{
    const hdst_loop_report report = report_of(loop);
    json_open(j, "turns", '[');
    for (uint64_t i = 0; i < report.turns; i++) {
        const hdst_loop_turn *turn = &report.turn[i];
        json_open(j, NULL, '{');
        json_double(j, "seconds", turn->seconds);
        json_uint(j, "records", turn->records);
        if (turn->work) json_uint(j, "work", turn->work);
        if (!isnan(turn->value)) json_double(j, value, turn->value);
        json_close(j, '}');
    }
    json_close(j, ']');
}
