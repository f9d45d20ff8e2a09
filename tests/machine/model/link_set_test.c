/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_set_test.c - checks the settings of NVLinks and the values that follow
 * from them.
 */
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/model/topology.h"
#include "machine/store/clock.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/store/view.h"

enum { LINKS = 12 };

static struct fixture fx;

/* Two A100: each has twelve links to switches. */
static int open_two(void **state)
{
	const struct gkf_profile profiles[] = {gkf_profile_default,
					       gkf_profile_default};
	const struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .frozen = true};

	(void)state;
	fixture_open_spec(&fx, &spec);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void a_link_is_what_is_wanted_of_it(void **state)
{
	(void)state;
	assert_int_equal(gkf_links(fx.m, 0), LINKS);
	assert_int_equal(gkf_links_up(fx.m, 0), 0xfff);
	assert_int_equal(gkf_links_between(fx.m, 0, 1), LINKS);
	assert_int_equal(gkf_link_set_state(fx.m, 0, 11, GKF_LINK_DOWN), 0);
	assert_int_equal(gkf_link_set_state(fx.m, 0, 3, GKF_LINK_SLEEP), 0);
	assert_int_equal(gkf_link_state(fx.m, 0, 11), GKF_LINK_DOWN);
	assert_int_equal(gkf_link_state(fx.m, 0, 3), GKF_LINK_SLEEP);
	assert_int_equal(gkf_link_state(fx.m, 0, 0), GKF_LINK_UP);
	assert_int_equal(gkf_link_state(fx.m, 1, 3), GKF_LINK_UP);
	assert_int_equal(gkf_links_up(fx.m, 0), 0x7ff);
	assert_int_equal(gkf_links_between(fx.m, 0, 1), 11);
	assert_int_equal(gkf_links_between(fx.m, 1, 0), 11);
	assert_int_equal(gkf_links_carrying(fx.m, 0), 10);
	assert_int_equal(gkf_link_mbps(fx.m, 0, 11), 0);
	assert_int_equal(gkf_link_mbps(fx.m, 0, 3), 25000);
	assert_int_equal(gkf_link_set_state(fx.m, 0, 11, GKF_LINK_UP), 0);
	assert_int_equal(gkf_links_up(fx.m, 0), 0xfff);
}

static void what_there_is_not_is_refused(void **state)
{
	(void)state;
	assert_int_equal(gkf_link_set_state(fx.m, 0, LINKS, GKF_LINK_DOWN),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_link_set_state(fx.m, 0, 0, GKF_LINK_STATES),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_link_set_error(fx.m, 0, LINKS, GKF_LINK_REPLAY, 1),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_link_set_error(fx.m, 0, 0, GKF_LINK_ERRORS, 1),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_link_set_threshold(fx.m, 0, 0x2000), GK_ERR_RANGE);
	assert_int_equal(gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_COUNT),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_link_error(fx.m, 0, LINKS, GKF_LINK_REPLAY), 0);
	assert_int_equal(gkf_link_bytes(fx.m, 0, LINKS, GKF_SENT), 0);
	assert_int_equal(gkf_link_end(fx.m, 0, GKF_LINKS_MAX).kind,
			 GKF_END_NOTHING);
	assert_int_equal(gkf_links_up(fx.m, 0), 0xfff);
	assert_int_equal(gkf_link_threshold(fx.m, 0), 0);
	assert_int_equal(gkf_link_bw(fx.m, 0), GKF_LINK_BW_FULL);
}

static void each_mode_lets_so_many_carry(void **state)
{
	static const struct {
		enum gkf_link_bw mode;
		unsigned carrying;
	} modes[] = {{GKF_LINK_BW_OFF, 0},
		     {GKF_LINK_BW_MIN, 1},
		     {GKF_LINK_BW_HALF, 6},
		     {GKF_LINK_BW_3QUARTER, 9},
		     {GKF_LINK_BW_FULL, 12}};

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		assert_int_equal(gkf_link_set_bw(fx.m, 0, modes[i].mode), 0);
		assert_int_equal(gkf_link_bw(fx.m, 0), modes[i].mode);
		assert_int_equal(gkf_links_carrying(fx.m, 0),
				 modes[i].carrying);
		assert_int_equal(gkf_links_carrying(fx.m, 1), LINKS);
		assert_int_equal(gkf_links_up(fx.m, 0), 0xfff);
	}
	/* Fractions of a link round up; sleeping links are left out. */
	fx.m->boards[0].profile.nvlinks = 5;
	gkf_link_set_state(fx.m, 0, 0, GKF_LINK_SLEEP);
	gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_HALF);
	assert_int_equal(gkf_links_carrying(fx.m, 0), 3);
	gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_3QUARTER);
	assert_int_equal(gkf_links_carrying(fx.m, 0), 4);
	gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_FULL);
	assert_int_equal(gkf_links_carrying(fx.m, 0), 4);
	fx.m->boards[0].profile.nvlinks = 64;
	assert_int_equal(gkf_links(fx.m, 0), GKF_LINKS_MAX);
}

