/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - reads machine time. */
#include "machine/store/clock.h"
#include "base/clock.h"
#include "base/pair.h"
#include "machine/file/clock_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/clock_at.h"
#include "machine/store/view.h"

/* Two readings at most this far apart count as simultaneous. */
#define TOGETHER_NS (50 * GK_NS_PER_US)
#define READINGS    8

static inline struct gkf_clock read_clock(const struct gkf_machine *m)
{
	const struct gkf_file *f = m->file;
	struct gkf_clock c;

	gk_pair_read(&f->clock_seq, f->clock, &c, sizeof c);
	if (c.speed > GKF_SPEED_MAX)
		c.speed = GKF_REAL_SPEED;
	return c;
}

struct gkf_clock gkf_clock_get(const struct gkf_machine *m)
{
	return read_clock(m);
}

uint64_t gkf_speed(const struct gkf_machine *m)
{
	return read_clock(m).speed;
}

uint64_t gkf_machine_ns(const struct gkf_machine *m)
{
	struct gkf_clock c;

	if (gkf_applying(m))
		return atomic_load(&m->applied_ns) - 1;
	c = read_clock(m);
	return gkf_clock_at(&c, gk_boot_ns());
}

uint64_t gkf_machine_bin(const struct gkf_machine *m)
{
	return gkf_machine_ns(m) / GKF_BIN_NS;
}

/*
 * Reads both clocks at one moment: reads again if the thread was interrupted in
 * between, and takes the closest of a few pairs.
 */
static void read_both_clocks(uint64_t *ret_wall, uint64_t *ret_boot)
{
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < READINGS && closest > TOGETHER_NS; i++) {
		uint64_t before = gk_boot_ns(), wall = gk_wall_ns();
		uint64_t apart = gk_boot_ns() - before;

		if (apart >= closest)
			continue;
		closest = apart;
		*ret_wall = wall;
		*ret_boot = before;
	}
}

uint64_t gkf_wall_us(const struct gkf_machine *m, uint64_t machine_ns)
{
	struct gkf_clock c = gkf_clock_get(m);
	uint64_t wall = 0, boot = 0;
	int64_t ago;

	if (!c.speed) /* a stopped clock gives the same result at any time */
		return (c.wall_ns - (c.machine_ns - machine_ns)) / GK_NS_PER_US;
	read_both_clocks(&wall, &boot);
	ago = (int64_t)(gkf_clock_at(&c, boot) - machine_ns);
	if (c.speed != GKF_REAL_SPEED)
		ago = (int64_t)((__int128_t)ago * GKF_REAL_SPEED / c.speed);
	return (wall - (uint64_t)ago) / GK_NS_PER_US;
}

uint64_t gkf_real_until(const struct gkf_machine *m, uint64_t machine_ns)
{
	struct gkf_clock c = gkf_clock_get(m);
	uint64_t now = gkf_clock_at(&c, gk_boot_ns());
	__uint128_t real;

	if (now >= machine_ns)
		return 0;
	if (!c.speed)
		return UINT64_MAX;
	real = (__uint128_t)(machine_ns - now) * GKF_REAL_SPEED / c.speed + 1;
	return real > UINT64_MAX ? UINT64_MAX : (uint64_t)real;
}

uint64_t gkf_scenario_next_ns(const struct gkf_machine *m)
{
	return m->steps ? atomic_load_explicit(&m->file->scenario.next_ns,
					       memory_order_acquire)
			: UINT64_MAX;
}
