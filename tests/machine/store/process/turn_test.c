/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn_test.c - checks that the kernels of one process at a time run, whoever
 * dies, stops or stays.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/turn.h"

#include <pthread.h>

static struct fixture fx;
static unsigned slot;
static pid_t parent;

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	parent = getpid();
	return gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static uint64_t holder(void)
{
	return atomic_load(&fx.file->device[0].turn[0].holder);
}

static bool is_ours(void)
{
	return (holder() & 0xffff) == slot + 1;
}

static unsigned come_in(void)
{
	unsigned own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent ||
	    gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &own))
		_exit(9);
	return own;
}

/* A process that takes the turn and does nothing more. */
static struct resident taker(void)
{
	struct resident r;
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	r.pid = fork();
	if (!r.pid) {
		unsigned own = come_in();

		if (gkf_turn_take(fx.m, own, NULL) ||
		    write(ready[1], "y", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return r;
}

static uint64_t take_ms(void)
{
	uint64_t begin = gk_mono_ns();

	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	return (gk_mono_ns() - begin) / GK_NS_PER_MS;
}

static void threads_of_a_process_share_it(void **state)
{
	(void)state;
	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	assert_false(gkf_turn_due(fx.m, slot));
	gkf_turn_give(fx.m, slot);
	assert_true(holder() != 0);
	gkf_turn_give(fx.m, slot);
	assert_int_equal(holder(), 0);
	gkf_turn_give(fx.m, slot); /* a release too many does nothing */
	assert_int_equal(holder(), 0);
}

static void only_its_own_process_takes_it(void **state)
{
	struct resident r = taker();

	(void)state;
	assert_int_equal(gkf_turn_take(fx.m, slot + 1, NULL), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_turn_take(fx.m, GKF_SLOTS_MAX, NULL),
			 GK_ERR_NOT_FOUND);
	fixture_end(&r);
}

static void the_dead_lose_it(void **state)
{
	struct resident r = taker();

	(void)state;
	assert_true(holder() != 0);
	fixture_end(&r);
	assert_in_range(take_ms(), 0, 20000);
	assert_true(is_ours());
	gkf_turn_give(fx.m, slot);
	assert_int_equal(holder(), 0);
}

/* Also when the slot belongs to another process by now. */
static void a_freed_slot_hands_it_on(void **state)
{
	struct resident r = taker();

	(void)state;
	fixture_end(&r);
	gkf_reap(fx.m, true);
	assert_int_equal(holder(), 0);
	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(holder(), 0);
}

static void the_stopped_lose_it_after_a_while(void **state)
{
	struct resident r = taker();
	uint64_t since = atomic_load(&fx.file->device[0].turn[0].since_ns);
	int status;

	(void)state;
	kill(r.pid, SIGSTOP);
	assert_int_equal(waitpid(r.pid, &status, WUNTRACED), r.pid);
	assert_in_range(take_ms(), 0, 10000);
	assert_true(gk_mono_ns() - since >= 50 * GK_NS_PER_MS);
	kill(r.pid, SIGCONT);
	fixture_end(&r);
	/* Its end does not take away the turn that it had lost. */
	assert_true(is_ours());
	gkf_turn_give(fx.m, slot);
}

/* A process that lost the turn learns so, and its release does nothing. */
static void the_loser_is_told(void **state)
{
	pid_t pid = fork();
	unsigned own;
	int status;

	(void)state;
	if (!pid) {
		own = come_in();
		if (gkf_turn_take(fx.m, own, NULL))
			_exit(1);
		raise(SIGSTOP);
		if (!gkf_turn_due(fx.m, own))
			_exit(2);
		gkf_turn_give(fx.m, own);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	take_ms();
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(is_ours());
	gkf_turn_give(fx.m, slot);
}

static atomic_bool stop;

static void *stop_soon(void *unused)
{
	usleep(50000);
	atomic_store(&stop, true);
	return unused;
}

static void who_waits_can_be_stopped(void **state)
{
	struct resident r = taker();
	pthread_t thread;

	(void)state;
	atomic_store(&stop, false);
	pthread_create(&thread, NULL, stop_soon, NULL);
	assert_int_equal(gkf_turn_take(fx.m, slot, &stop), GK_ERR_TIMEOUT);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&fx.file->busy[slot].wants_ns), 0);
	assert_false(is_ours());
	fixture_end(&r);
}

static void instances_have_turns_of_their_own(void **state)
{
	struct gkf_mig_ci ci;
	const char *part;
	unsigned in[2];

	(void)state;
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+1g.10gb", &part), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(gkf_mig_by_index(fx.m, 0, i, &ci), 0);
		assert_int_equal(gkf_books_attach(fx.m, 0,
						  GKF_INSTANCE(ci.gi, ci.id),
						  &in[i]),
				 0);
		assert_int_equal(gkf_turn_take(fx.m, in[i], NULL), 0);
	}
	assert_false(gkf_turn_due(fx.m, in[0]));
	assert_false(gkf_turn_due(fx.m, in[1]));
}

/* A process that always has something to execute. */
static void spin(unsigned own, uint64_t until_ns)
{
	while (gk_mono_ns() < until_ns) {
		if (gkf_turn_take(fx.m, own, NULL))
			_exit(1);
		gkf_busy_begin(fx.m, own);
		while (!gkf_turn_due(fx.m, own) && gk_mono_ns() < until_ns)
			usleep(200); /* the device works, not the CPU */
		gkf_busy_end(fx.m, own);
		gkf_turn_give(fx.m, own);
	}
}

enum { SPINNERS_MAX = 8, LOOKS = 8, BINS = 9 };

/* Permille of each process and of all, percent of the device. */
struct parts {
	uint64_t of[SPINNERS_MAX], sum, device;
};

/*
 * Reads the second and a half before the last bin; the slots are the
 * children's.
 */
static struct parts look_back(unsigned count)
{
	uint64_t now = gkf_machine_bin(fx.m);
	struct parts parts = {.sum = 0};
	struct gkf_state s;

