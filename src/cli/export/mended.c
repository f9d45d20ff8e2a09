/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mended.c - clears the last Xid of a GPU that has recovered, so that an alert
 * on it ends, too. NVML itself keeps the Xid. A GPU has recovered if it answers
 * again after it was gone, or if it no longer needs a reset. The counts of Xids
 * stay.
 */
#include "cli/export/export.h"
#include "format/condition.h"

#include <stdlib.h>
#include <string.h>

struct gk_mended_gpu {
	char uuid[GK_NAME_MAX];
	bool trouble;
	uint64_t wall_ns; /* when the GPU last recovered; 0: never */
};

void gk_mended_free(struct gk_mended *mended)
{
	free(mended->gpus);
	*mended = (struct gk_mended){0};
}

/* Finds or adds the entry of a GPU. Returns NULL if out of memory. */
static struct gk_mended_gpu *entry_of(struct gk_mended *mended,
				      const struct gk_device *d)
{
	struct gk_mended_gpu *more;

	for (size_t i = 0; i < mended->count; i++)
		if (!strcmp(mended->gpus[i].uuid, d->uuid))
			return &mended->gpus[i];
	more = realloc(mended->gpus, (mended->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	mended->gpus = more;
	more += mended->count++;
	*more = (struct gk_mended_gpu){0};
	memcpy(more->uuid, d->uuid, sizeof more->uuid);
	return more;
}

/* Whether a GPU has failed. Late values alone are not a failure. */
static bool is_in_trouble(const struct gk_device *d)
{
	const struct gk_condition *condition = gk_condition_of(d);

	return d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR ||
	       (condition && condition->fails);
}

static void end_xid(struct gk_mended_gpu *gpu, const struct gk_snapshot *snap,
		    struct gk_device *d)
{
	bool trouble = is_in_trouble(d);

	if (gpu->trouble && !trouble)
		gpu->wall_ns = snap->wall_ns;
	gpu->trouble = trouble;
	if (!d->m[GK_M_XID_LAST].why && !d->m[GK_M_XID_TIME].why &&
	    (uint64_t)d->m[GK_M_XID_TIME].v <= gpu->wall_ns)
		d->m[GK_M_XID_LAST].v = 0;
}

void gk_mended_end_xids(struct gk_mended *mended, struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_device *d = &snap->devices[i];
		struct gk_mended_gpu *gpu =
		    d->mig_index < 0 && d->uuid[0] ? entry_of(mended, d) : NULL;

		if (gpu)
			end_xid(gpu, snap, d);
	}
}
