/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_test.c - checks queues: order, who does the work, waits for each other,
 * priorities.
 */
#include "device/queue.h"
#include "device/queue_probe.h"

#include <errno.h>

static void no_thread_before_there_is_work(void **state)
{
	struct gkf_queue *queue;
	unsigned before = count_threads();

	(void)state;
	queue = new_queue(0);
	assert_int_equal(count_threads(), before);
	gkf_queue_run(queue, probe_of(GKF_WORK_NONE, NULL, NULL, 0));
	assert_int_equal(count_threads(), before);
	push(queue, GKF_WORK_NONE, NULL, NULL, 0);
	finish(queue);
	assert_int_equal(count_executors(), 1);
	gkf_queue_release(queue, false);
}

/* ---- order ---- */

static void a_queue_does_one_task_after_the_other(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	uint64_t last = 0;

	(void)state;
	atomic_store(&dropped, 0);
	for (uint64_t i = 1; i <= 100000; i++)
		push(queue, GKF_WORK_NONE, note_order, &last, i);
	finish(queue);
	assert_int_equal(last, 100000);
	assert_int_equal(atomic_load(&dropped), 100000);
	gkf_queue_release(queue, false);
}

static void who_waits_finds_it_done(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_ticket first, second;
	struct gate gate;

	(void)state;
	gate_init(&gate);
	assert_true(gkf_ticket_done(gkf_queue_ticket(queue)));
	assert_true(gkf_ticket_done((struct gkf_ticket){0}));
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	first = gkf_queue_ticket(queue);
	push(queue, GKF_WORK_HOST, stay, &gate, 0);
	second = gkf_queue_ticket(queue);
	assert_false(gkf_ticket_done(first));
	assert_false(gkf_ticket_spin(first, 1000));
	sem_post(&gate.open);
	gkf_ticket_wait(first);
	assert_true(gkf_ticket_done(first));
	assert_false(gkf_ticket_done(second));
	sem_post(&gate.open);
	gkf_ticket_wait(second);
	gkf_queue_release(queue, false);
	assert_true(gkf_ticket_done(first) && gkf_ticket_done(second));
}

/* Each of them waits until all the others have begun. */
static int meet(struct probe *probe)
{
	pthread_barrier_wait(probe->data);
	return 0;
}

static int note_blocked(struct probe *probe)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	*(int *)probe->data = sigismember(&blocked, SIGBUS)   ? 1
			      : sigismember(&blocked, SIGINT) ? 2
							      : 3;
	return 0;
}

/*
 * A machine that is truncated under an executor must not end the program;
 * signals of the program are for its own threads.
 */
static void executors_hear_of_bus_errors_alone(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	unsigned before = atomic_load(&ran);
	int blocked = 0;

	(void)state;
	push(queue, GKF_WORK_HOST, note_blocked, &blocked, 0);
	while (atomic_load(&ran) ==
	       before) /* not finish(), which may do the work itself */
		sched_yield();
	finish(queue);
	assert_int_equal(blocked, 2);
	gkf_queue_release(queue, false);
}

static void queues_run_beside_each_other(void **state)
{
	enum { TOGETHER = 16 };
	struct gkf_queue *queue[TOGETHER];
	pthread_barrier_t barrier;

	(void)state;
	pthread_barrier_init(&barrier, NULL, TOGETHER);
	for (int i = 0; i < TOGETHER; i++) {
		queue[i] = new_queue(0);
		push(queue[i], GKF_WORK_HOST, meet, &barrier, 0);
	}
	for (int i = 0; i < TOGETHER; i++) {
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
	pthread_barrier_destroy(&barrier);
}

static void thousands_of_queues_have_few_threads(void **state)
{
	enum { QUEUES = 4000, TASKS = 25 };
	static struct gkf_queue *queue[QUEUES];
	static uint64_t last[QUEUES];

	(void)state;
	memset(last, 0, sizeof last);
	for (int i = 0; i < QUEUES; i++)
		queue[i] = new_queue(i % 3);
	for (uint64_t t = 1; t <= TASKS; t++) {
		for (int i = 0; i < QUEUES; i++)
			push(queue[i], GKF_WORK_NONE, note_order, &last[i], t);
	}
	for (int i = 0; i < QUEUES; i++) {
		finish(queue[i]);
		assert_int_equal(last[i], TASKS);
		gkf_queue_release(queue[i], false);
	}
	assert_in_range(count_executors(), 1, 64);
}

/* ---- the calling thread does it ---- */

static int whose(struct probe *probe)
{
	*(pthread_t *)probe->data = pthread_self();
	return 0;
}

static void an_idle_queue_is_served_by_who_waits(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	pthread_t thread;

	(void)state;
	assert_int_equal(
	    gkf_queue_run(queue, probe_of(GKF_WORK_NONE, whose, &thread, 0)),
	    0);
	assert_true(pthread_equal(thread, pthread_self()));
	push(queue, GKF_WORK_NONE, whose, &thread, 0);
	finish(queue);
	assert_false(pthread_equal(thread, pthread_self()));
	gkf_queue_release(queue, false);
}

static void what_is_run_behind_others_keeps_its_place(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	uint64_t last = 0;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++) {
		push(queue, GKF_WORK_NONE, note_order, &last, 2 * i - 1);
		assert_int_equal(
		    gkf_queue_run(queue, probe_of(GKF_WORK_NONE, note_order,
						  &last, 2 * i)),
		    0);
		assert_int_equal(last, 2 * i);
	}
	gkf_queue_release(queue, false);
}

