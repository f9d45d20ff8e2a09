/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_test.c - checks making and removing instances one by one: ids, lives,
 * refusals.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/event_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_text.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/process/ledger.h"
#include "machine/store/locks.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

enum { ID_1G = 19, ID_2G = 14, ID_3G = 9, ID_4G = 5, ID_7G = 0 };

static struct fixture fx;

/* Two A100 with 80 GB; the clock is stopped. */
static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	gkf_clock_speed(fx.m, 0);
	gkf_event_interest(fx.m, UINT64_MAX);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static uint64_t changes(void)
{
	return gkf_event_last(fx.m);
}

static void split(void)
{
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
}

static unsigned create(unsigned id, int start)
{
	unsigned gi;

	assert_int_equal(gkf_mig_gi_create(fx.m, 0, id, start, &gi), 0);
	return gi;
}

static void an_instance_is_made_where_it_may_be(void **state)
{
	uint64_t before;
	unsigned gi = 77;

	(void)state;
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, 0, &gi),
			 GK_ERR_NOT_SUPPORTED); /* not split */
	split();
	before = changes();
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, 99, 0, &gi), GK_ERR_RANGE);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, -2, &gi),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, 8, &gi),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_3G, 2, &gi),
			 GK_ERR_RANGE);
	assert_int_equal(gi, 77);
	assert_int_equal(changes(), before);
	assert_int_equal(create(ID_3G, 0), 1);
	assert_int_equal(changes(), before + 1);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_4G, 0, &gi),
			 GK_ERR_NO_SPACE);
	assert_int_equal(
	    gkf_mig_gi_create(fx.m, 0, ID_7G, GKF_MIG_ANYWHERE, &gi),
	    GK_ERR_NO_SPACE);
	assert_int_equal(gi, 77);
	assert_string_equal(instances(fx.m, 0), "1:3g.40gb@0");
	assert_string_equal(instances(fx.m, 1), "");
}

static void what_is_taken_is_told(void **state)
{
	struct gkf_mig_use use;

	(void)state;
	split();
	gkf_mig_use(fx.m, 0, &use);
	assert_int_equal(use.taken, 0);
	create(ID_3G, 4);
	create(ID_1G, 1);
	create(ID_1G, 3);
	gkf_mig_use(fx.m, 0, &use);
	assert_int_equal(use.taken, 0xfa);
	assert_int_equal(use.count[0], 2); /* 1 slice */
	assert_int_equal(use.count[2], 1); /* 3 slices */
	assert_int_equal(use.count[1], 0);
}

static void compute_instances_fill_an_instance(void **state)
{
	struct gkf_mig_ci_profile one, two;
	struct gkf_mig_gi gi;
	unsigned ci = 77, id;

	(void)state;
	split();
	id = create(ID_4G, 0);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &gi), 0);
	assert_true(gkf_mig_ci_profile(
	    gkf_mig_board(&gkf_board(fx.m, 0)->profile), gi.profile, 0, &one));
	assert_true(gkf_mig_ci_profile(
	    gkf_mig_board(&gkf_board(fx.m, 0)->profile), gi.profile, 1, &two));
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &one), 4);
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &two), 2);
	/* Profile 0 has one slice, 1 has two, 3 has all four. */
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 0, 1, &ci), 0);
	assert_int_equal(ci, 0);
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &one), 3);
	assert_int_equal(gkf_mig_ci_capacity(fx.m, 0, &gi, &two), 1);
	ci = 77;
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, 0, &ci),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, 1, &ci),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, -2, &ci),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life, 1, 8, &ci),
			 GK_ERR_RANGE);
	assert_int_equal(
	    gkf_mig_ci_create(fx.m, 0, id, gi.life, 2, GKF_MIG_ANYWHERE, &ci),
	    GK_ERR_RANGE);
	assert_int_equal(
	    gkf_mig_ci_create(fx.m, 0, id, gi.life, 3, GKF_MIG_ANYWHERE, &ci),
	    GK_ERR_NO_SPACE);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, gi.life + 1, 0,
					   GKF_MIG_ANYWHERE, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id + 1, gi.life, 0,
					   GKF_MIG_ANYWHERE, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(ci, 77);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, id, GKF_MIG_ANY_LIFE, 1,
					   GKF_MIG_ANYWHERE, &ci),
			 0);
	assert_int_equal(ci, 1);
	assert_string_equal(instances(fx.m, 0),
			    "1:4g.40gb@0(0#0 1c.4g.40gb@1)(1#1 2c.4g.40gb@2)");
}

