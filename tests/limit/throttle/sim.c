/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.c - owns the simulated processes, GPUs and time of tests of the throttle.
 *
 * Each process has its own copy of the throttle (a module loaded from a copy of
 * its file) and a thread. The thread of the process with the earliest time
 * runs.
 */
#include "sim.h"

#include "limit/preload/entry/driver.h"
#include "limit/preload/limited.h"
#include "limit/preload/time/others.h"
#include "limit/preload/time/throttle.h"
#include "limit/share.h"
#include "base/mix.h"
#include "unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS  2000000ULL
#define LAUNCH_NS 2500ULL /* host time of a call */
#define FOREVER   UINT64_MAX

enum { ITEMS = 1 << 14 };

struct CUevent_st {
	uint64_t recorded, reached, at_ns; /* counts of records */
};

struct item {
	struct CUevent_st *event; /* NULL: the item is a kernel */
	uint64_t record, left_ns;
	unsigned meeting; /* how many kernels meet */
	uint64_t meets;   /* the number of the meeting in its process */
	bool begun;
	bool pause;
	uint64_t until_ns; /* the end of a pause that has begun */
};

struct stream {
	struct item item[ITEMS];
	unsigned head, tail;
};

struct process {
	bool used, dead;
	unsigned gpu;
	uint64_t now_ns, meetings, ended;
	struct stream stream[SIM_STREAMS];
	void (*program)(const void *arg);
	const void *arg;
	void *module;
	__typeof__(throttle_begin) *begin;
	__typeof__(throttle_end) *end;
	__typeof__(throttle_poll) *poll;
	pthread_t thread;
	sem_t go;
};

struct driver_cuda driver_cuda;

static struct {
	uint64_t seed, device_ns, until_ns;
	struct process process[SIM_PROCESSES];
	unsigned count, running, turn[SIM_GPUS];
	uint64_t slice_ns[SIM_GPUS], busy_ns[SIM_GPUS], begun[1 << 16];
	struct gkl_policy policy;
	struct gkl_group group;
	struct gkl_share share[SIM_GPUS];
	uint32_t version;
	sem_t back;
	bool ending, others_want;
	char dir[64];
} sim;

static struct process *self(void)
{
	return &sim.process[sim.running];
}

/* ---- the GPUs ---- */

static struct item *head_of(struct stream *s)
{
	return s->head == s->tail ? NULL : &s->item[s->head % ITEMS];
}

static void reach_event(const struct item *item)
{
	if (item->record != item->event->recorded)
		return;
	item->event->reached = item->record;
	item->event->at_ns = sim.device_ns;
}

static bool is_pausing(struct item *item)
{
	if (item->pause && !item->begun) {
		item->begun = true;
		item->until_ns = sim.device_ns + item->left_ns;
	}
	return item->pause && item->until_ns > sim.device_ns;
}

/* Events at the head of streams are reached at once, and pauses end. */
static bool has_kernel(struct process *p)
{
	bool found = false;

	for (unsigned i = 0; !p->dead && i < SIM_STREAMS; i++) {
		struct item *item;

		while ((item = head_of(&p->stream[i])) &&
		       (item->event || item->pause) && !is_pausing(item)) {
			if (item->event)
				reach_event(item);
			p->stream[i].head++;
		}
		found |= item && !item->pause;
	}
	return found;
}

/* The process whose slice it is; SIM_PROCESSES: the GPU is idle. */
static unsigned find_turn(unsigned gpu)
{
	unsigned ready = 0, next = SIM_PROCESSES;

	for (unsigned i = 0; i < sim.count; i++) {
		unsigned at = (sim.turn[gpu] + 1 + i) % sim.count;

		if (sim.process[at].gpu != gpu || !has_kernel(&sim.process[at]))
			continue;
		ready++;
		if (next == SIM_PROCESSES)
			next = at;
		if (at == sim.turn[gpu] && sim.slice_ns[gpu])
			next = at;
	}
	if (next != sim.turn[gpu] || !sim.slice_ns[gpu] || ready == 1)
		sim.slice_ns[gpu] = SLICE_NS;
	if (next != SIM_PROCESSES)
		sim.turn[gpu] = next;
	return next;
}

