/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executors_test.c - checks which thread is called when, and which queue is
 * taken next.
 */
#include "device/threadless.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

/* The number of threads for short tasks. */
static unsigned few(void)
{
	cpu_set_t set;

	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	return CPU_COUNT(&set) < 2 ? 2 : (unsigned)CPU_COUNT(&set);
}

static void is_ready(struct gkf_queue *queue, unsigned level)
{
	assert_true(executors->levels >> level & 1);
	assert_ptr_equal(executors->ready[level].first, queue);
}

/* ---- who is called ---- */

static void a_push_starts_a_thread(void **state)
{
	struct gkf_queue *queue = new_queue(0);

	(void)state;
	assert_int_equal(starts, 0);
	push(queue, 'a');
	assert_int_equal(starts, 1);
	assert_ptr_equal(started, &executors->executor[0]);
	assert_ptr_equal(executors->executor[0].executors, executors);
	assert_true(executors->executor[0].alive);
	assert_int_equal(executors->threads, 1);
	assert_int_equal(executors->ready_count, 1);
	assert_int_equal(executors->levels, 1 << 8);
	is_ready(queue, 8);
	/* A thread is already on its way to the queue. */
	push(queue, 'b');
	assert_int_equal(starts, 1);
	assert_int_equal(executors->ready_count, 1);
	has_run("");
}

static void a_thread_takes_no_signal_but_that_of_a_truncated_file(void **state)
{
	sigset_t before, after;

	(void)state;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	push(new_queue(0), 'a');
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_false(sigismember(&start_mask, SIGBUS));
	assert_true(sigismember(&start_mask, SIGINT));
	assert_true(sigismember(&start_mask, SIGSEGV));
	assert_true(sigismember(&start_mask, SIGCHLD));
	for (int number = 1; number < 32; number++)
		assert_int_equal(sigismember(&after, number),
				 sigismember(&before, number));
}

static void there_are_as_many_threads_as_cpus(void **state)
{
	(void)state;
	for (unsigned i = 0; i < few() + 3; i++) {
		unsigned most = i + 1 < few() ? i + 1 : few();

		push(new_queue(0), 'a');
		assert_int_equal(starts, most);
		assert_int_equal(executors->threads, most);
		assert_ptr_equal(started, &executors->executor[most - 1]);
	}
}

/*
 * Threads for short tasks come in addition to those in long tasks, as long as
 * there is room.
 */
static void others_stand_beside_those_that_take_long(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		executors->executor[2 * i].alive = true;
	executors->threads = executors->in_long = 3;
	push(new_queue(0), 'a');
	assert_ptr_equal(started, &executors->executor[1]);
	push(new_queue(0), 'a');
	assert_ptr_equal(started, &executors->executor[3]);
	for (unsigned i = 0; i < few(); i++)
		push(new_queue(0), 'a');
	assert_int_equal(executors->threads, few() + 3);
	for (unsigned i = 0; i < GKF_EXECUTORS_MAX; i++) {
		executors->in_long = executors->threads;
		push(new_queue(0), 'a');
	}
	assert_int_equal(executors->threads, GKF_EXECUTORS_MAX);
	assert_int_equal(starts, GKF_EXECUTORS_MAX - 3);
	assert_ptr_equal(started, &executors->executor[GKF_EXECUTORS_MAX - 1]);
}

static void an_idle_thread_is_woken_first(void **state)
{
	struct gkf_executor *one = &executors->executor[4],
			    *other = &executors->executor[9];

	(void)state;
	executors->idle = one;
	one->next = other;
	push(new_queue(0), 'a');
	assert_int_equal(one->woken, 1);
	assert_int_equal(other->woken, 0);
	assert_ptr_equal(executors->idle, other);
	push(new_queue(0), 'a');
	assert_int_equal(other->woken, 1);
	assert_null(executors->idle);
	assert_int_equal(starts, 0);
	push(new_queue(0), 'a');
	assert_int_equal(starts, 1);
}

/* It finds one queue; a second one needs another thread. */
static void one_that_looks_around_is_not_called(void **state)
{
	(void)state;
	executors->spinner = &executors->executor[0];
	push(new_queue(0), 'a');
	assert_int_equal(starts, 0);
	push(new_queue(0), 'a');
	assert_int_equal(starts, 1);
}

