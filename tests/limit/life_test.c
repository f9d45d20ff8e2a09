/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life_test.c - checks who counts as alive after death, exec and fork, and in
 * other namespaces.
 */
#include "can.h"
#include "base/clock.h"
#include "base/err.h"
#include "limit/fixture.h"
#include "limit/ledger_file.h"
#include "limit/life.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>

#define LIMIT GIB

static struct fixture fx;
static int told[2]; /* children write, the test reads */
static int go[2];   /* the test closes it to release them */

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx);
	return pipe2(told, O_CLOEXEC) || pipe2(go, O_CLOEXEC);
}

static int close_it(void **state)
{
	(void)state;
	close(told[0]);
	close(told[1]);
	close(go[0]);
	if (go[1] >= 0)
		close(go[1]);
	fixture_close(&fx);
	return 0;
}

static void tell(void)
{
	if (write(told[1], "x", 1) != 1)
		_exit(9);
}

static void await_told(void)
{
	char byte;

	assert_int_equal(read(told[0], &byte, 1), 1);
}

static void await_go(void)
{
	char byte;

	close(go[1]);
	while (read(go[0], &byte, 1) > 0)
		;
}

static void let_go(void)
{
	close(go[1]);
	go[1] = -1;
}

static void take_all(void)
{
	if (!gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT, LIMIT))
		_exit(1);
}

static bool has_room(void)
{
	if (!gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT, LIMIT))
		return false;
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
	return true;
}

static void kill_and_await(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void hold(void)
{
	take_all();
	tell();
	for (;;)
		pause();
}

static void the_living_keep_what_they_hold(void **state)
{
	pid_t pid = start_child(hold);

	(void)state;
	await_told();
	for (int i = 0; i < 10; i++)
		assert_false(has_room());
	assert_int_equal(gkl_ledger_bury(fx.ledger), 0);
	/* A stopped process is not dead. */
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	assert_false(has_room());
	kill_and_await(pid);
	assert_true(has_room());
}

static void await_state(pid_t pid, char wanted)
{
	char path[64], line[256], *state;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	do {
		FILE *f = fopen(path, "r");

		assert_non_null(f);
		assert_non_null(fgets(line, sizeof line, f));
		fclose(f);
		state = strrchr(line, ')') + 2;
	} while (*state != wanted);
}

static void a_zombie_holds_nothing(void **state)
{
	pid_t pid = start_child(hold);

	(void)state;
	await_told();
	kill(pid, SIGKILL);
	/* Dead with all its threads, but not reaped. */
	assert_int_equal(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	assert_true(has_room());
	kill_and_await(pid);
}

static void who_only_looks_sees_the_dead_go_within_100_ms(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		pid_t pid = start_child(hold);
		uint64_t died, asked;

		await_told();
		assert_int_equal(gkl_ledger_used(fx.ledger, 0), LIMIT);
		kill_and_await(pid);
		died = gk_mono_ns();
		/*
		 * If others ran and nobody asked within that time, ask again.
		 */
		do
			asked = gk_mono_ns();
		while (gkl_ledger_used(fx.ledger, 0) &&
		       asked - died < 100 * GK_NS_PER_MS);
		assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	}
}

static void *hold_in_thread(void *arg)
{
	(void)arg;
	take_all();
	/* The first thread is a zombie soon, but the process is not. */
	tell();
	await_go();
	_exit(0);
}

static void leave_to_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold_in_thread, NULL);
	pthread_exit(NULL);
}

static void a_process_without_its_first_thread_lives(void **state)
{
	pid_t pid = start_child(leave_to_thread);

	(void)state;
	await_told();
	await_state(pid, 'Z');
	assert_false(has_room());
	let_go();
	await_end(pid, 0);
	assert_true(has_room());
}

static void become_cat_holding(void)
{
	close(go[1]);
	dup2(told[1], 1);
	dup2(go[0], 0);
	execl("/bin/sh", "sh", "-c", "echo; exec cat", NULL);
	_exit(1);
}

static void become_cat(void)
{
	take_all();
	become_cat_holding();
}

/* The same process to the kernel, but its memory is gone. */
static void check_exec(void (*act)(void))
{
	pid_t pid = start_child(act);

	await_told();
	assert_true(has_room());
	let_go();
	await_end(pid, 0);
}

static void what_was_held_before_exec_is_free(void **state)
{
	(void)state;
	check_exec(become_cat);
}

/* Like a program that holds everything and runs exec to wait again. */
static void become_twice(void)
{
	dup2(told[1], 1);
	close(go[1]);
	dup2(go[0], 0);
	personality(ADDR_NO_RANDOMIZE);
	execl("/proc/self/exe", "again", fx.path, "hold", NULL);
	_exit(1);
}

