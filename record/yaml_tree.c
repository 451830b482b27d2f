// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree whose nodes know their place in the source (record/yaml_tree.h).
#include "record/yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 16, MAX_BYTES = 4 << 20 };

typedef struct loader {
    hdst__diags *diags;
    const hdst__source_text *source;
    uint32_t source_index;
    jmp_buf *outer;             // the arena's handler before ours
    yaml_parser_t parser;
    yaml_event_t event;
    size_t start;               // first byte after a byte order mark: libyaml's character 0
    size_t chars, bytes;        // a place that is known both ways: libyaml counts characters, spans count bytes
    yaml_tree *open[MAX_DEPTH]; // lists and mappings that have not ended
    size_t depth;
    yaml_tree *root;
    bool parser_live, event_live, failed;
} loader;

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

// The byte offset of a character, found by a walk from the last place asked for: events come in order, so the walk is linear in
// all.
static uint32_t byte_of(loader *l, size_t character)
{
    const char *text = l->source->text;
    for (; l->chars < character && l->bytes < l->source->length; l->chars++)
        do l->bytes++; while (l->bytes < l->source->length && is_continuation(text[l->bytes]));
    for (; l->chars > character && l->bytes > l->start; l->chars--)
        do l->bytes--; while (l->bytes > l->start && is_continuation(text[l->bytes]));
    return (uint32_t)l->bytes;
}

static hdst__span span_of(loader *l, const yaml_mark_t *start, const yaml_mark_t *end)
{
    uint32_t first = byte_of(l, start->index), last = end ? byte_of(l, end->index) : first;
    return (hdst__span){l->source_index, first, last > first ? last - first : 0};
}

static void refuse(loader *l, hdst__span span, const char *hint, const char *message)
{
    hdst__diag_error(l->diags, span, hint, "%s", message);
    l->failed = true;
}

// A hint beside libyaml's message: the usual mistake behind it. NULL: nothing to add.
static const char *syntax_hint(const loader *l, const char *problem, uint32_t offset)
{
    static const struct { const char *problem, *hint; } hints[] = {
        {"did not find expected key", "is the line indented like its neighbours?"},
        {"did not find expected '-' indicator", "is the line indented like its neighbours?"},
        {"did not find expected <document start>", "this follows the end of the schema; is it indented like its neighbours?"},
        {"mapping values are not allowed in this context", "is the line indented like its neighbours? A text with ': ' in it needs quotes"},
        {"could not find expected ':'", "a key is followed by ': '"},
        {"did not find expected ',' or '}'", "a ',' or a '}' is missing"},
        {"did not find expected ',' or ']'", "a ',' or a ']' is missing"},
        {"found unexpected end of stream", "a quote is not closed"},
    };
    if (offset < l->source->length && l->source->text[offset] == '\t') return "YAML is indented by spaces, never by tabs";
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(problem, hints[i].problem)) return hints[i].hint;
    return NULL;
}

static void report_syntax_error(loader *l)
{
    const yaml_parser_t *p = &l->parser;
    const char *problem = p->problem ? p->problem : "malformed YAML";
    if (p->error == YAML_READER_ERROR) {
        refuse(l, (hdst__span){l->source_index, (uint32_t)(l->start + p->problem_offset), 1}, NULL, problem);
        return;
    }
    bool unclosed = !strcmp(problem, "found unexpected end of stream");     // then the place that matters is where it was opened
    hdst__span span = span_of(l, unclosed && p->context ? &p->context_mark : &p->problem_mark, NULL);
    const char *context = p->context ? p->context : "";
    refuse(l, span, syntax_hint(l, problem, span.offset), hdst__arena_printf(l->diags->arena, "YAML: %s%s%s", context, *context ? ", " : "", problem));
}

static bool next_event(loader *l)
{
    if (l->event_live) yaml_event_delete(&l->event);
    l->event_live = yaml_parser_parse(&l->parser, &l->event);
    if (!l->event_live && l->parser.error == YAML_MEMORY_ERROR) longjmp(*l->diags->arena->out_of_memory, 1);
    if (!l->event_live) report_syntax_error(l);
    return l->event_live;
}

static yaml_tree *add_node(loader *l, yaml_tree_kind kind, hdst__span span)
{
    hdst__arena *arena = l->diags->arena;
    yaml_tree *node = HDST__NEW(arena, yaml_tree), *parent = l->depth ? l->open[l->depth - 1] : NULL;
    node->kind = kind;
    node->span = span;
    if (parent) HDST__PUSH(arena, parent->items, parent->count, parent->capacity, node);
    else l->root = node;
    return node;
}

static void check_plain(loader *l, const yaml_char_t *tag, const yaml_char_t *anchor)
{
    hdst__span span = span_of(l, &l->event.start_mark, NULL);
    if (tag) refuse(l, span, "remove the tag", "tags are not used in a schema");
    else if (anchor) refuse(l, span, "write the value out where it is needed", "anchors and aliases are not used in a schema");
}

