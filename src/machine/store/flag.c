/* SPDX-License-Identifier: Apache-2.0 */
/* flag.c - reads values that are on or off; see flag.h. */
#include "machine/store/flag.h"
#include "base/assert.h"
#include "machine/file/file.h"
#include "machine/store/view.h"

bool gkf_is_set(const struct gkf_machine *m, unsigned device,
		enum gkf_value flag)
{
	GK_ASSERT(device < m->device_count);
	return atomic_load_explicit(&m->file->device[device].set[flag],
				    memory_order_relaxed) == 1;
}
