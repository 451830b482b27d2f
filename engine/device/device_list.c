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

static void consider(const hdst__device_list *list, size_t i, size_t *best, size_t *named)
{
    if (*named == 0 || faster(&list->info[i], &list->info[*best])) *best = i;
    ++*named;
}

static hdst_status choose_class(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error)
{
    size_t named = 0, best = 0;
    const char *why = "";
    for (size_t i = 0; i < list->count; i++) {
        const hdst__device_info *info = &list->info[i];
        bool all = strcmp(wanted, "all") == 0 && info->class_ != HDST__DEVICE_INTERP;
        if (!all && strcmp(wanted, hdst__device_class_name(info->class_)) != 0) continue;
        if (info->usable) consider(list, i, &best, &named);
        else why = info->why_not;
    }
    if (named == 0 && strcmp(wanted, "all") == 0) consider(list, list->count - 1, &best, &named);
    if (named == 0) return not_there(list, wanted, why, error);
    *chosen = best;
    *others = named - 1;
    return HDST_OK;
}

static hdst_status choose_indices(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error)
{
    size_t named = 0, best = 0;
    const char *at = wanted;
    do {
        if (*at < '0' || *at > '9') return malformed(wanted, error);
        char *end;
        uint64_t index = strtoull(at, &end, 10);
        if (index >= list->count) return not_there(list, wanted, "", error);
        if (!list->info[index].usable) return not_there(list, wanted, list->info[index].why_not, error);
        consider(list, index, &best, &named);
        if (*end && *end != ',') return malformed(wanted, error);
        at = *end ? end + 1 : end;
        if (*end == ',' && !*at) return malformed(wanted, error);
    } while (*at);
    *chosen = best;
    *others = named - 1;
    return HDST_OK;
}

hdst_status hdst__device_list_choose(const hdst__device_list *list, const char *wanted, size_t *chosen, size_t *others, hdst_error *error)
{
    if (is_name(wanted)) return choose_class(list, wanted, chosen, others, error);
    return choose_indices(list, wanted, chosen, others, error);
}
