/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_test.c - overwrites the machine file at random, locks included,
 * before and while processes change it. Their values become nonsense, but none
 * of them crashes or hangs.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/mix.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/file/work_state.h"
#include "machine/fixture.h"
#include "machine/model/ecc.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/smoothing.h"
#include "machine/store/process/account.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/coverage.h"
#include "machine/store/event.h"
#include "machine/store/gate.h"
#include "machine/store/hostname.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/process/turn.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/reset.h"
#include "machine/trouble/rule.h"

#include <pthread.h>

#define GPUS     2
#define ROUNDS   60
#define DONE     30 /* operations in a round */
#define HANG_S   100
#define RACE_NS  (GK_NS_PER_S * 3 / 2)
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define LOCKED   (GKF_LOCK_BOOKS + GPUS)

static struct fixture fx;
static uint64_t dice;
static unsigned slots[4]; /* they once belonged to this process */

static uint64_t roll(void)
{
	return dice = gkf_mix(dice + 1);
}

static unsigned some_slot(void)
{
	return slots[roll() % 4];
}

/* ---- what processes do ---- */

static void attach(unsigned gpu)
{
	gkf_attach(fx.m, gpu, GKF_COMPUTE, NULL, &slots[roll() % 4]);
}

static void detach(unsigned gpu)
{
	(void)gpu;
	gkf_detach(fx.m, some_slot());
}

static void take_and_give(unsigned gpu)
{
	unsigned slot = some_slot();
	uint64_t bytes = roll() % GIB;

	gkf_books_charge(fx.m, slot, bytes);
	gkf_books_charge_managed(fx.m, slot, bytes / 2);
	gkf_books_refund_managed(fx.m, slot, bytes / 2);
	gkf_books_refund(fx.m, slot, bytes);
	gkf_held_bytes(fx.m, gpu);
}

static void work(unsigned gpu)
{
	atomic_bool stop = true; /* does not wait for a turn that is not free */
	unsigned slot = some_slot();

	(void)gpu;
	if (!gkf_turn_take(fx.m, slot, &stop)) {
		gkf_busy_begin(fx.m, slot);
		gkf_busy_moved(fx.m, slot, GKF_IN, roll());
		gkf_busy_end(fx.m, slot);
		gkf_turn_due(fx.m, slot);
		gkf_turn_give(fx.m, slot);
	}
	gkf_turn_drop(fx.m, slot);
}

static void tune(unsigned gpu)
{
	struct gkf_wave wave = {.kind = GKF_WAVE_STEADY, .util_permille = 300};

	(void)gpu;
	gkf_tune(fx.m, some_slot(), &wave);
}

static void set(unsigned gpu)
{
	gkf_value_set(fx.m, gpu, (enum gkf_value)(roll() % GKF_V_COUNT),
		      (int64_t)(roll() % 4));
}

static void get(unsigned gpu)
{
	struct gkf_state state;
	int64_t value;

	for (int v = 0; v < GKF_V_COUNT; v++)
		gkf_value_get(fx.m, gpu, (enum gkf_value)v, &value);
	gkf_state_now(fx.m, gpu, &state);
}

static void break_it(unsigned gpu)
{
	enum gkf_fault fault = (enum gkf_fault)(roll() % GKF_FAULT_COUNT);

	gkf_fault_begin(fx.m, gpu, fault, gkf_faults[fault].usual);
	gkf_xid(fx.m, gpu, gkf_xids[roll() % gkf_xid_count].number);
	gkf_ecc_error(fx.m, gpu, (enum gkf_ecc_kind)(roll() % GKF_ECC_KINDS),
		      (enum gkf_ecc_location)(roll() % GKF_ECC_LOCATIONS),
		      roll() % 9);
}

static void mend(unsigned gpu)
{
	gkf_fault_end(fx.m, gpu, roll());
	gkf_fault_recovery(fx.m, gpu);
	gkf_device_reset(fx.m, gpu);
}

static void read_book(unsigned gpu)
{
	struct gkf_ecc_unique unique[4];
	struct gkf_ecc_page pages[4];

	gkf_ecc_uniques(fx.m, gpu, unique, 4);
	gkf_ecc_pages(fx.m, gpu, GKF_ECC_BY_UNCORRECTED, pages, 4);
	gkf_ecc_repairs(fx.m, gpu);
	gkf_ecc_clear(fx.m, gpu, GKF_ECC_VOLATILE);
}

