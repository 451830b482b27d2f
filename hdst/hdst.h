// SPDX-License-Identifier: Apache-2.0
// libhdst: a heterogeneous dataflow engine. The whole public interface for programs.
//
// Conventions
// - Every creator and operator returns an object, never NULL. An error sticks to the object and to everything made from it, and comes out at the
//   action (hdst_run) or from the object's _status function. So a pipeline of ten operators needs one check.
// - Graph nodes (datasets) belong to the context. Sources, schemas, modules, specs, values, results, jobs and partials are the caller's: each has a
//   _destroy that takes NULL. Destroying the context frees what is left; an object must not be used after its context. An object that others still use lives on
//   until they are gone.
// - NULL for an object, or for what must be there, is an error as any other (HDST_E_USAGE), and so is an object of another context. The object that
//   is made has the error; where nothing has a context that it could belong to, it is a constant.
// - Functions that can fail late return hdst_status and fill a caller-owned hdst_error (NULL is fine).
// - Threads: contexts are independent. A context and its objects may be used from several threads; calls lock the context; a result's views must not
//   be read while another thread runs that result.
// - Sizes are bytes, counts are records, times are seconds. Strings are UTF-8 and copied.
// - The library prints nothing, installs no signal handler, never exits, and has no global state but two locks, a count of runs and the number of the
//   process that asked the drivers first, which contexts share because OpenCL drivers do not stand being asked from two threads at certain moments,
//   or from a forked child.
#ifndef HDST_HDST_H
#define HDST_HDST_H

#include "hdst/api.h"
#include "hdst/arrange.h"
#include "hdst/error.h"
#include "hdst/graph.h"
#include "hdst/joins.h"
#include "hdst/loop.h"
#include "hdst/table.h"
#include "hdst/scan.h"
#include "hdst/text.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HDST_VERSION_MAJOR 0
#define HDST_VERSION_MINOR 1
#define HDST_VERSION_PATCH 0
#define HDST_VERSION_TEXT "0.1.0"

// "0.1.0" of the library that runs, which may differ from the header's. Thread-safe.
HDST_API const char *hdst_version(void);

typedef struct hdst_context hdst_context;       // devices, budgets, kernel cache, graph
typedef struct hdst_source hdst_source;         // where records come from
typedef struct hdst_schema hdst_schema;         // records declared in YAML or in C
typedef struct hdst_module hdst_module;         // a checked kernel file with its records
typedef struct hdst_dataset hdst_dataset;       // a node of the graph: a lazy collection of records
typedef struct hdst_map_spec hdst_map_spec;     // a function of a module with what is bound to its parameters
typedef struct hdst_value hdst_value;           // rows bound to broadcast parameters
typedef struct hdst_result hdst_result;         // an action: what a run computes and keeps
typedef struct hdst_job hdst_job;               // a run on a thread of its own
typedef struct hdst_partial hdst_partial;       // what a result accumulates, unfinished

// --- Context -------------------------------------------------------------------------------------------------------------------------------------

typedef enum hdst_log_level { HDST_LOG_ERROR, HDST_LOG_WARN, HDST_LOG_INFO, HDST_LOG_DEBUG } hdst_log_level;

// All memory the library takes from the host, except OpenCL's own and what libyaml (while a schema is read) and msgpack (while a record is saved for
// `hdst replay`) take for the time of one call: these have no hook. All three functions or none. `user` is passed through.
typedef struct hdst_allocator {
    void *(*allocate)(size_t bytes, void *user);                    // NULL on failure
    void *(*reallocate)(void *pointer, size_t bytes, void *user);   // NULL on failure, `pointer` then stays valid
    void (*release)(void *pointer, void *user);
    void *user;
} hdst_allocator;

// HDST_ON_ERROR_FAIL: the run ends with HDST_E_RECORD. HDST_ON_ERROR_SKIP: the record takes no part (it is not accumulated and gives no output record) and is
// counted in hdst_run_stats.records_skipped. A pass in which a record fails is made a second time; as long as none does, skipping costs nothing. Of the two
// records that a reduce fails on the second takes no part (docs/errors.md). Rows of tables that do not parse are left out likewise (docs/io.md, "Text").
typedef enum hdst_on_error { HDST_ON_ERROR_FAIL, HDST_ON_ERROR_SKIP } hdst_on_error;

// GPU kernels come in many shapes: work-items of a group, records of a lane, groups of a compute unit. All give the same results (but for fast_sums, where two
// runs never agree). Rules choose one; then slices of the data try others, each slice once, in one shape, and the quickest by the device's clock stays. What
// was chosen lies in cache_dir, for the device, its driver, the kernel and the size of the input, so it is found once; hdst_explain tells it. Slices of a
// million records or more are part of it (of fewer when they are large), 200 of them at most, a few milliseconds each.
typedef enum hdst_tuning {
    HDST_TUNING_AUTO,           // $HDST_TUNING (auto, off, full) if set; else shapes that need no compiler at once, others once a kernel was
                                // busy for four times as long as they take to compile
    HDST_TUNING_OFF,            // the rules' shapes
    HDST_TUNING_FULL,           // all at once: for a program that measures, or that prepares a machine
} hdst_tuning;

// The highest level at which reductions combine, for measurement: `block` (a thread, strip or work-group), `device`, `node`, `cluster`. What a level leaves out
// passes as it came, and the node's last step combines it; results are the same, to the bit. hdst_run_stats.level counts what enters and leaves each level, and
// hdst_explain says what a setting means for a stage (docs/datasets.md). On one machine `node` and `cluster` are the same.
typedef enum hdst_hpr {
    HDST_HPR_AUTO,              // $HDST_HPR (none, block, device, node, cluster) if set; else all levels
    HDST_HPR_NONE, HDST_HPR_BLOCK, HDST_HPR_DEVICE, HDST_HPR_NODE, HDST_HPR_CLUSTER
} hdst_hpr;

