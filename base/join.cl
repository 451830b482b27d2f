// Names that are pasted together of what macros stand for.
#pragma once
#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
