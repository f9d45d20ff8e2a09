/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_end_test.c - checks how queues end: failures, releases, exit, fork, and
 * without threads.
 */
#include "device/queue.h"
#include "device/queue_probe.h"

#include <stdatomic.h>
#include <dlfcn.h>
#include <errno.h>

/* ---- failures ---- */

static int fail_with(struct probe *probe)
{
	return (int)probe->value;
}

static void after_a_failure_the_rest_is_dropped(void **state)
{
	struct gkf_queue *queue = new_queue(0), *other = new_queue(0);
	struct gate gate;

	(void)state;
	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	await(&gate.inside);
	atomic_store(&ran, 0);
	atomic_store(&dropped, 0);
	atomic_store(&failures, 0);
	push(queue, GKF_WORK_NONE, fail_with, NULL, 700);
	for (int i = 0; i < 10; i++)
		push(queue, GKF_WORK_NONE, NULL, NULL, 0);
	gkf_queue_after(other, gkf_queue_ticket(queue));
	push(other, GKF_WORK_NONE, NULL, NULL, 0);
	sem_post(&gate.open);
	finish(queue);
	finish(other);
	assert_int_equal(atomic_load(&ran),
			 3); /* stay, fail, and the other queue's */
	assert_int_equal(atomic_load(&dropped), 13);
	assert_int_equal(atomic_load(&failures), 1);
	assert_int_equal(atomic_load(&failed_with), 700);
	assert_int_equal(
	    gkf_queue_run(queue, probe_of(GKF_WORK_NONE, NULL, NULL, 0)), 700);
	gkf_queue_release(queue, false);
	gkf_queue_release(other, false);
}

static void a_stopped_queue_stops_its_kernel(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	int result = 0;
	struct gkf_task *task;
	sem_t inside;

	(void)state;
	sem_init(&inside, 0, 0);
	assert_false(gkf_task_stopped());
	task = probe_of(GKF_WORK_KERNEL, until_stopped, &inside, 0);
	task->ret_result = &result;
	gkf_queue_push(queue, task);
	push(queue, GKF_WORK_NONE, NULL, NULL, 0);
	await(&inside);
	gkf_queue_stop(queue, 719);
	finish(queue);
	assert_int_equal(result, 719);
	gkf_queue_release(queue, false);
}

/*
 * Running, waiting for another queue, waiting for a word: none of them hangs.
 */
static void a_queue_is_thrown_away_whatever_it_does(void **state)
{
	struct gkf_queue *kernel = new_queue(0), *after = new_queue(0);
	struct gkf_queue *word = new_queue(0), *holder = new_queue(0);
	struct gkf_ticket ticket[3];
	_Atomic int never = 0;
	struct gate gate;
	sem_t inside;

	(void)state;
	gate_init(&gate);
	sem_init(&inside, 0, 0);
	push(holder, GKF_WORK_HOST, stay, &gate, 0);
	push(kernel, GKF_WORK_KERNEL, until_stopped, &inside, 0);
	gkf_queue_after(after, gkf_queue_ticket(holder));
	push(after, GKF_WORK_NONE, NULL, NULL, 0);
	push(word, GKF_WORK_NONE, is_set, &never, 0);
	await(&inside);
	ticket[0] = gkf_queue_ticket(kernel);
	ticket[1] = gkf_queue_ticket(after);
	ticket[2] = gkf_queue_ticket(word);
	assert_false(gkf_ticket_spin(ticket[2], 100000));
	gkf_queue_release(kernel, true);
	gkf_queue_release(after, true);
	gkf_queue_release(word, true);
	for (int i = 0; i < 3; i++)
		gkf_ticket_wait(ticket[i]);
	sem_post(&gate.open);
	finish(holder);
	gkf_queue_release(holder, false);
}

