/* SPDX-License-Identifier: Apache-2.0 */
/*
 * books_test.c - checks the device memory of real processes: exact, cheap, and
 * consistent whoever is killed.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/holder.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/locks.h"
#include "machine/store/view.h"

#include <pthread.h>
#include <sys/syscall.h>

static struct fixture fx;

static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static unsigned attached(unsigned device)
{
	unsigned slot;

	assert_int_equal(gkf_books_attach(fx.m, device, GKF_NO_INSTANCE, &slot),
			 0);
	return slot;
}

static uint64_t free_bytes(unsigned device)
{
	struct gkf_memory memory;

	gkf_memory(fx.m, device, &memory);
	return memory.free;
}

/* Checks that the sums of the books agree with the slots. */
static void assert_balanced(unsigned device)
{
	assert_int_equal(gkf_books_lock(fx.m, device), 0);
	assert_int_equal(fx.file->device[device].books.held,
			 gkf_held_bytes(fx.m, device));
	gkf_books_unlock(fx.m, device);
}

static void what_is_charged_is_held(void **state)
{
	uint64_t all = free_bytes(0);
	unsigned slot = attached(0);

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, 3 * GIB + 1), 0);
	assert_int_equal(free_bytes(0), all - 3 * GIB - 1);
	assert_int_equal(free_bytes(1), all);
	assert_int_equal(gkf_books_refund(fx.m, slot, 3 * GIB + 2),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_books_refund(fx.m, slot, GIB), 0);
	assert_int_equal(free_bytes(0), all - 2 * GIB - 1);
	assert_balanced(0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(free_bytes(0), all);
	assert_balanced(0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 1), GK_ERR_NOT_FOUND);
}

static uint64_t told_of(unsigned slot)
{
	struct gkf_process list[GKF_SLOTS_MAX];
	unsigned count;

	assert_int_equal(
	    gkf_processes(fx.m, 0, GKF_COMPUTE, list, GKF_SLOTS_MAX, &count),
	    0);
	for (unsigned i = 0; i < count; i++)
		if (list[i].slot == slot)
			return list[i].bytes;
	fail();
	return 0;
}

/* Managed memory belongs to the device, not to a process. */
static void managed_memory_is_told_of_nobody(void **state)
{
	unsigned slot = attached(0);
	uint64_t all = free_bytes(0);

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), 0);
	assert_int_equal(gkf_books_charge_managed(fx.m, slot, 3 * GIB), 0);
	assert_int_equal(free_bytes(0), all - 4 * GIB);
	assert_int_equal(told_of(slot), GIB);
	assert_int_equal(gkf_books_refund(fx.m, slot, GIB + 1), GK_ERR_RANGE);
	assert_int_equal(
	    gkf_books_charge_managed(fx.m, slot, all - 4 * GIB + 1),
	    GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_refund_managed(fx.m, slot, 2 * GIB), 0);
	assert_int_equal(told_of(slot), GIB);
	assert_balanced(0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(free_bytes(0), all);
	slot = attached(0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 7), 0);
	assert_int_equal(told_of(slot), 7);
	assert_balanced(0);
}

static atomic_bool enough;

static void *come_and_go(void *data)
{
	unsigned slot = *(const unsigned *)data;

	while (!atomic_load(&enough))
		if (gkf_books_charge_managed(fx.m, slot, GIB) ||
		    gkf_books_refund_managed(fx.m, slot, GIB))
			return data;
	return NULL;
}

/* Not even for a moment while it comes or goes. */
static void managed_memory_is_never_told(void **state)
{
	uint64_t until = gk_mono_ns() + 200 * GK_NS_PER_MS, told = 0;
	unsigned slot = attached(0);
	pthread_t thread;
	void *failed;

	(void)state;
	atomic_store(&enough, false);
	assert_int_equal(pthread_create(&thread, NULL, come_and_go, &slot), 0);
	while (gk_mono_ns() < until && !told)
		told = told_of(slot);
	atomic_store(&enough, true);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(told, 0);
	assert_balanced(0);
}

