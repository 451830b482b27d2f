// SPDX-License-Identifier: Apache-2.0
// A record that failed, as a file that `hdst replay` runs again (io/replay_file.h).
#include "io/replay_file.h"

#include "io/file.h"

#include <msgpack.h>
#include <string.h>

static const char format_name[] = "hdst-replay";
enum { FORMAT_VERSION = 1, KEYS = 10 /* and "next", of a reduce, or "keys", of a group; "texts" */, MOST_ITEMS = 4096 };

// --- Writing ---

static void pack_text(msgpack_packer *to, const char *text)
{
    msgpack_pack_str(to, strlen(text));
    msgpack_pack_str_body(to, text, strlen(text));
}

static void pack_bytes(msgpack_packer *to, const void *data, uint64_t bytes)
{
    msgpack_pack_bin(to, bytes);
    msgpack_pack_bin_body(to, data, bytes);
}

static void pack_sources(msgpack_packer *to, const hdst__replay *r)
{
    pack_text(to, "sources");
    msgpack_pack_array(to, r->source_count);
    for (size_t i = 0; i < r->source_count; i++) {
        msgpack_pack_array(to, 2);
        pack_text(to, r->sources[i].name);
        msgpack_pack_str(to, r->sources[i].length);
        msgpack_pack_str_body(to, r->sources[i].text, r->sources[i].length);
    }
}

static void pack_params(msgpack_packer *to, const hdst__replay *r)
{
    pack_text(to, "params");
    msgpack_pack_array(to, r->param_count);
    for (size_t i = 0; i < r->param_count; i++) {
        msgpack_pack_array(to, 4);
        pack_text(to, r->params[i].name);
        msgpack_pack_uint64(to, r->params[i].bits);
        msgpack_pack_double(to, r->params[i].real);
        r->params[i].is_real ? msgpack_pack_true(to) : msgpack_pack_false(to);
    }
}

static void pack_tables(msgpack_packer *to, const hdst__replay *r)
{
    pack_text(to, "tables");
    msgpack_pack_array(to, r->table_count);
    for (size_t i = 0; i < r->table_count; i++) {
        msgpack_pack_array(to, 3);
        pack_text(to, r->tables[i].parameter);
        msgpack_pack_uint64(to, r->tables[i].rows);
        if (r->tables[i].data) pack_bytes(to, r->tables[i].data, r->tables[i].bytes);
        else msgpack_pack_nil(to);
    }
}

static void pack_keys(msgpack_packer *to, const hdst__replay *r)
{
    pack_text(to, "keys");
    msgpack_pack_array(to, r->key_count);
    for (size_t i = 0; i < r->key_count; i++) {
        msgpack_pack_array(to, 2);
        msgpack_pack_uint64(to, r->keys[i].leaf);
        msgpack_pack_uint64(to, r->keys[i].element);
    }
}

static void pack_all(msgpack_packer *to, const hdst__replay *r)
{
    msgpack_pack_map(to, KEYS + (r->next != NULL) + (r->keys != NULL) + (r->text_bytes > 0));
    pack_text(to, "format");
    pack_text(to, format_name);
    pack_text(to, "version");
    msgpack_pack_uint64(to, FORMAT_VERSION);
    pack_text(to, "message");
    pack_text(to, r->message);
    pack_text(to, "module");
    pack_text(to, r->module);
    pack_text(to, "function");
    pack_text(to, r->function);
    pack_sources(to, r);
    pack_params(to, r);
    pack_text(to, "records");
    pack_text(to, r->records);
    pack_text(to, "record");
    msgpack_pack_array(to, 2);
    msgpack_pack_uint64(to, r->record);
    pack_bytes(to, r->input, r->input_bytes);
    if (r->next) {
        pack_text(to, "next");
        pack_bytes(to, r->next, r->next_bytes);
    }
    if (r->keys) pack_keys(to, r);
    if (r->text_bytes) {
        pack_text(to, "texts");
        pack_bytes(to, r->texts, r->text_bytes);
    }
    pack_tables(to, r);
}

static int add_to_file(void *user, const char *bytes, size_t count) { return hdst__file_writer_add(user, bytes, count, NULL) == HDST_OK ? 0 : -1; }