static void the_least_free_index_is_taken(void **state)
{
	struct gkf_mig_ci ci;
	unsigned id;

	(void)state;
	split();
	assert_int_equal(create(ID_1G, 0), 7);
	assert_int_equal(create(ID_1G, 6), 13);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 13, 0, 0, -1, &id), 0);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 7, 0, 0, -1, &id), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	assert_int_equal(ci.gi, 13);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 1, &ci), 0);
	assert_int_equal(ci.gi, 7);
	assert_int_equal(ci.id, 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 2, &ci), GK_ERR_NOT_FOUND);
	assert_int_equal(ci.gi, 7);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, 13, 0, 0), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 1, &ci), 0);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 13, 0, 0, -1, &id), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	assert_int_equal(ci.gi, 13);
}

/* Computed independently of this code, from the GPU's UUID; see mig.h. */
static void each_life_has_a_uuid_of_its_own(void **state)
{
	char uuid[GKF_MIG_UUID_MAX];
	struct gkf_mig_ci ci = {.gi = 2, .id = 0, .life = 1};

	(void)state;
	gkf_mig_uuid(fx.m, 0, &ci, uuid);
	assert_string_equal(uuid, "MIG-c9d2639c-29e0-5cc5-98e4-fde5aad3e6f0");
	ci.life = 2;
	gkf_mig_uuid(fx.m, 0, &ci, uuid);
	assert_string_equal(uuid, "MIG-ebdb6216-75df-570f-8c06-0fd569e1fa0a");
	ci = (struct gkf_mig_ci){.gi = 9, .id = 3, .life = 1};
	gkf_mig_uuid(fx.m, 0, &ci, uuid);
	assert_string_equal(uuid, "MIG-ed7791f7-7c2c-549b-b9d4-21d2cfa931ba");
}

static void what_is_gone_is_not_what_comes_there_next(void **state)
{
	struct gkf_mig_gi gi, next;
	struct gkf_mig_ci ci;
	unsigned id;

	(void)state;
	split();
	id = create(ID_2G, 2);
	assert_int_equal(id, 4);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &gi), 0);
	assert_int_equal(gi.life, 1);
	assert_int_equal(gi.start, 2);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 2), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 1), 0);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 1), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &next), GK_ERR_NOT_FOUND);
	assert_int_equal(create(ID_2G, 2), id);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &next), 0);
	assert_int_equal(next.life, 2);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 1), GK_ERR_NOT_FOUND);
	/* The number that means any life is no instance's: it is skipped. */
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, id, 2), 0);
	atomic_store(&fx.file->device[0].mig.gi[id], 0xffffffffULL << 32);
	assert_int_equal(create(ID_2G, 2), id);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, id, &next), 0);
	assert_int_equal(next.life, 1);
	assert_int_equal(gkf_mig_ci_read(fx.m, 0, id, 0, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_ci_read(fx.m, 0, id, GKF_MIG_CIS, &ci),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_read(fx.m, 0, GKF_MIG_GIS, &gi),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_gi_read(fx.m, 2, 0, &gi), GK_ERR_NOT_FOUND);
}

/* What another process wrote into the file appears in no new instance. */
static void nothing_comes_with_a_new_instance(void **state)
{
	(void)state;
	split();
	for (unsigned i = 0; i < GKF_MIG_CIS; i++)
		atomic_store(&fx.file->device[0].mig.ci[2][i], 1);
	create(ID_3G, 4);
	assert_string_equal(instances(fx.m, 0), "2:3g.40gb@4");
}

static void what_is_in_use_stays(void **state)
{
	unsigned gi, ci, slot;
	uint64_t before;

	(void)state;
	split();
	gi = create(ID_3G, 4);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, gi, 0, 2, -1, &ci), 0);
	before = changes();
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, gi, 0), GK_ERR_IN_USE);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 0), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_mode(fx.m, 0), GKF_MIG_CURRENT);
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_mig_reset(fx.m, 0);
	gkf_unlock(fx.m);
	assert_int_equal(changes(), before);
	assert_string_equal(instances(fx.m, 0), "2:3g.40gb@4(0#0 3g.40gb@0)");
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 9),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 1), 0);
	assert_int_equal(changes(), before + 1);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 1),
			 GK_ERR_NOT_FOUND);
	/* An instance keeps the mode even without processes. */
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, gi, 1), 0);
	assert_int_equal(changes(), before + 2);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), 0);
	assert_int_equal(changes(), before + 3);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
}

