/* SPDX-License-Identifier: Apache-2.0 */
/* smoothing_set.c - changes the presets of power smoothing. */
#include "base/err.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/model/smoothing.h"
#include "machine/model/model.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

int gkf_smoothing_set(struct gkf_machine *m, unsigned device, unsigned profile,
		      unsigned param, int64_t value)
{
	int r;

	if (value < 0 || value > gkf_smoothing_max(profile, param))
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	/* Past bins still to be computed must use the old value. */
	gkf_state_advance(m, device);
	atomic_store(&m->file->device[device].smoothing.param[profile][param],
		     (uint64_t)value + 1);
	gkf_unlock(m);
	return 0;
}
