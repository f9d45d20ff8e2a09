/* SPDX-License-Identifier: Apache-2.0 */
/*
 * books_room_test.c - checks how much memory is left, to the byte: of a GPU, of
 * an instance, beside loads that come and go by the clock, and where managed
 * memory gives way.
 */
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"

/* An A100: 80 GiB, of which the driver keeps 615 MiB. */
#define ROOM ((81920 - 615) * (uint64_t)MIB)
/* What an empty instance holds for each compute slice. */
#define SLICE (8600 * (uint64_t)KIB)

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

static unsigned attach(uint32_t instance)
{
	unsigned slot;

	assert_int_equal(gkf_books_attach(fx.m, 0, instance, &slot), 0);
	return slot;
}

/* A slot that is visible from one bin until another. */
static unsigned attach_load(uint64_t start, uint64_t stop, uint32_t instance,
			    uint32_t load)
{
	const struct gkf_wave wave = {.kind = GKF_WAVE_STEADY,
				      .start_bin = start,
				      .stop_bin = stop,
				      .load = load};
	unsigned slot;

	assert_int_equal(
	    gkf_attach_instance(fx.m, 0, instance, GKF_COMPUTE, &wave, &slot),
	    0);
	return slot;
}

/* Checks that exactly this many bytes are left for a slot. */
static void assert_room(unsigned slot, uint64_t bytes)
{
	assert_int_equal(gkf_books_charge(fx.m, slot, bytes + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, bytes), 0);
	if (bytes)
		assert_int_equal(gkf_books_refund(fx.m, slot, bytes), 0);
}

static void what_is_set_as_taken_takes_room(void **state)
{
	unsigned slot = attach(GKF_NO_INSTANCE);

	(void)state;
	assert_room(slot, ROOM);
	gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, 3 * GIB + 1);
	assert_room(slot, ROOM - 3 * GIB - 1);
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), 0);
	assert_room(slot, ROOM - 4 * GIB - 1);
	gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, (int64_t)ROOM);
	assert_room(slot, 0);
}

static void loads_take_room_in_their_time(void **state)
{
	unsigned slot = attach(GKF_NO_INSTANCE);
	unsigned load = attach_load(5, 8, GKF_NO_INSTANCE, 0);

	(void)state;
	assert_int_equal(fx.file->device[0].books.by_clock, 1);
	assert_int_equal(gkf_books_charge(fx.m, load, GIB), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_room(slot, ROOM);
	gkf_machine_age(fx.m, 5 * GKF_BIN_NS);
	assert_int_equal(gkf_held_bytes(fx.m, 0), GIB);
	assert_room(slot, ROOM - GIB);
	gkf_machine_age(fx.m, 2 * GKF_BIN_NS);
	assert_room(slot, ROOM - GIB);
	gkf_machine_age(fx.m, GKF_BIN_NS);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_room(slot, ROOM);
	assert_int_equal(gkf_detach(fx.m, load), 0);
	assert_int_equal(fx.file->device[0].books.by_clock, 0);
	assert_int_equal(fx.file->device[0].books.held, 0);
}

/*
 * The scenario's compiler has checked that its loads fit one after the other.
 */
static void loads_of_a_scenario_fit_by_themselves(void **state)
{
	unsigned first = attach_load(0, 5, GKF_NO_INSTANCE, 1);
	unsigned second = attach_load(5, 9, GKF_NO_INSTANCE, 2);

	(void)state;
	assert_room(first, ROOM);
	assert_int_equal(gkf_books_charge(fx.m, first, ROOM), 0);
	assert_room(second, ROOM);
}

static void an_instance_has_room_of_its_own(void **state)
{
	const uint64_t room = 40192 * (uint64_t)MIB - 3 * SLICE;
	unsigned slot, beside, load;
	const char *part;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb@0+3g.40gb@4", &part),
			 0);
	slot = attach(GKF_INSTANCE(1, 0));
	beside = attach(GKF_INSTANCE(2, 0));
	assert_room(slot, room);
	assert_int_equal(gkf_books_charge(fx.m, beside, GIB), 0);
	assert_room(slot, room);
	assert_room(beside, room - GIB);
	assert_int_equal(fx.file->device[0].books.held_gi[2], GIB);
	assert_int_equal(fx.file->device[0].books.held_gi[1], 0);
	/* The same where a load comes and goes. */
	load = attach_load(0, 4, GKF_INSTANCE(1, 0), 0);
	assert_int_equal(gkf_books_charge(fx.m, load, 2 * GIB), 0);
	assert_room(slot, room - 2 * GIB);
	assert_room(beside, room - GIB);
	gkf_machine_age(fx.m, 4 * GKF_BIN_NS);
	assert_room(slot, room);
	/* A removed instance has no room. */
	atomic_store(&fx.file->device[0].mig.gi[1], 0);
	assert_room(slot, 0);
	assert_int_equal(gkf_detach(fx.m, load), 0);
	assert_room(slot, 0);
}

static void the_whole_gpu_may_be_full_before_an_instance_is(void **state)
{
	const uint64_t instances = 40192 * (uint64_t)MIB - 3 * SLICE;
	const char *part;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb", &part), 0);
	slot = attach(GKF_INSTANCE(2, 0));
	assert_room(slot, instances);
	gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, (int64_t)(ROOM - GIB));
	assert_room(slot, GIB - 3 * SLICE);
}

static uint64_t managed_of(unsigned slot)
{
	return atomic_load(&fx.file->slot[slot].managed);
}