static bool is_waiting(struct item *item)
{
	if (!item->begun && item->meeting)
		sim.begun[item->meets]++;
	item->begun = true;
	return item->meeting && sim.begun[item->meets] < item->meeting;
}

/* The time until something changes for the process that has the turn. */
static uint64_t find_step(unsigned gpu, unsigned turn, uint64_t most)
{
	struct process *p = &sim.process[turn];

	if (turn == SIM_PROCESSES)
		return most;
	if (sim.slice_ns[gpu] < most)
		most = sim.slice_ns[gpu];
	for (unsigned i = 0; i < SIM_STREAMS; i++) {
		struct item *item = head_of(&p->stream[i]);

		if (item && !item->pause && !is_waiting(item) &&
		    item->left_ns < most)
			most = item->left_ns;
	}
	return most;
}

static uint64_t find_pause(const struct process *p, uint64_t most)
{
	for (unsigned i = 0; !p->dead && i < SIM_STREAMS; i++) {
		const struct stream *s = &p->stream[i];
		const struct item *item = &s->item[s->head % ITEMS];

		if (s->head != s->tail && item->pause && item->begun &&
		    item->until_ns - sim.device_ns < most)
			most = item->until_ns - sim.device_ns;
	}
	return most;
}

static void do_step(unsigned gpu, unsigned turn, uint64_t ns)
{
	struct process *p = &sim.process[turn];

	if (turn == SIM_PROCESSES)
		return;
	sim.busy_ns[gpu] += ns;
	sim.slice_ns[gpu] -= ns;
	for (unsigned i = 0; i < SIM_STREAMS; i++) {
		struct item *item = head_of(&p->stream[i]);

		if (!item || item->pause || is_waiting(item))
			continue;
		item->left_ns -= ns < item->left_ns ? ns : item->left_ns;
		if (!item->left_ns) {
			p->stream[i].head++;
			p->ended++;
		}
	}
}

static void advance_devices(uint64_t to_ns)
{
	while (sim.device_ns < to_ns) {
		unsigned turn[SIM_GPUS];
		uint64_t step = to_ns - sim.device_ns;

		for (unsigned g = 0; g < SIM_GPUS; g++) {
			turn[g] = find_turn(g);
			step = find_step(g, turn[g], step);
		}
		for (unsigned i = 0; i < sim.count; i++)
			step = find_pause(&sim.process[i], step);
		for (unsigned g = 0; g < SIM_GPUS; g++)
			do_step(g, turn[g], step);
		sim.device_ns += step;
	}
	for (unsigned i = 0; i < sim.count; i++)
		has_kernel(&sim.process[i]);
}

static void put(unsigned stream, struct item item)
{
	struct stream *s = &self()->stream[stream];

	advance_devices(self()->now_ns);
	if (s->tail - s->head == ITEMS)
		abort(); /* the throttle lets far too many launches through */
	s->item[s->tail++ % ITEMS] = item;
	has_kernel(self());
}

/* ---- whose turn it is ---- */

static unsigned find_earliest(void)
{
	unsigned found = SIM_PROCESSES;

	for (unsigned i = 0; i < sim.count; i++)
		if (!sim.process[i].dead &&
		    (found == SIM_PROCESSES ||
		     sim.process[i].now_ns < sim.process[found].now_ns))
			found = i;
	return found;
}

/* Time passes for the calling process; others that are earlier run first. */
static void pass(uint64_t ns)
{
	unsigned me = sim.running;

	self()->now_ns += ns;
	if (find_earliest() == me && self()->now_ns < sim.until_ns)
		return;
	sem_post(&sim.back);
	sem_wait(&sim.process[me].go);
	if (sim.ending)
		pthread_exit(NULL);
}

void sim_run(uint64_t until_ns)
{
	unsigned next;

	sim.until_ns = until_ns;
	while ((next = find_earliest()) != SIM_PROCESSES &&
	       sim.process[next].now_ns < until_ns) {
		sim.running = next;
		sem_post(&sim.process[next].go);
		sem_wait(&sim.back);
	}
	advance_devices(until_ns);
}

