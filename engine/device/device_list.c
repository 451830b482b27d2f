// SPDX-License-Identifier: Apache-2.0
// What devices there are, in an order that is stable on a machine, and which of them the user asked for
// (engine/device/device_list.h).
#include "engine/device/device_list.h"

#include "base/diag.h"
#include "engine/device/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hdst__device_class_name(hdst__device_class class_)
{
    return class_ == HDST__DEVICE_GPU ? "gpu" : class_ == HDST__DEVICE_CPU ? "cpu" : "interp";
}

hdst__device_info *hdst__device_list_add(hdst__device_list *list)
{
    hdst__device_info *grown = hdst__realloc(list->allocator, list->info, (list->count + 1) * sizeof *grown);
    if (!grown) return NULL;
    list->info = grown;
    hdst__device_info *info = &list->info[list->count];
    *info = (hdst__device_info){.backend = list->found_by[list->backends - 1].backend, .index = (uint32_t)list->count};
    list->count++;
    return info;
}

void hdst__device_list_clear(hdst__device_list *list)
{
    for (size_t i = 0; i < list->backends; i++)
        if (list->found_by[i].backend->forget) list->found_by[i].backend->forget(list->allocator, list->found_by[i].own);
    hdst__free(list->allocator, list->info);
    *list = (hdst__device_list){0};
}

void *hdst__device_list_own(const hdst__device_list *list, const hdst__device_info *info)
{
    for (size_t i = 0; i < list->backends; i++)
        if (list->found_by[i].backend == info->backend) return list->found_by[i].own;
    return NULL;
}

// --- Choice ---

static void list_for_hint(const hdst__device_list *list, hdst_error *error)
{
    char text[448];
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < list->count && used < sizeof text; i++) {
        const hdst__device_info *info = &list->info[i];
        int length = snprintf(text + used, sizeof text - used, "%s%" PRIu32 " %s (%s%s%s)", i ? ", " : "", info->index, info->name,
                              hdst__device_class_name(info->class_), info->usable ? "" : ", not usable: ", info->why_not);
        used += length > 0 ? (size_t)length : 0;
    }
    hdst__error_hint(error, "there is: %s", text);
    if (list->note[0]) hdst__error_cause(error, "%s", list->note);
}

static hdst_status not_there(const hdst__device_list *list, const char *wanted, const char *why, hdst_error *error)
{
    hdst__error_set(error, HDST_E_DEVICE, "device '%s' is not there%s%s", wanted, *why ? ": " : "", why);
    list_for_hint(list, error);
    return HDST_E_DEVICE;
}

static const char *const names[] = {"all", "cpu", "gpu", "interp"};
enum { NAMES = sizeof names / sizeof *names };

static hdst_status malformed(const char *wanted, hdst_error *error)
{
    const char *near = hdst__nearest_name(wanted, names, NAMES), *what = "all, cpu, gpu, interp, or indices as `hdst devices` shows them: 0 or 0,1";
    hdst__error_set(error, HDST_E_USAGE, "'%s' does not name a device", wanted);
    if (near) hdst__error_hint(error, "did you mean '%s'? %s", near, what);
    else hdst__error_hint(error, "%s", what);
    return HDST_E_USAGE;
}

static bool is_name(const char *wanted)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(wanted, names[i]) == 0) return true;
    return false;
}

hdst_status hdst__device_list_check(const char *wanted, hdst_error *error)
{
    if (!wanted || !*wanted || is_name(wanted)) return HDST_OK;
    for (const char *at = wanted;; at++) {
        const size_t digits = strspn(at, "0123456789");
        at += digits;
        if (!digits || (*at && *at != ',')) return malformed(wanted, error);
        if (!*at) return HDST_OK;
    }
}

// Enumerators are in order of speed: the interpreter, CPUs, GPUs. Within a class more compute units win, then the first.
static bool faster(const hdst__device_info *a, const hdst__device_info *b)
{
    if (a->class_ != b->class_) return a->class_ > b->class_;
    return a->compute_units > b->compute_units;
}

// Keeps the places in order of speed; of equal devices the one that is named first stays in front.
static void add_choice(const hdst__device_list *list, size_t i, hdst__device_choice *choice)
{
    if (choice->count == HDST__MOST_WORKERS) {
        choice->left_out++;
        return;
    }
    size_t at = choice->count++;
    for (; at > 0 && faster(&list->info[i], &list->info[choice->at[at - 1]]); at--) choice->at[at] = choice->at[at - 1];
    choice->at[at] = i;
}

static hdst_status choose_class(const hdst__device_list *list, const char *wanted, hdst__device_choice *choice, hdst_error *error)
{
    const char *why = "";
    for (size_t i = 0; i < list->count; i++) {
        const hdst__device_info *info = &list->info[i];
        bool all = strcmp(wanted, "all") == 0 && info->class_ != HDST__DEVICE_INTERP;
        if (!all && strcmp(wanted, hdst__device_class_name(info->class_)) != 0) continue;
        if (info->usable) add_choice(list, i, choice);
        else why = info->why_not;
    }
    if (choice->count == 0 && strcmp(wanted, "all") == 0) add_choice(list, list->count - 1, choice);
    return choice->count ? HDST_OK : not_there(list, wanted, why, error);
}

static hdst_status named_twice(const char *wanted, uint64_t index, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "device '%s' names device %" PRIu64 " twice", wanted, index);
    hdst__error_hint(error, "each index once; HDST_CPU_PARTS=2 makes two devices of one CPU");
    return HDST_E_USAGE;
}

static hdst_status too_many(const char *wanted, hdst_error *error)
{
    return hdst__error_set(error, HDST_E_USAGE, "device '%.100s' names more than %d devices", wanted, HDST__MOST_WORKERS);
}

static hdst_status choose_index(const hdst__device_list *list, const char *wanted, uint64_t index, hdst__device_choice *choice, hdst_error *error)
{
    if (index >= list->count) return not_there(list, wanted, "", error);
    if (!list->info[index].usable) return not_there(list, wanted, list->info[index].why_not, error);
    for (size_t i = 0; i < choice->count; i++)
        if (choice->at[i] == index) return named_twice(wanted, index, error);
    if (choice->count == HDST__MOST_WORKERS) return too_many(wanted, error);
    add_choice(list, index, choice);
    return HDST_OK;
}

static hdst_status choose_indices(const hdst__device_list *list, const char *wanted, hdst__device_choice *choice, hdst_error *error)
{
    const char *at = wanted;
    do {
        if (*at < '0' || *at > '9') return malformed(wanted, error);
        char *end;
        const uint64_t index = strtoull(at, &end, 10);
        if (*end && (*end != ',' || !end[1])) return malformed(wanted, error);
        const hdst_status status = choose_index(list, wanted, index, choice, error);
        if (status != HDST_OK) return status;
        at = *end ? end + 1 : end;
    } while (*at);
    return HDST_OK;
}

hdst_status hdst__device_list_choose(const hdst__device_list *list, const char *wanted, hdst__device_choice *choice, hdst_error *error)
{
    *choice = (hdst__device_choice){0};
    if (is_name(wanted)) return choose_class(list, wanted, choice, error);
    return choose_indices(list, wanted, choice, error);
}