static void split(unsigned gpu)
{
	unsigned gi, ci;

	gkf_mig_mode_set(fx.m, gpu, roll() % 4 != 0);
	if (!gkf_mig_gi_create(fx.m, gpu, (unsigned)roll() % 20,
			       GKF_MIG_ANYWHERE, &gi))
		gkf_mig_ci_create(fx.m, gpu, gi, GKF_MIG_ANY_LIFE,
				  (unsigned)roll() % 5, GKF_MIG_ANYWHERE, &ci);
	for (gi = 0; gi < GKF_MIG_GIS && roll() % 2; gi++) {
		for (ci = 0; ci < GKF_MIG_CIS; ci++)
			gkf_mig_ci_destroy(fx.m, gpu, gi, ci, GKF_MIG_ANY_LIFE);
		gkf_mig_gi_destroy(fx.m, gpu, gi, GKF_MIG_ANY_LIFE);
	}
}

static void bury(unsigned gpu)
{
	static struct gkf_process list[64];
	unsigned count;

	gkf_reap(fx.m, true);
	gkf_processes(fx.m, gpu, 7, list, 64, &count);
}

static bool visit(void *ctx, const struct gkf_account *account)
{
	(void)ctx, (void)account;
	return true;
}

static void account(unsigned gpu)
{
	gkf_accounts_each(fx.m, gpu, visit, NULL);
	if (!gkf_lock(fx.m)) {
		gkf_account_forget(fx.m, gpu);
		gkf_unlock(fx.m);
	}
	gkf_accounts_clear(fx.m, gpu);
}

static void look_at_events(unsigned gpu)
{
	struct gkf_event event;
	uint64_t number = roll() % 2 ? 0 : roll();

	if (!gkf_lock(fx.m)) {
		gkf_event_push(fx.m, gpu, 8, roll(), GKF_NO_INSTANCE);
		gkf_unlock(fx.m);
	}
	for (int i = 0; i < 100 && gkf_event_next(fx.m, &number, &event); i++)
		;
}

static void rule(unsigned gpu)
{
	struct gkf_rule_spec spec = {.gpus = ~0ULL, .function = 3};
	int answer;

	gkf_rule_add(fx.m, &spec);
	gkf_rule_applies(fx.m, 3, (int)gpu, &answer);
	gkf_rules_drop(fx.m, -1, ~0ULL);
}

static void refuse(unsigned gpu)
{
	struct gkf_named_count named;
	struct gkf_refused refused;

	(void)gpu;
	gkf_refuse_named(fx.m, (enum gkf_named)0, "a name");
	gkf_named_read(fx.m, (unsigned)roll() % GKF_NAMES_MAX, &named);
	gkf_refusal_count(fx.m, 7, "somebody");
	gkf_refusal_read(fx.m, (unsigned)roll() % GKF_REFUSALS_MAX, &refused);
}

static void write_text(unsigned gpu)
{
	char text[GKF_TEXT_MAX];

	gkf_hostname_set(fx.m, gpu, "a host");
	gkf_hostname(fx.m, gpu, text);
	gkf_smoothing_set(fx.m, gpu, 1, 1, 5);
}

static void pass_time(unsigned gpu)
{
	(void)gpu;
	gkf_clock_speed(fx.m, roll() % 3 * 500);
	gkf_machine_age(fx.m, roll() % GK_NS_PER_S);
	gkf_wall_us(fx.m, roll());
	gkf_machine_settle(fx.m);
	gkf_scenario_poll(fx.m);
}

static void open_again(unsigned gpu)
{
	struct gkf_machine *m;

	(void)gpu;
	if (!gkf_machine_open(fx.path, &m))
		gkf_machine_close(m);
}

static void (*const operations[])(unsigned gpu) = {
    attach,         detach, take_and_give, work,      tune,       set,     get,
    break_it,       mend,   read_book,     split,     bury,       account, rule,
    look_at_events, refuse, write_text,    pass_time, open_again,
};

static void do_something(void)
{
	operations[roll() % COUNT(operations)]((unsigned)roll() % GPUS);
}

/* ---- what is written over the file ---- */

/* The books and the slots in use are hit as often as all the rest. */
static void scribble(uint64_t r)
{
	const struct {
		void *at;
		size_t size;
	} parts[] = {
	    {fx.file, offsetof(struct gkf_file, calls)},
	    {fx.file, sizeof *fx.file},
	    {fx.file->device, GPUS * sizeof *fx.file->device},
	    {fx.file->slot, 8 * sizeof *fx.file->slot},
	    {fx.file->busy, 8 * sizeof *fx.file->busy},
	    {&fx.file->device[0].books, sizeof fx.file->device[0].books},
	};
	unsigned p = (unsigned)r % COUNT(parts);
	uint64_t word = gkf_mix(r), small = word % 5;

	__atomic_store_n((uint64_t *)parts[p].at +
			     (r >> 8) % (parts[p].size / 8),
			 r >> 60 < 8 ? word : small, __ATOMIC_RELAXED);
}