	gkf_state_now(fx.m, 0, &s);
	for (uint64_t b = now - BINS - 1; b < now - 1; b++) {
		struct gkf_past p;

		assert_true(gkf_past_read(fx.m, 0, b, &p));
		parts.device += p.gpu_util;
		for (unsigned i = 0; i < count; i++) {
			struct gkf_done done;

			gkf_busy_read(fx.m, slot + 1 + i, b, &done);
			parts.of[i] += done.busy_permille;
		}
	}
	parts.device /= BINS;
	for (unsigned i = 0; i < count; i++)
		parts.sum += parts.of[i] /= BINS;
	return parts;
}

/* No time is lost in handing over, and all get equal parts. */
static bool are_equal(const struct parts *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (parts->of[i] * count < 700 || parts->of[i] * count > 1300)
			return false;
	return parts->sum >= 900 && parts->device >= 90;
}

static void let_bins_pass(unsigned count)
{
	uint64_t until = gkf_machine_bin(fx.m) + count;

	while (gkf_machine_bin(fx.m) < until)
		usleep(10000);
}

/*
 * Looks several times: while the host does not run the holder, the others wait.
 */
static void spinners_get_equal_parts(unsigned count)
{
	uint64_t until = gk_mono_ns() + 60 * GK_NS_PER_S;
	struct parts parts;
	pid_t pid[SPINNERS_MAX];
	bool fair = false;

	for (unsigned i = 0; i < count; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			spin(come_in(), until);
			pause();
		}
	}
	let_bins_pass(5);
	for (unsigned i = 0; i < LOOKS && !fair; i++) {
		let_bins_pass(BINS + 1);
		parts = look_back(count);
		fair = are_equal(&parts, count);
		/* A union is never more. */
		assert_in_range(parts.sum, 0, 1010);
		assert_in_range(parts.device, 0, 100);
	}
	for (unsigned i = 0; i < count; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		print_message("process %u: %llu permille\n", i,
			      (unsigned long long)parts.of[i]);
	}
	print_message("all: %llu permille, the device %llu %%\n",
		      (unsigned long long)parts.sum,
		      (unsigned long long)parts.device);
	assert_true(fair);
}

static void two_spinners_get_a_half_each(void **state)
{
	(void)state;
	spinners_get_equal_parts(2);
}

static void five_spinners_get_a_fifth_each(void **state)
{
	(void)state;
	spinners_get_equal_parts(5);
}

/*
 * A process of short kernels waits at most a slice for each; the spinning one
 * runs in between.
 */