static void a_released_queue_still_does_its_work(void **state)
{
	struct gkf_queue *queue = new_queue(0), *again;
	struct gkf_ticket ticket;
	struct gate gate;
	uint64_t last = 0;

	(void)state;
	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	for (uint64_t i = 1; i <= 100; i++)
		push(queue, GKF_WORK_NONE, note_order, &last, i);
	ticket = gkf_queue_ticket(queue);
	gkf_queue_release(queue, false);
	assert_false(gkf_ticket_done(ticket));
	sem_post(&gate.open);
	gkf_ticket_wait(ticket);
	assert_int_equal(last, 100);
	/* Its memory is reused; the old ticket stays done. */
	again = new_queue(0);
	push(again, GKF_WORK_HOST, stay, &gate, 0);
	assert_true(gkf_ticket_done(ticket));
	assert_false(gkf_ticket_done(gkf_queue_ticket(again)));
	sem_post(&gate.open);
	finish(again);
	gkf_queue_release(again, false);
}

/* ---- exit and fork ---- */

/* The status of a child that calls act(), and the time it took. */
static int child(void (*act)(void), uint64_t *ret_ns)
{
	uint64_t begin = gk_mono_ns();
	int status;
	pid_t pid;

	/*
	 * A thread that starts allocates under locks of the address sanitizer,
	 * which do not survive a fork at that moment.
	 */
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		gkf_queue_forget();
		act();
		_exit(111);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*ret_ns = gk_mono_ns() - begin;
	return status;
}

static int fork_and_return(struct probe *probe)
{
	pid_t pid = fork();

	if (!pid)
		gkf_queue_forget();
	else
		*(pid_t *)probe->data = pid;
	return 0;
}

static void a_child_of_a_host_function_has_no_queues(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	pid_t pid = 0;
	uint64_t last = 0;
	int status;

	(void)state;
	push(queue, GKF_WORK_HOST, fork_and_return, &pid, 0);
	push(queue, GKF_WORK_NONE, note_order, &last, 1);
	finish(queue);
	assert_int_equal(last, 1);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	gkf_queue_release(queue, false);
}

/*
 * Without the half second that others are given. A busy host is slower, but not
 * always.
 */
static void exits_at_once(void (*be)(void), int code)
{
	uint64_t ns = UINT64_MAX;
	int status;

	for (int i = 0; i < 10 && ns > 400 * GK_NS_PER_MS; i++) {
		status = child(be, &ns);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), code);
	}
	assert_in_range(ns, 0, 400 * GK_NS_PER_MS);
}

static sem_t child_inside;

static void exit_amid_work(void)
{
	static _Atomic int never;
	struct gkf_queue *kernel = new_queue(0), *word = new_queue(0);

	sem_init(&child_inside, 0, 0);
	push(kernel, GKF_WORK_KERNEL, until_stopped, &child_inside, 0);
	push(kernel, GKF_WORK_NONE, NULL, NULL, 0);
	push(word, GKF_WORK_NONE, is_set, &never, 0);
	await(&child_inside);
	exit(17);
}

static void a_process_exits_amid_work(void **state)
{
	(void)state;
	exits_at_once(exit_amid_work, 17);
}

static void exit_amid_a_host_function(void)
{
	struct gkf_queue *queue = new_queue(0);
	static struct gate gate;

	gate_init(&gate);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	await(&gate.inside);
	exit(18);
}

static void a_host_function_does_not_hold_up_the_exit(void **state)
{
	uint64_t ns;
	int status = child(exit_amid_a_host_function, &ns);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 18);
	assert_in_range(ns, 0, 20 * GK_NS_PER_S);
}

static int exit_from_task(struct probe *probe)
{
	(void)probe;
	exit(19);
}

static void exit_within(void)
{
	struct gkf_queue *queue = new_queue(0);

	push(queue, GKF_WORK_HOST, exit_from_task, NULL, 0);
	for (;;)
		pause();
}

static void a_host_function_may_exit(void **state)
{
	(void)state;
	exits_at_once(exit_within, 19);
}

/*
 * The thread sanitizer allows no new threads in the child of a threaded
 * process.
 */
#ifdef __SANITIZE_THREAD__
#define DO_IN_CHILD gkf_queue_run
#else
#define DO_IN_CHILD gkf_queue_push
#endif