static int hold_and_become(const char *path, const char *what)
{
	struct gkl_ledger *ledger;
	char byte = 'x';

	if (strcmp(what, "hold") != 0) {
		if (write(1, &byte, 1) != 1)
			return 3;
		return read(0, &byte, 1) != 0;
	}
	if (gkl_ledger_open(path, GKL_PRIVATE, &ledger) ||
	    !gkl_ledger_reserve(ledger, 0, GKL_DATA, LIMIT, LIMIT))
		return 2;
	execl("/proc/self/exe", "again", path, "wait", NULL);
	return 1;
}

static void exec_is_seen_where_stacks_begin_in_one_place(void **state)
{
	(void)state;
	check_exec(become_twice);
}

static void fork_and_become_cat(void)
{
	take_all();
	if (!fork()) {
		/* It has everything that its parent had mapped. */
		await_go();
		_exit(0);
	}
	become_cat_holding();
}

static void a_child_does_not_keep_what_its_parent_held_before_exec(void **state)
{
	(void)state;
	check_exec(fork_and_become_cat);
}

/* Runs exec with this same program, which enters here; see main(). */
static void become_this_program(void)
{
	take_all();
	prctl(PR_SET_DUMPABLE, 1);
	execl("/proc/self/exe", "again", fx.path, NULL);
	_exit(1);
}

static int run_again(const char *path)
{
	struct gkl_ledger *ledger;

	if (gkl_ledger_open(path, GKL_PRIVATE, &ledger))
		return 2;
	/* All of it belonged to this process before exec. */
	if (!gkl_ledger_reserve(ledger, 0, GKL_DATA, LIMIT, LIMIT))
		return 1;
	gkl_ledger_close(ledger);
	return 0;
}

static void a_program_that_begins_again_takes_all_again(void **state)
{
	(void)state;
	await_end(start_child(become_this_program), 0);
	assert_true(has_room());
}

static void own_nothing(void)
{
	if (gkl_ledger_own(fx.ledger, 0) || count_processes(fx.ledger) != 1)
		_exit(1);
	/* The child cannot give back what the parent holds. */
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
	if (gkl_ledger_used(fx.ledger, 0) != LIMIT)
		_exit(2);
	if (gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 1, LIMIT))
		_exit(3);
	if (gkl_ledger_slot(fx.ledger) < 0)
		_exit(4);
}

static void a_forked_child_begins_with_nothing(void **state)
{
	(void)state;
	take_all();
	await_end(start_child(own_nothing), 0);
	assert_int_equal(gkl_ledger_own(fx.ledger, 0), LIMIT);
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
}

/* As on Linux before 4.14. */
static void where_forks_empty_nothing_a_child_has_nothing_either(void **state)
{
	(void)state;
	assert_int_equal(
	    madvise(fx.ledger->own, sizeof *fx.ledger->own, MADV_KEEPONFORK),
	    0);
	fx.ledger->is_wiped = false;
	a_forked_child_begins_with_nothing(state);
	assert_int_equal(gkl_ledger_bury(fx.ledger), 1);
	/* A lock that another thread held when the child was forked. */
	take_all();
	atomic_store(&fx.ledger->own->locks[0].held, 1);
	await_end(start_child(own_nothing), 0);
	atomic_store(&fx.ledger->own->locks[0].held, 0);
	assert_int_equal(gkl_ledger_own(fx.ledger, 0), LIMIT);
}

static void fork_and_die(void)
{
	take_all();
	if (!fork()) {
		/* The child inherits all mappings and descriptors. */
		tell();
		await_go();
		_exit(0);
	}
}

static void a_living_child_does_not_keep_its_dead_parent(void **state)
{
	pid_t pid = start_child(fork_and_die);

	(void)state;
	await_told();
	await_end(pid, 0);
	assert_true(has_room());
	let_go();
}

static void close_all_and_hold(void)
{
	take_all();
	tell();
	for (int fd = 3; fd < 1024; fd++)
		if (fd != go[0])
			close(fd);
	await_go();
	/* Refunds and reservations still work. */
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
	take_all();
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT);
}

static void closing_all_descriptors_is_not_death(void **state)
{
	pid_t pid = start_child(close_all_and_hold);

	(void)state;
	await_told();
	for (int i = 0; i < 10; i++)
		assert_false(has_room());
	let_go();
	await_end(pid, 0);
}

/* A slot as another process left it. */
static struct gkl_slot *leave_slot(union gkl_wide life)
{
	struct gkl_ledger_file *f = fx.ledger->file;
	struct gkl_slot *s = &f->slots[1];

	assert_int_equal(gkl_ledger_slot(fx.ledger), 0);
	s->life = life;
	s->account[0].held.low = LIMIT;
	atomic_store(&s->counted, life.high);
	f->taken[0].total.low = LIMIT;
	atomic_store(&f->high, 2);
	return s;
}

static void who_has_taken_over_a_pid_is_somebody_else(void **state)
{
	union gkl_wide life;

	(void)state;
	assert_int_equal(gkl_life_self(&life), 0);
	leave_slot(life);
	assert_false(has_room());
	/* Our pid, in a process that began one tick earlier. */
	life.high -= 1ULL << 23;
	leave_slot(life);
	assert_true(has_room());
}

