/* clock.c - machine time: read, stopped, sped up, stepped. */
#include "machine/store/clock.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/pair.h"
#include "machine/file/clock_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/above.h"
#include "machine/store/event.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#define REAL_SPEED 1000

/* Two clocks are read together when no more than this lies between. */
#define TOGETHER_NS (50 * GK_NS_PER_US)
#define READINGS    8

static inline struct gkf_clock read_clock(const struct gkf_machine *m)
{
	const struct gkf_file *f = m->file;
	struct gkf_clock c;

	gk_pair_read(&f->clock_seq, f->clock, &c, sizeof c);
	if (c.speed > GKF_SPEED_MAX)
		c.speed = REAL_SPEED;
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

/* Machine time at a moment of real time. */
static uint64_t machine_at(const struct gkf_clock *c, uint64_t real_ns)
{
	/* A clock that was set in another time namespace may lie ahead. */
	uint64_t passed = real_ns > c->real_ns ? real_ns - c->real_ns : 0;

	if (c->speed == REAL_SPEED)
		return c->machine_ns + passed;
	return c->machine_ns +
	       (uint64_t)((__uint128_t)passed * c->speed / REAL_SPEED);
}

uint64_t gkf_machine_ns(const struct gkf_machine *m)
{
	struct gkf_clock c;

	if (gkf_applying(m))
		return atomic_load(&m->applied_ns) - 1;
	c = read_clock(m);
	return machine_at(&c, gk_boot_ns());
}

uint64_t gkf_machine_bin(const struct gkf_machine *m)
{
	return gkf_machine_ns(m) / GKF_BIN_NS;
}

/*
 * Both clocks at one moment. Whoever is put to sleep between two readings
 * reads again; the closest of a few is taken.
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

	if (!c.speed) /* exactly the same, whoever asks when */
		return (c.wall_ns - (c.machine_ns - machine_ns)) / GK_NS_PER_US;
	read_both_clocks(&wall, &boot);
	ago = (int64_t)(machine_at(&c, boot) - machine_ns);
	if (c.speed != REAL_SPEED)
		ago = (int64_t)((__int128_t)ago * REAL_SPEED / c.speed);
	return (wall - (uint64_t)ago) / GK_NS_PER_US;
}

uint64_t gkf_real_until(const struct gkf_machine *m, uint64_t machine_ns)
{
	struct gkf_clock c = gkf_clock_get(m);
	uint64_t now = machine_at(&c, gk_boot_ns());
	__uint128_t real;

	if (now >= machine_ns)
		return 0;
	if (!c.speed)
		return UINT64_MAX;
	real = (__uint128_t)(machine_ns - now) * REAL_SPEED / c.speed + 1;
	return real > UINT64_MAX ? UINT64_MAX : (uint64_t)real;
}

uint64_t gkf_scenario_next_ns(const struct gkf_machine *m)
{
	return m->steps ? atomic_load_explicit(&m->file->scenario.next_ns,
					       memory_order_acquire)
			: UINT64_MAX;
}

/* Starts a new stretch of time: ns later, at another speed. */
static int start_stretch(struct gkf_machine *m, uint64_t later_ns,
			 uint64_t speed, bool keep_speed)
{
	struct gkf_clock c;
	uint64_t now;
	int r = gkf_lock(m);

	if (r)
		return r;
	c = gkf_clock_get(m);
	now = gk_boot_ns();
	c.machine_ns = machine_at(&c, now) + later_ns;
	if (!c.speed && keep_speed) { /* it is stepped in wall time, too */
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
	gkf_unlock(m);
	gkf_event_wake(m);
	return 0;
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

int gkf_machine_settle(struct gkf_machine *m)
{
	int r = gkf_lock_to_compute(m);

	if (r)
		return r;
	gkf_scenario_apply(m, gkf_machine_bin(m));
	for (unsigned i = 0; i < m->device_count; i++)
		gkf_state_advance(m, i);
	gkf_unlock(m);
	return 0;
}