static void use_after_fork(void)
{
	struct gkf_queue *queue;
	uint64_t last = 0;

	if (count_threads() != 1)
		_exit(1);
	queue = new_queue(0);
	if (count_threads() != 1)
		_exit(2);
	for (uint64_t i = 1; i <= 1000; i++)
		DO_IN_CHILD(queue,
			    probe_of(GKF_WORK_NONE, note_order, &last, i));
	finish(queue);
	_exit(last == 1000 ? 0 : 3);
}

/* The system refuses to create threads. */
static _Atomic bool no_threads;
static _Thread_local bool slowly; /* it fails after a while */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*start)(void *), void *argument)
{
	static __typeof__(&pthread_create) real;

	if (atomic_load(&no_threads)) {
		if (slowly)
			gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
		return EAGAIN;
	}
	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, start, argument);
}

static void work_without_threads(void)
{
	struct gkf_queue *a = new_queue(0), *b = new_queue(0);
	_Atomic int word = 0;
	uint64_t last = 0;

	no_threads = true;
	push(b, GKF_WORK_NONE, is_set, &word, 0);
	push(a, GKF_WORK_NONE, note_order, &last, 1);
	gkf_queue_after(a, gkf_queue_ticket(b));
	push(a, GKF_WORK_KERNEL, note_order, &last, 2);
	if (gkf_ticket_spin(gkf_queue_ticket(a), 0) || last != 1)
		_exit(1);
	atomic_store(&word, 1);
	finish(a);
	_exit(last == 2 && count_threads() == 1 ? 0 : 2);
}

static void without_threads_who_waits_does_the_work(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(child(work_without_threads, &ns), 0);
}

static void *push_and_wait(void *data)
{
	/* After the other thread has begun to start one. */
	gk_sleep_until(gk_mono_ns() + 5 * GK_NS_PER_MS);
	push(data, GKF_WORK_NONE, NULL, NULL, 0);
	finish(data);
	return NULL;
}

/* A waiter does not wait for that thread for ever. */
static void wait_for_no_thread(void)
{
	struct gkf_queue *a = new_queue(0), *b = new_queue(0);
	pthread_t thread;

	if (pthread_create(&thread, NULL, push_and_wait, b))
		_exit(1);
	slowly = true;
	atomic_store(&no_threads, true);
	push(a, GKF_WORK_NONE, NULL, NULL, 0);
	alarm(10);
	pthread_join(thread, NULL);
	_exit(0);
}

static void who_waits_learns_that_no_thread_comes(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(child(wait_for_no_thread, &ns), 0);
}

static _Atomic bool storming;

static void *storm(void *data)
{
	struct gkf_queue *queue = data;

	while (atomic_load(&storming)) {
		for (int i = 0; i < 10; i++)
			push(queue, GKF_WORK_NONE, NULL, NULL, 0);
		finish(queue);
	}
	return NULL;
}

/* Whatever locks the parent's other threads held at that moment. */
static void a_forked_child_starts_clean(void **state)
{
	struct gkf_queue *queue[2] = {new_queue(0), new_queue(0)};
	pthread_t thread[2];
	uint64_t ns;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* see child() */
#endif
	atomic_store(&storming, true);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, storm, queue[i]);
	for (int i = 0; i < 50; i++)
		assert_int_equal(child(use_after_fork, &ns), 0);
	atomic_store(&storming, false);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(after_a_failure_the_rest_is_dropped),
	    cmocka_unit_test(a_stopped_queue_stops_its_kernel),
	    cmocka_unit_test(a_queue_is_thrown_away_whatever_it_does),
	    cmocka_unit_test(a_released_queue_still_does_its_work),
	    cmocka_unit_test(a_child_of_a_host_function_has_no_queues),
	    cmocka_unit_test(a_process_exits_amid_work),
	    cmocka_unit_test(a_host_function_does_not_hold_up_the_exit),
	    cmocka_unit_test(a_host_function_may_exit),
	    cmocka_unit_test(without_threads_who_waits_does_the_work),
	    cmocka_unit_test(who_waits_learns_that_no_thread_comes),
	    cmocka_unit_test(a_forked_child_starts_clean),
	};

	return cmocka_run_group_tests(tests, open_one, close_it);
}