// How several devices share a run (docs/datasets.md). Results are the same, to the bit.
typedef enum hdst_policy {
    HDST_POLICY_AUTO,           // $HDST_POLICY (auto, static, dynamic) if set; else by what is known of the devices
    HDST_POLICY_STATIC,         // by measured powers, all at once
    HDST_POLICY_DYNAMIC,        // piece by piece, as each is free
} hdst_policy;

typedef enum hdst_device_class { HDST_DEVICE_INTERP, HDST_DEVICE_CPU, HDST_DEVICE_GPU } hdst_device_class;

// How far a run is: of the scan over an input that is in progress. A run may be several, one after another, and a scan may begin anew.
typedef struct hdst_progress_device {
    const char *name;
    hdst_device_class device_class;
    uint64_t records;           // done there so far
} hdst_progress_device;
typedef struct hdst_progress {  // valid during the call; may grow at its end
    const char *function;       // of the scan; of several that were fused their names
    uint64_t records, of;       // done so far; of how many, 0: not known
    double seconds;             // since the scan began
    uint32_t device_count;      // those that have done some
    hdst_progress_device device[16];
    uint64_t turn, turns;       // which one of the loop that the scan is in (of loops in one another the inner one), from 1, of how many at most; 0: none
    const char *until;          // the accumulator that may end the loop (hdst_loop_options); NULL: none
    double turn_value, turn_seconds;    // of `until`, when it was looked at last, NaN: not yet; of a turn so far, on average, 0: this is the first one
} hdst_progress;

typedef struct hdst_context_options {  // Start from HDST_CONTEXT_OPTIONS_INIT; `size` lets the struct grow.
    size_t size;
    const char *device;         // "all", "cpu", "gpu", "interp", or indices of hdst_device_get ("1", "0,2"): every device that it names may work on a
                                // run, and hdst_explain tells which do; NULL: $HDST_DEVICES if set, else "all"
    uint64_t memory;            // budget of host memory in bytes; 0: three quarters of the machine's (or of what the control group or `ulimit -v`
                                // leave). All that comes from the allocator stays within 1.1 times it and 2 MiB; a driver's own memory does not count
    uint64_t device_memory;     // budget of each device's memory in bytes; 0: three quarters of what it reports
    const char *cache_dir;      // compiled kernels; NULL: $HDST_CACHE_DIR, $XDG_CACHE_HOME/hdst, ~/.cache/hdst
    hdst_allocator allocator;   // zeroes: malloc
    void (*log)(hdst_log_level level, const char *message, void *user);    // NULL: silence; may be called from any thread
    void *log_user;
    hdst_log_level log_level;   // messages above it are dropped
    hdst_on_error on_error;     // what a record does that fails a check in a function
    const char *replay_dir;     // where a record that ends a run is saved for `hdst replay`, the latest of each function; NULL: $HDST_REPLAY_DIR,
                                // $XDG_STATE_HOME/hdst, ~/.local/state/hdst; "": nowhere
    bool unchecked;             // kernels without checks: an index out of range means element or row 0, a division by zero gives 0, and nobody is told
    uint8_t reserved[7];        // zeroes: what is added must not lie in padding, which older programs leave undefined
    bool fast_sums;             // sums of float and double may be plain: rounded at each addition, in any order, so other bits in each run and on
                                // each device. Kernels do it where it is faster, hdst_explain says which; other sums, and all in the interpreter,
                                // stay exact
    hdst_tuning tuning;         // of GPU kernels
    hdst_hpr hpr;               // of reductions
    hdst_policy policy;         // of several devices
    uint32_t cpu_parts;         // each CPU device is taken as so many of equal size, 16 at most; 0: $HDST_CPU_PARTS if set, else whole
    uint8_t reserved2[4];       // zeroes
    const char *trace;          // a file for a timeline of all that is done, for Chrome (chrome://tracing) or Perfetto: the commands of each device
                                // as its driver times them, what the threads of the host do, memory in use (docs/observing.md); NULL: none, which costs
                                // nothing. HDST_E_IO where the file cannot be made; where it cannot be written later that is logged, and calls go on
    // NULL: nobody is told. Called ten times a second at most, while a call works, by the thread that called, and by no other; not while it compiles, sorts or
    // merges. It may call hdst_context_cancel, and nothing else of the context.
    void (*progress)(const hdst_progress *progress, void *user);
    void *progress_user;
} hdst_context_options;

#define HDST_CONTEXT_OPTIONS_INIT                                                                                                     \
    {sizeof(hdst_context_options), NULL, 0, 0, NULL, {NULL, NULL, NULL, NULL}, NULL, NULL, HDST_LOG_WARN, HDST_ON_ERROR_FAIL, NULL,     \
     false, {0}, false, HDST_TUNING_AUTO, HDST_HPR_AUTO, HDST_POLICY_AUTO, 0, {0}, NULL, NULL, NULL}

// After fork() in a process that has looked for devices the child has HDST_E_DEVICE from all but the interpreter: fork first, or exec.
// NULL options: the defaults. Opens no device yet (the first run or device query does).
HDST_API hdst_context *hdst_context_create(const hdst_context_options *options);
HDST_API void hdst_context_destroy(hdst_context *context);
HDST_API hdst_status hdst_context_status(const hdst_context *context, hdst_error *error);
// Ends the call on this context, or on an object of it, that works at this moment: it returns HDST_E_CANCELLED (or the object that it makes has that
// error), and a result holds nothing. Concerns no later call; when none works, or what works is about to end, nothing happens. So a program that runs
// several calls in a loop sets a flag of its own besides. From any thread and in a signal handler: it takes no lock and changes one atomic word.
// docs/datasets.md says how soon. Where a kernel on an OpenCL device does not end within two seconds the device is given up: this context has
// HDST_E_DEVICE from then on, and its memory stays taken.
HDST_API void hdst_context_cancel(hdst_context *context);