/* Writes the number of no thread, of a dead holder, or 0. */
static void scribble_lock(uint64_t r)
{
	static const uint32_t words[] = {0, 0x7fffffff, 0x40000001, 0, 0};

	atomic_store(gkf_locks_word(fx.m->locks, (unsigned)r % LOCKED),
		     words[(r >> 8) % COUNT(words)]);
}

static void let_go_of_locks(void)
{
	for (unsigned i = 0; i < LOCKED; i++)
		atomic_store(gkf_locks_word(fx.m->locks, i), 0);
}

/* ---- */

/*
 * Runs in a child, so that a crash or a hang is the child's; cmocka catches
 * some signals.
 */
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static void survive(void body(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (size_t i = 0; i < COUNT(crashes); i++)
			signal(crashes[i], SIG_DFL);
		alarm(HANG_S);
		dice = 7;
		body();
		_exit(0);
	}
	fixture_await(pid, 0);
}

static void change_what_was_written_over(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		unsigned words = (unsigned)(roll() % (i % 10 ? 100 : 100000));

		attach((unsigned)roll() % GPUS);
		while (words--)
			scribble(roll());
		scribble_lock(roll());
		for (int k = 0; k < DONE; k++)
			do_something();
		let_go_of_locks();
	}
}

static void changes_survive_what_was_written_over(void **state)
{
	(void)state;
	survive(change_what_was_written_over);
}

static atomic_bool is_over;

static void *keep_scribbling(void *seed)
{
	uint64_t r = (uintptr_t)seed;

	while (!atomic_load(&is_over)) {
		r = gkf_mix(r + 1);
		scribble(r);
		if (r % 64 == 0)
			scribble_lock(gkf_mix(r));
	}
	return NULL;
}

static void change_amid_scribbling(void)
{
	uint64_t end = gk_mono_ns() + RACE_NS;
	pthread_t thread;

	pthread_create(&thread, NULL, keep_scribbling, NULL);
	while (gk_mono_ns() < end)
		do_something();
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}

static void changes_survive_a_race_with_a_vandal(void **state)
{
	(void)state;
	survive(change_amid_scribbling);
}

/* The number that is checked and the one that is used must be the same. */
static void *move_slots(void *unused)
{
	uint64_t r = 7;

	while (!atomic_load(&is_over)) {
		uint32_t device = (r = gkf_mix(r)) % 2 ? 0 : 0x7fffffff;

		for (unsigned i = 0; i < 8; i++)
			__atomic_store_n(&fx.file->slot[i].device, device,
					 __ATOMIC_RELAXED);
		/* Leaves it for a while, so that others read it. */
		for (unsigned i = 0; i < r % 100; i++)
			atomic_signal_fence(memory_order_seq_cst);
	}
	return unused;
}

static void come_and_go(void)
{
	pthread_t thread;
	unsigned slot;

	pthread_create(&thread, NULL, move_slots, NULL);
	for (int i = 0; i < 20000; i++) {
		if (gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot))
			continue;
		gkf_books_charge(fx.m, slot, 4096);
		while (gkf_detach(fx.m, slot) == GK_ERR_NOT_FOUND)
			;
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
}

static void a_slot_that_changes_its_device_ends_on_its_own(void **state)
{
	(void)state;
	survive(come_and_go);
}

/*
 * The word names a living thread that never took the lock: waiters give up
 * after a second.
 */
static void a_lock_that_nobody_gives_back_is_an_error(void **state)
{
	(void)state;
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 1);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 50),
			 GK_ERR_TIMEOUT);
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 0x3fffffff);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 50),
			 GK_ERR_CORRUPT);
	let_go_of_locks();
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 50), 0);
}

/* The program's own robust locks share glibc's list with ours. */
static void a_lock_that_was_taken_away_leaves_no_trace(void **state)
{
	_Atomic uint32_t *word = gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS);
	pthread_mutexattr_t attr;
	pthread_mutex_t own;

	(void)state;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&own, &attr);
	for (uint32_t is = 0; is < 3; is++) {
		assert_int_equal(gkf_lock(fx.m), 0);
		atomic_store(word, is);
		gkf_unlock(fx.m);
		assert_int_equal(atomic_load(word), 0);
		assert_int_equal(pthread_mutex_lock(&own), 0);
		assert_int_equal(pthread_mutex_unlock(&own), 0);
	}
	pthread_mutex_destroy(&own);
	pthread_mutexattr_destroy(&attr);
}

static int open_some(void **state)
{
	(void)state;
	fixture_open(&fx, GPUS);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_some, close_it)
	const struct CMUnitTest tests[] = {
	    T(changes_survive_what_was_written_over),
	    T(changes_survive_a_race_with_a_vandal),
	    T(a_slot_that_changes_its_device_ends_on_its_own),
	    T(a_lock_that_nobody_gives_back_is_an_error),
	    T(a_lock_that_was_taken_away_leaves_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