static uint64_t bytes_of(const hdst__replay *r)
{
    uint64_t bytes = r->input_bytes + r->next_bytes + r->text_bytes;
    for (size_t i = 0; i < r->source_count; i++) bytes += r->sources[i].length;
    for (size_t i = 0; i < r->table_count; i++) bytes += r->tables[i].data ? r->tables[i].bytes : 0;
    return bytes;
}

hdst_status hdst__replay_write(const hdst__replay *replay, const hdst__allocator *allocator, const char *path, hdst_error *error)
{
    if (bytes_of(replay) > HDST__REPLAY_BYTES - (1 << 20))
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "a record with %llu bytes of tables and texts is not saved", (unsigned long long)bytes_of(replay));
    hdst_error own = HDST_ERROR_INIT;
    hdst__file_writer *writer = hdst__file_writer_open_private(allocator, path, &own);
    if (!writer) {
        if (error) *error = own;
        return own.code;
    }
    msgpack_packer packer;
    msgpack_packer_init(&packer, writer, add_to_file);
    pack_all(&packer, replay);
    return hdst__file_writer_commit(writer, error);     // reports what failed
}

// --- Reading ---

typedef struct unpacker {
    hdst__arena *arena;
    const char *path;
    const msgpack_object_map *map;
    hdst_error *error;
    bool failed;
} unpacker;

static void fail(unpacker *u, const char *what)
{
    if (u->failed) return;
    u->failed = true;
    hdst__error_set(u->error, HDST_E_FORMAT, "%s: %s", u->path, what);
    hdst__error_hint(u->error, "such files are written when a record fails in a kernel; run the program again to get a new one");
}

static const msgpack_object *find_if_there(unpacker *u, const char *key, msgpack_object_type type)
{
    for (uint32_t i = 0; i < u->map->size; i++) {
        const msgpack_object *k = &u->map->ptr[i].key;
        if (k->type != MSGPACK_OBJECT_STR || k->via.str.size != strlen(key) || memcmp(k->via.str.ptr, key, strlen(key)) != 0) continue;
        if (u->map->ptr[i].val.type == type) return &u->map->ptr[i].val;
    }
    return NULL;
}

static const msgpack_object *find(unpacker *u, const char *key, msgpack_object_type type)
{
    const msgpack_object *found = find_if_there(u, key, type);
    if (found) return found;
    fail(u, hdst__arena_printf(u->arena, "'%s' is missing or of the wrong type: the file is broken", key));
    return NULL;
}

static const char *text_of(unpacker *u, const msgpack_object *o)
{
    if (o && o->type == MSGPACK_OBJECT_STR && !memchr(o->via.str.ptr, 0, o->via.str.size))
        return hdst__arena_strndup(u->arena, o->via.str.ptr, o->via.str.size);
    fail(u, "a text was expected: the file is broken");
    return "";
}

static uint64_t number_of(unpacker *u, const msgpack_object *o)
{
    if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER) return o->via.u64;
    fail(u, "a number was expected: the file is broken");
    return 0;
}

static const void *bytes_in(unpacker *u, const msgpack_object *o, uint64_t *bytes)
{
    *bytes = 0;
    if (o->type != MSGPACK_OBJECT_BIN) {
        fail(u, "bytes were expected: the file is broken");
        return "";
    }
    *bytes = o->via.bin.size;
    return memcpy(hdst__arena_alloc(u->arena, o->via.bin.size + 64), o->via.bin.ptr, o->via.bin.size);      // room behind it, and aligned
}

// The `i`th item of a list of lists of `count`.
static const msgpack_object *row(unpacker *u, const msgpack_object *list, size_t i, uint32_t count)
{
    const msgpack_object *o = &list->via.array.ptr[i];
    if (o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size == count) return o->via.array.ptr;
    fail(u, "a list of other length was expected: the file is broken");
    return NULL;
}

static size_t length_of(unpacker *u, const msgpack_object *list)
{
    if (!list) return 0;
    if (list->via.array.size > MOST_ITEMS) fail(u, "a list is too long: the file is broken");
    return u->failed ? 0 : list->via.array.size;
}

static void read_sources(unpacker *u, hdst__replay *r)
{
    const msgpack_object *list = find(u, "sources", MSGPACK_OBJECT_ARRAY), *o;
    r->source_count = length_of(u, list);
    hdst__source_text *sources = HDST__NEW_ARRAY(u->arena, hdst__source_text, r->source_count + 1);
    r->sources = sources;
    for (size_t i = 0; i < r->source_count && (o = row(u, list, i, 2)); i++) {
        sources[i] = (hdst__source_text){.name = text_of(u, &o[0]), .text = text_of(u, &o[1])};
        sources[i].length = strlen(sources[i].text);
    }
}

