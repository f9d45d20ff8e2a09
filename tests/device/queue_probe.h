/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_probe.h - queues for tests: a machine, tasks that do what the test says
 * and are counted, and a gate that holds a task until it is opened.
 */
#ifndef TESTS_QUEUE_PROBE_H
#define TESTS_QUEUE_PROBE_H

#include "base/clock.h"
#include "device/queue.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

#include <stdatomic.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

static struct fixture fx;
static unsigned slot;

static inline int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot), 0);
	return 0;
}

static inline int close_it(void **state)
{
	(void)state;
	gkf_detach(fx.m, slot);
	fixture_close(&fx);
	return 0;
}

/* The task that the tests push: counts that it ran and that it was released. */
struct probe {
	struct gkf_task task;
	int (*act)(struct probe *probe);
	void *data;
	uint64_t value;
};

static _Atomic unsigned ran, dropped, failures;
static _Atomic int failed_with;

static inline int run_probe(struct gkf_task *task)
{
	struct probe *probe = (struct probe *)task;
	int result = probe->act ? probe->act(probe) : 0;

	if (result != GKF_TASK_AGAIN)
		atomic_fetch_add(&ran, 1);
	return result;
}

static inline void drop_probe(struct gkf_task *task)
{
	(void)task;
	atomic_fetch_add(&dropped, 1);
}

static inline void note_failure(void *owner, int result)
{
	assert_ptr_equal(owner, &fx);
	atomic_fetch_add(&failures, 1);
	atomic_store(&failed_with, result);
}

static inline struct gkf_queue *new_queue(int priority)
{
	struct gkf_queue_ask ask = {.machine = fx.m,
				    .device = 0,
				    .slot = slot,
				    .priority = priority,
				    .owner = &fx,
				    .failed = note_failure};
	struct gkf_queue *queue;

	assert_int_equal(gkf_queue_new(&ask, &queue), 0);
	return queue;
}

static inline struct gkf_task *
probe_of(unsigned work, int (*act)(struct probe *), void *data, uint64_t value)
{
	struct probe *probe = gkf_task_new(sizeof *probe);

	assert_non_null(probe);
	probe->task.run = run_probe;
	probe->task.drop = drop_probe;
	probe->task.work = work;
	probe->act = act;
	probe->data = data;
	probe->value = value;
	return &probe->task;
}

static inline void push(struct gkf_queue *queue, unsigned work,
			int (*act)(struct probe *), void *data, uint64_t value)
{
	gkf_queue_push(queue, probe_of(work, act, data, value));
}

static inline void finish(struct gkf_queue *queue)
{
	gkf_ticket_wait(gkf_queue_ticket(queue));
}

/* Holds a task until the test opens it, and tells when the task is there. */
struct gate {
	sem_t inside, open;
};

static inline void gate_init(struct gate *gate)
{
	sem_init(&gate->inside, 0, 0);
	sem_init(&gate->open, 0, 0);
}

static inline void await(sem_t *sem)
{
	while (sem_wait(sem))
		;
}

static inline int stay(struct probe *probe)
{
	struct gate *gate = probe->data;

	sem_post(&gate->inside);
	await(&gate->open);
	return 0;
}

static inline unsigned count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Counts the threads that do the work of GPU 0, by their names. */
static inline unsigned count_executors(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm",
			 entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof name, file))
			n += !strcmp(name, "gpukit-gpu0\n");
		if (file)
			fclose(file);
	}
	closedir(dir);
	return n;
}

/* ---- what tasks do ---- */

static inline int note_order(struct probe *probe)
{
	uint64_t *last = probe->data;

	if (probe->value != *last + 1)
		return 999;
	*last = probe->value;
	return 0;
}

static inline int is_set(struct probe *probe)
{
	return atomic_load((_Atomic int *)probe->data) ? 0 : GKF_TASK_AGAIN;
}

static inline int until_stopped(struct probe *probe)
{
	sem_post(probe->data);
	while (!gkf_task_stopped())
		sched_yield();
	return 0;
}

#endif