typedef enum hdst_memory_owner {    // what the memory of a context is for.
    HDST_MEMORY_OTHER,          // objects of the graph, plans, texts; on devices with memory of their own also buffers that are kept to be used again
    HDST_MEMORY_SEGMENTS,       // through which input streams
    HDST_MEMORY_CACHES,         // cached datasets, and records that stay on a device between two steps
    HDST_MEMORY_VALUES,         // rows of hdst_value
    HDST_MEMORY_ACCUMULATORS,   // accumulators and tables, unfinished (partials too)
    HDST_MEMORY_OUTPUT,         // output records, rows of results
    HDST_MEMORY_BY_KEY,         // reductions by key
    HDST_MEMORY_SORTS,          // sorts, groups, partitions, top
    HDST_MEMORY_READERS,        // sources: indexes of texts
    HDST_MEMORY_COMPILER,       // modules, kernels
    HDST_MEMORY_OWNERS,
    HDST_MEMORY_MOST_OWNERS = 16
} hdst_memory_owner;
// "segments", "cached datasets"; "?" for none of them. Thread-safe.
HDST_API const char *hdst_memory_owner_name(hdst_memory_owner owner);

// Memory in one place, bytes. `used` is the sum of owner_used. Peaks: since the context was made, or since hdst_memory_reset_peaks; owners had theirs at
// different times.
typedef struct hdst_memory_place {
    char name[128];             // "host", or the device's
    uint64_t limit;             // the budget; 0: it has none of its own
    uint64_t used, peak;
    uint64_t owner_used[HDST_MEMORY_MOST_OWNERS], owner_peak[HDST_MEMORY_MOST_OWNERS];
    bool in_host_memory;        // a device that works in host memory: this counts as the host's, too
} hdst_memory_place;

typedef struct hdst_memory_use {    // Start from HDST_MEMORY_USE_INIT; `size` lets the struct grow.
    size_t size;
    uint32_t device_count;
    bool files_in_memory;       // temporary files lay in a folder that is memory itself (tmpfs)
    hdst_memory_place host;     // of the allocator, small blocks too: of these a tenth of the limit and 2 MiB do not count towards it
    hdst_memory_place device[16];       // that are open
    uint64_t files, files_peak; // bytes of temporary files, which count towards no budget
    uint64_t registered;        // bytes of the program's own memory that it registered
} hdst_memory_use;

#define HDST_MEMORY_USE_INIT                                                                                                          \
    {sizeof(hdst_memory_use), 0, false, {{0}, 0, 0, 0, {0}, {0}, false}, {{{0}, 0, 0, 0, {0}, {0}, false}}, 0, 0, 0}

// What the context takes at this moment, and took at most. From any thread, also while a call works on the context.
HDST_API hdst_status hdst_memory_usage(hdst_context *context, hdst_memory_use *use, hdst_error *error);
HDST_API hdst_status hdst_memory_reset_peaks(hdst_context *context, hdst_error *error);         // peaks begin anew with what is in use

typedef struct hdst_device_info {
    uint32_t index;             // what --device INDEX means
    hdst_device_class device_class;
    char name[128], platform[128], driver[64];
    uint32_t compute_units;
    uint64_t memory_bytes, local_bytes;
    bool has_double, usable;
    char why_not[128];          // when not usable
} hdst_device_info;

// All devices of all OpenCL platforms, then the interpreter. A missing OpenCL is no error: only the interpreter is there.
HDST_API hdst_status hdst_device_count(hdst_context *context, uint32_t *count, hdst_error *error);
HDST_API hdst_status hdst_device_get(hdst_context *context, uint32_t position, hdst_device_info *info, hdst_error *error);
// The fastest of the devices that runs of this context use: it alone has what only one can do.
HDST_API hdst_status hdst_device_chosen(hdst_context *context, hdst_device_info *info, hdst_error *error);

// --- Sources -------------------------------------------------------------------------------------------------------------------------------------

typedef enum hdst_type {
    HDST_BOOL, HDST_INT8, HDST_INT16, HDST_INT32, HDST_INT64, HDST_UINT8, HDST_UINT16, HDST_UINT32, HDST_UINT64, HDST_FLOAT32, HDST_FLOAT64, HDST_TEXT
} hdst_type;