static void *run_program(void *arg)
{
	struct process *p = arg;

	sem_wait(&p->go);
	if (!sim.ending) {
		p->program(p->arg);
		p->now_ns = FOREVER; /* it lives on and does nothing */
		sem_post(&sim.back);
	}
	return NULL;
}

/* ---- what the throttle sees ---- */

int sim_clock_gettime(clockid_t clock, struct timespec *ret);
int sim_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	ret->tv_sec = (time_t)(self()->now_ns / 1000000000);
	ret->tv_nsec = (long)(self()->now_ns % 1000000000);
	return 0;
}

struct gkl_group *_Atomic limited_found = &sim.group;

struct gkl_group *limited_look(void)
{
	return NULL; /* never called, only looked up */
}

bool limited_broken(void)
{
	return false;
}

const struct gkl_policy *limited_policy(void)
{
	return &sim.policy;
}

int limited_current_device(void)
{
	return (int)self()->gpu;
}

void limited_mirror_busy(int device, uint64_t ns)
{
	(void)device, (void)ns;
}

void limited_before_launch(void)
{
}

void limited_wait_while_suspended(void)
{
}

bool limited_monitor_wants_shares(void)
{
	return true;
}

bool others_want(const struct gkl_group *group, unsigned int device,
		 uint64_t now_ns)
{
	(void)group, (void)device, (void)now_ns;
	return sim.others_want;
}

uint32_t gkl_policy_version(const struct gkl_policy_page *page)
{
	(void)page;
	return sim.version;
}

/* Sleepers wake a little late. */
void gkl_policy_wait(const struct gkl_policy_page *page, uint32_t seen,
		     uint64_t timeout_ns)
{
	(void)page, (void)seen;
	pass(timeout_ns + 50000 + sim_random(30000));
}

void gkl_ledger_count(struct gkl_ledger *ledger, unsigned int device,
		      enum gkl_count which, uint64_t add)
{
	(void)ledger, (void)device, (void)which, (void)add;
}

void *gkl_ledger_share(struct gkl_ledger *ledger, unsigned int device)
{
	static struct gkl_share other;

	(void)ledger;
	return device < SIM_GPUS ? &sim.share[device] : &other;
}

static CUresult get_current(CUcontext *ret)
{
	*ret = (CUcontext)(uintptr_t)(0x1000 + sim.running);
	return CUDA_SUCCESS;
}

static CUresult get_device(CUdevice *ret)
{
	*ret = (CUdevice)self()->gpu;
	return CUDA_SUCCESS;
}

static CUresult create_event(CUevent *ret, unsigned int flags)
{
	(void)flags;
	*ret = calloc(1, sizeof **ret);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult record_event(CUevent event, CUstream stream)
{
	put((unsigned)((uintptr_t)stream >> 4),
	    (struct item){.event = event, .record = ++event->recorded});
	pass(700);
	return CUDA_SUCCESS;
}

static CUresult query_event(CUevent event)
{
	advance_devices(self()->now_ns);
	return event->reached == event->recorded ? CUDA_SUCCESS
						 : CUDA_ERROR_NOT_READY;
}

static CUresult elapsed(float *ret_ms, CUevent from, CUevent to)
{
	*ret_ms = (float)((double)(int64_t)(to->at_ns - from->at_ns) / 1e6);
	return CUDA_SUCCESS;
}

/* ---- what programs call ---- */

void sim_launch(const struct sim_kernel *kernel)
{
	CUstream stream = (CUstream)(uintptr_t)(kernel->stream << 4);
	struct item item = {.left_ns = kernel->ns, .meeting = kernel->meeting};
	struct throttle_launch launch;

	assert_int_equal(self()->begin(&launch, stream, false,
				       (void *)(uintptr_t)kernel->function, 1),
			 CUDA_SUCCESS);
	if (kernel->meeting)
		item.meets = self()->meetings++ % (1 << 16);
	pass(LAUNCH_NS / 2);
	put(kernel->stream, item);
	pass(LAUNCH_NS / 2);
	self()->end(&launch, CUDA_SUCCESS);
}

void sim_pause(unsigned stream, uint64_t ns)
{
	put(stream, (struct item){.pause = true, .left_ns = ns});
	pass(LAUNCH_NS);
}

void sim_wait(unsigned stream)
{
	while (advance_devices(self()->now_ns),
	       head_of(&self()->stream[stream]))
		pass(20000);
	self()->poll();
}

void sim_rest(uint64_t ns)
{
	pass(ns);
}

uint64_t sim_now(void)
{
	return self()->now_ns;
}

uint64_t sim_random(uint64_t below)
{
	return (sim.seed = gkf_mix(sim.seed)) % below;
}

/* ---- before and after ---- */

/* One thread runs at a time: on the same processor the next wakes sooner. */
static void stay_on_one_processor(void)
{
	int here = sched_getcpu();
	cpu_set_t set;

	if (here < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)here, &set);
	sched_setaffinity(0, sizeof set, &set);
}

