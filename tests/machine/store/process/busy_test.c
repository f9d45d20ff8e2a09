/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_test.c - checks how real work, busy time and copies, counts in the
 * figures of the device and of the process. The clock is stopped and stepped,
 * so that every figure is exact; work_test.c uses a running clock.
 */
#include "base/clock.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/slot.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/file/work_state.h"
#include "machine/fixture.h"
#include "machine/model/demand.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/process/account.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/slot.h"
#include "machine/store/process/turn.h"
#include "machine/store/writers_lock.h"

static struct fixture fx;
static unsigned slot;

static int open_still(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	/* Moves to the beginning of a bin. */
	gkf_machine_age(fx.m, 10 * GK_NS_PER_S);
	gkf_machine_age(fx.m, (gkf_machine_bin(fx.m) + 1) * GKF_BIN_NS -
				  gkf_machine_ns(fx.m));
	return gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void pass(uint64_t ns)
{
	assert_int_equal(gkf_machine_age(fx.m, ns), 0);
}

static int64_t value(enum gkf_value v)
{
	int64_t number = -1;

	assert_true(gkf_value_get(fx.m, 0, v, &number));
	return number;
}

static struct gkf_past past(uint64_t bin)
{
	struct gkf_past p;
	struct gkf_state s;

	gkf_state_now(fx.m, 0, &s);
	assert_true(gkf_past_read(fx.m, 0, bin, &p));
	return p;
}

static void half_a_bin_is_half_busy(void **state)
{
	uint64_t bin = gkf_machine_bin(fx.m);

	(void)state;
	gkf_busy_begin(fx.m, slot);
	pass(GKF_BIN_NS / 4);
	gkf_busy_end(fx.m, slot);
	pass(GKF_BIN_NS / 4);
	gkf_busy_begin(fx.m, slot);
	pass(GKF_BIN_NS / 4);
	gkf_busy_end(fx.m, slot);
	pass(2 * GKF_BIN_NS);
	assert_int_equal(past(bin).gpu_util, 50);
	assert_int_equal(past(bin + 1).gpu_util, 0);
	assert_int_equal(gkf_demand_at(fx.m, 0, bin), 500);
}

/* Work across the edge of a bin is busy on both sides of it. */
static void bins_share_what_lies_across(void **state)
{
	uint64_t bin = gkf_machine_bin(fx.m);

	(void)state;
	pass(GKF_BIN_NS * 3 / 4);
	gkf_busy_begin(fx.m, slot);
	pass(GKF_BIN_NS * 3 / 2);
	gkf_busy_end(fx.m, slot);
	pass(GKF_BIN_NS);
	assert_int_equal(past(bin).gpu_util, 25);
	assert_int_equal(past(bin + 1).gpu_util, 100);
	assert_int_equal(past(bin + 2).gpu_util, 25);
}

static void a_long_kernel_is_seen_while_it_runs(void **state)
{
	int64_t idle = value(GKF_V_POWER);
	int64_t cool = value(GKF_V_TEMPERATURE), hot;

	(void)state;
	gkf_busy_begin(fx.m, slot);
	pass(300 * GK_NS_PER_S);
	assert_int_equal(value(GKF_V_GPU_UTIL), 100);
	assert_true(value(GKF_V_POWER) > 2 * idle);
	hot = value(GKF_V_TEMPERATURE);
	assert_true(hot > cool + 5);
	assert_int_equal(value(GKF_V_SM_CLOCK),
			 gkf_profile_default.sm_clock_busy_mhz);
	pass(60 * GK_NS_PER_S);
	assert_int_equal(value(GKF_V_GPU_UTIL), 100);
	gkf_busy_end(fx.m, slot);
	pass(60 * GK_NS_PER_S);
	assert_int_equal(value(GKF_V_GPU_UTIL), 0);
	assert_true(value(GKF_V_TEMPERATURE) < hot);
}

/* A kernel's busy time does not depend on reads in between. */
static void looking_changes_nothing(void **state)
{
	struct gkf_state seen[2];
	uint64_t from[2];

	(void)state;
	for (int often = 0; often < 2; often++) {
		struct gkf_state before;

		pass(3600 * GK_NS_PER_S);
		gkf_state_now(fx.m, 0, &before);
		from[often] = before.energy_mwbins;
		gkf_busy_begin(fx.m, slot);
		for (int i = 0; i < 120; i++) {
			pass(GK_NS_PER_S);
			if (often)
				gkf_state_now(fx.m, 0, &seen[often]);
		}
		gkf_busy_end(fx.m, slot);
		pass(30 * GK_NS_PER_S);
		gkf_state_now(fx.m, 0, &seen[often]);
		from[often] = seen[often].energy_mwbins - from[often];
	}
	assert_int_equal(from[0], from[1]);
	assert_int_equal(seen[0].temp_mc, seen[1].temp_mc);
}

/* Many short kernels without a read: the working process keeps their time. */
static void work_is_kept_when_nobody_looks(void **state)
{
	struct gkf_state before, after;

	(void)state;
	gkf_state_now(fx.m, 0, &before);
	for (int i = 0; i < 600; i++) {
		gkf_busy_begin(fx.m, slot);
		pass(GKF_BIN_NS / 2);
		gkf_busy_end(fx.m, slot);
		pass(GKF_BIN_NS / 2);
	}
	pass(GKF_BIN_NS);
	gkf_state_now(fx.m, 0, &after);
	assert_in_range(after.gpu_sum - before.gpu_sum, 600 * 500 - 500,
			600 * 500 + 500);
}

static void copies_are_traffic(void **state)
{
	const uint64_t in = 1ULL << 30, out = 1ULL << 28;
	uint64_t bin = gkf_machine_bin(fx.m);
	struct gkf_state before, after;
	uint64_t mem;

	(void)state;
	gkf_state_now(fx.m, 0, &before);
	gkf_busy_moved(fx.m, slot, GKF_IN, in / 2);
	gkf_busy_moved(fx.m, slot, GKF_IN, in / 2);
	gkf_busy_moved(fx.m, slot, GKF_OUT, out);
	gkf_busy_moved(fx.m, slot, GKF_DEVICE, 10 * in);
	pass(2 * GKF_BIN_NS);
	gkf_state_now(fx.m, 0, &after);
	/* Register traffic comes on top, and figures are rounded to KB/s. */
	assert_in_range(after.pcie_rx_bytes - before.pcie_rx_bytes, in,
			in + 1000000);
	assert_in_range(after.pcie_tx_bytes - before.pcie_tx_bytes, out,
			out + 1000000);
	assert_in_range(past(bin).pcie_rx_kbs, in * 6 / 1000,
			in * 6 / 1000 + 1000);
	mem = (21 * in + out) * 100 * 6 / gkf_bandwidth(&gkf_profile_default);
	assert_int_equal(past(bin).mem_util, mem);
	assert_int_equal(past(bin).gpu_util, 0);
	assert_int_equal(past(bin + 1).mem_util, 0);
}

/* No more is reported than the link can carry in the time. */
static void a_link_is_no_faster_than_it_is(void **state)
{
	const struct gkf_profile *p = &gkf_profile_default;
	const uint64_t most =
	    (1ULL << 36) - 1; /* the most that a bin can hold */
	uint64_t bin = gkf_machine_bin(fx.m);

	(void)state;
	for (int i = 0; i < 40; i++)
		gkf_busy_moved(fx.m, slot, GKF_IN, 1ULL << 35);
	pass(2 * GKF_BIN_NS);
	assert_int_equal(past(bin).pcie_rx_kbs,
			 (250000LL << (p->pcie_gen - 1)) * p->pcie_width);
	assert_int_equal(past(bin).mem_util, most * 600 / gkf_bandwidth(p));
}

/* Real work and modelled loads share the device like any processes. */
static void stand_ins_work_beside_it(void **state)
{
	struct gkf_wave wave = {.kind = GKF_WAVE_STEADY, .util_permille = 1000};
	uint64_t bin = gkf_machine_bin(fx.m) + 2;
	struct gkf_share mine, other;
	struct gkf_slot real;
	unsigned stand_in;

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &wave, &stand_in), 0);
	wave.start_bin = 0;
	gkf_busy_begin(fx.m, slot);
	pass(GK_NS_PER_S);
	gkf_busy_end(fx.m, slot);
	assert_true(gkf_slot_read(fx.m, slot, &real, NULL));
	assert_int_equal(gkf_demand_at(fx.m, 0, bin), 2000);
	mine = gkf_share_of(fx.m, 0, slot, &real.wave, bin, 2000);
	other = gkf_share_of(fx.m, 0, stand_in, &wave, bin, 2000);
	assert_int_equal(mine.sm, 50);
	assert_int_equal(other.sm, 50);
	assert_int_equal(past(bin).gpu_util, 100);
}