static void read_params(unpacker *u, hdst__replay *r)
{
    const msgpack_object *list = find(u, "params", MSGPACK_OBJECT_ARRAY), *o;
    r->param_count = length_of(u, list);
    hdst__param_value *params = HDST__NEW_ARRAY(u->arena, hdst__param_value, r->param_count + 1);
    r->params = params;
    for (size_t i = 0; i < r->param_count && (o = row(u, list, i, 4)); i++) {
        params[i] = (hdst__param_value){.name = text_of(u, &o[0]), .bits = number_of(u, &o[1]), .real = o[2].type == MSGPACK_OBJECT_FLOAT64 ? o[2].via.f64 : 0};
        params[i].is_real = o[3].type == MSGPACK_OBJECT_BOOLEAN && o[3].via.boolean;
    }
}

static void read_tables(unpacker *u, hdst__replay *r)
{
    const msgpack_object *list = find(u, "tables", MSGPACK_OBJECT_ARRAY), *o;
    r->table_count = length_of(u, list);
    hdst__replay_table *tables = HDST__NEW_ARRAY(u->arena, hdst__replay_table, r->table_count + 1);
    r->tables = tables;
    for (size_t i = 0; i < r->table_count && (o = row(u, list, i, 3)); i++) {
        tables[i] = (hdst__replay_table){.parameter = text_of(u, &o[0]), .rows = number_of(u, &o[1])};
        if (o[2].type != MSGPACK_OBJECT_NIL) tables[i].data = bytes_in(u, &o[2], &tables[i].bytes);
    }
}

static void read_keys(unpacker *u, hdst__replay *r)
{
    const msgpack_object *list = find_if_there(u, "keys", MSGPACK_OBJECT_ARRAY), *o;
    if (!list) return;
    r->key_count = length_of(u, list);
    hdst__replay_key *keys = HDST__NEW_ARRAY(u->arena, hdst__replay_key, r->key_count + 1);
    r->keys = keys;
    for (size_t i = 0; i < r->key_count && (o = row(u, list, i, 2)); i++) keys[i] = (hdst__replay_key){(uint32_t)number_of(u, &o[0]), number_of(u, &o[1])};
}

static void read_map(unpacker *u, hdst__replay *r)
{
    const msgpack_object *version = find(u, "version", MSGPACK_OBJECT_POSITIVE_INTEGER), *record = find(u, "record", MSGPACK_OBJECT_ARRAY);
    if (version && version->via.u64 != FORMAT_VERSION)
        fail(u, hdst__arena_printf(u->arena, "version %llu of the format; this hdst reads version %d", (unsigned long long)version->via.u64, FORMAT_VERSION));
    r->message = text_of(u, find(u, "message", MSGPACK_OBJECT_STR));
    r->module = text_of(u, find(u, "module", MSGPACK_OBJECT_STR));
    r->function = text_of(u, find(u, "function", MSGPACK_OBJECT_STR));
    r->records = text_of(u, find(u, "records", MSGPACK_OBJECT_STR));
    read_sources(u, r);
    read_params(u, r);
    read_tables(u, r);
    read_keys(u, r);
    if (!record || record->via.array.size != 2) {
        fail(u, "there is no record in it: the file is broken");
        return;
    }
    r->record = number_of(u, &record->via.array.ptr[0]);
    r->input = bytes_in(u, &record->via.array.ptr[1], &r->input_bytes);
    const msgpack_object *next = find_if_there(u, "next", MSGPACK_OBJECT_BIN);
    if (next) r->next = bytes_in(u, next, &r->next_bytes);
    const msgpack_object *texts = find_if_there(u, "texts", MSGPACK_OBJECT_BIN);
    if (texts) r->texts = bytes_in(u, texts, &r->text_bytes);
}

static bool is_replay(const msgpack_object *o)
{
    if (o->type != MSGPACK_OBJECT_MAP || o->via.map.size == 0) return false;
    const msgpack_object *value = &o->via.map.ptr[0].val;
    return value->type == MSGPACK_OBJECT_STR && value->via.str.size == strlen(format_name) && !memcmp(value->via.str.ptr, format_name, strlen(format_name));
}

