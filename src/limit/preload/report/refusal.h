/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusal.h - says once on stderr why all GPU work is refused, since the
 * program itself gets only a number. GPUKIT_LOG=off silences it.
 */
#ifndef GKL_PRELOAD_REFUSAL_H
#define GKL_PRELOAD_REFUSAL_H

#include <stdint.h>

/* Says why limits cannot be enforced; for limited_broken(). */
void refusal_broken(void);

/* Says that the number of a device is unknown. */
void refusal_no_number(void);

/* Says that this process gets no slot in the ledger. */
void refusal_no_slot(void);

/* If the limit is less than a context of the device takes, says so. */
void refusal_no_context(int device, uint64_t needed);

#endif