/* Another process needs the room; here a second slot stands for it. */
static void managed_memory_gives_way_to_others(void **state)
{
	unsigned slot = attached(0), other = attached(0), there = attached(1);
	uint64_t all = free_bytes(0);

	(void)state;
	assert_int_equal(gkf_books_charge_managed(fx.m, slot, all - 2 * GIB),
			 0);
	assert_int_equal(gkf_books_charge_managed(fx.m, there, GIB), 0);
	assert_int_equal(gkf_books_charge(fx.m, other, all + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(free_bytes(0), 2 * GIB);
	assert_int_equal(gkf_books_charge_managed(fx.m, other, 3 * GIB),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, other, 5 * GIB), 0);
	assert_int_equal(free_bytes(0), 0);
	assert_balanced(0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 1), GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, other, all - 5 * GIB), 0);
	assert_int_equal(gkf_books_refund_managed(fx.m, slot, all), 0);
	assert_int_equal(told_of(slot), 0);
	assert_int_equal(told_of(other), all);
	assert_balanced(0);
	assert_balanced(1);
}

static void the_last_byte_can_be_had_and_no_more(void **state)
{
	unsigned slot = attached(0);
	uint64_t all = free_bytes(0);

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, all + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, UINT64_MAX),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, all), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, 1), GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_refund(fx.m, slot, GIB), 0);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, 1 << 20),
			 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB - (1 << 20)), 0);
	assert_int_equal(free_bytes(0), 0);
}

/* A scenario's load appears by the clock: no process writes anything then. */
static void what_comes_by_the_clock_counts(void **state)
{
	uint64_t all = free_bytes(0), bin = gkf_machine_bin(fx.m);
	struct gkf_wave later = {.kind = GKF_WAVE_IDLE,
				 .load = 1,
				 .start_bin = bin + 600,
				 .stop_bin = bin + 1200};
	unsigned load, slot = attached(0);

	(void)state;
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &later, &load), 0);
	assert_int_equal(gkf_books_charge(fx.m, load, 10 * GIB), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, all), 0);
	assert_int_equal(gkf_books_refund(fx.m, slot, all), 0);
	assert_int_equal(gkf_machine_age(fx.m, 120 * GK_NS_PER_S), 0);
	assert_int_equal(free_bytes(0), all - 10 * GIB);
	assert_int_equal(gkf_books_charge(fx.m, slot, all - 10 * GIB + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, all - 10 * GIB), 0);
	assert_int_equal(gkf_detach(fx.m, load), 0);
	assert_balanced(0);
}

static void a_gpu_instance_has_its_own_room(void **state)
{
	struct gkf_memory memory;
	const char *part;
	struct gkf_mig_ci ci;
	unsigned slot;

	(void)state;
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	assert_int_equal(gkf_mig_layout(fx.m, 0, "1g.10gb+3g.40gb", &part), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	assert_int_equal(
	    gkf_books_attach(fx.m, 0, GKF_INSTANCE(ci.gi, ci.id), &slot), 0);
	assert_int_equal(gkf_memory_gi(fx.m, 0, ci.gi, &memory), 0);
	assert_true(memory.free < free_bytes(0));
	assert_int_equal(gkf_books_charge(fx.m, slot, memory.free + 1),
			 GK_ERR_NO_SPACE);
	assert_int_equal(gkf_books_charge(fx.m, slot, memory.free), 0);
	assert_int_equal(gkf_memory_gi(fx.m, 0, ci.gi, &memory), 0);
	assert_int_equal(memory.free, 0);
	assert_balanced(0);
}

/* The parent's slot is not the child's, however the child was made. */
static void a_forked_child_has_no_slot(void **state)
{
	unsigned slot = attached(0);

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), 0);
	for (int raw = 0; raw < 2; raw++) {
		pid_t pid = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
				: fork();
		unsigned own;
		int status;

		if (!pid) {
			int r = gkf_books_charge(fx.m, slot, 1);

			if (r != GK_ERR_NOT_FOUND ||
			    gkf_books_refund(fx.m, slot, 1) !=
				GK_ERR_NOT_FOUND ||
			    gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &own) ||
			    gkf_books_charge(fx.m, own, GIB))
				_exit(1);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	gkf_reap(fx.m, true);
	assert_int_equal(gkf_held_bytes(fx.m, 0), GIB);
	assert_balanced(0);
}

/* A process that finds no room looks for dead owners at once. */
static void memory_of_the_dead_is_there_at_once(void **state)
{
	unsigned slot = attached(0);
	uint64_t all = free_bytes(0);
	struct resident r = fixture_resident(&fx, 0, GKF_COMPUTE, GIB, NULL);

	(void)state;
	gkf_reap(fx.m, true);
	assert_int_equal(gkf_books_charge(fx.m, slot, all), GK_ERR_NO_SPACE);
	fixture_end(&r);
	assert_int_equal(gkf_books_charge(fx.m, slot, all), 0);
	assert_balanced(0);
}

