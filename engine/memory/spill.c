// SPDX-License-Identifier: Apache-2.0
// Temporary files for what does not fit the memory budget (engine/memory/spill.h).
#define _GNU_SOURCE     // mkostemp, strerror_r that returns the text
#include "engine/memory/spill.h"

#include "base/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

static const uint64_t most_at_once = (uint64_t)1 << 30;     // of one call to the system

static hdst_status failed(const hdst__spill *spill, const char *what, int number, hdst_error *error)
{
    char reason[128], written[24];
    hdst__error_set(error, HDST_E_IO, "temporary file in '%s': %s", spill->folder, what);
    hdst__error_cause(error, "%s", strerror_r(number, reason, sizeof reason));
    if (spill->bytes) hdst__error_hint(error, "%s were written; let TMPDIR name a folder with more room, or raise --memory",
                                       hdst__bytes_text(spill->bytes, written));
    else hdst__error_hint(error, "records that exceed the memory budget go there; let TMPDIR name a folder that can be written, or raise --memory");
    return HDST_E_IO;
}

bool hdst__spill_is_in_memory(int file)
{
    struct statfs about;
    return fstatfs(file, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

static void look_where_it_lies(hdst__runtime *runtime, const hdst__spill *spill)
{
    hdst__temporary_files *files = &runtime->files;
    if (files->are_in_memory || !files->in_memory || !files->in_memory(spill->fd) || atomic_exchange(&files->are_in_memory, true)) return;
    hdst__log_write(&runtime->log, HDST__LOG_WARN,
                    "temporary files in '%s' take memory beside the memory budget, as that folder is memory itself (tmpfs); "
                    "let TMPDIR name a folder on a disk",
                    spill->folder);
}

hdst_status hdst__spill_open(hdst__runtime *runtime, hdst__spill *spill, hdst_error *error)
{
    const char *folder = getenv("TMPDIR");
    char path[sizeof spill->folder + 24];
    *spill = (hdst__spill){.fd = -1, .files = runtime ? &runtime->files : NULL};
    if (!folder || !*folder) folder = "/tmp";
    if (strlen(folder) >= sizeof spill->folder) return hdst__error_set(error, HDST_E_IO, "TMPDIR is longer than %zu bytes", sizeof spill->folder - 1);
    strcpy(spill->folder, folder);
    snprintf(path, sizeof path, "%s/hdst-XXXXXX", folder);
    spill->fd = mkostemp(path, O_CLOEXEC);
    if (spill->fd < 0) return failed(spill, "cannot be made", errno, error);
    unlink(path);
    spill->open = true;
    if (runtime) look_where_it_lies(runtime, spill);
    return HDST_OK;
}

void hdst__spill_close(hdst__spill *spill)
{
    if (spill->open) close(spill->fd);
    if (spill->files) hdst__meter_take(&spill->files->bytes, spill->bytes);
    *spill = (hdst__spill){.fd = -1};
}

static void grow(hdst__spill *spill, uint64_t bytes)
{
    if (spill->files) hdst__meter_add(&spill->files->bytes, bytes - spill->bytes);
    spill->bytes = bytes;
}

hdst_status hdst__spill_put(hdst__spill *spill, uint64_t offset, const void *data, uint64_t bytes, hdst_error *error)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t left = bytes - done;
        ssize_t n = pwrite(spill->fd, (const char *)data + done, left < most_at_once ? left : most_at_once, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return failed(spill, "cannot be written", n < 0 ? errno : ENOSPC, error);
        done += (uint64_t)n;
        if (offset + done > spill->bytes) grow(spill, offset + done);
    }
    return HDST_OK;
}

hdst_status hdst__spill_add(hdst__spill *spill, const void *data, uint64_t bytes, hdst_error *error)
{
    return hdst__spill_put(spill, spill->bytes, data, bytes, error);
}

hdst_status hdst__spill_read(const hdst__spill *spill, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t left = bytes - done;
        ssize_t n = pread(spill->fd, (char *)data + done, left < most_at_once ? left : most_at_once, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return failed(spill, "cannot be read back", n < 0 ? errno : EIO, error);
        done += (uint64_t)n;
    }
    return HDST_OK;
}

hdst_status hdst__spill_map(const hdst__spill *spill, const void **data, hdst_error *error)
{
    void *at = mmap(NULL, spill->bytes, PROT_READ, MAP_SHARED, spill->fd, 0);
    *data = at == MAP_FAILED ? NULL : at;
    if (!*data) return failed(spill, "cannot be read back", errno, error);
    madvise(at, spill->bytes, MADV_SEQUENTIAL);         // advice: nothing depends on it
    return HDST_OK;
}

hdst_status hdst__spill_map_private(const hdst__spill *spill, void **data, hdst_error *error)
{
    void *at = mmap(NULL, spill->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, spill->fd, 0);
    *data = at == MAP_FAILED ? NULL : at;
    return *data ? HDST_OK : failed(spill, "cannot be read back", errno, error);
}

hdst_status hdst__spill_map_new(hdst__spill *spill, uint64_t bytes, void **data, hdst_error *error)
{
    *data = NULL;
    const int number = posix_fallocate(spill->fd, 0, (off_t)bytes);     // else a full disk would be a signal at the first write
    if (number) return failed(spill, "cannot be written", number, error);
    grow(spill, bytes);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, spill->fd, 0);
    if (at == MAP_FAILED) return failed(spill, "cannot be read back", errno, error);
    *data = at;
    return HDST_OK;
}

static void spill_unmap(const hdst__spill *spill, const void *data)
{
    if (data) munmap((void *)data, spill->bytes);
}

void hdst__spill_unmap_read(const hdst__runtime *runtime, const hdst__spill *spill, const void *data)
{
    if (!runtime->given_up) spill_unmap(spill, data);
}