void sim_begin(uint64_t seed)
{
	stay_on_one_processor();
	memset(&sim, 0, sizeof sim);
	sim.seed = seed;
	sim.device_ns = 1000000000;
	sem_init(&sim.back, 0, 0);
	strcpy(sim.dir, "/tmp/throttle-sim.XXXXXX");
	assert_non_null(mkdtemp(sim.dir));
	driver_cuda.cuCtxGetCurrent = get_current;
	driver_cuda.cuCtxGetDevice = get_device;
	driver_cuda.cuEventCreate = create_event;
	driver_cuda.cuEventRecord = record_event;
	driver_cuda.cuEventQuery = query_event;
	driver_cuda.cuEventElapsedTime = elapsed;
}

void sim_limit(unsigned gpu, unsigned percent)
{
	sim.policy.compute[gpu] = percent;
	sim.version++;
}

void sim_elastic(bool others_want)
{
	sim.policy.rule = GKL_ELASTIC;
	sim.others_want = others_want;
	sim.version++;
}

static void copy_module(const char *to)
{
	FILE *from = fopen(THROTTLE_MODULE, "r"), *copy = fopen(to, "w");
	static char bytes[1 << 16];
	size_t n;

	assert_true(from && copy);
	while ((n = fread(bytes, 1, sizeof bytes, from)))
		assert_int_equal(fwrite(bytes, 1, n, copy), n);
	fclose(from);
	assert_int_equal(fclose(copy), 0);
}

static void *load_module(void)
{
	char path[96];
	void *module;

	snprintf(path, sizeof path, "%s/%u", sim.dir, sim.count);
	copy_module(path);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	unlink(path);
	if (!module)
		fail_msg("%s", dlerror());
	return module;
}

void sim_process(unsigned gpu, void (*program)(const void *arg),
		 const void *arg)
{
	struct process *p = &sim.process[sim.count];

	p->gpu = gpu;
	p->program = program;
	p->arg = arg;
	p->now_ns = sim.device_ns;
	p->module = load_module();
	p->begin = (__typeof__(p->begin))dlsym(p->module, "throttle_begin");
	p->end = (__typeof__(p->end))dlsym(p->module, "throttle_end");
	p->poll = (__typeof__(p->poll))dlsym(p->module, "throttle_poll");
	assert_true(p->begin && p->end && p->poll);
	sem_init(&p->go, 0, 0);
	assert_int_equal(pthread_create(&p->thread, NULL, run_program, p), 0);
	sim.count++;
}

void sim_kill(unsigned process)
{
	sim.process[process].dead = true;
}

uint64_t sim_busy(unsigned gpu)
{
	return sim.busy_ns[gpu];
}

double sim_share(uint64_t from, uint64_t to)
{
	uint64_t before = (sim_run(from), sim_busy(0));

	sim_run(to);
	return (double)(sim_busy(0) - before) * 100 / (double)(to - from);
}

uint64_t sim_ended(unsigned process)
{
	return sim.process[process].ended;
}

void sim_end(void)
{
	sim.ending = true;
	for (unsigned i = 0; i < sim.count; i++) {
		sem_post(&sim.process[i].go);
		pthread_join(sim.process[i].thread, NULL);
		sim_check_works(sim.process[i].module);
		dlclose(sim.process[i].module);
	}
	rmdir(sim.dir);
}