static void further_contexts_cost_less(void **state)
{
	uint64_t first = gkf_books_context(fx.m, 0, 0);

	(void)state;
	assert_int_equal(first,
			 (uint64_t)gkf_profile_default.context_mib << 20);
	assert_true(gkf_books_context(fx.m, 0, 1) < first);
	assert_int_equal(gkf_books_context(fx.m, 0, 1),
			 gkf_books_context(fx.m, 0, 7));
}

static void an_overwritten_lock_is_told(void **state)
{
	unsigned slot = attached(0);

	(void)state;
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_BOOKS), 0x3fffffff);
	assert_int_equal(gkf_books_charge(fx.m, slot, 1), GK_ERR_CORRUPT);
	assert_int_equal(gkf_books_refund(fx.m, slot, 0), GK_ERR_CORRUPT);
}

/* A slot that cannot be freed is not recorded as an ended process. */
static void an_overwritten_lock_ends_no_account(void **state)
{
	_Atomic uint32_t *word = gkf_locks_word(fx.m->locks, GKF_LOCK_BOOKS);
	uint64_t before = atomic_load(&fx.file->accounts.count);
	unsigned slot = attached(0);

	(void)state;
	atomic_store(&fx.file->device[0].set[GKF_V_ACCOUNTING], 1);
	atomic_store(word, 0x3fffffff);
	assert_int_equal(gkf_detach(fx.m, slot), GK_ERR_CORRUPT);
	assert_int_equal(atomic_load(&fx.file->accounts.count), before);
	atomic_store(word, 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	assert_int_equal(atomic_load(&fx.file->accounts.count), before + 1);
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(9);
}

static void takes_turns(unsigned slot, unsigned rounds, uint64_t piece,
			uint64_t room)
{
	uint64_t mine = 0;

	for (unsigned k = 0; k < rounds; k++) {
		if (!gkf_books_charge(fx.m, slot, piece + k % 3))
			mine += piece + k % 3;
		if (gkf_held_bytes(fx.m, 0) > room)
			_exit(2);
		if (mine && gkf_books_refund(fx.m, slot, mine))
			_exit(3);
		mine = 0;
	}
}

static void *charge_a_gib(void *slot)
{
	return (void *)(intptr_t)gkf_books_charge(fx.m, *(unsigned *)slot, GIB);
}

/* After the books could be locked again, the next holder has a full second. */
static void books_to_be_had_again_are_waited_for(void **state)
{
	unsigned slot = attached(0);
	pid_t holder = holder_start(fx.m, 0);
	pthread_t thread;
	void *r;

	(void)state;
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), GK_ERR_TIMEOUT);
	holder_end(holder);
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), 0);
	holder = holder_start(fx.m, 0);
	assert_int_equal(pthread_create(&thread, NULL, charge_a_gib, &slot), 0);
	gk_sleep_until(gk_mono_ns() + 50 * GK_NS_PER_MS);
	holder_end(holder);
	pthread_join(thread, &r);
	assert_int_equal((intptr_t)r, 0);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 2 * GIB);
}

static void a_race_never_overshoots(void **state)
{
	enum { RACERS = 12, ROUNDS = 3000 };
	uint64_t room = free_bytes(0);
	pid_t pid[RACERS], parent = getpid();

	(void)state;
	for (int i = 0; i < RACERS; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		die_with(parent);
		takes_turns(attached(0), ROUNDS, room / 5, room);
		_exit(0);
	}
	for (int i = 0; i < RACERS; i++) {
		int status;

		waitpid(pid[i], &status, 0);
		assert_int_equal(status, 0);
	}
	gkf_reap(fx.m, true);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_balanced(0);
}

static unsigned shared_slot;

static void *charge_some(void *unused)
{
	for (int i = 0; i < 20000; i++)
		if (gkf_books_charge(fx.m, shared_slot, 4096) ||
		    gkf_books_refund(fx.m, shared_slot, 4096))
			return &fx;
	return unused;
}