/* Nobody is called for queues that were looked at together. */
static void what_was_found_waiting_is_quiet(void **state)
{
	(void)state;
	executors->quiet = 2;
	push(new_queue(0), 'a');
	push(new_queue(0), 'a');
	assert_int_equal(starts, 0);
	push(new_queue(0), 'a');
	assert_int_equal(starts, 1);
	gkf_executors_help(executors);
	assert_int_equal(executors->quiet, 0);
	executors->quiet = 5;
	push(new_queue(0), 'a');
	gkf_executors_help(executors);
	assert_int_equal(executors->quiet, 4);
	gkf_executors_found(executors);
	assert_int_equal(executors->quiet, 0);
	assert_int_equal(starts, 1);
	executors->quiet = 1;
	push(new_queue(0), 'a');
	assert_int_equal(starts, 1);
	gkf_executors_found(executors); /* now it is waited for */
	assert_int_equal(starts, 2);
}

/* A waiter is woken, so that it does the work itself. */
static void without_a_thread_waiters_are_woken(void **state)
{
	struct gkf_queue *waited = new_queue(0), *other = new_queue(0);

	(void)state;
	start_error = EAGAIN;
	waited->wake_at = 5;
	push(other, 'a');
	assert_int_equal(starts, 1);
	assert_int_equal(executors->threads, 0);
	assert_false(executors->executor[0].alive);
	assert_true(waited->wake_at == UINT64_MAX);
	assert_int_equal(waited->wake_word, 1);
	assert_int_equal(other->wake_word, 0);
	is_ready(other, 8);
	/* All locks are free, and the waiter does the work. */
	gkf_ticket_wait(gkf_queue_ticket(other));
	has_run("a");
	start_error = 0;
	push(other, 'b');
	assert_int_equal(executors->threads, 1);
}

/* ---- which queue is next ---- */

static void the_lower_the_priority_the_sooner(void **state)
{
	static const struct {
		int priority;
		unsigned level;
	} rows[] = {{-1000, 0}, {-9, 0}, {-8, 0}, {-7, 1}, {-1, 7},
		    {0, 8},     {1, 9},  {7, 15}, {8, 15}, {1000, 15}};

	(void)state;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(new_queue(rows[i].priority)->level,
				 rows[i].level);
}

static void of_the_same_priority_the_first_goes_first(void **state)
{
	struct gkf_queue *moved = new_queue(7);

	(void)state;
	push(new_queue(3), 'g');
	push(new_queue(0), 'd');
	push(new_queue(-8), 'b');
	push(new_queue(7), 'h');
	push(new_queue(0), 'e');
	push(new_queue(-8), 'c');
	push(new_queue(0), 'f');
	gkf_queue_priority(moved, -9);
	push(moved, 'z');
	assert_int_equal(executors->ready_count, 8);
	assert_int_equal(executors->levels,
			 1 << 0 | 1 << 8 | 1 << 11 | 1 << 15);
	gkf_executors_help(executors);
	has_run("bczdefgh");
	has_dropped("bczdefgh");
	assert_int_equal(executors->ready_count, 0);
	assert_int_equal(executors->levels, 0);
}

/* ---- is another one to go first? ---- */

static void who_serves_gives_way_when_nobody_else_can(void **state)
{
	(void)state;
	assert_false(gkf_executors_pressed(executors));
	push(new_queue(0), 'a');
	assert_true(gkf_executors_pressed(executors));
	executors->idle = &executors->executor[0];
	assert_false(gkf_executors_pressed(executors));
	executors->idle = NULL;
	executors->spinner = &executors->executor[0];
	assert_false(gkf_executors_pressed(executors));
	executors->spinner = NULL;
	assert_true(gkf_executors_pressed(executors));
	gkf_executors_help(executors);
	assert_false(gkf_executors_pressed(executors));
}

/* A queue with more tasks goes behind the others of its level. */
static void queues_take_turns(void **state)
{
	struct gkf_queue *one = new_queue(0), *other = new_queue(0),
			 *low = new_queue(1);

	(void)state;
	push(low, 'x');
	for (char name = 'a'; name <= 'c'; name++) {
		push(one, name);
		push(other, (char)(name - 'a' + 'A'));
	}
	gkf_executors_help(executors);
	has_run("aAbBcCx");
}

/* ---- tasks that wait for something in memory ---- */

