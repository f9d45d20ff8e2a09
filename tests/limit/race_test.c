/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race_test.c - checks many processes and threads at once while one watches
 * them all the time.
 */
#include "base/clock.h"
#include "limit/fixture.h"
#include "limit/ledger_file.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum { PROCESSES = 64, ROUNDS = 200, THREADS = 16 };

#define LIMIT GIB

static struct fixture fx;

/* What was really taken, counted by each process after it was allowed to. */
static struct audit {
	_Atomic uint64_t taken, over, refused, granted;
} * audit;

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx);
	audit = mmap(NULL, sizeof *audit, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return audit == MAP_FAILED;
}

static int close_it(void **state)
{
	(void)state;
	munmap(audit, sizeof *audit);
	fixture_close(&fx);
	return 0;
}

/* Lets others run between two steps: the test is about such moments. */
static void pause_a_while(unsigned int *seed)
{
	struct timespec t = {.tv_nsec = rand_r(seed) % 50000};

	if (rand_r(seed) % 4 == 0)
		nanosleep(&t, NULL);
	else if (rand_r(seed) % 2)
		sched_yield();
}

static void take_and_give(unsigned int *seed, uint64_t most)
{
	uint64_t bytes = 1 + (uint64_t)rand_r(seed) % most, now;

	if (!gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, bytes, LIMIT)) {
		atomic_fetch_add(&audit->refused, 1);
		return;
	}
	now = atomic_fetch_add(&audit->taken, bytes) + bytes;
	if (now > LIMIT)
		atomic_fetch_add(&audit->over, 1);
	atomic_fetch_add(&audit->granted, 1);
	pause_a_while(seed);
	atomic_fetch_sub(&audit->taken, bytes);
	pause_a_while(seed);
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, bytes);
}

static uint64_t most_at_once;

static void race(void)
{
	unsigned int seed = (unsigned int)getpid();

	for (int i = 0; i < ROUNDS; i++)
		take_and_give(&seed, most_at_once);
}

/* Reads the total until all children have ended. Returns the highest value. */
static uint64_t watch_children(int count)
{
	const union gkl_wide *total = &fx.ledger->file->taken[0].total;
	uint64_t most = 0;

	while (count) {
		uint64_t now = gkl_wide_read(total).low;
		int status;

		most = now > most ? now : most;
		if (waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			count--;
		}
	}
	return most;
}

static void check_empty(void)
{
	/* The dead hold nothing once they are buried. */
	gkl_ledger_bury(fx.ledger);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT, LIMIT));
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
}

static void racing_processes_never_take_a_byte_too_much(void **state)
{
	uint64_t most;

	(void)state;
	/* About four fit on average: most are refused. */
	most_at_once = LIMIT / 2;
	for (int i = 0; i < PROCESSES; i++)
		start_child(race);
	most = watch_children(PROCESSES);
	assert_true(most <= LIMIT);
	assert_int_equal(audit->over, 0);
	assert_true(audit->refused > 0);
	assert_true(audit->granted > 0);
	check_empty();
}

static void nobody_is_refused_while_all_of_it_fits(void **state)
{
	(void)state;
	most_at_once = LIMIT / PROCESSES;
	for (int i = 0; i < PROCESSES; i++)
		start_child(race);
	assert_true(watch_children(PROCESSES) <= LIMIT);
	assert_int_equal(audit->refused, 0);
	assert_int_equal(audit->granted, PROCESSES * ROUNDS);
	check_empty();
}

/* A victim reports that it has its share, or that it was refused. */
static pid_t start_victim(int *ret_told)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		bool has = gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT / 8,
					      LIMIT);

		if (write(ends[1], has ? "y" : "n", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	*ret_told = ends[0];
	return pid;
}

static void kill_and_await(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Eight lanes of an eighth each: a killed process makes room for the next. */
static void nobody_is_refused_what_the_killed_had(void **state)
{
	enum { LANES = 8, DEATHS = 400 };
	pid_t pid[LANES] = {0};
	int told[LANES];

	(void)state;
	for (int i = 0; i < DEATHS; i++) {
		int lane = i % LANES;
		char answer;

		if (pid[lane]) {
			assert_int_equal(read(told[lane], &answer, 1), 1);
			assert_int_equal(answer, 'y');
			close(told[lane]);
			kill_and_await(pid[lane]);
		}
		pid[lane] = start_victim(&told[lane]);
	}
	for (int lane = 0; lane < LANES; lane++) {
		kill_and_await(pid[lane]);
		close(told[lane]);
	}
	check_empty();
}

static void *race_thread(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	for (int i = 0; i < 2000; i++)
		take_and_give(&seed, LIMIT / 4);
	return NULL;
}

static void start_threads(pthread_t threads[THREADS])
{
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, race_thread,
						(void *)(i + 1)),
				 0);
}

static void join_threads(pthread_t threads[THREADS])
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void check_kinds_are_empty(const struct gkl_process *p, void *arg)
{
	(void)arg;
	for (int k = 0; k < GKL_KINDS; k++)
		assert_int_equal(p->kinds[0][k], 0);
	assert_int_equal(p->held[0], 0);
	assert_in_range(p->peak[0], 1, LIMIT);
}

static void threads_of_a_process_take_turns(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	start_threads(threads);
	join_threads(threads);
	assert_int_equal(audit->over, 0);
	assert_int_equal(gkl_ledger_own(fx.ledger, 0), 0);
	gkl_ledger_each(fx.ledger, check_kinds_are_empty, NULL);
	check_empty();
}

static void take_a_little(void)
{
	alarm(20);
	if (gkl_ledger_own(fx.ledger, 0))
		_exit(1);
	gkl_ledger_charge(fx.ledger, 0, GKL_DATA, 1);
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, 1);
	if (gkl_ledger_own(fx.ledger, 0))
		_exit(2);
}

static void a_child_forked_out_of_a_storm_of_threads_works(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	start_threads(threads);
	for (int i = 0; i < 50; i++)
		await_end(start_child(take_a_little), 0);
	join_threads(threads);
	assert_int_equal(gkl_ledger_own(fx.ledger, 0), 0);
	check_empty();
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(racing_processes_never_take_a_byte_too_much),
	    T(nobody_is_refused_while_all_of_it_fits),
	    T(nobody_is_refused_what_the_killed_had),
	    T(threads_of_a_process_take_turns),
	    T(a_child_forked_out_of_a_storm_of_threads_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
