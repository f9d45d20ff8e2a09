/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_step_test.c - checks a queue step by step: what each push, stop and end
 * does to it.
 */
#include "device/threadless.h"

#include <stdlib.h>

static uint64_t done_of(const struct gkf_queue *queue)
{
	return queue->done;
}

static void serve(void)
{
	gkf_executors_help(executors);
}

/* ---- how they begin and end ---- */

static void a_queue_is_of_a_device_that_may_be(void **state)
{
	struct gkf_queue_ask ask = {.device = GKF_DEVICES_MAX};
	struct gkf_queue *queue = (struct gkf_queue *)&ask;

	(void)state;
	assert_int_equal(gkf_queue_new(&ask, &queue), GK_ERR_INVALID);
	assert_ptr_equal(queue, &ask);
	ask.device = GKF_DEVICES_MAX - 1;
	assert_int_equal(gkf_queue_new(&ask, &queue), 0);
	assert_ptr_equal(queue->executors,
			 &gkf_room.executors[GKF_DEVICES_MAX - 1]);
	assert_true(gkf_room.executors[GKF_DEVICES_MAX - 1].used);
	assert_false(gkf_room.executors[0].used);
	assert_int_equal(queue->ask.device, GKF_DEVICES_MAX - 1);
	assert_true(queue->wake_at == UINT64_MAX);
	assert_false(queue->stop);
	assert_ptr_equal(gkf_room.queues, queue);
	assert_ptr_equal(new_queue(0)->next_of_all, queue);
}

static void without_memory_there_is_no_queue(void **state)
{
	struct gkf_queue_ask ask = {.device = 0};
	struct gkf_queue *queue = (struct gkf_queue *)&ask;

	(void)state;
	mappings_left = 0;
	assert_int_equal(gkf_queue_new(&ask, &queue), GK_ERR_NOMEM);
	assert_ptr_equal(queue, &ask);
	assert_null(gkf_room.queues);
	mappings_left = UINT_MAX;
	assert_int_equal(gkf_queue_new(&ask, &queue), 0);
}

/* The last one freed comes first; its numbers continue, all else is new. */
static void a_queue_that_is_gone_is_used_again(void **state)
{
	struct gkf_queue *one = new_queue(0), *other = new_queue(3);
	struct gkf_ticket ticket;

	(void)state;
	push(one, 'a');
	serve();
	gkf_queue_stop(one, 719);
	gkf_queue_release(other, false);
	gkf_queue_release(one, false);
	assert_true(one->closing);
	assert_ptr_equal(gkf_room.free, one);
	assert_ptr_equal(new_queue(-2), one);
	assert_int_equal(one->level, 6);
	assert_int_equal(one->result, 0);
	assert_false(one->stop);
	assert_false(one->closing);
	assert_int_equal(one->ask.priority, -2);
	ticket = gkf_queue_ticket(one);
	assert_int_equal(ticket.number, 1);
	assert_true(gkf_ticket_done(ticket));
	push(one, 'b');
	assert_int_equal(gkf_queue_ticket(one).number, 2);
	assert_false(gkf_ticket_done(gkf_queue_ticket(one)));
	assert_ptr_equal(new_queue(0), other);
	assert_ptr_not_equal(new_queue(0), other);
	serve();
	has_run("ab");
}

/* Its tasks are done first. */
static void a_busy_queue_goes_with_its_last_task(void **state)
{
	struct gkf_queue *queue = new_queue(0);

	(void)state;
	push(queue, 'a');
	push(queue, 'b');
	gkf_queue_release(queue, false);
	assert_null(gkf_room.free);
	serve();
	has_run("ab");
	assert_ptr_equal(gkf_room.free, queue);
	assert_false(queue->busy);
	assert_int_equal(failures, 0);
}

