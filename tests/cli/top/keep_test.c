/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep_test.c - checks the frames that are kept: each moment of the last
 * minutes finds its own.
 */
#include "cli/top/keep.h"

#include "base/clock.h"
#include "format/fixture.h"
#include "unit.h"

#include <stdlib.h>

#define BEGAN_WALL (1700000000 * GK_NS_PER_S)
#define BEGAN_MONO (5000 * GK_NS_PER_S)

static struct fixture f;

/* Adds a frame at a second, with values that identify it. */
static void add_frame(const struct tui_keep *keep, unsigned second)
{
	f.snap.wall_ns = BEGAN_WALL + second * GK_NS_PER_S;
	f.snap.mono_ns = BEGAN_MONO + second * GK_NS_PER_S;
	f.devices[1].m[GK_M_POWER] = present(1000 * second);
	f.devices[0].health = second % 2 ? GK_HEALTH_OK : GK_HEALTH_LOST;
	keep->add(keep->data, &f.snap);
}

/* The second of the frame that is found there, or -1. */
static long found(const struct tui_keep *keep, uint64_t wall_ns)
{
	struct gk_snapshot *snap;
	long second;

	if (keep->at(keep->data, wall_ns, &snap))
		return -1;
	second = (long)((snap->wall_ns - BEGAN_WALL) / GK_NS_PER_S);
	assert_int_equal(snap->mono_ns, BEGAN_MONO + second * GK_NS_PER_S);
	assert_int_equal(snap->devices[1].m[GK_M_POWER].v, 1000 * second);
	assert_int_equal(snap->devices[0].health,
			 second % 2 ? GK_HEALTH_OK : GK_HEALTH_LOST);
	assert_int_equal(snap->process_count, f.snap.process_count);
	assert_string_equal(snap->processes[0].user, f.processes[0].user);
	gk_snapshot_free(snap);
	return second;
}

static void each_moment_has_its_frame(void **state)
{
	struct top_keep *k = top_keep_new();
	const struct tui_keep *keep = top_keep_frames(k);

	(void)state;
	fixture_everything(&f);
	assert_int_equal(found(keep, BEGAN_WALL), -1);
	for (unsigned second = 10; second <= 1000; second++) {
		add_frame(keep, second);
		if (second % 100 == 0)
			assert_int_equal(found(keep, f.snap.wall_ns), second);
	}
	/* At least five minutes are kept. */
	for (unsigned ago = 0; ago < 300; ago += 7)
		assert_int_equal(
		    found(keep, BEGAN_WALL + (1000 - ago) * GK_NS_PER_S),
		    1000 - ago);
	assert_int_equal(
	    found(keep, BEGAN_WALL + 900 * GK_NS_PER_S + GK_NS_PER_S / 2), 900);
	assert_int_equal(found(keep, BEGAN_WALL + 5000 * GK_NS_PER_S), 1000);
	assert_int_equal(found(keep, BEGAN_WALL + 20 * GK_NS_PER_S), -1);
	top_keep_free(k);
}

/* One frame a second is kept, however many there are. */
static void fast_frames_are_thinned(void **state)
{
	struct top_keep *k = top_keep_new();
	const struct tui_keep *keep = top_keep_frames(k);

	(void)state;
	fixture_everything(&f);
	add_frame(keep, 1);
	f.snap.mono_ns += GK_NS_PER_S / 10;
	f.snap.wall_ns += GK_NS_PER_S / 10;
	f.devices[1].m[GK_M_POWER] = present(7);
	keep->add(keep->data, &f.snap);
	assert_int_equal(found(keep, BEGAN_WALL + 2 * GK_NS_PER_S - 1), 1);
	top_keep_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_moment_has_its_frame),
	    cmocka_unit_test(fast_frames_are_thinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
