// SPDX-License-Identifier: Apache-2.0
// Marks what the shared library exports; everything else is hidden.
#ifndef HDST_API_H
#define HDST_API_H

#if defined(__GNUC__)
#define HDST_API __attribute__((visibility("default")))
#else
#define HDST_API
#endif

#endif