// A file, its format by its name: .npy, .csv (.tsv, .txt, .data, a pipe, "-": numbers and texts, separated; plain or compressed by gzip, zstd or xz). Columns
// are known at once; the rows of a text are counted when they are asked for or read, which is also when mistakes in them are found.
HDST_API hdst_source *hdst_source_open(hdst_context *context, const char *path);
// A folder: its files of these formats in the order of the bytes of their names, one after another, as with hdst_source_open_all; those whose names begin with
// a point, other files and folders in it are passed over.
// columns: names or 0-based indices, comma-separated ("x,y" or "0,3-5"); NULL: all.
HDST_API hdst_source *hdst_source_open_columns(hdst_context *context, const char *path, const char *columns);
HDST_API hdst_source *hdst_source_open_all(hdst_context *context, const char *const *paths, size_t count, const char *columns);    // rows one after another
// Lines of texts (docs/io.md, "Lines"), as records with the fields `text`, `offset`, `source` and `line`, or some of these, or as a record that is one text.
// `path`: a file, "-" (the standard input), a pipe, a folder, or a pattern with * ? or [; what is compressed by gzip, zstd or xz is unpacked on the way.
HDST_API hdst_source *hdst_source_open_lines(hdst_context *context, const char *path);
HDST_API hdst_source *hdst_source_open_all_lines(hdst_context *context, const char *const *paths, size_t count, const hdst_lines_options *options);
HDST_API hdst_source *hdst_source_open_raw(hdst_context *context, const char *path);    // whole C structs of the record, without a header
// `count` rows of `row_bytes` bytes each, C structs of the record they are read as. Not copied: `rows` must outlive the source and what reads it.
HDST_API hdst_source *hdst_source_from_memory(hdst_context *context, const void *rows, uint64_t count, uint64_t row_bytes);
HDST_API hdst_source *hdst_source_from_floats(hdst_context *context, const float *table, uint64_t rows, uint32_t columns);  // row-major; not copied either
// Has the devices of the context read `bytes` bytes from `memory` on where they lie: records of hdst_source_from_memory and _from_floats that are C structs
// of the record in layout aos, without a bool, are then not copied on the host on their way to a device, nor are their texts that lie in such memory without
// large gaps; others are, as without. GPUs pin the pages when they are first read (33 ms a GiB): register memory that is read more than once, whole and once.
// It stays the program's: it must not be freed or unmapped before hdst_memory_unregister, nor be written to while a call reads it. HDST_E_USAGE: NULL, no
// bytes, or a range that meets one that is registered. Where the system lets no more pages be pinned that is logged, and they are copied.
HDST_API hdst_status hdst_memory_register(hdst_context *context, const void *memory, uint64_t bytes, hdst_error *error);
// `memory`: the begin of a range that was registered, else HDST_E_USAGE. Waits for the call that runs on the context. hdst_context_destroy does it for all.
HDST_API hdst_status hdst_memory_unregister(hdst_context *context, const void *memory, hdst_error *error);
// The numbers begin, begin + 1 ... end - 1, read as a record of one number. Never stored; kernels make those that they read as int64_t.
HDST_API hdst_source *hdst_source_from_range(hdst_context *context, int64_t begin, int64_t end);
// Writes records first ... first + count - 1 as C structs of the record. Returns false to fail the run, with `message` (512 bytes) filled. Called from one
// thread at a time, possibly for the same records again. It may call hdst_context_cancel, and nothing else of the context, whose call waits for it.
typedef bool (*hdst_source_callback)(uint64_t first, uint64_t count, void *records, char *message, void *user);
HDST_API hdst_source *hdst_source_from_callback(hdst_context *context, uint64_t count, hdst_source_callback fill, void *user);
// The same where `fill` may be called from several threads at once, for different records.
HDST_API hdst_source *hdst_source_from_concurrent_callback(hdst_context *context, uint64_t count, hdst_source_callback fill, void *user);
// The same where nobody knows the number beforehand (docs/io.md): writes up to `count` records from `first` on, sets *given to how many, and *ended where none
// follow them. Asked for the same records again, in any order and behind the end, it must give the same ones. `concurrent`: from several threads at once.
typedef bool (*hdst_uncounted_callback)(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user);
HDST_API hdst_source *hdst_source_from_uncounted_callback(hdst_context *context, hdst_uncounted_callback fill, bool concurrent, void *user);
// 0 after an error. A text is gone through, once, by all threads; a mistake in it is the source's error from then on. Lines that
// a run has read to their end are counted already: ask behind the run. A callback that does not know its number
// is asked for all of its records, once it was read as a record; 0 before.
HDST_API uint64_t hdst_source_rows(const hdst_source *source);
HDST_API uint32_t hdst_source_columns(const hdst_source *source);   // numbers per row; 0 after an error or when only the record tells
// Of column 0 ... columns - 1, as the file has it; NULL where there is no name. Belongs to the source.
HDST_API const char *hdst_source_column_name(const hdst_source *source, uint32_t column);
// The type in which the file stores column 0 ... columns - 1; of several files, if it is the same in all. false, and *type stays: it is text (.csv), or only
// the record tells.
HDST_API bool hdst_source_column_type(const hdst_source *source, uint32_t column, hdst_type *type);
HDST_API const char *hdst_source_file(const hdst_source *source, uint64_t number);  // a file's path, by its number in the column `source` of lines
HDST_API const char *hdst_source_note(const hdst_source *source);   // what a reader should know ("float64 converted to float32"), or ""
HDST_API hdst_status hdst_source_status(const hdst_source *source, hdst_error *error);
HDST_API void hdst_source_destroy(hdst_source *source);

// --- Schemas and modules -------------------------------------------------------------------------------------------------------------------------

// A compile-time size or switch: `param uint32_t D;` of a module, `params: [D]` of a schema.
typedef struct hdst_param {
    const char *name;
    int64_t value;
} hdst_param;

// One parameter, or none, as the last two arguments of the loaders. For several, pass an array and its length.
#ifdef __cplusplus
// C++ has no compound literals. The temporary lives until the call is over.
struct hdst_one_param {
    hdst_param param;
    hdst_one_param(const char *name, int64_t value) { param.name = name, param.value = value; }
    operator const hdst_param *() const { return &param; }
};
#define HDST_PARAM(name, value) static_cast<const hdst_param *>(hdst_one_param((name), static_cast<int64_t>(value))), 1
#else
#define HDST_PARAM(name, value) ((const hdst_param[]){{(name), (int64_t)(value)}}), 1
#endif
#define HDST_NO_PARAMS NULL, 0

typedef enum hdst_layout { HDST_AOS, HDST_SOA, HDST_AOSOA, HDST_AOP } hdst_layout;

HDST_API hdst_schema *hdst_schema_load(hdst_context *context, const char *path, const hdst_param *params, size_t count);
// `name` stands for the file in messages.
HDST_API hdst_schema *hdst_schema_parse(hdst_context *context, const char *name, const char *yaml, const hdst_param *params, size_t count);
// An empty schema to add records to, from C. A record is closed by the next one or by its first use.
HDST_API hdst_schema *hdst_schema_create(hdst_context *context);
// align 0: natural. block is for HDST_AOSOA only (0: 256).
HDST_API hdst_status hdst_schema_add_record(hdst_schema *schema, const char *name, hdst_layout layout, uint32_t align, uint32_t block, hdst_error *error);
HDST_API hdst_status hdst_schema_add_field(hdst_schema *schema, const char *name, hdst_type type, uint64_t count, hdst_error *error);    // 1: a plain one
HDST_API hdst_status hdst_schema_add_nested(hdst_schema *schema, const char *name, const char *record, uint64_t count, hdst_error *error);
// Bytes of a record's C struct; 0 when the schema has no such record or an error.
HDST_API uint64_t hdst_schema_record_size(hdst_schema *schema, const char *record);
HDST_API hdst_status hdst_schema_status(const hdst_schema *schema, hdst_error *error);
HDST_API void hdst_schema_destroy(hdst_schema *schema);