// Called within a setjmp (unpack_guarded), so that msgpack's own memory is freed also when the arena runs out.
static hdst_status unpack(unpacker *u, const msgpack_object *object, hdst__replay *replay)
{
    if (!is_replay(object)) {
        fail(u, "not a record saved by hdst");
        return HDST_E_FORMAT;
    }
    u->map = &object->via.map;
    read_map(u, replay);
    return u->failed ? HDST_E_FORMAT : HDST_OK;
}

static hdst_status unpack_guarded(unpacker *u, const msgpack_object *object, hdst__replay *replay)
{
    jmp_buf here, *around = u->arena->out_of_memory;
    u->arena->out_of_memory = &here;
    hdst_status status;
    if (setjmp(here)) status = hdst__error_memory(u->error, u->path);
    else status = unpack(u, object, replay);
    u->arena->out_of_memory = around;
    return status;
}

// msgpack allocates as many items as a list or map claims to have, before it reads them. So the file must have at least a byte
// for each.
static bool has_all_items(const unsigned char *bytes, uint64_t count)
{
    uint64_t at = 0, items = 1;
    while (items > 0) {
        if (at >= count || items > count - at) return false;
        const unsigned char type = bytes[at++];
        uint64_t length = 0, skip = 0, more = 0;
        const unsigned width = type >= 0xc4 && type <= 0xc6 ? 1u << (type - 0xc4) : type >= 0xc7 && type <= 0xc9 ? 1u << (type - 0xc7)      // bin, ext
            : type >= 0xd9 && type <= 0xdb ? 1u << (type - 0xd9) : type >= 0xdc && type <= 0xdf ? 2u << (type & 1) : 0;                     // str; array, map
        if (width > count - at) return false;
        for (unsigned i = 0; i < width; i++) length = length << 8 | bytes[at++];
        if (type >= 0x80 && type <= 0x8f) more = 2 * (uint64_t)(type & 0x0f);
        else if (type >= 0x90 && type <= 0x9f) more = type & 0x0f;
        else if (type >= 0xa0 && type <= 0xbf) skip = type & 0x1f;
        else if (type >= 0xc4 && type <= 0xc6) skip = length;
        else if (type >= 0xc7 && type <= 0xc9) skip = length + 1;
        else if (type == 0xca || type == 0xcb) skip = 4u << (type - 0xca);
        else if (type >= 0xcc && type <= 0xd3) skip = 1u << (type & 3);
        else if (type >= 0xd4 && type <= 0xd8) skip = 1 + (1u << (type - 0xd4));
        else if (type >= 0xd9 && type <= 0xdb) skip = length;
        else if (type == 0xdc || type == 0xdd) more = length;
        else if (type == 0xde || type == 0xdf) more = 2 * length;
        if (skip > count - at) return false;
        at += skip;
        items += more - 1;
    }
    return true;
}

hdst_status hdst__replay_read(const char *path, hdst__arena *arena, hdst__replay *replay, hdst_error *error)
{
    *replay = (hdst__replay){0};
    unpacker u = {.arena = arena, .path = path, .error = error};
    hdst__file file;
    hdst_status status = hdst__file_open(&file, path, error);
    if (status != HDST_OK) return status;
    if (file.bytes > HDST__REPLAY_BYTES) {
        hdst__file_close(&file);
        fail(&u, "not a record saved by hdst: the file is too large");
        return HDST_E_FORMAT;
    }
    char *bytes = hdst__arena_alloc(arena, file.bytes + 1);
    status = hdst__file_read(&file, 0, bytes, file.bytes, error);
    hdst__file_close(&file);
    if (status != HDST_OK) return status;
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t end = 0;
    const bool all = has_all_items((const unsigned char *)bytes, file.bytes);
    const msgpack_unpack_return got = all ? msgpack_unpack_next(&unpacked, bytes, file.bytes, &end) : MSGPACK_UNPACK_CONTINUE;
    if (got == MSGPACK_UNPACK_SUCCESS && end == file.bytes) {
        status = unpack_guarded(&u, &unpacked.data, replay);
    } else {
        fail(&u, got == MSGPACK_UNPACK_CONTINUE && file.bytes ? "the file is cut off, or not a record saved by hdst" : "not a record saved by hdst");
        status = HDST_E_FORMAT;
    }
    msgpack_unpacked_destroy(&unpacked);
    return status;
}