static void the_short_get_between_the_long(void **state)
{
	uint64_t until = gk_mono_ns() + 2 * GK_NS_PER_S, begin, longest = 0;
	pid_t pid = fork();
	unsigned kernels = 0;
	int status;

	(void)state;
	if (!pid) {
		spin(come_in(), until + GK_NS_PER_S);
		_exit(0);
	}
	while (!holder())
		usleep(1000);
	while ((begin = gk_mono_ns()) < until) {
		assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
		gkf_turn_give(fx.m, slot);
		begin = gk_mono_ns() - begin;
		longest = begin > longest ? begin : longest;
		kernels++;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	print_message("%u kernels, the longest wait %.2f ms\n", kernels,
		      (double)longest / 1e6);
	assert_true(kernels > 100);
}

/*
 * Each process writes its mark into a word and reads it back: two at a time
 * would show.
 */
static _Atomic uint64_t *witness;

static void *take_and_look(void *at)
{
	unsigned own = *(unsigned *)at;
	uint64_t me = (uint64_t)getpid();

	for (;;) {
		if (gkf_turn_take(fx.m, own, NULL))
			_exit(1);
		atomic_store(&witness[0], me);
		for (int i = 0; i < 200 && !gkf_turn_due(fx.m, own); i++)
			if (atomic_load(&witness[0]) != me)
				atomic_fetch_add(&witness[1], 1);
		atomic_fetch_add(&witness[2], 1);
		gkf_turn_give(fx.m, own);
	}
	return NULL;
}

static void executes(void)
{
	unsigned own = come_in();
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, take_and_look, &own);
	take_and_look(&own);
}

static void a_storm_of_kills_loses_no_turn(void **state)
{
	enum { VICTIMS = 120, AT_ONCE = 4 };
	pid_t pid[AT_ONCE] = {0};
	unsigned seed = 5;
	uint64_t turns;
	int status;

	(void)state;
	witness = (_Atomic uint64_t *)fx.file->extra_ns;
	for (int i = 0; i < VICTIMS + AT_ONCE; i++) {
		pid_t *p = &pid[i % AT_ONCE];

		if (*p) {
			kill(*p, SIGKILL);
			assert_int_equal(waitpid(*p, &status, 0), *p);
			assert_true(WIFSIGNALED(status));
		}
		*p = i < VICTIMS ? fork() : 0;
		if (i < VICTIMS && !*p)
			executes();
		usleep((unsigned)rand_r(&seed) % 20000);
	}
	turns = atomic_load(&witness[2]);
	print_message("%llu turns\n", (unsigned long long)turns);
	assert_int_equal(atomic_load(&witness[1]), 0);
	assert_true(turns > VICTIMS);
	assert_in_range(take_ms(), 0, 20000);
	gkf_turn_give(fx.m, slot);
	assert_int_equal(holder(), 0);
}

static void what_it_costs(void **state)
{
	enum { N = 200000 };
	uint64_t begin = gk_mono_ns(), pair, due;
	bool any = false;

	(void)state;
	for (int i = 0; i < N; i++) {
		gkf_turn_take(fx.m, slot, NULL);
		gkf_turn_give(fx.m, slot);
	}
	pair = (gk_mono_ns() - begin) / N;
	gkf_turn_take(fx.m, slot, NULL);
	begin = gk_mono_ns();
	for (int i = 0; i < N; i++)
		any |= gkf_turn_due(fx.m, slot);
	due = (gk_mono_ns() - begin) / N;
	gkf_turn_give(fx.m, slot);
	print_message("take and give %llu ns, due %llu ns\n",
		      (unsigned long long)pair, (unsigned long long)due);
	assert_false(any);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(threads_of_a_process_share_it),
	    T(only_its_own_process_takes_it),
	    T(the_dead_lose_it),
	    T(a_freed_slot_hands_it_on),
	    T(the_stopped_lose_it_after_a_while),
	    T(the_loser_is_told),
	    T(who_waits_can_be_stopped),
	    T(instances_have_turns_of_their_own),
	    T(two_spinners_get_a_half_each),
	    T(five_spinners_get_a_fifth_each),
	    T(the_short_get_between_the_long),
	    T(a_storm_of_kills_loses_no_turn),
	    T(what_it_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