// Reads `name`, which `importing` imports; returns a text that hdst frees with free(), or NULL.
typedef char *(*hdst_import_callback)(const char *name, const char *importing, void *user);

typedef struct hdst_module_options {
    size_t size;
    const hdst_param *params;
    size_t param_count;
    hdst_schema *const *schemas;        // records the kernel may use without an import
    size_t schema_count;
    hdst_import_callback import_file;   // NULL: files, relative to the importing one
    void *import_user;
} hdst_module_options;

#define HDST_MODULE_OPTIONS_INIT {sizeof(hdst_module_options), NULL, 0, NULL, 0, NULL, NULL}

HDST_API hdst_module *hdst_module_load(hdst_context *context, const char *path, const hdst_param *params, size_t count);
HDST_API hdst_module *hdst_module_parse(hdst_context *context, const char *name, const char *text, const hdst_module_options *options);
// All errors and warnings with their source lines, as a compiler prints them; "" when there are none. Belongs to the module.
HDST_API const char *hdst_module_diagnostics(const hdst_module *module);
HDST_API hdst_status hdst_module_status(const hdst_module *module, hdst_error *error);
HDST_API uint64_t hdst_module_record_size(hdst_module *module, const char *record);    // bytes of the C struct; 0: no such record
HDST_API void hdst_module_destroy(hdst_module *module);

// --- Values: what broadcast and lookup parameters read (loop.h has more) -------------------------------------------------------------------------

// `rows` rows of a record of the module ("center") or of a scalar type ("float"), all zero at first.
HDST_API hdst_value *hdst_value_create(hdst_module *module, const char *type, uint64_t rows);
// Copies `rows` rows of C structs. The number may change; the next run sees it. A run with a value that is bound to a parameter of one row and has others is
// HDST_E_USAGE, one with a value that has an error ends with that.
HDST_API hdst_status hdst_value_set(hdst_value *value, const void *data, uint64_t rows);
HDST_API hdst_status hdst_value_status(const hdst_value *value, hdst_error *error);
HDST_API void hdst_value_destroy(hdst_value *value);

// --- Datasets ------------------------------------------------------------------------------------------------------------------------------------

// The source's rows as `record` of the module: columns fill the fields in order (or by name where the source has names for all fields).
HDST_API hdst_dataset *hdst_read(hdst_source *source, hdst_module *module, const char *record);
// What is wrong with it, or with what it was made from; what its records hold is not looked at.
HDST_API hdst_status hdst_dataset_status(const hdst_dataset *dataset, hdst_error *error);

// Operators on datasets. Each makes a new dataset of those it is given, which stay as they are; nothing runs yet. docs/datasets.md tells each with an example.
// A dataset holds records in an order; the index of a record is its place, from 0, in the dataset that a function runs over (`record_index()`).

// The same records, in another layout where kernels read them. No kernel changes in the source. Records that a stage computed are C structs (HDST_AOS)
// until this asks for another layout.
HDST_API hdst_dataset *hdst_with_layout(hdst_dataset *dataset, hdst_layout layout);
// Records first ... first + count - 1, or as many of them as there are.
HDST_API hdst_dataset *hdst_slice(hdst_dataset *dataset, uint64_t first, uint64_t count);
// Each record with probability `fraction` (0 ... 1), independently. Whether a record is in depends on its index, the fraction and the seed alone, so every
// device, layout and run takes the same ones. (Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.)
HDST_API hdst_dataset *hdst_sample(hdst_dataset *dataset, double fraction, uint64_t seed);
// All records of the first, then all of the second. Both have records of the same fields.
HDST_API hdst_dataset *hdst_union(hdst_dataset *first, hdst_dataset *second);
// The same for `count` datasets, at least one.
HDST_API hdst_dataset *hdst_union_all(hdst_dataset *const *datasets, size_t count);
// Sorted by `keys`: fields of the records, the weightiest first, each followed by `desc` or `asc` (which may be left out), as in "price desc, name, x[2]". An
// array without an index counts as its elements in order; a record of one field needs no name (NULL). Numbers by value, false before true; floats in the total
// order -NaN < -inf < ... < -0 < +0 < ... < inf < NaN. Stable: records with equal keys stay in their order. More records than the memory budget has room for
// are sorted through temporary files in $TMPDIR (else /tmp).
HDST_API hdst_dataset *hdst_sort(hdst_dataset *dataset, const char *keys);
// Each record behind its index: `record` of the module has a uint64_t first and then the fields of the dataset's records, in order.
HDST_API hdst_dataset *hdst_zip_with_index(hdst_dataset *dataset, hdst_module *module, const char *record);

// Copies records first ... first + count - 1, as C structs, to `rows`. HDST_E_USAGE when there are fewer. What is not at hand is computed, so a loop that takes
// piece after piece of computed records caches them first.
HDST_API hdst_status hdst_dataset_take(hdst_dataset *dataset, uint64_t first, uint64_t count, void *rows, hdst_error *error);

// What a function of a module is called with. Copied by the operator it is given to; values are retained.
HDST_API hdst_map_spec *hdst_map_spec_create(hdst_module *module, const char *function);
HDST_API hdst_status hdst_bind_value(hdst_map_spec *spec, const char *parameter, hdst_value *value);   // broadcast or lookup; the error sticks to the spec too
HDST_API hdst_status hdst_bind_accum(hdst_map_spec *spec, const char *parameter, uint64_t rows);      // a table of `rows` accumulators
// The first error of all calls on the spec, which is what a dataset made with it has too.
HDST_API hdst_status hdst_map_spec_status(const hdst_map_spec *spec, hdst_error *error);
HDST_API void hdst_map_spec_destroy(hdst_map_spec *spec);

