/* SPDX-License-Identifier: Apache-2.0 */
/* due.c - applies the steps that are due and brings devices up to date. */
#include "base/clock.h"
#include "machine/store/above.h"
#include "machine/store/clock.h"
#include "machine/store/gate.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/* If a stopped process holds the lock, each poll waits this long. */
#define PATIENCE_NS (20 * GK_NS_PER_MS)

int gkf_machine_settle(struct gkf_machine *m)
{
	int r = gkf_lock_to_compute(m);

	if (r)
		return r;
	m->above->scenario_apply(m, gkf_machine_bin(m));
	for (unsigned i = 0; i < m->device_count; i++)
		m->above->state_advance(m, i);
	gkf_unlock(m);
	return 0;
}

void gkf_scenario_poll(struct gkf_machine *m)
{
	uint64_t next = gkf_scenario_next_ns(m);

	if (next == UINT64_MAX || gkf_machine_ns(m) < next ||
	    !gkf_trylock(m, PATIENCE_NS))
		return;
	m->above->scenario_apply(m, gkf_machine_bin(m));
	gkf_unlock(m);
}