/* ---- waits ---- */

static void what_comes_later_waits_for_the_other_queue(void **state)
{
	struct gkf_queue *a = new_queue(0), *b = new_queue(0);
	struct gate gate;
	uint64_t last = 0;

	(void)state;
	gate_init(&gate);
	push(a, GKF_WORK_HOST, stay, &gate, 0);
	push(a, GKF_WORK_NONE, note_order, &last, 2);
	push(b, GKF_WORK_NONE, note_order, &last, 1);
	finish(b);
	gkf_queue_after(b, gkf_queue_ticket(a));
	push(b, GKF_WORK_NONE, note_order, &last, 3);
	assert_false(gkf_ticket_spin(gkf_queue_ticket(b), 100000));
	sem_post(&gate.open);
	finish(b);
	assert_int_equal(last, 3);
	gkf_queue_release(a, false);
	gkf_queue_release(b, false);
}

/* More queues than there can be threads. */
static void queues_that_wait_hold_no_threads(void **state)
{
	enum { QUEUES = 500 };
	struct gkf_queue *first = new_queue(0), *queue[QUEUES], *before = first;
	struct gate gate;
	uint64_t last = 0;

	(void)state;
	gate_init(&gate);
	push(first, GKF_WORK_HOST, stay, &gate, 0);
	for (int i = 0; i < QUEUES; i++) {
		queue[i] = new_queue(0);
		gkf_queue_after(queue[i], gkf_queue_ticket(before));
		push(queue[i], GKF_WORK_NONE, note_order, &last,
		     (uint64_t)i + 1);
		before = queue[i];
	}
	assert_int_equal(last, 0);
	sem_post(&gate.open);
	finish(before);
	assert_int_equal(last, QUEUES);
	for (int i = 0; i < QUEUES; i++)
		gkf_queue_release(queue[i], false);
	gkf_queue_release(first, false);
}

static int set(struct probe *probe)
{
	atomic_store((_Atomic int *)probe->data, 1);
	return 0;
}

static void tasks_that_wait_for_a_word_hold_no_threads(void **state)
{
	enum { QUEUES = 300 };
	struct gkf_queue *queue[QUEUES], *writer = new_queue(0);
	_Atomic int word[2] = {0, 0};

	(void)state;
	for (int i = 0; i < QUEUES; i++) {
		queue[i] = new_queue(0);
		push(queue[i], GKF_WORK_NONE, is_set, &word[i % 2], 0);
	}
	assert_false(gkf_ticket_spin(gkf_queue_ticket(queue[0]), 3000000));
	push(writer, GKF_WORK_NONE, set, &word[0], 0);
	finish(queue[0]);
	assert_false(gkf_ticket_done(gkf_queue_ticket(queue[1])));
	/* Set by the host, without a notification. */
	atomic_store(&word[1], 1);
	for (int i = 0; i < QUEUES; i++) {
		finish(queue[i]);
		gkf_queue_release(queue[i], false);
	}
	gkf_queue_release(writer, false);
}

/* ---- priorities ---- */

static _Atomic unsigned started;

static int note_start(struct probe *probe)
{
	*(unsigned *)probe->data = atomic_fetch_add(&started, 1);
	return 0;
}

static int take_100_us(struct probe *probe)
{
	uint64_t end = gk_mono_ns() + 100 * GK_NS_PER_US;

	(void)probe;
	while (gk_mono_ns() < end)
		;
	return 0;
}

/* Like stay(), but with a time limit. */
static int stay_20_s(struct probe *probe)
{
	struct timespec end = gk_timespec(gk_wall_ns() + 20 * GK_NS_PER_S);
	struct gate *gate = probe->data;

	while (sem_timedwait(&gate->open, &end) && errno == EINTR)
		;
	return 0;
}