static void one_that_waits_is_watched(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	int answer = GKF_TASK_AGAIN;

	(void)state;
	executors->watch_ns = 12345;
	gkf_queue_push(queue, task_of('a', &answer));
	push(queue, 'b');
	gkf_executors_help(executors);
	has_run("a");
	assert_true(queue->looked);
	assert_int_equal(executors->watch_ns, 20000);
	assert_ptr_equal(executors->watched.first, queue);
	assert_int_equal(gkf_room.watched, 1);
	assert_int_equal(executors->ready_count, 0);
	/* It is looked at again, but not as a new one. */
	executors->watch_ns = 12345;
	gkf_executors_look(executors);
	is_ready(queue, 8);
	assert_null(executors->watched.first);
	assert_int_equal(gkf_room.watched, 0);
	gkf_executors_help(executors);
	has_run("a");
	assert_int_equal(executors->watch_ns, 12345);
	has_dropped("");
	/* Now it has come: the queue is not quiet any more. */
	answer = 0;
	gkf_executors_look(executors);
	executors->quiet = 9;
	gkf_executors_help(executors);
	has_run("ab");
	has_dropped("ab");
	assert_int_equal(executors->quiet, 0);
	assert_false(queue->looked);
}

/* Unless somebody watches already or is about to. */
static void somebody_is_called_to_watch(void **state)
{
	struct gkf_queue *queue = new_queue(0);

	(void)state;
	queue->executors = executors;
	executors->watcher = &executors->executor[0];
	assert_true(gkf_executors_watch(queue));
	assert_int_equal(starts, 0);
	executors->watcher = NULL;
	executors->spinner = &executors->executor[0];
	gkf_executors_found(executors);
	assert_int_equal(starts, 0);
	executors->spinner = NULL;
	gkf_executors_found(executors);
	assert_int_equal(starts, 1);
}

static void one_that_was_stopped_is_not_watched(void **state)
{
	struct gkf_queue *queue = new_queue(0);

	(void)state;
	queue->result = 719;
	assert_false(gkf_executors_watch(queue));
	assert_null(executors->watched.first);
	assert_int_equal(gkf_room.watched, 0);
	assert_false(queue->looked);
}

/* Queues of all devices, including the last, until none is left. */
static void all_devices_are_looked_at(void **state)
{
	struct gkf_queue *queue[3];
	static const unsigned devices[] = {0, 5, GKF_DEVICES_MAX - 1};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct gkf_queue_ask ask = {.device = devices[i]};

		assert_int_equal(gkf_queue_new(&ask, &queue[i]), 0);
		assert_true(gkf_executors_watch(queue[i]));
	}
	assert_int_equal(gkf_room.watched, 3);
	gkf_queue_look();
	assert_int_equal(gkf_room.watched, 0);
	for (unsigned i = 0; i < 3; i++) {
		const struct gkf_executors *its =
		    &gkf_room.executors[devices[i]];

		assert_ptr_equal(its->ready[8].first, queue[i]);
		assert_int_equal(its->ready_count, 1);
	}
}

/* After one was stopped, everything that waits is looked at. */
static void a_stir_makes_all_ready(void **state)
{
	struct gkf_queue *queue[3] = {new_queue(0), new_queue(0), new_queue(0)};

	(void)state;
	gkf_executors_watch(queue[0]);
	gkf_list_add(&executors->kernel_admission.waiting, queue[1]);
	gkf_list_add(&executors->host_admission.waiting, queue[2]);
	starts = 0;
	gkf_executors_stir(executors);
	assert_int_equal(executors->ready_count, 3);
	assert_null(executors->watched.first);
	assert_null(executors->kernel_admission.waiting.first);
	assert_null(executors->host_admission.waiting.first);
	is_ready(queue[0], 8);
	assert_ptr_equal(queue[0]->next, queue[1]);
	assert_ptr_equal(queue[1]->next, queue[2]);
	assert_int_equal(starts, 1);
}

/* ---- long tasks ---- */

/* A thread of the program takes no place of an executor. */
static void other_threads_are_not_counted(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	const struct gkf_task task = {.work = GKF_WORK_KERNEL};

	(void)state;
	assert_false(gkf_is_executor());
	assert_true(gkf_executors_begin_long(queue, &task));
	assert_int_equal(executors->in_long, 0);
	assert_int_equal(executors->kernel_admission.taken, 0);
	executors->in_long = executors->kernel_admission.taken = 1;
	gkf_executors_end_long(executors, &task);
	assert_int_equal(executors->in_long, 1);
	assert_int_equal(executors->kernel_admission.taken, 1);
}

/* ---- the end ---- */

/* A waiter sleeps meanwhile; during its first sleep this changes. */
static _Atomic bool *ends_working;
static unsigned sleeps;

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
		    struct timespec *ret_left)
{
	(void)ret_left;
	sleeps++;
	if (ends_working)
		atomic_store(ends_working, false);
	return (int)syscall(SYS_clock_nanosleep, clock, flags, time, NULL);
}

