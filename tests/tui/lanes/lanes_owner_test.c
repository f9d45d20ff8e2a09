/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_owner_test.c - checks who holds memory in the look "lanes", and what
 * the mouse does.
 */
#include "lanes_machines.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory by owner ---- */

static void the_driver_has_what_is_left(void **state)
{
	struct gk_share shares[GK_SHARES];
	int count;

	(void)state;
	eight(24, 80);
	lanes_frame(&s.t);
	count = lanes_shares(&s.t, 4, shares);
	assert_int_equal(count, 3);
	assert_string_equal(shares[0].name, "bob");
	assert_int_equal(shares[0].bytes, 32 * GIB);
	assert_string_equal(shares[1].name, "eve");
	assert_string_equal(shares[2].name, "driver");
	assert_int_equal(shares[2].bytes, GIB / 2);
	count = lanes_shares(&s.t, 6, shares);
	assert_int_equal(count, 2);
	assert_string_equal(shares[1].name, "others");
	assert_int_equal(shares[1].bytes, 8 * GIB + GIB / 2);
	screen_end(&s);
}

static void owners_stay_who_they_are(void **state)
{
	int before;

	(void)state;
	eight(24, 80);
	lanes_frame(&s.t);
	before = lanes_owner(&s.t, &s.f.processes[4]);
	s.f.snap.process_count = 0;
	s.f.snap.mono_ns += SECOND_NS;
	lanes_frame(&s.t);
	s.f.snap.process_count = 8;
	s.f.snap.mono_ns += SECOND_NS;
	s.f.processes[0].user = "new";
	lanes_frame(&s.t);
	assert_int_equal(lanes_owner(&s.t, &s.f.processes[4]), before);
	screen_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_driver_has_what_is_left),
	    cmocka_unit_test(owners_stay_who_they_are),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