static void of_another_namespace_without_a_lock_nothing_is_known(void **state)
{
	union gkl_wide life;
	struct gkl_slot *s;

	(void)state;
	assert_int_equal(gkl_life_self(&life), 0);
	/* No pid is that high: in our own namespace it would be dead. */
	life.high |= 0x3fffffULL << 1;
	life.low ^= 1ULL << 40;
	s = leave_slot(life);
	for (int i = 0; i < 3; i++)
		assert_false(has_room());
	/*
	 * A lock that its owner had and has no longer: dead, but not at once.
	 */
	atomic_store(&s->locked, life.high);
	assert_true(has_room());
}

/* In the child that is first in its namespace; it dies with its parent. */
static void hold_as_first(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (mount("proc", "/proc", "proc", 0, NULL))
		_exit(1);
	hold();
}

static void hold_in_new_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(1);
	pid = fork();
	if (!pid)
		hold_as_first();
	waitpid(pid, NULL, 0);
}

static void a_process_of_another_namespace_lives_until_it_dies(void **state)
{
	struct timespec soon = {.tv_nsec = 1000000};
	pid_t pid = start_child(hold_in_new_namespace);
	uint64_t died;
	char byte;

	(void)state;
	fcntl(told[0], F_SETFL, O_NONBLOCK);
	while (read(told[0], &byte, 1) != 1) {
		/* Making namespaces may not be allowed. */
		if (waitpid(pid, NULL, WNOHANG) == pid)
			CANNOT("processes-of-its-own",
			       "unshare() or mount() refuses");
		nanosleep(&soon, NULL);
	}
	for (int i = 0; i < 3; i++)
		assert_false(has_room());
	assert_int_equal(count_processes(fx.ledger), 2);
	kill_and_await(pid);
	/* Its child dies after it, and nobody here is notified. */
	died = gk_mono_ns();
	while (!has_room())
		assert_true(gk_mono_ns() - died < GK_NS_PER_S);
}

static void all_slots_taken_is_a_refusal(void **state)
{
	struct gkl_ledger_file *f = fx.ledger->file;
	union gkl_wide self;

	(void)state;
	assert_int_equal(gkl_life_self(&self), 0);
	for (int i = 0; i < GKL_PROCESSES; i++)
		f->slots[i].life = self;
	atomic_store(&f->high, GKL_PROCESSES);
	assert_int_equal(gkl_ledger_slot(fx.ledger), GK_ERR_TOO_MANY);
	assert_false(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 1, 0));
	gkl_ledger_charge(fx.ledger, 0, GKL_DATA, 1);
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, 1);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), 0);
	/* One dead process is enough. */
	f->slots[777].life.high -= 1ULL << 23;
	assert_int_equal(gkl_ledger_slot(fx.ledger), 777);
	assert_true(has_room());
}

static void hold_a_byte(void)
{
	gkl_ledger_charge(fx.ledger, 5, GKL_ARRAY, 1);
	gkl_ledger_refused(fx.ledger, 5);
	gkl_ledger_count(fx.ledger, 5, GKL_LAUNCHES, 2);
}

static void slots_are_used_again_and_counters_outlive_them(void **state)
{
	struct gkl_total total;

	(void)state;
	for (int i = 0; i < 300; i++) {
		await_end(start_child(hold_a_byte), 0);
		assert_int_equal(gkl_ledger_bury(fx.ledger), 1);
	}
	assert_int_equal(gkl_slots_high(fx.ledger->file), 1);
	gkl_ledger_total(fx.ledger, 5, &total);
	assert_int_equal(total.used, 0);
	assert_int_equal(total.peak, 1);
	assert_int_equal(total.refused, 300);
	assert_int_equal(total.launches, 600);
}

int main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(the_living_keep_what_they_hold),
	    T(a_zombie_holds_nothing),
	    T(who_only_looks_sees_the_dead_go_within_100_ms),
	    T(a_process_without_its_first_thread_lives),
	    T(what_was_held_before_exec_is_free),
	    T(exec_is_seen_where_stacks_begin_in_one_place),
	    T(a_child_does_not_keep_what_its_parent_held_before_exec),
	    T(a_program_that_begins_again_takes_all_again),
	    T(a_forked_child_begins_with_nothing),
	    T(where_forks_empty_nothing_a_child_has_nothing_either),
	    T(a_living_child_does_not_keep_its_dead_parent),
	    T(closing_all_descriptors_is_not_death),
	    T(who_has_taken_over_a_pid_is_somebody_else),
	    T(of_another_namespace_without_a_lock_nothing_is_known),
	    T(a_process_of_another_namespace_lives_until_it_dies),
	    T(all_slots_taken_is_a_refusal),
	    T(slots_are_used_again_and_counters_outlive_them),
	};

	if (argc == 2)
		return run_again(argv[1]);
	if (argc == 3)
		return hold_and_become(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