static void the_mode_waits_for_who_is_there(void **state)
{
	uint64_t before = changes();
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), GK_ERR_IN_USE);
	assert_int_equal(gkf_mig_mode(fx.m, 0), GKF_MIG_PENDING);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), GK_ERR_IN_USE);
	assert_int_equal(changes(), before);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	/* A process on the other GPU does not matter. */
	assert_int_equal(gkf_attach(fx.m, 1, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	assert_int_equal(changes(), before + 1);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(changes(), before + 1);
}

static void a_reset_does_what_was_wanted(void **state)
{
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb(1c)+2g.20gb", &part),
			 0);
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_mig_reset(fx.m, 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	assert_string_equal(instances(fx.m, 0), "");
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++)
		for (unsigned ci = 0; ci < GKF_MIG_CIS; ci++)
			assert_false(
			    atomic_load(&fx.file->device[0].mig.ci[gi][ci]) &
			    1);
	atomic_store(&fx.file->device[0].mig.mode, GKF_MIG_CURRENT);
	gkf_mig_reset(fx.m, 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
	atomic_store(&fx.file->device[0].mig.mode, GKF_MIG_PENDING);
	gkf_mig_reset(fx.m, 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	gkf_unlock(fx.m);
}

/*
 * A process that attached there and ended; nobody has looked for the dead
 * since.
 */
static void let_one_die_there(uint32_t instance)
{
	struct resident r;
	siginfo_t info;
	unsigned slot;

	r.pid = fork();
	if (!r.pid)
		_exit(gkf_attach_instance(fx.m, 0, instance, GKF_COMPUTE, NULL,
					  &slot) != 0);
	assert_int_equal(waitid(P_PID, (id_t)r.pid, &info, WEXITED), 0);
	assert_int_equal(info.si_status, 0);
}

static void the_dead_hold_nothing_up(void **state)
{
	unsigned gi, ci;

	(void)state;
	let_one_die_there(GKF_NO_INSTANCE);
	split();
	gi = create(ID_3G, 4);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, gi, 0, 2, -1, &ci), 0);
	let_one_die_there(GKF_INSTANCE(gi, ci));
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 0), 0);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, gi, 0, 2, -1, &ci), 0);
	let_one_die_there(GKF_INSTANCE(gi, ci));
	atomic_store(&fx.file->device[0].mig.ci[gi][ci], 0);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, gi, 0), 0);
}

static void a_change_is_told_of_the_whole_gpu(void **state)
{
	uint64_t number = gkf_event_last(fx.m);
	struct gkf_event e;

	(void)state;
	split();
	assert_true(gkf_event_next(fx.m, &number, &e));
	assert_int_equal(e.type, nvmlEventMigConfigChange);
	assert_int_equal(e.device, 0);
	assert_int_equal(e.data, 0);
	assert_int_equal(e.instance, GKF_NO_INSTANCE);
}

/* The eighth place of an instance is the first of the next one. */
static void an_instance_has_seven_places(void **state)
{
	struct gkf_mig_ci ci;
	unsigned id;

	(void)state;
	split();
	assert_int_equal(create(ID_3G, 4), 2);
	assert_int_equal(create(ID_2G, 0), 3);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, 3, 0, 1, -1, &id), 0);
	assert_int_equal(gkf_mig_ci_read(fx.m, 0, 3, 0, &ci), 0);
	assert_int_equal(gkf_mig_ci_read(fx.m, 0, 2, 7, &ci), GK_ERR_NOT_FOUND);
}

static void nothing_changes_where_nobody_may_write(void **state)
{
	unsigned gi, ci = 77, other = 77;

	(void)state;
	split();
	gi = create(ID_3G, 4);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, gi, 0, 0, 0, &ci), 0);
	/* Nobody can take the lock any more. */
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 0x35353535);
	assert_int_equal(gkf_mig_gi_create(fx.m, 0, ID_1G, 0, &other),
			 GK_ERR_CORRUPT);
	assert_int_equal(gkf_mig_ci_create(fx.m, 0, gi, 0, 0, 1, &other),
			 GK_ERR_CORRUPT);
	assert_int_equal(gkf_mig_ci_destroy(fx.m, 0, gi, ci, 0),
			 GK_ERR_CORRUPT);
	assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, gi, 0), GK_ERR_CORRUPT);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), GK_ERR_CORRUPT);
	assert_int_equal(other, 77);
	assert_string_equal(instances(fx.m, 0),
			    "2:3g.40gb@4(0#0 1c.3g.40gb@0)");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(an_instance_is_made_where_it_may_be),
	    T(what_is_taken_is_told),
	    T(compute_instances_fill_an_instance),
	    T(the_least_free_index_is_taken),
	    T(each_life_has_a_uuid_of_its_own),
	    T(what_is_gone_is_not_what_comes_there_next),
	    T(nothing_comes_with_a_new_instance),
	    T(what_is_in_use_stays),
	    T(the_mode_waits_for_who_is_there),
	    T(a_reset_does_what_was_wanted),
	    T(the_dead_hold_nothing_up),
	    T(a_change_is_told_of_the_whole_gpu),
	    T(an_instance_has_seven_places),
	    T(nothing_changes_where_nobody_may_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