// A map's code may be given apart, for devices of a class, in place of its body in the module; a map that is only declared there (`map f(T a) -> U;`) needs it
// for the device that runs. Such a map is a stage of its own and reads C structs (HDST_AOS); it has no accumulators. Errors stick to the spec too.
//
// OpenCL C 1.2 with a __kernel called `kernel`, for CPU or GPU devices; docs/kernel-language.md lists its parameters. `group` work-items form a work-group (0:
// 256).
HDST_API hdst_status hdst_map_spec_set_opencl(hdst_map_spec *spec, hdst_device_class device_class, const char *text, const char *kernel, uint32_t group);

typedef struct hdst_part {          // of a slice of the input, which a C function works on
    uint64_t first, count;          // records first ... first + count - 1 of the whole input
    const void *records;            // as C structs
    void *output;                   // room for `count` records that the map gives, all of which must be written
    const void *const *values;      // rows of the map's broadcast parameters, in their order
    const uint64_t *value_rows;
    size_t value_count;
} hdst_part;

// Returns false to fail the run, with `message` (512 bytes) filled. On CPU devices called from several threads at once, on different parts.
typedef bool (*hdst_part_function)(const hdst_part *part, char *message, void *user);
// A C function, for the interpreter or CPU devices.
HDST_API hdst_status hdst_map_spec_set_function(hdst_map_spec *spec, hdst_device_class device_class, hdst_part_function function, void *user);

// Of a filter, which may be only declared in the module too: keep[i] says whether the part's record i stays (all false before); output is NULL.
typedef bool (*hdst_filter_part_function)(const hdst_part *part, bool *keep, char *message, void *user);
HDST_API hdst_status hdst_map_spec_set_filter(hdst_map_spec *spec, hdst_device_class device_class, hdst_filter_part_function function, void *user);

// A map, a filter or a flat_map (any number of records from each one, in input order) with its bindings. Operators in a row run as one kernel.
HDST_API hdst_dataset *hdst_map(hdst_dataset *dataset, const hdst_map_spec *spec);
HDST_API hdst_dataset *hdst_filter(hdst_dataset *dataset, const hdst_map_spec *spec);
HDST_API hdst_dataset *hdst_flat_map(hdst_dataset *dataset, const hdst_map_spec *spec);
// Short forms for functions with nothing to bind.
HDST_API hdst_dataset *hdst_map_function(hdst_dataset *dataset, hdst_module *module, const char *function);
HDST_API hdst_dataset *hdst_filter_function(hdst_dataset *dataset, hdst_module *module, const char *function);
HDST_API hdst_dataset *hdst_flat_map_function(hdst_dataset *dataset, hdst_module *module, const char *function);
HDST_API hdst_dataset *hdst_reduce(hdst_dataset *dataset, hdst_module *module, const char *function);    // to one record, by a `reduce`
// The record with the smallest, or the largest, value of a field: "price", "from.x", "line[2].x" (NULL: of records with one field). Of several the first in the
// order of the dataset; -0 and +0 are equal; a record whose value is NaN is taken only when all are; texts are compared byte for byte. One record; an empty
// dataset is an error of the run, as for a reduce without identity.
HDST_API hdst_dataset *hdst_min_by(hdst_dataset *dataset, const char *field);
HDST_API hdst_dataset *hdst_max_by(hdst_dataset *dataset, const char *field);
// The `count` records with the largest values of a field, or as many as there are, in descending order; records of equal values stay in the order of the
// dataset. NaN comes after all numbers. Takes memory for four times `count` records, or for a few thousand; any `count` is fine.
HDST_API hdst_dataset *hdst_top(hdst_dataset *dataset, uint64_t count, const char *field);
// Reduced by key, to `rows` records: record k is what the `reduce` makes of the values that came with key k, its identity where none came. Records have an
// integer field declared `key` (`map f(T a) -> (key uint32_t k, double v)`) or called "key"; their other fields are, in order, those that the reduce takes. A
// key that is not below `rows` fails the run with the record's number. A reduce that is not field-wise (docs/kernel-language.md) needs an identity.
HDST_API hdst_dataset *hdst_reduce_dense(hdst_dataset *dataset, hdst_module *module, const char *function, uint64_t rows);
// One record for each key that occurs: what a `group` function makes of all records with that key, in the order of the dataset; of one that emits any number,
// all of them, in the order of the emits. `key` names the fields of the key, with commas between ("user", "from.x, day"), in the order of the key parameter's;
// NULL: the field that is called as the key parameter. Floats are keys by their bits: -0 and +0 are two keys. The result is ordered by a hash of the keys, the
// same on every device. Where memory is short keys come in parts, each a pass over the dataset's records; more records of one key than fit go to a temporary
// file that the function reads, and so do results that do not fit. What one key emits must fit a share of the budget, as of a flat_map what a record does.
HDST_API hdst_dataset *hdst_group(hdst_dataset *dataset, const char *key, const hdst_map_spec *spec);
// The short form for functions with nothing to bind.
HDST_API hdst_dataset *hdst_group_function(hdst_dataset *dataset, const char *key, hdst_module *module, const char *function);
// Reduced by key, one record for each key that occurred: of the same type as the records that came, whose key fields are declared `key` (several make a
// compound key, and so does a record) or called "key"; the other fields are, in order, those that the reduce takes. Keys may be numbers, bools, arrays and
// records of these; floats are keys by their bits (-0 is not 0, each NaN is a key of its own, but functions give one only). The result is in the order of
// the keys' hash, the same on every device and in every run; sums of floats are exact. A reduce that is not field-wise (docs/kernel-language.md) works on the
// records of a key as hdst_group does, and takes its memory.
HDST_API hdst_dataset *hdst_reduce_by_key(hdst_dataset *dataset, hdst_module *module, const char *function);
// The records in the order of `parts` parts, those of a part in the order of the dataset: `function` is a map that gives each record's part as a uint32_t below
// `parts`. One that is not ends the run with the record's number, or with HDST_ON_ERROR_SKIP leaves the record out. hdst_result_parts tells how many records
// each part has. Reductions by key behind it (with nothing but maps between) keep the parts: each is reduced by itself, and the result is in the order of the
// parts, then of the keys' hash. A key that lies in two parts is an error (HDST_E_USAGE). What the memory budget has no room for goes through a temporary file
// in $TMPDIR.
HDST_API hdst_dataset *hdst_partition(hdst_dataset *dataset, hdst_module *module, const char *function, uint64_t parts);
// The same with values bound to the map: the borders of ranges, for example.
HDST_API hdst_dataset *hdst_partition_by(hdst_dataset *dataset, const hdst_map_spec *spec, uint64_t parts);
// What a reduction by key keeps its keys in. A run chooses by its first records, and hdst_explain tells the choice and why; results have the same bits in each.
typedef enum hdst_container {
    HDST_CONTAINER_AUTO,
    HDST_CONTAINER_DENSE,       // an array with a row for each number of a declared range: hdst_reduce_dense, nothing else
    HDST_CONTAINER_TABLE,       // a hash table of each thread, which is emptied to parts where it is full
    HDST_CONTAINER_PARTS,       // radix partitions at once, then a hash table for each
    HDST_CONTAINER_SORTED       // radix partitions, sorted by hash and key, and reduced run by run; groups and reduces that are not field-wise have no other
} hdst_container;
// The same reduction by key (hdst_reduce_by_key, hdst_count_by_key, hdst_distinct; hdst_reduce_dense and hdst_group in the one that they have) in
// this container. HDST_E_USAGE where it is none of that dataset's.
HDST_API hdst_dataset *hdst_with_container(hdst_dataset *reduction, hdst_container container);
// How many records have each key, in the same order: records of the module's `record`, which has the fields of the key, then a uint64_t. Other fields are not
// read.
HDST_API hdst_dataset *hdst_count_by_key(hdst_dataset *dataset, hdst_module *module, const char *record);
// One of each of the records that are equal in all fields, by their bits, in the order of the hash of all fields.
HDST_API hdst_dataset *hdst_distinct(hdst_dataset *dataset);