static void add_scalar(loader *l)
{
    check_plain(l, l->event.data.scalar.tag, l->event.data.scalar.anchor);
    yaml_tree *node = add_node(l, YAML_TREE_SCALAR, span_of(l, &l->event.start_mark, &l->event.end_mark));
    node->length = l->event.data.scalar.length;
    node->text = hdst__arena_strndup(l->diags->arena, (const char *)l->event.data.scalar.value, node->length);
    if (strlen(node->text) != node->length) refuse(l, node->span, NULL, "a text of a schema cannot hold a zero byte");
}

static void open_collection(loader *l, yaml_tree_kind kind, const yaml_char_t *tag, const yaml_char_t *anchor)
{
    check_plain(l, tag, anchor);
    hdst__span span = span_of(l, &l->event.start_mark, NULL);
    yaml_tree *node = add_node(l, kind, span);
    if (l->depth == MAX_DEPTH) refuse(l, span, NULL, "lists and mappings are nested too deeply for a schema");
    else l->open[l->depth++] = node;
}

static void take_event(loader *l)
{
    hdst__span span;
    switch (l->event.type) {
    case YAML_SCALAR_EVENT: add_scalar(l); break;
    case YAML_SEQUENCE_START_EVENT: open_collection(l, YAML_TREE_LIST, l->event.data.sequence_start.tag, l->event.data.sequence_start.anchor); break;
    case YAML_MAPPING_START_EVENT: open_collection(l, YAML_TREE_MAPPING, l->event.data.mapping_start.tag, l->event.data.mapping_start.anchor); break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: l->depth--; break;
    case YAML_ALIAS_EVENT:
        span = span_of(l, &l->event.start_mark, &l->event.end_mark);
        refuse(l, span, "write the value out where it is needed", "anchors and aliases are not used in a schema");
        break;
    case YAML_DOCUMENT_START_EVENT:
        if (l->root) refuse(l, span_of(l, &l->event.start_mark, NULL), "put the records of both under one 'records:'", "a schema is a single YAML document");
        break;
    default: break;
    }
}

static void load(loader *l)
{
    if (!yaml_parser_initialize(&l->parser)) longjmp(*l->diags->arena->out_of_memory, 1);
    l->parser_live = true;
    yaml_parser_set_encoding(&l->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&l->parser, (const unsigned char *)l->source->text + l->start, l->source->length - l->start);
    while (!l->failed && next_event(l)) {
        if (l->event.type == YAML_STREAM_END_EVENT) return;
        take_event(l);
    }
    l->failed = true;
}

static void release(loader *l)
{
    if (l->event_live) yaml_event_delete(&l->event);
    if (l->parser_live) yaml_parser_delete(&l->parser);
    l->diags->arena->out_of_memory = l->outer;
}

// Everything that may run out of memory happens below this frame; the loader itself belongs to the frame above, so it is whole after the jump.
static void load_and_release(loader *l)
{
    jmp_buf out_of_memory;
    l->outer = l->diags->arena->out_of_memory;
    if (setjmp(out_of_memory)) {
        release(l);
        if (!l->outer) abort();         // as the arena does: an entry point forgot its handler
        longjmp(*l->outer, 1);
    }
    l->diags->arena->out_of_memory = &out_of_memory;
    load(l);
    release(l);
}

// The number of bytes before the first one that is not UTF-8 (overlong forms and surrogates included), or `length`.
static size_t valid_utf8(const char *text, size_t length)
{
    for (size_t i = 0, size; i < length; i += size) {
        unsigned char c = (unsigned char)text[i];
        size = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
        if (!size || size > length - i) return i;
        for (size_t k = 1; k < size; k++)
            if (!is_continuation(text[i + k])) return i;
        unsigned char second = size > 2 ? (unsigned char)text[i + 1] : 0;
        if ((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) || (c == 0xF4 && second > 0x8F)) return i;
    }
    return length;
}

yaml_tree *hdst__yaml_tree_read(hdst__diags *diags, uint32_t source)
{
    loader l = {.diags = diags, .source = &diags->sources[source], .source_index = source};
    hdst__span start = {source, 0, 0};
    if (l.source->length > MAX_BYTES) {
        hdst__diag_error(diags, start, NULL, "the schema is larger than %d MiB", MAX_BYTES >> 20);
        return NULL;
    }
    size_t valid = valid_utf8(l.source->text, l.source->length);
    if (valid < l.source->length) {
        hdst__diag_error(diags, (hdst__span){source, (uint32_t)valid, 1}, "save the file as UTF-8", "the schema is not UTF-8");
        return NULL;
    }
    if (!strncmp(l.source->text, "\xEF\xBB\xBF", 3)) l.start = l.bytes = 3;
    load_and_release(&l);
    if (!l.failed && !l.root) hdst__diag_error(diags, start, "it starts with 'records:', or with 'record: NAME' for a single one", "the schema is empty");
    return l.failed ? NULL : l.root;
}