/* The thread that watches waiting tasks may find much to do in one of them. */
static void what_waits_is_looked_at_while_others_work(void **state)
{
	enum { TASKS = 100 };
	struct gkf_queue *busy = new_queue(0), *other = new_queue(0);
	struct gate gate;

	(void)state;
	gate_init(&gate);
	/* At least two threads. */
	push(busy, GKF_WORK_HOST, stay, &gate, 0);
	push(other, GKF_WORK_HOST, stay, &gate, 0);
	await(&gate.inside);
	await(&gate.inside);
	sem_post(&gate.open);
	sem_post(&gate.open);
	finish(busy);
	finish(other);
	for (int round = 0; round < 4; round++) {
		_Atomic int words[2] = {0, 0};

		push(busy, GKF_WORK_NONE, is_set, &words[0], 0);
		push(other, GKF_WORK_NONE, is_set, &words[1], 0);
		for (int i = 0; i < TASKS; i++)
			push(busy, GKF_WORK_NONE, take_100_us, NULL, 0);
		push(busy, GKF_WORK_NONE, stay_20_s, &gate, 0);
		gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
		atomic_store(&words[0], 1);
		atomic_store(&words[1], 1);
		finish(other);
		assert_false(gkf_ticket_done(gkf_queue_ticket(busy)));
		sem_post(&gate.open);
		finish(busy);
	}
	gkf_queue_release(busy, false);
	gkf_queue_release(other, false);
}

/*
 * However many of the program's functions block, kernels and events continue.
 */
static void functions_that_block_hold_up_nobody_else(void **state)
{
	enum { MANY = 300 };
	struct gkf_queue *blocked[MANY], *stopped, *other = new_queue(0);
	struct gate gate;

	(void)state;
	gate_init(&gate);
	for (unsigned i = 0; i < MANY; i++) {
		blocked[i] = new_queue(0);
		push(blocked[i], GKF_WORK_HOST, stay, &gate, 0);
	}
	for (unsigned i = 0; i < 32; i++)
		await(&gate.inside);
	push(other, GKF_WORK_KERNEL, NULL, NULL, 0);
	push(other, GKF_WORK_NONE, NULL, NULL, 0);
	finish(other);
	/* A task that has not begun can be stopped. */
	stopped = new_queue(0);
	push(stopped, GKF_WORK_HOST, stay, &gate, 0);
	gk_sleep_until(gk_mono_ns() + 10 * GK_NS_PER_MS);
	gkf_queue_stop(stopped, 719);
	finish(stopped);
	for (unsigned i = 0; i < MANY; i++)
		sem_post(&gate.open);
	for (unsigned i = 0; i < MANY; i++) {
		finish(blocked[i]);
		gkf_queue_release(blocked[i], false);
	}
	gkf_queue_release(stopped, false);
	gkf_queue_release(other, false);
}

/* It no longer waits for the other queue. */
static void what_is_blocked_can_be_stopped(void **state)
{
	struct gkf_queue *first = new_queue(0), *second = new_queue(0);
	unsigned before = atomic_load(&ran);
	struct gate gate;

	(void)state;
	gate_init(&gate);
	push(first, GKF_WORK_HOST, stay, &gate, 0);
	await(&gate.inside);
	gkf_queue_after(second, gkf_queue_ticket(first));
	push(second, GKF_WORK_NONE, NULL, NULL, 0);
	gk_sleep_until(gk_mono_ns() + 10 * GK_NS_PER_MS);
	gkf_queue_stop(second, 719);
	finish(second);
	assert_int_equal(atomic_load(&ran), before);
	sem_post(&gate.open);
	finish(first);
	gkf_queue_release(first, false);
	gkf_queue_release(second, false);
}

static void the_more_urgent_goes_first(void **state)
{
	enum { LOW = 50, THREADS_MAX = 256 };
	struct gkf_queue *holder[THREADS_MAX], *low[LOW], *high;
	unsigned when_low[LOW], when_high, held = 0;
	struct gate gate;
	cpu_set_t set;

	(void)state;
	gate_init(&gate);
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	held = (unsigned)CPU_COUNT(&set) < 2 ? 2 : (unsigned)CPU_COUNT(&set);
	if (held > 64)
		held = 64;
	/* Including threads that were started for earlier tests. */
	if (count_executors() > held)
		held = count_executors();
	for (unsigned i = 0; i < held; i++) {
		holder[i] = new_queue(0);
		push(holder[i], GKF_WORK_NONE, stay, &gate, 0);
	}
	for (unsigned i = 0; i < held; i++)
		await(&gate.inside);
	atomic_store(&started, 0);
	for (int i = 0; i < LOW; i++) {
		low[i] = new_queue(0);
		push(low[i], GKF_WORK_NONE, note_start, &when_low[i], 0);
	}
	high = new_queue(-5);
	push(high, GKF_WORK_NONE, note_start, &when_high, 0);
	sem_post(&gate.open);
	finish(high);
	assert_int_equal(when_high, 0);
	for (unsigned i = 1; i < held; i++)
		sem_post(&gate.open);
	for (int i = 0; i < LOW; i++) {
		finish(low[i]);
		gkf_queue_release(low[i], false);
	}
	for (unsigned i = 0; i < held; i++)
		gkf_queue_release(holder[i], false);
	gkf_queue_release(high, false);
}