static bool account_of(void *ctx, const struct gkf_account *account)
{
	if (account->pid == getpid())
		*(struct gkf_account *)ctx = *account;
	return true;
}

static void accounting_counts_it(void **state)
{
	struct gkf_account a = {0};

	(void)state;
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_ACCOUNTING, 1), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), 0);
	gkf_busy_begin(fx.m, slot);
	pass(GK_NS_PER_S);
	gkf_busy_end(fx.m, slot);
	pass(GK_NS_PER_S);
	gkf_accounts_each(fx.m, 0, account_of, &a);
	assert_int_equal(a.peak, GIB);
	assert_int_equal(a.sums.bins, 12);
	assert_int_equal(a.sums.sm, 6 * 100);
}

static void an_instance_is_busy_by_itself(void **state)
{
	struct gkf_mig_sums one, other;
	struct gkf_mig_ci ci;
	const char *part;
	unsigned inside;

	(void)state;
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+1g.10gb", &part), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 1, &ci), 0);
	assert_int_equal(
	    gkf_books_attach(fx.m, 0, GKF_INSTANCE(ci.gi, ci.id), &inside), 0);
	gkf_busy_begin(fx.m, inside);
	pass(GK_NS_PER_S);
	gkf_busy_end(fx.m, inside);
	pass(GK_NS_PER_S);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
	gkf_mig_sums(fx.m, 0, ci.gi, &one);
	assert_int_equal(one.gpu, 6000);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	gkf_mig_sums(fx.m, 0, ci.gi, &other);
	assert_int_equal(other.gpu, 0);
}

