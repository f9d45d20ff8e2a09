/* SPDX-License-Identifier: Apache-2.0 */
/* standin.h - how much device memory the driver of standin.c has given out. */
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t standin_held;     /* not by graphs */
extern _Atomic uint64_t standin_reserved; /* by graphs */
extern _Atomic uint64_t standin_used;     /* of the reserved bytes */

/* For bench/null_nvml.c. */
#define NULL_HELD (standin_held + standin_reserved)

#endif