// --- Actions -------------------------------------------------------------------------------------------------------------------------------------

// What a run of this dataset gives: the accumulators of its maps and, when the last operator makes records, those records.
HDST_API hdst_result *hdst_result_create(hdst_dataset *dataset);
// Reads the bound values, runs, and replaces what the result held. On failure the result holds nothing. The first run compiles.
HDST_API hdst_status hdst_run(hdst_result *result, hdst_error *error);
// The same on a thread of its own. Calls on the context or its objects wait while it runs, but for hdst_context_cancel and the calls below; several jobs
// run one after another. Never NULL: what is wrong with the result, or no thread, is the job's status. Callbacks come from that thread.
HDST_API hdst_job *hdst_run_async(hdst_result *result);
// Waits until the run has ended, for `seconds` at most; 0 only looks, less than 0 waits as long as it takes. *ended says whether it has (it may be NULL),
// and then the status is the run's, and so is the error, every time it is asked; before that it is HDST_OK. From any thread.
HDST_API hdst_status hdst_job_wait(hdst_job *job, double seconds, bool *ended, hdst_error *error);
// Ends this run and no other call, also before its turn has come: it ends with HDST_E_CANCELLED unless it is over. From any thread and in a signal handler.
HDST_API void hdst_job_cancel(hdst_job *job);
// Cancels it if it still runs, and waits. Before the context's end, which does the same for jobs that are left. NULL is fine.
HDST_API void hdst_job_destroy(hdst_job *job);
HDST_API void hdst_result_destroy(hdst_result *result);

// A view into memory of the result, valid until its next run or end. base is NULL when there is no such thing (see hdst_result_status).
typedef struct hdst_view {
    const void *base;
    uint64_t stride;            // bytes between rows
    uint64_t rows;
    uint64_t elements;          // of the field in one row (1 for a scalar), packed one after another
    hdst_type type;
} hdst_view;

// Field of an accumulator table ("t", "x"; the field of a scalar accumulator is NULL), or of the output records (table NULL).
HDST_API hdst_view hdst_result_field(hdst_result *result, const char *table, const char *field);
// The rows of an accumulator table or (NULL) the output records as C structs; *rows may be NULL. As views, they are valid until the next run or the result's
// end. Records that stayed on the device (hdst_value_set_result) are read now: NULL also when that fails. Two tables of one name: docs/datasets.md.
HDST_API const void *hdst_result_rows(hdst_result *result, const char *table, uint64_t *rows);
// How many records of the last run lie in each part, one part after another: of hdst_partition, or a reduction by key that keeps its parts. NULL, with *parts
// 0 (it may be NULL): the records have no parts. Valid until the next run or the result's end.
HDST_API const uint64_t *hdst_result_parts(hdst_result *result, uint64_t *parts);
// The error of the last view that was NULL: the near name of a misspelt field and so on.
HDST_API hdst_status hdst_result_status(const hdst_result *result, hdst_error *error);

// One number of a view, converted. Out of range or NULL views give 0. Thread-safe.
HDST_API double hdst_view_double(hdst_view view, uint64_t row, uint64_t element);
HDST_API hdst_text hdst_view_text(hdst_view view, uint64_t row, uint64_t element);      // lasts as the view does; empty out of range, and of what is no text
HDST_API hdst_text hdst_result_text(hdst_result *result, const char *table, const char *field, uint64_t row);     // of hdst_result_field
HDST_API int64_t hdst_view_int64(hdst_view view, uint64_t row, uint64_t element);

