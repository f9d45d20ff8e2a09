/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threadless.h - queues of a program whose threads never start, although it
 * believes so: the test itself does all the work.
 */
#ifndef TESTS_THREADLESS_H
#define TESTS_THREADLESS_H

#include "base/clock.h"
#include "base/err.h"
#include "device/held_locks.h"
#include "device/no_memory.h"
#include "device/queue_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define DEVICE 2 /* where the queues are */

static struct gkf_executors *const executors = &gkf_room.executors[DEVICE];

/* Records the calls of pthread_create(). */
static unsigned starts;
static void *started; /* the last argument */
static int start_error;
static sigset_t start_mask;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*start)(void *), void *argument)
{
	(void)attr;
	(void)start;
	starts++;
	started = argument;
	pthread_sigmask(SIG_SETMASK, NULL, &start_mask);
	*thread = pthread_self();
	return start_error;
}

/* Accepts a thread that was never made. */
int pthread_detach(pthread_t thread)
{
	(void)thread;
	return 0;
}

static inline int begin_anew(void **state)
{
	(void)state;
	gkf_queue_forget();
	starts = 0;
	started = NULL;
	start_error = 0;
	return 0;
}

/* ---- queues ---- */

static int failed_owner;
static unsigned failures;
static int failed_with;

static inline void note_failure(void *owner, int result)
{
	assert_ptr_equal(owner, &failed_owner);
	failures++;
	failed_with = result;
}

static inline struct gkf_queue *new_queue(int priority)
{
	const struct gkf_queue_ask ask = {.device = DEVICE,
					  .priority = priority,
					  .owner = &failed_owner,
					  .failed = note_failure};
	struct gkf_queue *queue = NULL;

	assert_int_equal(gkf_queue_new(&ask, &queue), 0);
	return queue;
}

/* ---- tasks that record that they ran and that they were dropped ---- */

struct written {
	struct gkf_task task;
	char name;
	const int *answer; /* NULL: 0 */
};

static char ran[64], dropped[64];

static inline int run_written(struct gkf_task *task)
{
	struct written *written = (struct written *)task;

	ran[strlen(ran)] = written->name;
	return written->answer ? *written->answer : 0;
}

static inline void drop_written(struct gkf_task *task)
{
	dropped[strlen(dropped)] = ((struct written *)task)->name;
}

static inline struct gkf_task *task_of(char name, const int *answer)
{
	struct written *written = gkf_task_new(sizeof *written);

	written->task.run = run_written;
	written->task.drop = drop_written;
	written->name = name;
	written->answer = answer;
	return &written->task;
}

static inline void push(struct gkf_queue *queue, char name)
{
	gkf_queue_push(queue, task_of(name, NULL));
}

/* Checks the tasks that ran or were dropped since the last check, in order. */
static inline void has_run(const char *names)
{
	assert_string_equal(ran, names);
	memset(ran, 0, sizeof ran);
}

static inline void has_dropped(const char *names)
{
	assert_string_equal(dropped, names);
	memset(dropped, 0, sizeof dropped);
}

static inline int begin_queues(void **state)
{
	memset(ran, 0, sizeof ran);
	memset(dropped, 0, sizeof dropped);
	failures = 0;
	failed_with = 0;
	return begin_anew(state);
}

static inline int end_queues(void **state)
{
	(void)state;
	no_lock_is_held();
	return 0;
}

#define QUEUE_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, begin_queues, end_queues)

#endif
