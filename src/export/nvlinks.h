/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvlinks.h - how many bytes per second each GPU moves over NVLink, computed
 * from two readings of its counters.
 */
#ifndef GK_EXPORT_NVLINKS_H
#define GK_EXPORT_NVLINKS_H

#include <gpukit/gpukit.h>

/* Zero it before the first use. */
struct gk_nvlinks {
	struct gk_nvlinks_gpu *gpus; /* the GPUs seen so far */
	size_t count;
	/* One per device of the snapshot, in bytes per second in both
	 * directions; NULL: out of memory. */
	struct gk_value *rates;
};

/*
 * Computes the rates of a snapshot's devices. Call it for each snapshot, in
 * order. Counters are read less often than snapshots are taken: a GPU keeps its
 * rate until its counters are read again.
 */
void gk_nvlinks_take(struct gk_nvlinks *nvlinks,
		     const struct gk_snapshot *snap);
void gk_nvlinks_free(struct gk_nvlinks *nvlinks);

#endif
