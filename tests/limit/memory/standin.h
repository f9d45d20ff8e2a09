/* standin.h - what the driver of standin.c has given of the device's memory. */
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t standin_held;     /* by graphs not */
extern _Atomic uint64_t standin_reserved; /* by graphs */
extern _Atomic uint64_t standin_used;     /* of that */

/* For bench/null_nvml.c. */
#define NULL_HELD (standin_held + standin_reserved)

#endif
