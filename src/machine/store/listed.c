/* SPDX-License-Identifier: Apache-2.0 */
/* listed.c - finds the GPUs that the driver lists; see listed.h. */
#include "machine/store/listed.h"
#include "base/assert.h"
#include "machine/file/value.h"
#include "machine/store/flag.h"
#include "machine/store/view.h"

bool gkf_is_listed(const struct gkf_machine *m, unsigned device)
{
	GK_ASSERT(device < m->device_count);
	return !gkf_is_set(m, device, GKF_V_REMOVED) &&
	       !gkf_is_set(m, device, GKF_V_EXCLUDED);
}

unsigned gkf_listed_before(const struct gkf_machine *m, unsigned device)
{
	unsigned n = 0;

	for (unsigned i = 0; i < device; i++)
		n += gkf_is_listed(m, i);
	return n;
}

unsigned gkf_listed_count(const struct gkf_machine *m)
{
	return gkf_listed_before(m, m->device_count);
}

int gkf_listed(const struct gkf_machine *m, unsigned n)
{
	for (unsigned i = 0; i < m->device_count; i++)
		if (gkf_is_listed(m, i) && n-- == 0)
			return (int)i;
	return -1;
}