static pid_t worker(bool begin)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		unsigned own;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &own))
			_exit(1);
		if (begin)
			gkf_busy_begin(fx.m, own);
		if (write(ready[1], "y", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]); /* else the end of the child would not be seen */
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void the_dead_do_not_work(void **state)
{
	struct resident r = {worker(true)};
	uint64_t bin;

	(void)state;
	pass(10 * GKF_BIN_NS);
	assert_int_equal(value(GKF_V_GPU_UTIL), 100);
	fixture_end(&r);
	bin = gkf_machine_bin(fx.m);
	atomic_store(&fx.file->reaped_ns,
		     gk_mono_ns()); /* no look for the dead is due */
	pass(10 * GKF_BIN_NS);
	assert_int_equal(value(GKF_V_GPU_UTIL), 0);
	assert_int_equal(past(bin + 1).gpu_util, 0);
	gkf_reap(fx.m, true);
	assert_int_equal(past(bin).gpu_util, 0);
}

static void others_cannot_work_for_it(void **state)
{
	struct resident r = {worker(false)};
	unsigned theirs = slot + 1;

	(void)state;
	gkf_busy_begin(fx.m, theirs);
	gkf_busy_moved(fx.m, theirs, GKF_IN, GIB);
	gkf_busy_begin(fx.m, GKF_SLOTS_MAX);
	pass(2 * GKF_BIN_NS);
	assert_int_equal(value(GKF_V_GPU_UTIL), 0);
	assert_int_equal(value(GKF_V_MEM_UTIL), 0);
	fixture_end(&r);
}

/* A slot's work belongs to the owner that did it. */
static void a_new_owner_begins_anew(void **state)
{
	uint64_t bin = gkf_machine_bin(fx.m);
	struct gkf_done done;
	unsigned again;

	(void)state;
	gkf_busy_begin(fx.m, slot);
	pass(GKF_BIN_NS);
	gkf_busy_moved(fx.m, slot, GKF_OUT, GIB);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &again), 0);
	assert_int_equal(again, slot);
	for (uint64_t b = bin; b < bin + 3; b++) {
		gkf_busy_read(fx.m, slot, b, &done);
		assert_int_equal(done.busy_permille, 0);
		assert_int_equal(done.moved[GKF_OUT], 0);
	}
}

static unsigned permille(uint64_t bin)
{
	struct gkf_done done;

	gkf_busy_read(fx.m, slot, bin, &done);
	return done.busy_permille;
}

/*
 * The process died after it had added the time of its work, and before it
 * marked the work as ended.
 */
static void work_that_was_noted_counts_once(void **state)
{
	struct gkf_busy *b = &fx.file->busy[slot];
	uint64_t bin = gkf_machine_bin(fx.m), since;

	(void)state;
	gkf_busy_begin(fx.m, slot);
	since = atomic_load(&b->since_ns);
	pass(GKF_BIN_NS / 2);
	gkf_busy_end(fx.m, slot);
	assert_int_equal(permille(bin), 500);
	atomic_store(&b->since_ns, since);
	atomic_fetch_sub(&b->seq, 1);
	pass(GKF_BIN_NS / 4);
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_busy_close(fx.m, slot, gkf_machine_ns(fx.m));
	gkf_unlock(fx.m);
	assert_int_equal(permille(bin), 500);
	assert_int_equal(atomic_load(&b->since_ns), 0);
}

