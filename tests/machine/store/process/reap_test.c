/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reap_test.c - checks when dead owners are looked for, and what is reset in a
 * slot for the next owner.
 */
#include "base/clock.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/machine.h"
#include "machine/store/view.h"

static struct fixture fx;

/* The clock is stopped. */
static int open_one(void **state)
{
	const struct gkf_machine_spec spec = {.device_count = 1,
					      .profiles = &gkf_profile_default,
					      .frozen = true};

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

/* Whether it looks for the dead when the last look was ago_ns ago. */
static bool looks_after(uint64_t ago_ns, uint64_t pause_ns)
{
	uint64_t begin, last;

	do { /* repeated if another process had the CPU meanwhile */
		begin = gk_mono_ns();
		last = begin - ago_ns;
		atomic_store(&fx.file->reaped_ns, last);
		atomic_store(&fx.file->reap_pause_ns, pause_ns);
		gkf_reap(fx.m, false);
	} while (gk_mono_ns() - begin > 20 * GK_NS_PER_MS);
	return atomic_load(&fx.file->reaped_ns) != last;
}

static void the_dead_are_left_alone_for_a_while(void **state)
{
	const uint64_t s = GK_NS_PER_S;

	(void)state;
	assert_true(looks_after(2 * s, s));
	assert_false(looks_after(0, s));
	assert_false(looks_after(0, 0)); /* at least 50 ms */
	assert_true(looks_after(50 * GK_NS_PER_MS, 0));
	assert_false(looks_after(2 * s, 4 * s));
	assert_false(looks_after(3 * s, 3600 * s)); /* five seconds */
	assert_true(looks_after(5 * s, 3600 * s));  /* at most */
	assert_in_range(atomic_load(&fx.file->reap_pause_ns), 50 * GK_NS_PER_MS,
			5 * s);
}

/*
 * A full look was just made, so none is due; checking one process costs a
 * system call.
 */
static void who_was_waited_for_is_gone_at_once(void **state)
{
	struct resident stays =
			    fixture_resident(&fx, 0, GKF_COMPUTE, MIB, NULL),
			goes = fixture_resident(&fx, 0, GKF_COMPUTE, MIB, NULL);

	(void)state;
	assert_int_equal(gkf_reap(fx.m, true), 0);
	atomic_store(&fx.file->reap_pause_ns, 5 * GK_NS_PER_S);
	fixture_end(&goes);
	atomic_store(&fx.m->glance_ns, 0);
	assert_int_equal(gkf_reap(fx.m, false), 1);
	assert_int_equal(gkf_held_bytes(fx.m, 0), MIB);
	assert_true(atomic_load(&fx.m->glance_ns) > 0);
	fixture_end(&stays);
	atomic_store(&fx.m->glance_ns, gk_mono_ns() + GK_NS_PER_S);
	assert_int_equal(gkf_reap(fx.m, false), 0);
	atomic_store(&fx.m->glance_ns, 0);
	assert_int_equal(gkf_reap(fx.m, false), 1);
}

static void all_the_dead_are_buried_and_nobody_else(void **state)
{
	struct resident r[4];
	unsigned mine, count;
	struct gkf_process list[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		r[i] = fixture_resident(&fx, 0, GKF_COMPUTE, MIB << i, NULL);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &mine), 0);
	assert_int_equal(mine, 4);
	fixture_end(&r[0]);
	fixture_end(&r[2]);
	assert_int_equal(gkf_reap(fx.m, true), 2);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 10 * MIB);
	assert_int_equal(gkf_processes(fx.m, 0, GKF_COMPUTE, list, 4, &count),
			 0);
	assert_int_equal(count, 3);
	assert_int_equal(list[0].slot, 1);
	assert_int_equal(list[1].slot, 3);
	assert_int_equal(list[2].slot, 4);
	assert_int_equal(list[2].pid, getpid());
	assert_int_equal(list[0].instance, GKF_NO_INSTANCE);
	assert_int_equal(list[0].types, GKF_COMPUTE);
	fixture_end(&r[1]);
	fixture_end(&r[3]);
	assert_int_equal(gkf_reap(fx.m, true), 2);
	assert_int_equal(gkf_reap(fx.m, true), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

static struct gkf_busy *busy_of(unsigned slot)
{
	return &fx.file->busy[slot];
}

static void a_slot_is_as_new_for_who_comes_next(void **state)
{
	unsigned slot;

	(void)state;
	memset((void *)busy_of(0), 0x55, sizeof(struct gkf_busy));
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot), 0);
	assert_int_equal(slot, 0);
	assert_int_equal(atomic_load(&busy_of(0)->since_ns), 0);
	assert_int_equal(atomic_load(&busy_of(0)->ended_ns), 0);
	assert_int_equal(atomic_load(&busy_of(0)->wants_ns), 0);
	assert_int_equal(atomic_load(&busy_of(0)->seq), 0);
	for (unsigned i = 0; i < GKF_BUSY_BINS; i++) {
		assert_int_equal(atomic_load(&busy_of(0)->bin[i].busy), 0);
		for (int d = 0; d < GKF_DIRECTIONS; d++)
			assert_int_equal(
			    atomic_load(&busy_of(0)->bin[i].moved[d]), 0);
	}
}

