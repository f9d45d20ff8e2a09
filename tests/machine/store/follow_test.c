/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow_test.c - checks copies of a machine that its owner shares: they show
 * what the launcher has computed, and their counters never fall.
 */
#include "can.h"
#include "base/clock.h"
#include "base/pair.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/follow.h"
#include "machine/store/gate.h"
#include "machine/store/machine.h"
#include "machine/store/process/ledger.h"
#include "machine/store/view.h"
#include "machine/trouble/machine.h"

#include <errno.h>
#include <stddef.h>

#define STRANGER 12345
#define GPUS     2

static struct fixture fx;
static struct gkf_machine *copy;

static const struct gkf_wave train = {
    .kind = GKF_WAVE_TRAIN, .util_permille = 900, .period_ns = 7 * GK_NS_PER_S};

/* Opens a shared machine as its owner, and a stranger's copy of it. */
static void open_machine(void)
{
	struct gkf_profile profiles[GPUS] = {gkf_profile_default,
					     gkf_profile_default};
	struct gkf_machine_spec spec = {.device_count = GPUS,
					.profiles = profiles,
					.lively = true,
					.frozen = true,
					.shared = GKF_OTHERS_READ};

	fixture_open_spec(&fx, &spec);
	if (chown(fx.path, STRANGER, STRANGER))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(gkf_machine_open(fx.path, &copy), 0);
	assert_true(gkf_machine_is_copy(copy));
}

static int close_machine(void **state)
{
	(void)state;
	gkf_machine_close(copy);
	copy = NULL;
	fixture_close(&fx);
	return 0;
}

/* As if the last look had been long ago. */
static void look_again(void)
{
	atomic_store(&copy->followed_ns, 0);
	gkf_machine_follow(copy);
}

static int64_t energy_of(struct gkf_machine *m, unsigned device)
{
	int64_t mj = -1;

	assert_true(gkf_value_get(m, device, GKF_V_ENERGY, &mj));
	return mj;
}

static void a_copy_shows_what_the_launcher_computed(void **state)
{
	struct gkf_state here, there;
	int64_t before = 0;
	unsigned slot;

	(void)state;
	open_machine();
	assert_int_equal(gkf_attach(fx.m, 1, GKF_COMPUTE, &train, &slot), 0);
	for (unsigned n = 0; n < 40; n++) {
		int64_t now;

		/* Now and then five hours in which nobody looks. */
		assert_int_equal(
		    gkf_machine_age(fx.m, n % 8 ? GKF_BIN_NS * (n % 5)
						: 18000 * GK_NS_PER_S),
		    0);
		assert_true(gkf_machine_keep(fx.m));
		/* Time that no launcher has computed yet is not shown. */
		assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
		look_again();
		now = energy_of(copy, 1);
		assert_true(now >= before);
		before = now;
		for (unsigned i = 0; i < GPUS; i++) {
			gkf_state_now(copy, i, &there);
			gk_pair_read(&fx.file->device[i].state_seq,
				     fx.file->device[i].state, &here,
				     sizeof here);
			assert_memory_equal(&here, &there, sizeof here);
		}
	}
	/* The copy's clock shows the end of the last bin that it shows. */
	assert_int_equal(gkf_machine_ns(copy), there.bin * GKF_BIN_NS);
}

static void nothing_is_copied_until_more_was_computed(void **state)
{
	(void)state;
	open_machine();
	assert_true(gkf_machine_keep(fx.m));
	look_again();
	atomic_store(&fx.file->latency, GKF_LATENCY_REAL);
	look_again();
	assert_int_equal(copy->file->latency, GKF_LATENCY_NONE);
	assert_true(gkf_machine_keep(fx.m));
	look_again();
	assert_int_equal(copy->file->latency, GKF_LATENCY_REAL);
}

/*
 * Without a launcher a copy computes the time itself. The owner may know that a
 * process was killed long ago, and then computes less.
 */
static void no_counter_falls_without_a_launcher(void **state)
{
	const size_t sums = offsetof(struct gkf_state, energy_mwbins) / 8;
	const size_t words = sizeof(struct gkf_state) / 8;
	struct gkf_state before, after;
	unsigned slot;
	int64_t mj;

	(void)state;
	open_machine();
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &train, &slot), 0);
	assert_int_equal(gkf_machine_age(fx.m, 60 * GK_NS_PER_S), 0);
	look_again();
	gkf_state_now(copy, 0, &before);
	mj = energy_of(copy, 0);
	assert_true(before.bin > 0 && before.gpu_sum > 0);
	atomic_store(&fx.file->slot[slot].life, 0); /* it was not there */
	assert_true(gkf_machine_keep(fx.m));
	gkf_state_now(fx.m, 0, &after);
	assert_true(after.energy_mwbins < before.energy_mwbins);
	look_again();
	gkf_state_now(copy, 0, &after);
	for (size_t i = sums; i < words; i++)
		assert_true(((uint64_t *)&after)[i] >=
			    ((uint64_t *)&before)[i]);
	assert_true(energy_of(copy, 0) >= mj);
	/* They go on once the owner's have reached them. */
	assert_int_equal(gkf_machine_age(fx.m, 600 * GK_NS_PER_S), 0);
	assert_true(gkf_machine_keep(fx.m));
	look_again();
	gkf_state_now(copy, 0, &after);
	gkf_state_now(fx.m, 0, &before);
	assert_int_equal(after.energy_mwbins, before.energy_mwbins);
}

/* Each look goes on from what the copy has computed itself, not from the file.
 */
static void a_copy_counts_each_bin_once_without_a_launcher(void **state)
{
	struct gkf_state here, there;
	unsigned slot;

	(void)state;
	open_machine();
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &train, &slot), 0);
	assert_true(gkf_machine_keep(fx.m));
	atomic_store(&fx.file->kept_ns, 0); /* it died long ago */
	for (unsigned n = 0; n < 30; n++) {
		uint64_t bin;

		assert_int_equal(gkf_machine_age(fx.m, GK_NS_PER_S), 0);
		look_again();
		gkf_state_now(copy, 0, &there);
		bin = gkf_machine_bin(fx.m);
		assert_int_equal(there.bin, bin);
		for (unsigned back = 1; back <= GKF_BINS_PER_S * n; back++) {
			struct gkf_past past;

			if (back <= GKF_PAST_BINS)
				assert_true(
				    gkf_past_read(copy, 0, bin - back, &past));
		}
		/* Now and then the owner looks, at the other GPU only. */
		if (n % 5 == 0)
			gkf_state_now(fx.m, 1, &here);
	}
	gkf_state_now(fx.m, 0, &here);
	assert_memory_equal(&here, &there, sizeof here);
}

static void a_private_machine_needs_no_launcher(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	assert_false(gkf_machine_keep(fx.m));
	assert_int_equal(atomic_load(&fx.file->kept_ns), 0);
}

#define ON_A_MACHINE(name) cmocka_unit_test_teardown(name, close_machine)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ON_A_MACHINE(a_copy_shows_what_the_launcher_computed),
	    ON_A_MACHINE(nothing_is_copied_until_more_was_computed),
	    ON_A_MACHINE(no_counter_falls_without_a_launcher),
	    ON_A_MACHINE(a_copy_counts_each_bin_once_without_a_launcher),
	    ON_A_MACHINE(a_private_machine_needs_no_launcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
