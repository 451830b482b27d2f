// SPDX-License-Identifier: Apache-2.0
// A function marked so is compiled for several widths of vectors; the loader takes the widest that the processor has.
// Not under sanitizers, whose library is not ready yet when the loader chooses.
#ifndef HDST_BASE_VECTOR_TARGETS_H
#define HDST_BASE_VECTOR_TARGETS_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HDST__WIDE_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HDST__WIDE_VECTORS
#endif

#endif
