/* SPDX-License-Identifier: Apache-2.0 */
/* clock_set.c - stops and steps machine time, and changes its speed. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/pair.h"
#include "machine/file/clock_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/clock.h"
#include "machine/store/clock_at.h"
#include "machine/store/event.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/* Changes the clock as start_stretch() says. The caller holds the lock. */
static void put_stretch(struct gkf_machine *m, uint64_t later_ns,
			uint64_t speed, bool keep_speed)
{
	struct gkf_clock c = gkf_clock_get(m);
	uint64_t now = gk_boot_ns();

	GK_ASSERT(gkf_lock_held(m));
	c.machine_ns = gkf_clock_at(&c, now) + later_ns;
	if (!c.speed && keep_speed) { /* a step also moves wall time */
		c.real_ns += later_ns;
		c.wall_ns += later_ns;
	} else {
		c.real_ns = now;
		c.wall_ns = gk_wall_ns();
	}
	if (!keep_speed && !speed && c.speed)
		atomic_store(&m->file->run_speed, c.speed);
	if (!keep_speed)
		c.speed = speed;
	gk_pair_write(&m->file->clock_seq, m->file->clock, &c, sizeof c);
}

/* Sets the clock ahead by later_ns and, unless keep_speed, sets its speed. */
static int start_stretch(struct gkf_machine *m, uint64_t later_ns,
			 uint64_t speed, bool keep_speed)
{
	int r = gkf_lock(m);

	if (r)
		return r;
	put_stretch(m, later_ns, speed, keep_speed);
	gkf_unlock(m);
	gkf_event_wake(m);
	return 0;
}

void gkf_clock_stop_copy(struct gkf_machine *m, uint64_t machine_ns)
{
	struct gkf_clock c = gkf_clock_get(m);

	GK_ASSERT(gkf_lock_held(m));
	if (c.speed)
		atomic_store(&m->file->run_speed, c.speed);
	c = (struct gkf_clock){
	    .real_ns = gk_boot_ns(),
	    .machine_ns = machine_ns,
	    .wall_ns = gkf_wall_us(m, machine_ns) * GK_NS_PER_US,
	};
	gk_pair_write(&m->file->clock_seq, m->file->clock, &c, sizeof c);
}

int gkf_clock_speed(struct gkf_machine *m, uint64_t speed)
{
	return speed > GKF_SPEED_MAX ? GK_ERR_RANGE
				     : start_stretch(m, 0, speed, false);
}

int gkf_machine_age(struct gkf_machine *m, uint64_t ns)
{
	return start_stretch(m, ns, 0, true);
}