static void errors_and_thresholds_are_kept(void **state)
{
	(void)state;
	for (unsigned e = 0; e < GKF_LINK_ERRORS; e++)
		assert_int_equal(gkf_link_set_error(fx.m, 1, LINKS - 1,
						    (enum gkf_link_error)e,
						    100 + e),
				 0);
	for (unsigned e = 0; e < GKF_LINK_ERRORS; e++) {
		enum gkf_link_error error = (enum gkf_link_error)e;

		assert_int_equal(gkf_link_error(fx.m, 1, LINKS - 1, error),
				 100 + e);
		assert_int_equal(gkf_link_error(fx.m, 1, 0, error), 0);
		assert_int_equal(gkf_link_error(fx.m, 0, LINKS - 1, error), 0);
	}
	assert_int_equal(gkf_link_set_threshold(fx.m, 1, 0x1fff), 0);
	assert_int_equal(gkf_link_threshold(fx.m, 1), 0x1fff);
	assert_int_equal(gkf_link_threshold(fx.m, 0), 0);
	/* An invalid word that another process wrote there is no setting. */
	atomic_store(&fx.file->device[1].links.low_power_threshold, 0x2000);
	assert_int_equal(gkf_link_threshold(fx.m, 1), 0);
	atomic_store(&fx.file->device[1].links.bw_mode, GKF_LINK_BW_COUNT);
	assert_int_equal(gkf_link_bw(fx.m, 1), GKF_LINK_BW_FULL);
	atomic_store(&fx.file->device[1].links.link[0].wanted,
		     GKF_LINK_STATES + 1);
	assert_int_equal(gkf_link_state(fx.m, 1, 0), GKF_LINK_UP);
}

static void clearing_makes_all_links_new(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LINKS; i++) {
		gkf_link_set_state(fx.m, 0, i, GKF_LINK_DOWN);
		gkf_link_set_error(fx.m, 0, i, GKF_LINK_ECC_DATA, 5);
		gkf_link_set_error(fx.m, 0, i, GKF_LINK_REPLAY, 5);
	}
	gkf_link_set_error(fx.m, 1, 0, GKF_LINK_REPLAY, 5);
	gkf_link_set_threshold(fx.m, 0, 99);
	gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_MIN);
	assert_int_equal(gkf_links_clear(fx.m, 0), 0);
	assert_int_equal(gkf_links_up(fx.m, 0), 0xfff);
	assert_int_equal(gkf_links_carrying(fx.m, 0), LINKS);
	assert_int_equal(gkf_link_threshold(fx.m, 0), 0);
	assert_int_equal(
	    atomic_load(&fx.file->device[0].links.low_power_threshold), 0);
	for (unsigned i = 0; i < LINKS; i++) {
		assert_int_equal(
		    atomic_load(&fx.file->device[0].links.link[i].wanted), 0);
		assert_int_equal(gkf_link_error(fx.m, 0, i, GKF_LINK_ECC_DATA),
				 0);
		assert_int_equal(gkf_link_error(fx.m, 0, i, GKF_LINK_REPLAY),
				 0);
	}
	assert_int_equal(gkf_link_error(fx.m, 1, 0, GKF_LINK_REPLAY), 5);
}

static void nothing_changes_where_nobody_may_write(void **state)
{
	(void)state;
	/* Nobody can take the lock any more. */
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 0x35353535);
	assert_int_equal(gkf_link_set_state(fx.m, 0, 0, GKF_LINK_DOWN),
			 GK_ERR_CORRUPT);
	assert_int_equal(gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_OFF),
			 GK_ERR_CORRUPT);
	assert_int_equal(gkf_links_clear(fx.m, 0), GK_ERR_CORRUPT);
	assert_int_equal(gkf_links_carrying(fx.m, 0), LINKS);
}

/* By hand: 48 KB/s a link, a sixth of that a bin: 8000 bytes. */
static void bytes_are_shared_by_those_that_carry(void **state)
{
	(void)state;
	gkf_value_set(fx.m, 0, GKF_V_NVLINK_RX, 12 * 48);
	gkf_value_set(fx.m, 0, GKF_V_NVLINK_TX, 12 * 24 + 1);
	gkf_machine_age(fx.m, GKF_BIN_NS);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
	for (unsigned i = 0; i < LINKS; i++)
		assert_int_equal(gkf_link_bytes(fx.m, 0, i, GKF_RECEIVED),
				 8000);
	/*
	 * 48166 bytes: the first ten links get one more byte of the remainder.
	 */
	assert_int_equal(gkf_link_bytes(fx.m, 0, 0, GKF_SENT), 4014);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 9, GKF_SENT), 4014);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 10, GKF_SENT), 4013);
	gkf_link_set_bw(fx.m, 0, GKF_LINK_BW_HALF);
	gkf_machine_age(fx.m, GKF_BIN_NS);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 5, GKF_RECEIVED), 24000);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 6, GKF_RECEIVED), 8000);
	gkf_link_set_state(fx.m, 0, 0, GKF_LINK_DOWN);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 0, GKF_RECEIVED), 24000);
	gkf_machine_age(fx.m, GKF_BIN_NS);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 0, GKF_RECEIVED), 24000);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 6, GKF_RECEIVED), 24000);
	assert_int_equal(gkf_link_bytes(fx.m, 0, 7, GKF_RECEIVED), 8000);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_link_is_what_is_wanted_of_it),
	    T(what_there_is_not_is_refused),
	    T(each_mode_lets_so_many_carry),
	    T(errors_and_thresholds_are_kept),
	    T(clearing_makes_all_links_new),
	    T(nothing_changes_where_nobody_may_write),
	    T(bytes_are_shared_by_those_that_carry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
