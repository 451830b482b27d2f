// SPDX-License-Identifier: Apache-2.0
// What all public objects share (plan/object.h).
#include "plan/object.h"

#include <string.h>

const hdst_error hdst__given_null = {.code = HDST_E_USAGE, .message = "NULL was given for an object"};
hdst_error hdst__no_memory = {
    .code = HDST_E_MEMORY, .retriable = true, .message = "out of memory", .hint = "a larger budget (--memory) may do, if the machine has as much"};

const hdst__allocator *hdst__owned_by(const hdst_context *context, hdst__owner owner)
{
    return context->engine ? hdst__engine_owned(context->engine, owner) : &context->allocator;
}

void hdst__lock(hdst_context *context)
{
    if (!context || !context->object.context) return;
    pthread_mutex_lock(&context->lock);
    hdst__cancel_begin(&context->cancel);
    if (context->engine) hdst__engine_look_for_fork(context->engine);
    context->gave_back = false;
    if (context->engine) hdst__engine_forget_refusals(context->engine);
    context->refusals = context->engine ? hdst__engine_refusals(context->engine) : 0;
}

void hdst__explain_memory(const hdst_context *context, hdst_error *error)
{
    if (context && context->engine) hdst__engine_explain_memory(context->engine, context->refusals, error);
}

void hdst__unlock(hdst_context *context)
{
    if (!context || !context->object.context) return;
    hdst__cancel_end(&context->cancel);
    pthread_mutex_unlock(&context->lock);
}

void *hdst__object_create(hdst_context *context, size_t bytes, void (*release)(hdst__object *), void *stand_in)
{
    if (!context || !context->object.context) return stand_in;
    hdst__object *object = hdst__alloc_zero(&context->allocator, bytes);
    if (!object) return stand_in;
    object->context = context;
    object->release = release;
    object->uses = 1;
    object->next = context->objects;
    if (context->objects) context->objects->previous = object;
    context->objects = object;
    hdst__object_inherit(object, &context->object);
    return object;
}

void hdst__object_retain(hdst__object *object)
{
    if (object && object->context) object->uses++;
}

static void unlink_object(hdst__object *object)
{
    if (object->previous) object->previous->next = object->next;
    else object->context->objects = object->next;
    if (object->next) object->next->previous = object->previous;
}

static void free_memory(hdst__object *object)
{
    const hdst__allocator *allocator = &object->context->allocator;
    if (object->error != &hdst__no_memory) hdst__free(allocator, object->error);
    hdst__free(allocator, object);
}

void hdst__object_drop(hdst__object *object)
{
    if (!object || !object->context || object->context->closing || --object->uses > 0) return;
    unlink_object(object);
    if (object->release) object->release(object);
    free_memory(object);
}

void hdst__object_destroy(hdst__object *object)
{
    if (!object || !object->context) return;
    hdst_context *context = object->context;
    hdst__lock(context);
    hdst__object_drop(object);
    hdst__unlock(context);
}

void hdst__object_free_all(hdst_context *context)
{
    // Objects refer to each other in no fixed order, so all let go first (drops do nothing while closing) and all memory goes then. Newest first:
    // a result was made after the dataset it reads, and its stage must end before the dataset's cache.
    context->closing = true;
    for (hdst__object *object = context->objects; object; object = object->next)
        if (object->release) object->release(object);
    while (context->objects) {
        hdst__object *object = context->objects;
        context->objects = object->next;
        free_memory(object);
    }
}

hdst_status hdst__object_fail(hdst__object *object, const hdst_error *error)
{
    if (object->error) return object->error->code;
    hdst_error *copy = object->context ? hdst__alloc(&object->context->allocator, sizeof *copy) : NULL;
    if (copy) *copy = *error;
    if (copy) hdst__explain_memory(object->context, copy);
    object->error = copy ? copy : &hdst__no_memory;
    return object->error->code;
}

hdst_status hdst__object_inherit(hdst__object *object, const hdst__object *from)
{
    hdst_error error;
    return from->error && hdst__object_status(from, &error) != HDST_OK ? hdst__object_fail(object, &error) : HDST_OK;
}

// --- What a call is given ---

hdst_status hdst__check_pointer(const char *call, const char *name, const void *pointer, hdst_error *error)
{
    if (pointer) return HDST_OK;
    return hdst__error_set(error, HDST_E_USAGE, "%s was given NULL for '%s'", call, name);
}

hdst_status hdst__read_options(const char *type, const char *init, void *options, size_t least, size_t bytes, const void *given, size_t size, hdst_error *error)
{
    enum { MOST = 4096 };       // no struct of options is so large: what `size` holds was never set
    bool unknown = false;
    if (size < least || size > MOST || size % sizeof(void *)) {
        hdst__error_set(error, HDST_E_USAGE, "%s of size %zu; they have %zu bytes", type, size, bytes);
        hdst__error_hint(error, "start from %s, which sets `size` and the defaults", init);
        return HDST_E_USAGE;
    }
    for (size_t i = bytes; i < size; i++) unknown |= ((const char *)given)[i] != 0;
    if (unknown)
        return hdst__error_set(error, HDST_E_USAGE, "%s of size %zu ask for something that this version of hdst (%s) does not know", type,
                               size, HDST_VERSION_TEXT);
    memcpy(options, given, size < bytes ? size : bytes);
    return HDST_OK;
}

const hdst__object *hdst__needs(const hdst__object *object, const hdst__object *given_null)
{
    if (!object) return given_null;
    return object->context ? NULL : object;
}

hdst_status hdst__check_alive(const char *call, const char *name, const void *object, hdst_error *error)
{
    hdst_status status = hdst__check_pointer(call, name, object, error);
    return status == HDST_OK ? hdst__object_status(object, error) : status;
}

hdst_status hdst__check_object(const hdst_context *context, const char *call, const char *name, const void *given, hdst_error *error)
{
    const hdst__object *object = given;
    if (!object || !object->context || object->context == context) return hdst__check_alive(call, name, given, error);
    hdst__error_set(error, HDST_E_USAGE, "%s was given a '%s' of another context", call, name);
    hdst__error_hint(error, "objects of two contexts do not mix: make all of them from one");
    return HDST_E_USAGE;
}

hdst_status hdst__object_status(const hdst__object *object, hdst_error *error)
{
    if (!object->error) {
        if (error) *error = (hdst_error)HDST_ERROR_INIT;
        return HDST_OK;
    }
    if (object->call) return hdst__check_pointer(object->call, object->argument, NULL, error);
    if (error) *error = *object->error;
    return object->error->code;
}