static void a_queue_is_thrown_away_with_what_is_in_it(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_task *task = task_of('b', NULL);
	int result = 0;

	(void)state;
	push(queue, 'a');
	task->ret_result = &result;
	gkf_queue_push(queue, task);
	gkf_queue_release(queue, true);
	assert_true(queue->stop);
	serve();
	has_run("");
	has_dropped("ab");
	assert_int_equal(result, GKF_RESULT_ENDED);
	assert_int_equal(failures, 0); /* not reported: it was requested */
	assert_ptr_equal(gkf_room.free, queue);
}

/* ---- tasks ---- */

static void tasks_are_done_in_their_order(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_ticket ticket[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		ticket[i] = gkf_queue_ticket(queue);
		assert_int_equal(ticket[i].number, i);
		assert_ptr_equal(ticket[i].queue, queue);
		push(queue, (char)('a' + i));
	}
	assert_true(queue->busy);
	assert_true(gkf_ticket_done(ticket[0]));
	assert_false(gkf_ticket_done(ticket[1]));
	serve();
	has_run("abcd");
	has_dropped("abcd");
	assert_int_equal(done_of(queue), 4);
	assert_null(queue->head);
	assert_false(queue->busy);
	assert_int_equal(failures, 0);
	assert_true(gkf_ticket_done((struct gkf_ticket){0}));
}

static void a_failure_is_told_once_and_drops_the_rest(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	const int answer = 700, other_answer = 701;
	int results[3] = {-5, -5, -5};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct gkf_task *task =
		    task_of((char)('a' + i), i == 0   ? NULL
					     : i == 1 ? &answer
						      : &other_answer);

		task->ret_result = &results[i];
		gkf_queue_push(queue, task);
	}
	serve();
	has_run("ab");
	has_dropped("abc");
	assert_int_equal(results[0], 0);
	assert_int_equal(results[1], 700);
	assert_int_equal(results[2], 700);
	assert_int_equal(failures, 1);
	assert_int_equal(failed_with, 700);
	assert_true(queue->stop);
	assert_int_equal(queue->result, 700);
	gkf_queue_stop(queue, 719); /* the first failure stays */
	assert_int_equal(queue->result, 700);
}

/* Without anybody to notify, to release it or to ask. */
static void a_task_may_be_nobodys(void **state)
{
	const struct gkf_queue_ask ask = {.device = DEVICE};
	const int answer = 9;
	struct gkf_task *task = task_of('a', &answer);
	struct gkf_queue *queue;

	(void)state;
	assert_int_equal(gkf_queue_new(&ask, &queue), 0);
	task->drop = NULL;
	gkf_queue_push(queue, task);
	serve();
	has_run("a");
	has_dropped("");
	assert_int_equal(queue->result, 9);
}

/* ---- by the calling thread ---- */

static void an_idle_queue_is_served_at_once(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_own_task own;
	const int answer = 3;

	(void)state;
	gkf_queue_put(queue, task_of('a', NULL), &own);
	assert_true(own.serves);
	assert_ptr_equal(own.ticket.queue, queue);
	assert_int_equal(own.ticket.number, 1);
	has_run("");
	assert_int_equal(gkf_queue_do(&own), 0);
	has_run("a");
	assert_int_equal(gkf_queue_run(queue, task_of('b', &answer)), 3);
	assert_int_equal(gkf_queue_run(queue, task_of('c', NULL)), 3);
	has_run("b");
	has_dropped("abc");
	assert_int_equal(starts, 0);
}

/* Tasks that were pushed meanwhile are for the threads. */
static void what_came_meanwhile_is_made_ready(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_own_task own;

	(void)state;
	gkf_queue_put(queue, task_of('a', NULL), &own);
	push(queue, 'b');
	assert_int_equal(executors->ready_count, 0);
	assert_int_equal(gkf_queue_do(&own), 0);
	has_run("a");
	assert_int_equal(executors->ready_count, 1);
	assert_int_equal(starts, 1);
	serve();
	has_run("b");
}

/*
 * Behind others the task is for the threads; here there are none, so the waiter
 * does it.
 */