/* How often the end of the process sleeps. */
static unsigned sleeps_at_the_end(_Atomic bool *works)
{
	gkf_room.ending = false;
	ends_working = works;
	sleeps = 0;
	gkf_queue_end();
	assert_true(gkf_room.ending);
	return sleeps;
}

static void who_works_is_waited_for_at_the_end(void **state)
{
	static const unsigned of[] = {0, GKF_DEVICES_MAX - 1};
	struct gkf_queue *queue = new_queue(0), *other = new_queue(0);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct gkf_executors *its = &gkf_room.executors[of[i]];
		_Atomic bool *works[] = {
		    &its->executor[0].working,
		    &its->executor[GKF_EXECUTORS_MAX - 1].working,
		    &its->keeps /* a turn, which a thread gives back */
		};

		its->used = true;
		for (unsigned k = 0; k < 3; k++) {
			its->threads = 1;
			*works[k] = true;
			assert_int_equal(sleeps_at_the_end(works[k]), 1);
			*works[k] = true;
			its->threads = 0; /* there is no thread that could */
			assert_int_equal(sleeps_at_the_end(works[k]), 0);
			*works[k] = false;
		}
	}
	assert_true(queue->stop && other->stop);
	/* It has ended: nothing is done again. */
	queue->stop = false;
	gkf_queue_end();
	assert_false(queue->stop);
}

static void the_end_has_half_a_second_of_patience(void **state)
{
	uint64_t begin = gk_mono_ns(), ns;

	(void)state;
	new_queue(0);
	executors->threads = 1;
	executors->executor[7].working = true;
	sleeps_at_the_end(NULL);
	ns = gk_mono_ns() - begin;
	assert_in_range(ns, 500 * GK_NS_PER_MS, 20 * GK_NS_PER_S);
	assert_in_range(sleeps, 1, 2000); /* at least a quarter of a ms */
}

/* A program without queues has nothing to wait for. */
static void without_queues_the_end_is_near(void **state)
{
	(void)state;
	executors->used = true;
	executors->threads = 1;
	executors->keeps = true;
	assert_int_equal(sleeps_at_the_end(NULL), 0);
}

/* ---- a child ---- */

static void a_child_has_nothing_of_it(void **state)
{
	struct gkf_queue *queue = new_queue(0);

	(void)state;
	push(queue, 'a');
	gkf_executors_watch(new_queue(0));
	gkf_queue_release(new_queue(0), false);
	gkf_queue_end();
	gkf_queue_forget();
	assert_null(gkf_room.queues);
	assert_null(gkf_room.free);
	assert_int_equal(gkf_room.watched, 0);
	assert_false(gkf_room.ending);
	assert_int_equal(executors->threads, 0);
	assert_int_equal(executors->levels, 0);
	assert_int_equal(executors->ready_count, 0);
	assert_null(executors->watched.first);
	assert_null(executors->ready[8].first);
	assert_false(executors->executor[0].alive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    QUEUE_TEST(a_push_starts_a_thread),
	    QUEUE_TEST(a_thread_takes_no_signal_but_that_of_a_truncated_file),
	    QUEUE_TEST(there_are_as_many_threads_as_cpus),
	    QUEUE_TEST(others_stand_beside_those_that_take_long),
	    QUEUE_TEST(an_idle_thread_is_woken_first),
	    QUEUE_TEST(one_that_looks_around_is_not_called),
	    QUEUE_TEST(what_was_found_waiting_is_quiet),
	    QUEUE_TEST(without_a_thread_waiters_are_woken),
	    QUEUE_TEST(the_lower_the_priority_the_sooner),
	    QUEUE_TEST(of_the_same_priority_the_first_goes_first),
	    QUEUE_TEST(who_serves_gives_way_when_nobody_else_can),
	    QUEUE_TEST(queues_take_turns),
	    QUEUE_TEST(one_that_waits_is_watched),
	    QUEUE_TEST(somebody_is_called_to_watch),
	    QUEUE_TEST(one_that_was_stopped_is_not_watched),
	    QUEUE_TEST(all_devices_are_looked_at),
	    QUEUE_TEST(a_stir_makes_all_ready),
	    QUEUE_TEST(other_threads_are_not_counted),
	    QUEUE_TEST(who_works_is_waited_for_at_the_end),
	    QUEUE_TEST(the_end_has_half_a_second_of_patience),
	    QUEUE_TEST(without_queues_the_end_is_near),
	    QUEUE_TEST(a_child_has_nothing_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
