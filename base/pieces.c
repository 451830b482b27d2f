// SPDX-License-Identifier: Apache-2.0
#include "base/pieces.h"

#include <assert.h>
#include <string.h>

const char *hdst__template_text(const char *name)
{
    for (size_t i = 0; i < hdst__template_count; i++)
        if (strcmp(hdst__templates[i].name, name) == 0) return hdst__templates[i].text;
    assert(!"a template that was not embedded");
    return "";
}

const char *hdst__program_text_of(const char *name)
{
    for (size_t i = 0; i < hdst__program_text_count; i++)
        if (strcmp(hdst__program_texts[i].name, name) == 0) return hdst__program_texts[i].text;
    assert(!"a program that was not embedded");
    return "";
}