static void behind_others_a_task_keeps_its_place(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_own_task own;

	(void)state;
	push(queue, 'a');
	gkf_queue_put(queue, task_of('b', NULL), &own);
	assert_false(own.serves);
	assert_int_equal(own.ticket.number, 2);
	executors->threads = 0;
	assert_int_equal(gkf_queue_do(&own), 0);
	has_run("ab");
}

/* ---- when the process ends ---- */

static void at_the_end_nothing_is_begun(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_task *task = task_of('b', NULL);
	int result = 0;

	(void)state;
	push(queue, 'a');
	gkf_queue_end();
	assert_true(queue->stop);
	task->ret_result = &result;
	gkf_queue_push(queue, task);
	has_dropped("b");
	assert_int_equal(result, GKF_RESULT_ENDED);
	assert_int_equal(gkf_queue_run(queue, task_of('c', NULL)),
			 GKF_RESULT_ENDED);
	has_dropped("c");
	assert_int_equal(gkf_queue_ticket(queue).number, 1);
	assert_true(new_queue(0)->stop);
	/* A waiter is not held up. */
	gkf_ticket_wait(gkf_queue_ticket(queue));
	has_run("");
}

/* ---- waiting for another queue ---- */

static void waiters_go_on_at_their_number(void **state)
{
	struct gkf_queue *on = new_queue(0), *one = new_queue(0),
			 *two = new_queue(0), *early = new_queue(0);
	int answer = GKF_TASK_AGAIN;

	(void)state;
	push(on, 'a');
	gkf_queue_after(early, gkf_queue_ticket(on));
	push(early, 'e');
	gkf_queue_push(on, task_of('b', &answer));
	gkf_queue_after(one, gkf_queue_ticket(on));
	gkf_queue_after(two, gkf_queue_ticket(on));
	push(one, 'x');
	push(two, 'y');
	push(on, 'c');
	for (unsigned i = 0; i < 3; i++)
		gkf_executors_help(executors);
	has_run("abeb"); /* after each task the waiting ones are looked at */
	assert_int_equal(executors->ready_count, 0);
	assert_ptr_equal(one->blocked.queue, on);
	assert_int_equal(one->blocked.number, 2);
	assert_non_null(on->waiting);
	answer = 0;
	gkf_executors_look(executors);
	serve();
	assert_null(on->waiting);
	assert_int_equal(strlen(ran), 4);
	assert_int_equal(ran[0], 'b');
	assert_non_null(strchr(ran, 'c'));
	assert_non_null(strchr(ran, 'x'));
	assert_non_null(strchr(ran, 'y'));
	assert_int_equal(done_of(one), 2);
	assert_int_equal(done_of(two), 2);
}

/* A queue does not wait for completed work, or for its own. */
static void no_barrier_is_put_without_need(void **state)
{
	struct gkf_queue *on = new_queue(0), *queue = new_queue(0);

	(void)state;
	gkf_queue_after(queue, gkf_queue_ticket(on));
	assert_int_equal(gkf_queue_ticket(queue).number, 0);
	push(on, 'a');
	gkf_queue_after(on, gkf_queue_ticket(on));
	assert_int_equal(gkf_queue_ticket(on).number, 1);
	gkf_queue_after(queue, gkf_queue_ticket(on));
	assert_int_equal(gkf_queue_ticket(queue).number, 1);
	serve();
	assert_int_equal(done_of(queue), 1);
}

/* Without memory for a barrier the caller waits for the other queue at once. */
static void without_memory_who_pushes_waits(void **state)
{
	struct gkf_queue *on = new_queue(0), *queue = new_queue(0);

	(void)state;
	push(on, 'a');
	executors->threads = 0;   /* so that this thread does it */
	while (gkf_task_new(100)) /* use up all memory */
		mappings_left = 0;
	gkf_queue_after(queue, gkf_queue_ticket(on));
	mappings_left = UINT_MAX;
	has_run("a");
	assert_int_equal(gkf_queue_ticket(queue).number, 0);
}

