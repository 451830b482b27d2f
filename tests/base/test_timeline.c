// SPDX-License-Identifier: Apache-2.0
// Timelines as files: what is written, by several threads, in a forked process, with names of any bytes. Whether real ones make sense is looked at by
// tests/examples/trace.py.
#include "base/timeline.h"
#include "base/clock.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];
static hdst__timeline *timeline;

static void set_up(void)
{
    strcpy(path, "/tmp/hdst-test-timeline-XXXXXX");
    close(mkstemp(path));
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__timeline_create(NULL, NULL, path, &timeline, &error), HDST_OK, "%s", error.message);
}

static void tear_down(void) { unlink(path); }

TestSuite(timeline, .init = set_up, .fini = tear_down);

static char *content(void)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 8 << 20);
    cr_assert(file && text);
    cr_assert_lt(fread(text, 1, (8 << 20) - 1, file), (8 << 20) - 1);
    fclose(file);
    return text;
}

// The next place of `what`. (The address sanitizer's strstr takes the length of all that is left first.)
static const char *find(const char *text, const char *what)
{
    const size_t length = strlen(what);
    while ((text = strchr(text, *what)) && strncmp(text, what, length) != 0) text++;
    return text;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = find(at, what)); at += strlen(what)) count++;
    return count;
}

static bool is_whole(const char *text)
{
    const char *end = "\n]}\n";
    return !strncmp(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{", 40) && !strcmp(text + strlen(text) - strlen(end), end);
}

static void add(const char *name, double begin, double end)
{
    hdst__timeline_add(timeline, &(hdst__timeline_span){.process = 7, .track = 3, .name = name, .function = "f", .begin = begin, .end = end, .records = 5,
                                                        .bytes = 40, .queued = begin, .submitted = begin});
}

Test(timeline, names_of_any_bytes_are_json)
{
    const double now = hdst__now();
    char longest[2000];
    memset(longest, '\n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    add("a \"quoted\" back\\slash", now, now + 1e-6);
    add("\x01\t\x7f", now, now);
    add("M\xc3\xbcller \xff \xc3", now, now);       // a character, no character, half of one
    add(longest, now, now);
    hdst__timeline_destroy(timeline);
    char *text = content();
    cr_expect(is_whole(text));
    cr_expect(strstr(text, "\"name\":\"a \\\"quoted\\\" back\\\\slash\""));
    cr_expect(strstr(text, "\"name\":\"\\u0001\\u0009\x7f\""));
    cr_expect(strstr(text, "\"name\":\"M\xc3\xbcller ? ?\""));
    cr_expect_eq(count_of(text, "\\u000a"), 200, "names are cut");
    cr_expect_eq(count_of(text, "\"function\":\"f\""), 4);
    cr_expect_eq(count_of(text, "\"records\":5,\"bytes\":40,\"queued_ns\":"), 4);
    free(text);
}

Test(timeline, times_count_nanoseconds_from_its_begin)
{
    const double now = hdst__now();
    add("before", now - 1000, now - 1000 + 0.25);
    hdst__timeline_flush(timeline);
    char *text = content();
    cr_expect(is_whole(text), "also before its end");
    cr_expect(strstr(text, "\"ts\":0.000,\"dur\":0.000,\"name\":\"before\""), "%s", text);
    free(text);
    add("quarter", now + 10, now + 10.25);
    hdst__timeline_destroy(timeline);
    text = content();
    cr_expect(strstr(text, "\"dur\":250000.000,\"name\":\"quarter\"") || strstr(text, "\"dur\":249999.999,") || strstr(text, "\"dur\":250000.001,"));
    free(text);
}

Test(timeline, turns_have_their_number_and_value)
{
    const double values[] = {0.5, NAN, INFINITY, -1.5e300};
    for (uint64_t i = 0; i < 4; i++) hdst__timeline_end_turn(timeline, hdst__timeline_begin(timeline), i + 1, 7 * i, values[i]);
    hdst__timeline_destroy(timeline);
    char *text = content();
    cr_expect(is_whole(text));
    cr_expect_eq(count_of(text, "\"name\":\"turn\""), 4);
    cr_expect(strstr(text, "{\"turn\":1,\"value\":0.5}") && strstr(text, "{\"turn\":2,\"records\":7}"), "%s", text);
    cr_expect(strstr(text, "{\"turn\":3,\"records\":14}"), "%s", text);
    cr_expect(strstr(text, "{\"turn\":4,\"value\":-1.5e+300,\"records\":21}"), "%s", text);
    free(text);
}

enum { THREADS = 8, EACH = 3000, FLOWS = THREADS * EACH / 10 };

static void *add_many(void *user)
{
    (void)user;
    for (int i = 0; i < EACH; i++) {
        const double begin = hdst__timeline_begin(timeline);
        hdst__timeline_end(timeline, begin, "piece", NULL, 0);
        if (i % 10) continue;
        hdst__timeline_flow(timeline, &(hdst__timeline_place){7, 1, begin}, &(hdst__timeline_place){7, 2, begin});
        hdst__timeline_count(timeline, 7, "memory", (uint64_t)i);
    }
    return NULL;
}

Test(timeline, threads_may_add_at_once)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, add_many, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    hdst__timeline_destroy(timeline);
    char *text = content();
    cr_expect(is_whole(text));
    cr_expect_eq(count_of(text, "\n{\"ph\":\"X\""), THREADS * EACH);
    cr_expect_eq(count_of(text, "\"name\":\"thread_name\""), THREADS, "each once");
    cr_expect_eq(count_of(text, "\n{\"ph\":\"s\""), FLOWS);
    static int begun[FLOWS + 1], ended[FLOWS + 1];
    for (const char *at = text; (at = find(at, "\"id\":")); at++) {
        char *behind;
        const long flow = strtol(at + 5, &behind, 10);
        cr_assert(flow >= 1 && flow <= FLOWS, "flow %ld", flow);
        if (*behind == '}') begun[flow]++;
        else ended[flow] += !strncmp(behind, ",\"bp\"", 5);
    }
    for (int flow = 1; flow <= FLOWS; flow++) cr_expect(begun[flow] == 1 && ended[flow] == 1, "flow %d: %d, %d", flow, begun[flow], ended[flow]);
    cr_expect_eq(count_of(text, "\n{\"ph\":\"C\""), FLOWS);
    free(text);
}

Test(timeline, a_forked_process_records_nothing)
{
    add("before", hdst__now(), hdst__now());
    const pid_t child = fork();
    if (child == 0) {
        add("by the child", hdst__now(), hdst__now());
        hdst__timeline_end(timeline, hdst__now(), "by the child", NULL, 0);
        hdst__timeline_destroy(timeline);
        _exit(0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    add("behind", hdst__now(), hdst__now());
    hdst__timeline_destroy(timeline);
    char *text = content();
    cr_expect(is_whole(text));
    cr_expect_eq(count_of(text, "by the child"), 0);
    cr_expect_eq(count_of(text, "\"name\":\"before\"") + count_of(text, "\"name\":\"behind\""), 2);
    free(text);
}

Test(timeline, without_one_nothing_happens)
{
    cr_expect_eq(hdst__timeline_begin(NULL), 0);
    hdst__timeline_end(NULL, 0, "nothing", NULL, 0);
    hdst__timeline_name_thread(NULL, "nobody");
    hdst__timeline_flush(NULL);
    hdst__timeline_destroy(NULL);
    hdst__timeline_destroy(timeline);
}