/* ---- everything at once ---- */

enum { HANDS = 4, OWN = 6, ROUNDS = 3000 };

struct hand {
	pthread_t thread;
	unsigned seed;
	struct gkf_queue *queue[OWN];
	uint64_t last[OWN], pushed[OWN];
	struct gkf_ticket seen[OWN]; /* read by others, under its lock */
	pthread_mutex_t lock;
};
static struct hand hands[HANDS];

static struct gkf_ticket ticket_of_another(struct hand *hand)
{
	struct hand *other = &hands[(unsigned)rand_r(&hand->seed) % HANDS];
	struct gkf_ticket ticket;

	pthread_mutex_lock(&other->lock);
	ticket = other->seen[(unsigned)rand_r(&hand->seed) % OWN];
	pthread_mutex_unlock(&other->lock);
	return ticket;
}

static void do_something(struct hand *hand)
{
	unsigned i = (unsigned)rand_r(&hand->seed) % OWN;
	unsigned what = (unsigned)rand_r(&hand->seed) % 16;
	struct gkf_queue *queue = hand->queue[i];
	unsigned work = what % 3 ? GKF_WORK_NONE : GKF_WORK_HOST;

	if (what == 0) {
		finish(queue);
		assert_int_equal(hand->last[i], hand->pushed[i]);
	} else if (what < 5) {
		gkf_queue_after(queue, ticket_of_another(hand));
	} else if (what == 5) {
		assert_int_equal(
		    gkf_queue_run(queue,
				  probe_of(work, note_order, &hand->last[i],
					   ++hand->pushed[i])),
		    0);
	} else if (what == 6) {
		gkf_queue_release(queue, false);
		gkf_ticket_wait(hand->seen[i]);
		hand->queue[i] = new_queue((int)i - 3);
	} else {
		push(queue, work, note_order, &hand->last[i],
		     ++hand->pushed[i]);
	}
	pthread_mutex_lock(&hand->lock);
	hand->seen[i] = gkf_queue_ticket(hand->queue[i]);
	pthread_mutex_unlock(&hand->lock);
}

static void *work(void *data)
{
	struct hand *hand = data;

	for (int i = 0; i < ROUNDS; i++)
		do_something(hand);
	return NULL;
}

static void many_hands_keep_every_order(void **state)
{
	(void)state;
	for (unsigned h = 0; h < HANDS; h++) {
		hands[h].seed = h;
		pthread_mutex_init(&hands[h].lock, NULL);
		for (int i = 0; i < OWN; i++)
			hands[h].queue[i] = new_queue(i - 3);
	}
	for (int h = 0; h < HANDS; h++)
		pthread_create(&hands[h].thread, NULL, work, &hands[h]);
	for (int h = 0; h < HANDS; h++)
		pthread_join(hands[h].thread, NULL);
	for (int h = 0; h < HANDS; h++) {
		for (int i = 0; i < OWN; i++) {
			finish(hands[h].queue[i]);
			assert_int_equal(hands[h].last[i], hands[h].pushed[i]);
			gkf_queue_release(hands[h].queue[i], false);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_thread_before_there_is_work),
	    cmocka_unit_test(a_queue_does_one_task_after_the_other),
	    cmocka_unit_test(who_waits_finds_it_done),
	    cmocka_unit_test(executors_hear_of_bus_errors_alone),
	    cmocka_unit_test(queues_run_beside_each_other),
	    cmocka_unit_test(thousands_of_queues_have_few_threads),
	    cmocka_unit_test(an_idle_queue_is_served_by_who_waits),
	    cmocka_unit_test(what_is_run_behind_others_keeps_its_place),
	    cmocka_unit_test(what_comes_later_waits_for_the_other_queue),
	    cmocka_unit_test(queues_that_wait_hold_no_threads),
	    cmocka_unit_test(tasks_that_wait_for_a_word_hold_no_threads),
	    cmocka_unit_test(what_waits_is_looked_at_while_others_work),
	    cmocka_unit_test(what_is_blocked_can_be_stopped),
	    cmocka_unit_test(the_more_urgent_goes_first),
	    cmocka_unit_test(many_hands_keep_every_order),
	    cmocka_unit_test(functions_that_block_hold_up_nobody_else),
	};

	return cmocka_run_group_tests(tests, open_one, close_it);
}