/* Whichever of the waiting queues is stopped, the others keep waiting. */
static void one_that_waits_can_be_stopped(void **state)
{
	struct gkf_queue *on = new_queue(0), *queue[3];
	int answer = GKF_TASK_AGAIN;

	(void)state;
	gkf_queue_push(on, task_of('a', &answer));
	for (unsigned i = 0; i < 3; i++) {
		queue[i] = new_queue(0);
		gkf_queue_after(queue[i], gkf_queue_ticket(on));
		push(queue[i], (char)('x' + i));
	}
	serve();
	has_run("a");
	gkf_queue_stop(queue[1], 719);
	assert_int_equal(executors->levels, 1 << 8);
	serve();
	has_dropped("y");
	assert_ptr_equal(on->waiting, queue[2]);
	assert_ptr_equal(queue[2]->next, queue[0]);
	assert_null(queue[0]->next);
	memset(ran, 0, sizeof ran);
	answer = 0;
	gkf_executors_look(executors);
	serve();
	assert_int_equal(strlen(ran), 3);
	has_dropped("axz");
}

/* ---- waiting for a queue ---- */

static void a_spin_ends_with_its_time_or_the_task(void **state)
{
	struct gkf_queue *queue = new_queue(0);
	struct gkf_ticket ticket;
	uint64_t begin = gk_mono_ns(), ns;

	(void)state;
	assert_true(gkf_ticket_spin(gkf_queue_ticket(queue), 0));
	push(queue, 'a');
	ticket = gkf_queue_ticket(queue);
	assert_false(gkf_ticket_spin(ticket, 0));
	begin = gk_mono_ns();
	assert_false(gkf_ticket_spin(ticket, 20 * GK_NS_PER_MS));
	ns = gk_mono_ns() - begin;
	assert_in_range(ns, 20 * GK_NS_PER_MS, 10 * GK_NS_PER_S);
	has_run("");
	executors->threads = 0; /* then this thread does it */
	assert_true(gkf_ticket_spin(ticket, 0));
	has_run("a");
}

/* Sleepers are woken for their number, not before. */
static void sleepers_are_woken_at_their_number(void **state)
{
	struct gkf_queue *queue = new_queue(0);

	(void)state;
	gkf_wake_waiters(queue, 100);
	assert_int_equal(queue->wake_word, 0);
	queue->wake_at = 7;
	gkf_wake_waiters(queue, 6);
	assert_int_equal(queue->wake_word, 0);
	assert_int_equal(queue->wake_at, 7);
	gkf_wake_waiters(queue, 7);
	assert_int_equal(queue->wake_word, 1);
	assert_true(queue->wake_at == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    QUEUE_TEST(a_queue_is_of_a_device_that_may_be),
	    QUEUE_TEST(without_memory_there_is_no_queue),
	    QUEUE_TEST(a_queue_that_is_gone_is_used_again),
	    QUEUE_TEST(a_busy_queue_goes_with_its_last_task),
	    QUEUE_TEST(a_queue_is_thrown_away_with_what_is_in_it),
	    QUEUE_TEST(tasks_are_done_in_their_order),
	    QUEUE_TEST(a_failure_is_told_once_and_drops_the_rest),
	    QUEUE_TEST(a_task_may_be_nobodys),
	    QUEUE_TEST(an_idle_queue_is_served_at_once),
	    QUEUE_TEST(what_came_meanwhile_is_made_ready),
	    QUEUE_TEST(behind_others_a_task_keeps_its_place),
	    QUEUE_TEST(at_the_end_nothing_is_begun),
	    QUEUE_TEST(waiters_go_on_at_their_number),
	    QUEUE_TEST(no_barrier_is_put_without_need),
	    QUEUE_TEST(without_memory_who_pushes_waits),
	    QUEUE_TEST(one_that_waits_can_be_stopped),
	    QUEUE_TEST(a_spin_ends_with_its_time_or_the_task),
	    QUEUE_TEST(sleepers_are_woken_at_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