/* Busy from the moment at which the previous process ended its work. */
static void a_device_that_is_handed_over_does_not_rest(void **state)
{
	struct gkf_turn *turn = &fx.file->device[0].turn[0];
	uint64_t bin = gkf_machine_bin(fx.m), begun = gkf_machine_ns(fx.m);

	(void)state;
	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	atomic_store(&turn->passed_ns,
		     begun + 1); /* as the previous process does */
	pass(GKF_BIN_NS / 2);
	for (int twice = 0; twice < 2; twice++) {
		gkf_busy_begin(fx.m, slot);
		gkf_busy_end(fx.m, slot);
		assert_int_equal(permille(bin), 500);
		pass(GKF_BIN_NS / 4);
	}
	gkf_turn_give(fx.m, slot);
}

static uint64_t quiet(uint64_t bin)
{
	static struct gkf_demand wants;

	gkf_demand_collect(fx.m, 0, &wants);
	return gkf_demand_quiet_until(&wants, bin);
}

static void quiet_ends_where_work_is(void **state)
{
	uint64_t bin = gkf_machine_bin(fx.m);

	(void)state;
	assert_true(quiet(bin) == UINT64_MAX);
	pass(3 * GKF_BIN_NS);
	gkf_busy_begin(fx.m, slot);
	assert_int_equal(quiet(bin), bin + 3);
	assert_int_equal(quiet(bin + 5), bin + 5);
	pass(GKF_BIN_NS / 2);
	gkf_busy_end(fx.m, slot);
	assert_int_equal(quiet(bin), bin + 3);
	assert_int_equal(quiet(bin + 3), bin + 3);
	assert_true(quiet(bin + 4) == UINT64_MAX);
	pass(2 * GKF_BIN_NS);
	gkf_busy_moved(fx.m, slot, GKF_DEVICE, 1);
	assert_int_equal(quiet(bin + 4), bin + 5);
	assert_true(quiet(bin + 6) == UINT64_MAX);
}

/* Processes beyond those that are collected count too. */
static void the_work_of_many_is_added_up(void **state)
{
	enum { MANY = GKF_DEMAND_MAX + 10 };
	uint64_t bin = gkf_machine_bin(fx.m);
	unsigned slots[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(
		    gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slots[i]), 0);
		gkf_busy_begin(fx.m, slots[i]);
		pass(GKF_BIN_NS / 100);
		gkf_busy_end(fx.m, slots[i]);
	}
	pass(GKF_BIN_NS);
	assert_in_range(past(bin).gpu_util, MANY - 1, MANY);
}

static void what_it_costs(void **state)
{
	enum { N = 200000 };
	uint64_t begin, pair, moved;

	(void)state;
	assert_int_equal(gkf_clock_speed(fx.m, 1000), 0);
	begin = gk_mono_ns();
	for (int i = 0; i < N; i++) {
		gkf_busy_begin(fx.m, slot);
		gkf_busy_end(fx.m, slot);
	}
	pair = (gk_mono_ns() - begin) / N;
	begin = gk_mono_ns();
	for (int i = 0; i < N; i++)
		gkf_busy_moved(fx.m, slot, GKF_IN, 4096);
	moved = (gk_mono_ns() - begin) / N;
	print_message("begin and end %llu ns, a copy %llu ns\n",
		      (unsigned long long)pair, (unsigned long long)moved);
	assert_true(gkf_machine_ns(fx.m) > 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_still, close_it)
	const struct CMUnitTest tests[] = {
	    T(half_a_bin_is_half_busy),
	    T(bins_share_what_lies_across),
	    T(a_long_kernel_is_seen_while_it_runs),
	    T(looking_changes_nothing),
	    T(work_is_kept_when_nobody_looks),
	    T(copies_are_traffic),
	    T(a_link_is_no_faster_than_it_is),
	    T(stand_ins_work_beside_it),
	    T(accounting_counts_it),
	    T(an_instance_is_busy_by_itself),
	    T(the_dead_do_not_work),
	    T(others_cannot_work_for_it),
	    T(a_new_owner_begins_anew),
	    T(work_that_was_noted_counts_once),
	    T(a_device_that_is_handed_over_does_not_rest),
	    T(quiet_ends_where_work_is),
	    T(the_work_of_many_is_added_up),
	    T(what_it_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
