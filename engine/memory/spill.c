// SPDX-License-Identifier: Apache-2.0
// Temporary files for what does not fit the memory budget (engine/memory/spill.h).
#define _GNU_SOURCE     // strerror_r that returns the text
#include "engine/memory/spill.h"

#include "base/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

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

hdst_status hdst__spill_open(hdst__runtime *runtime, hdst__spill *spill, hdst_error *error)
{
    *spill = (hdst__spill){.fd = -1, .files = runtime ? &runtime->files : NULL};
    spill->fd = hdst__temporary_file(spill->folder);
    if (spill->fd < 0 && errno == ENAMETOOLONG) return hdst__error_set(error, HDST_E_IO, "TMPDIR is longer than %zu bytes", sizeof spill->folder - 1);
    if (spill->fd < 0) return failed(spill, "cannot be made", errno, error);
    spill->open = true;
    hdst__temporary_file_look(runtime, spill->fd, spill->folder);
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
    uint64_t done;
    const int number = hdst__write_at(spill->fd, offset, data, bytes, &done);
    if (done && offset + done > spill->bytes) grow(spill, offset + done);
    return number ? failed(spill, "cannot be written", number, error) : HDST_OK;
}

hdst_status hdst__spill_add(hdst__spill *spill, const void *data, uint64_t bytes, hdst_error *error)
{
    return hdst__spill_put(spill, spill->bytes, data, bytes, error);
}

hdst_status hdst__spill_read(const hdst__spill *spill, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    uint64_t done;
    const int number = hdst__read_at(spill->fd, offset, data, bytes, &done);
    return number ? failed(spill, "cannot be read back", number, error) : HDST_OK;
}

hdst_status hdst__spill_map(const hdst__spill *spill, const void **data, hdst_error *error)
{
    *data = NULL;
    if (!spill->bytes) return HDST_OK;          // which the system would refuse
    void *at = mmap(NULL, spill->bytes, PROT_READ, MAP_SHARED, spill->fd, 0);
    *data = at == MAP_FAILED ? NULL : at;
    if (!*data) return failed(spill, "cannot be read back", errno, error);
    madvise(at, spill->bytes, MADV_SEQUENTIAL);         // advice: nothing depends on it
    return HDST_OK;
}

hdst_status hdst__spill_map_private(const hdst__spill *spill, void **data, hdst_error *error)
{
    *data = NULL;
    if (!spill->bytes) return HDST_OK;
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
