/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - bytes in powers of 1024. */
#ifndef GK_BASE_UNITS_H
#define GK_BASE_UNITS_H

#include <stdint.h>

#define KIB ((int64_t)1 << 10)
#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)
#define TIB ((int64_t)1 << 40)

#endif
