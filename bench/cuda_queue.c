/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_queue.c - what streams cost: a push, a wake, an event, on a machine of
 * its own. Prints the median nanoseconds of ten rounds, one line a thing.
 */
#include "abi/cuda/cuda_abi.h"
#include "base/clock.h"
#include "device/queue.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/store/process/books.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 10

static void *front;
static struct gkf_machine *machine;
static struct gkf_queue *queue;
static CUstream stream;
static CUevent event;

static void *symbol(const char *name)
{
	void *at = dlsym(front, name);

	if (!at) {
		fprintf(stderr, "cuda_queue: %s\n", dlerror());
		exit(1);
	}
	return at;
}
#define CU(name) ((__typeof__(&name))symbol(#name))

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "cuda_queue: %s: %d\n", what, result);
	exit(1);
}

/* ---- what is measured: each does it `n` times and answers all the time ----
 */

static int nothing(struct gkf_task *task)
{
	(void)task;
	return 0;
}

static struct gkf_task *task_of(unsigned work)
{
	struct gkf_task *task = gkf_task_new(sizeof(*task));

	if (!task)
		exit(1);
	task->run = nothing;
	task->work = work;
	return task;
}

static void drain(void)
{
	gkf_ticket_wait(gkf_queue_ticket(queue));
}

/* The time of the pushes alone, onto a queue that is being served. */
static uint64_t push(unsigned n)
{
	uint64_t begin = gk_mono_ns(), ns;

	for (unsigned i = 0; i < n; i++)
		gkf_queue_push(queue, task_of(GKF_WORK_NONE));
	ns = gk_mono_ns() - begin;
	drain();
	return ns;
}

/* Onto an idle queue whose thread sleeps: the wake is paid for. */
static uint64_t push_waking(unsigned n)
{
	uint64_t ns = 0, begin;

	for (unsigned i = 0; i < n; i++) {
		drain();
		gk_sleep_until(gk_mono_ns() + 200 * GK_NS_PER_US);
		begin = gk_mono_ns();
		gkf_queue_push(queue, task_of(GKF_WORK_NONE));
		ns += gk_mono_ns() - begin;
	}
	return ns;
}

static uint64_t until_done(unsigned n, bool sleeping)
{
	uint64_t ns = 0, begin;

	for (unsigned i = 0; i < n; i++) {
		if (sleeping)
			gk_sleep_until(gk_mono_ns() + 200 * GK_NS_PER_US);
		begin = gk_mono_ns();
		gkf_queue_push(queue, task_of(GKF_WORK_NONE));
		drain();
		ns += gk_mono_ns() - begin;
	}
	return ns;
}

static uint64_t there_and_back(unsigned n)
{
	return until_done(n, false);
}

static uint64_t there_and_back_waking(unsigned n)
{
	return until_done(n, true);
}

static uint64_t run_here(unsigned n)
{
	uint64_t begin = gk_mono_ns();

	for (unsigned i = 0; i < n; i++)
		gkf_queue_run(queue, task_of(GKF_WORK_NONE));
	return gk_mono_ns() - begin;
}

static uint64_t kernel_here(unsigned n)
{
	uint64_t begin = gk_mono_ns();

	for (unsigned i = 0; i < n; i++)
		gkf_queue_run(queue, task_of(GKF_WORK_KERNEL));
	return gk_mono_ns() - begin;
}

static void called(void *data)
{
	(void)data;
}

static uint64_t host_function(unsigned n)
{
	__typeof__(&cuLaunchHostFunc) launch = CU(cuLaunchHostFunc);
	uint64_t begin = gk_mono_ns(), ns;

	for (unsigned i = 0; i < n; i++)
		launch(stream, called, NULL);
	ns = gk_mono_ns() - begin;
	CU(cuStreamSynchronize)(stream);
	return ns;
}

static uint64_t record_idle(unsigned n)
{
	__typeof__(&cuEventRecord) record = CU(cuEventRecord);
	uint64_t begin = gk_mono_ns();

	for (unsigned i = 0; i < n; i++)
		record(event, stream);
	return gk_mono_ns() - begin;
}

static uint64_t query(unsigned n)
{
	__typeof__(&cuEventQuery) ask = CU(cuEventQuery);
	uint64_t begin = gk_mono_ns();

	for (unsigned i = 0; i < n; i++)
		ask(event);
	return gk_mono_ns() - begin;
}

static uint64_t synchronize_idle(unsigned n)
{
	__typeof__(&cuStreamSynchronize) wait = CU(cuStreamSynchronize);
	uint64_t begin = gk_mono_ns();

	for (unsigned i = 0; i < n; i++)
		wait(stream);
	return gk_mono_ns() - begin;
}

static uint64_t make_and_destroy(unsigned n)
{
	__typeof__(&cuStreamCreate) make = CU(cuStreamCreate);
	__typeof__(&cuStreamDestroy_v2) destroy = CU(cuStreamDestroy_v2);
	uint64_t begin = gk_mono_ns();
	CUstream s;

	for (unsigned i = 0; i < n; i++) {
		make(&s, 0);
		destroy(s);
	}
	return gk_mono_ns() - begin;
}

static const struct thing {
	const char *name;
	uint64_t (*measure)(unsigned n);
	unsigned n;
} things[] = {
    {"push", push, 20000},
    {"push, thread asleep", push_waking, 200},
    {"push until done", there_and_back, 2000},
    {"push until done, thread asleep", there_and_back_waking, 200},
    {"run in the calling thread", run_here, 20000},
    {"kernel in the calling thread", kernel_here, 20000},
    {"cuLaunchHostFunc", host_function, 20000},
    {"cuEventRecord, idle", record_idle, 20000},
    {"cuEventQuery", query, 20000},
    {"cuStreamSynchronize, idle", synchronize_idle, 20000},
    {"cuStreamCreate + Destroy", make_and_destroy, 5000},
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct thing *thing)
{
	double ns[ROUNDS];

	thing->measure(thing->n / 10 + 1);
	for (int i = 0; i < ROUNDS; i++)
		ns[i] = (double)thing->measure(thing->n) / thing->n;
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	printf("%-32s %8.0f ns\n", thing->name, ns[ROUNDS / 2]);
}

static void open_all(void)
{
	struct gkf_queue_ask ask = {.device = 0};
	CUcontext ctx;

	must(gkf_machine_open(NULL, &machine), "machine");
	must(gkf_books_attach(machine, 0, GKF_NO_INSTANCE, &ask.slot), "slot");
	ask.machine = machine;
	must(gkf_queue_new(&ask, &queue), "queue");
	front = dlopen(FAKE_DIR "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!front) {
		fprintf(stderr, "cuda_queue: %s\n", dlerror());
		exit(1);
	}
	must(CU(cuInit)(0), "cuInit");
	must(CU(cuCtxCreate_v2)(&ctx, 0, 1), "cuCtxCreate");
	must(CU(cuStreamCreate)(&stream, 0), "cuStreamCreate");
	must(CU(cuEventCreate)(&event, 0), "cuEventCreate");
}

int main(void)
{
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {.device_count = 2,
					.profiles = profiles};
	char dir[] = "/dev/shm/gpukit-bench-XXXXXX", path[64];

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/machine", dir);
	must(gkf_machine_create(path, &spec), "machine");
	setenv("GPUKIT_MACHINE", path, 1);
	open_all();
	unlink(path);
	rmdir(dir);
	for (size_t i = 0; i < sizeof(things) / sizeof(*things); i++)
		measure(&things[i]);
	return 0;
}
