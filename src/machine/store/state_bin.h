/* SPDX-License-Identifier: Apache-2.0 */
/* state_bin.h - reads how far the state of a device has been computed. */
#ifndef GKF_STATE_BIN_H
#define GKF_STATE_BIN_H

#include "machine/file/file.h"
#include "machine/store/view.h"

/* The next bin to be computed for a device. */
static inline uint64_t gkf_state_bin(const struct gkf_machine *m,
				     unsigned device)
{
	const struct gkf_device *dev = &m->file->device[device];
	uint64_t seq =
	    atomic_load_explicit(&dev->state_seq, memory_order_acquire);

	return __atomic_load_n(&dev->state[seq % 2].bin, __ATOMIC_RELAXED);
}

#endif