/* Managed memory gives way from the first slot on, only as much as needed. */
static void managed_memory_gives_way_as_needed(void **state)
{
	unsigned a = attach(GKF_NO_INSTANCE), b = attach(GKF_NO_INSTANCE);
	unsigned by = attach(GKF_NO_INSTANCE);

	(void)state;
	assert_int_equal(gkf_books_charge_managed(fx.m, a, GIB), 0);
	assert_int_equal(gkf_books_charge_managed(fx.m, b, 2 * GIB), 0);
	assert_int_equal(gkf_books_charge_managed(fx.m, by, 3 * GIB), 0);
	/* Its own stays; managed memory never displaces another's. */
	assert_int_equal(gkf_books_charge(fx.m, by, ROOM - 3 * GIB + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge_managed(fx.m, by, ROOM),
			 GK_ERR_NO_SPACE);
	assert_int_equal(managed_of(a), GIB);
	assert_int_equal(managed_of(b), 2 * GIB);
	assert_int_equal(gkf_books_charge(fx.m, by, ROOM - 6 * GIB), 0);
	assert_int_equal(managed_of(a), GIB);
	assert_int_equal(gkf_books_charge(fx.m, by, MIB), 0);
	assert_int_equal(managed_of(a), GIB - MIB);
	assert_int_equal(managed_of(b), 2 * GIB);
	assert_int_equal(gkf_books_charge(fx.m, by, GIB), 0);
	assert_int_equal(managed_of(a), 0);
	assert_int_equal(managed_of(b), 2 * GIB - MIB);
	assert_int_equal(managed_of(by), 3 * GIB);
	assert_int_equal(fx.file->device[0].books.held, ROOM);
	assert_int_equal(gkf_held_bytes(fx.m, 0), ROOM);
	/* Less is given back than came: part of it has given way. */
	assert_int_equal(gkf_books_refund_managed(fx.m, b, 2 * GIB), 0);
	assert_int_equal(managed_of(b), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), ROOM - 2 * GIB + MIB);
}

static void managed_memory_of_another_instance_stays(void **state)
{
	const uint64_t room = 40192 * (uint64_t)MIB - 3 * SLICE;
	const char *part;
	unsigned a, b;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb@0+3g.40gb@4", &part),
			 0);
	a = attach(GKF_INSTANCE(1, 0));
	b = attach(GKF_INSTANCE(2, 0));
	assert_int_equal(gkf_books_charge_managed(fx.m, a, GIB), 0);
	assert_int_equal(gkf_books_charge(fx.m, b, room + 1), GK_ERR_NO_SPACE);
	assert_int_equal(managed_of(a), GIB);
}

static void every_change_of_the_books_is_counted(void **state)
{
	uint64_t *changes = &fx.file->device[0].books.changes, before;
	unsigned slot = attach(GKF_NO_INSTANCE);

	(void)state;
	before = *changes;
	assert_int_equal(gkf_books_charge(fx.m, slot, 5), 0);
	assert_int_equal(*changes, before + 1);
	assert_int_equal(gkf_books_refund(fx.m, slot, 5), 0);
	assert_int_equal(*changes, before + 2);
	assert_int_equal(gkf_books_refund(fx.m, slot, 1), GK_ERR_RANGE);
	assert_int_equal(*changes, before + 2);
}

/* When the books are locked, the slot may belong to another process. */
static void a_slot_that_changed_hands_is_not_charged(void **state)
{
	unsigned slot = attach(GKF_NO_INSTANCE);

	(void)state;
	fx.file->slot[slot].device = 1;
	assert_int_equal(gkf_books_charge(fx.m, slot, 5), GK_ERR_NOT_FOUND);
	fx.file->slot[slot].device = 0;
	fx.file->slot[slot].pid++;
	assert_int_equal(gkf_books_charge(fx.m, slot, 5), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_detach(fx.m, slot), GK_ERR_NOT_FOUND);
	fx.file->slot[slot].pid--;
	fx.file->slot[slot].pid_ns++;
	assert_int_equal(gkf_books_charge(fx.m, slot, 5), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_detach(fx.m, slot), GK_ERR_NOT_FOUND);
	fx.file->slot[slot].pid_ns--;
	assert_int_equal(gkf_books_charge(fx.m, slot, 5), 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 5);
}

static void who_may_come_is_asked_in_this_order(void **state)
{
	struct gkf_wave load = {.kind = GKF_WAVE_IDLE, .stop_bin = 9};
	unsigned slot = 77;

	(void)state;
	gkf_value_set(fx.m, 0, GKF_V_DRAIN, 1);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_PERMISSION);
	gkf_value_set(fx.m, 0, GKF_V_REMOVED, 1);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_NOT_FOUND);
	gkf_value_set(fx.m, 0, GKF_V_REMOVED, 0);
	gkf_value_set(fx.m, 0, GKF_V_DRAIN, 0);
	gkf_value_set(fx.m, 0, GKF_V_COMPUTE_MODE, GKF_PROHIBITED);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot),
			 GK_ERR_PERMISSION);
	assert_int_equal(slot, 77);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_GRAPHICS, NULL, &slot), 0);
	load.load = 1; /* a scenario decides where its loads go */
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &load, &slot), 0);
	assert_int_equal(fx.file->slot[slot].wave.start_bin, 0);
	assert_int_equal(fx.file->slot[slot].wave.stop_bin, 9);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(what_is_set_as_taken_takes_room),
	    T(loads_take_room_in_their_time),
	    T(loads_of_a_scenario_fit_by_themselves),
	    T(an_instance_has_room_of_its_own),
	    T(the_whole_gpu_may_be_full_before_an_instance_is),
	    T(managed_memory_gives_way_as_needed),
	    T(managed_memory_of_another_instance_stays),
	    T(every_change_of_the_books_is_counted),
	    T(a_slot_that_changed_hands_is_not_charged),
	    T(who_may_come_is_asked_in_this_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