// What the last run did. Levels: records, pairs or cells of accumulators that entered and left "block", "device" and "node" in all reductions of the run.
typedef struct hdst_level { char name[16]; uint64_t in, out; } hdst_level;
typedef struct hdst_device_use { char name[128]; uint64_t slices, records; double busy_seconds; } hdst_device_use;
typedef struct hdst_run_stats {
    uint64_t records;
    double total_seconds, read_seconds, compile_seconds, run_seconds;
    uint64_t bytes_to_device, bytes_from_device;
    uint32_t device_count, level_count;
    hdst_device_use device[16];     // each by its name; of equal ones all but the first with their index behind it
    hdst_level level[4];
    uint64_t records_skipped;   // with HDST_ON_ERROR_SKIP: records that failed; of a pipeline of several passes, the sum
    uint32_t fast_sums;         // with fast_sums: float fields of accumulators whose sums were plain; 0: all were exact
    uint64_t host_peak_bytes, device_peak_bytes;        // memory that was in use at most during the run (hdst_memory_usage); of the device that had the most
    uint64_t cache_hit_bytes, cache_miss_bytes;         // of cached inputs of maps and reduces: found where they had stayed; read from where they come from,
                                // or from the host, in a first run, or as they do not fit
} hdst_run_stats;
HDST_API hdst_run_stats hdst_result_stats(const hdst_result *result);
// Stages, device, kernel form, layout, tables and why: a text of several lines that belongs to the result. Compiles if needed. "" after an error.
HDST_API const char *hdst_explain(hdst_result *result, hdst_error *error);

// Actions without a result object: each runs the dataset once.
// The number of records. Reads and maps (but with HDST_ON_ERROR_SKIP) need no run for it.
HDST_API hdst_status hdst_count(hdst_dataset *dataset, uint64_t *count, hdst_error *error);
// Copies the first `count` records, as C structs, to `rows`, or as many as there are; *taken (may be NULL) is their number.
HDST_API hdst_status hdst_take(hdst_dataset *dataset, uint64_t count, void *rows, uint64_t *taken, hdst_error *error);
// All records as C structs in memory of the caller (where the budget has none: a temporary file that is read and written like memory), to be given
// back with hdst_rows_destroy before the context ends. *rows is NULL after an error. The context is the dataset's: rows are plain memory, which says
// not whose it is, so another one is not noticed, as little as free() would notice a foreign pointer, and its count of memory is wrong from then on.
HDST_API hdst_status hdst_collect(hdst_dataset *dataset, void **rows, uint64_t *count, hdst_error *error);
HDST_API void hdst_rows_destroy(hdst_context *context, void *rows);     // NULL is fine

// --- Partials: reductions that go on elsewhere ---------------------------------------------------------------------------------------------------

// What a result reduces (accumulators, by key, an associative reduce, the largest records), before anything was rounded. Partials of runs of the same functions
// over different records meet in any order and grouping, here or, as bytes, elsewhere, to the bits of one run over all: docs/datasets.md. They need no dataset.

// The next runs keep what they reduce unfinished, too. HDST_E_USAGE: it reduces nothing. HDST_E_UNSUPPORTED: by a function that is not associative.
HDST_API hdst_status hdst_result_keep_partial(hdst_result *result, hdst_error *error);
// The same of a part that begins at this record of the whole: for associative reduces (of what hdst_reduce gets; only a part at 0 has a record of its own) and
// the largest records (of what the functions before hdst_top, hdst_min_by and hdst_max_by get); others do not look at it. May be called before each run.
HDST_API hdst_status hdst_result_keep_partial_at(hdst_result *result, uint64_t first, hdst_error *error);
HDST_API hdst_partial *hdst_partial_from_result(hdst_result *result);   // a copy of what the last run came to, but for accumulators below a cache
// What hdst_partial_write gave, here or in another process. Bytes that are cut off, damaged or no partial: HDST_E_FORMAT. They are not needed afterwards.
HDST_API hdst_partial *hdst_partial_from_bytes(hdst_context *context, const void *bytes, uint64_t size);
// Adds `from`, which stays as it is. HDST_E_USAGE (other functions, or records in both) or HDST_E_RECORD (a reduce fails): nothing was done.
// HDST_E_MEMORY: a part may have been added, and then the partial has this error from now on.
HDST_API hdst_status hdst_partial_merge(hdst_partial *partial, const hdst_partial *from, hdst_error *error);
// With names and a checksum; equal bytes for equal sums, whichever way they came. They belong to the partial, until its next hdst_partial_write or its end.
HDST_API hdst_status hdst_partial_write(hdst_partial *partial, const void **bytes, uint64_t *size, hdst_error *error);
// As of a result (table NULL: its records), valid until the next merge or the end. Of an associative reduce once all from 0 on are there, else HDST_E_USAGE.
HDST_API hdst_view hdst_partial_field(hdst_partial *partial, const char *table, const char *field);
HDST_API const void *hdst_partial_rows(hdst_partial *partial, const char *table, uint64_t *rows);
// Of an associative reduce or the largest records: how many ranges of records it covers, and the one of this number, from 0 on in order (0, 0: there is none).
HDST_API uint64_t hdst_partial_range(const hdst_partial *partial, uint64_t number, uint64_t *first, uint64_t *count);
// Its error, or that of the last view that was NULL.
HDST_API hdst_status hdst_partial_status(const hdst_partial *partial, hdst_error *error);
HDST_API void hdst_partial_destroy(hdst_partial *partial);

// --- Writing -------------------------------------------------------------------------------------------------------------------------------------

// Writes a view as a .npy file ("-": standard output), replacing the file only when all is written. Shape (rows) or (rows, elements).
HDST_API hdst_status hdst_view_save(hdst_view view, const char *path, hdst_error *error);

// Runs the dataset and writes its records to a file, replacing it only when all is written. The name's ending says how: .npy (an array where the record has one
// field, else a structured array), .csv or .tsv (a header, then numbers that read back to the same bits), .txt (one text), .raw, .bin (C structs); "-": .npy.
HDST_API hdst_status hdst_save(hdst_dataset *dataset, const char *path, hdst_error *error);

#ifdef __cplusplus
}
#endif
#endif