static void work_is_noted_to_the_nanosecond(void **state)
{
	const uint64_t bin_ns = GKF_BIN_NS;
	struct gkf_busy *b = busy_of(0);
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot), 0);
	gkf_machine_age(fx.m, 10);
	gkf_busy_begin(fx.m, slot);
	assert_int_equal(atomic_load(&b->since_ns), 11);
	gkf_machine_age(fx.m, bin_ns);
	gkf_busy_end(fx.m, slot);
	assert_int_equal(atomic_load(&b->since_ns), 0);
	assert_int_equal(atomic_load(&b->ended_ns), bin_ns + 11);
	assert_int_equal(atomic_load(&b->seq), 2);
	assert_int_equal(atomic_load(&b->bin[0].busy), bin_ns - 10);
	assert_int_equal(atomic_load(&b->bin[1].busy), 1ULL << 28 | 10);
	assert_int_equal(atomic_load(&b->bin[2].busy), 0);
	/* Work longer than the kept bins fills all of them. */
	gkf_busy_begin(fx.m, slot);
	gkf_machine_age(fx.m, 30 * bin_ns - 10);
	gkf_busy_end(fx.m, slot);
	assert_int_equal(atomic_load(&b->seq), 4);
	for (uint64_t bin = 16; bin < 31; bin++)
		assert_int_equal(atomic_load(&b->bin[bin % 16].busy),
				 bin << 28 | bin_ns);
	/* Bin 15 has the same place as bin 31, which has just begun. */
	assert_int_equal(atomic_load(&b->bin[15].busy) & 0xfffffff, 0);
}

static void copies_are_added_up_as_far_as_there_is_room(void **state)
{
	const uint64_t most = (1ULL << 36) - 1;
	struct gkf_done done;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot), 0);
	gkf_busy_moved(fx.m, slot, GKF_IN, 5);
	gkf_busy_moved(fx.m, slot, GKF_IN, 7);
	gkf_busy_moved(fx.m, slot, GKF_DEVICE, most - 1);
	gkf_busy_moved(fx.m, slot, GKF_DEVICE, 9);
	gkf_busy_moved(fx.m, slot, GKF_OUT, UINT64_MAX);
	gkf_busy_moved(fx.m, slot, GKF_DIRECTIONS, 9);
	gkf_busy_moved(fx.m, slot + 1, GKF_IN, 9); /* it has no owner */
	gkf_busy_read(fx.m, slot, 0, &done);
	assert_int_equal(done.moved[GKF_IN], 12);
	assert_int_equal(done.moved[GKF_OUT], most);
	assert_int_equal(done.moved[GKF_DEVICE], most);
	assert_int_equal(done.busy_permille, 0);
	gkf_machine_age(fx.m, 16 * GKF_BIN_NS);
	gkf_busy_moved(fx.m, slot, GKF_IN, 1); /* in the same place */
	gkf_busy_read(fx.m, slot, 0, &done);
	assert_int_equal(done.moved[GKF_IN], 0);
	gkf_busy_read(fx.m, slot, 16, &done);
	assert_int_equal(done.moved[GKF_IN], 1);
	gkf_busy_read(fx.m, slot + 1, 0, &done);
	assert_int_equal(done.moved[GKF_IN], 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(the_dead_are_left_alone_for_a_while),
	    T(who_was_waited_for_is_gone_at_once),
	    T(all_the_dead_are_buried_and_nobody_else),
	    T(a_slot_is_as_new_for_who_comes_next),
	    T(work_is_noted_to_the_nanosecond),
	    T(copies_are_added_up_as_far_as_there_is_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