static void threads_of_a_process_share_its_slot(void **state)
{
	pthread_t thread[4];
	void *r;

	(void)state;
	shared_slot = attached(0);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, charge_some, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &r);
		assert_null(r);
	}
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_balanced(0);
}

/*
 * Many processes at once, killed at any moment; then all memory is free again.
 */
static void a_storm_of_kills_leaves_it_whole(void **state)
{
	enum { VICTIMS = 300, AT_ONCE = 8 };
	pid_t pid[AT_ONCE] = {0}, parent = getpid();
	uint64_t all = free_bytes(0);
	unsigned slot, seed = 3;
	int status;

	(void)state;
	for (int i = 0; i < VICTIMS + AT_ONCE; i++) {
		pid_t *p = &pid[i % AT_ONCE];

		if (*p) {
			kill(*p, SIGKILL);
			waitpid(*p, &status, 0);
			assert_true(WIFSIGNALED(status));
		}
		*p = i < VICTIMS ? fork() : 0;
		if (i < VICTIMS && !*p) {
			die_with(parent);
			for (slot = attached(0);;)
				takes_turns(slot, 100, all / 9, all);
		}
		usleep((unsigned)rand_r(&seed) % 2000);
	}
	slot = attached(0);
	assert_int_equal(gkf_books_charge(fx.m, slot, all), 0);
	gkf_reap(fx.m, true);
	assert_int_equal(gkf_held_bytes(fx.m, 0), all);
	assert_balanced(0);
}

/* Hundreds at once: each attaches, allocates, and exits without detaching. */
static void a_storm_of_forks_is_served(void **state)
{
	enum { CHILDREN = 300 };
	uint64_t begin = gk_mono_ns(), longest = 0;
	int ways[2], status, failed = 0;

	(void)state;
	assert_int_equal(pipe(ways), 0);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			uint64_t before = gk_mono_ns();
			unsigned slot;
			int r =
			    gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot);

			r = r ? r : gkf_books_charge(fx.m, slot, 2 << 20);
			before = gk_mono_ns() - before;
			if (write(ways[1], &before, sizeof before) < 0)
				r = 1;
			_exit(r != 0);
		}
	}
	for (int i = 0; i < CHILDREN; i++) {
		uint64_t took;

		wait(&status);
		failed += status != 0;
		assert_int_equal(read(ways[0], &took, sizeof took),
				 sizeof took);
		longest = took > longest ? took : longest;
	}
	close(ways[0]);
	close(ways[1]);
	assert_int_equal(failed, 0);
	print_message("%d processes in %.1f ms; the slowest was let in after "
		      "%.2f ms\n",
		      CHILDREN, (double)(gk_mono_ns() - begin) / 1e6,
		      (double)longest / 1e6);
	gkf_reap(fx.m, true);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
	assert_balanced(0);
}

static void what_it_costs(void **state)
{
	enum { N = 200000 };
	unsigned slot = attached(0);
	uint64_t begin = gk_mono_ns(), pair, attach;

	(void)state;
	for (int i = 0; i < N; i++) {
		gkf_books_charge(fx.m, slot, 4096);
		gkf_books_refund(fx.m, slot, 4096);
	}
	pair = (gk_mono_ns() - begin) / N;
	begin = gk_mono_ns();
	for (int i = 0; i < 1000; i++)
		gkf_detach(fx.m, attached(0));
	attach = (gk_mono_ns() - begin) / 1000;
	print_message("charge and refund %llu ns, attach and detach %llu ns\n",
		      (unsigned long long)pair, (unsigned long long)attach);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(what_is_charged_is_held),
	    T(managed_memory_is_told_of_nobody),
	    T(managed_memory_is_never_told),
	    T(managed_memory_gives_way_to_others),
	    T(the_last_byte_can_be_had_and_no_more),
	    T(what_comes_by_the_clock_counts),
	    T(a_gpu_instance_has_its_own_room),
	    T(a_forked_child_has_no_slot),
	    T(memory_of_the_dead_is_there_at_once),
	    T(further_contexts_cost_less),
	    T(an_overwritten_lock_is_told),
	    T(an_overwritten_lock_ends_no_account),
	    T(books_to_be_had_again_are_waited_for),
	    T(a_race_never_overshoots),
	    T(threads_of_a_process_share_its_slot),
	    T(a_storm_of_kills_leaves_it_whole),
	    T(a_storm_of_forks_is_served),
	    T(what_it_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
