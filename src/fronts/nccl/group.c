/*
 * group.c - what a thread calls between ncclGroupStart() and ncclGroupEnd():
 * collectives and messages become one kernel for each communicator, and what
 * waits for other ranks is done for all communicators together.
 */
#include "base/clock.h"
#include "fronts/nccl/front.h"

#include <stdlib.h>
#include <string.h>

/* A communicator with work to be launched. */
struct pending {
	struct pending *next;
	struct ncclComm *c; /* used */
	struct plan *plan;
};

struct group {
	unsigned depth;
	ncclResult_t error;
	struct pending *first;
	struct job *jobs;
};

static _Thread_local struct group group;

/* Between two looks at whether the other ranks have come. */
#define JOB_REST_NS     (100 * GK_NS_PER_US)
#define JOB_REST_MAX_NS (2 * GK_NS_PER_MS)

/* ---- jobs ---- */

/* One step; the job is gone when this is not ncclInProgress. */
static ncclResult_t advance_job(struct job *job)
{
	struct ncclComm *c = job->c ? job->c : job->parent;
	ncclResult_t r =
	    atomic_load(&c->abort)
		? error_set(ncclInternalError, "rank %u was aborted", c->rank)
		: job->advance(job);

	if (r != ncclInProgress)
		job->end(job, r);
	return r;
}

/* All of them, side by side; the first error. */
static ncclResult_t run_jobs(struct job *first)
{
	uint64_t rest = JOB_REST_NS;
	ncclResult_t result = ncclSuccess;

	while (first) {
		struct job **at = &first;

		while (*at) {
			struct job *job = *at, *next = job->next;
			ncclResult_t r = advance_job(job);

			if (r == ncclInProgress) {
				at = &job->next;
				continue;
			}
			*at = next;
			result = result ? result : r;
		}
		if (!first)
			break;
		gk_sleep_until(gk_mono_ns() + rest);
		rest = rest < JOB_REST_MAX_NS ? rest + rest / 4 : rest;
	}
	return result;
}

static void *run_in_background(void *jobs)
{
	run_jobs(jobs);
	return NULL;
}

static struct ncclComm *comm_of(const struct job *job)
{
	return job->c ? job->c : job->parent;
}

/* Of communicators that do not block. */
static ncclResult_t start_jobs(struct job *jobs)
{
	pthread_t thread;

	for (struct job *j = jobs; j; j = j->next)
		atomic_store(&comm_of(j)->background, ncclInProgress);
	if (pthread_create(&thread, NULL, run_in_background, jobs))
		return run_jobs(jobs);
	pthread_detach(thread);
	return ncclInProgress;
}

static ncclResult_t do_jobs(struct job *jobs)
{
	for (struct job *j = jobs; j; j = j->next)
		if (!comm_of(j)->blocking)
			return start_jobs(jobs);
	return run_jobs(jobs);
}

static void drop_jobs(struct job *jobs, ncclResult_t r)
{
	struct job *next;

	for (; jobs; jobs = next) {
		next = jobs->next;
		jobs->end(jobs, r);
	}
}

ncclResult_t group_job(struct job *job)
{
	struct job **at = &group.jobs;

	job->next = NULL;
	if (!group.depth)
		return do_jobs(job);
	while (*at)
		at = &(*at)->next;
	*at = job;
	return ncclSuccess;
}

/* ---- work ---- */

/* The plan of a communicator in this group; NULL: no memory. */
static struct plan *plan_of(struct ncclComm *c)
{
	struct pending **at = &group.first, *p;

	while (*at && (*at)->c != c)
		at = &(*at)->next;
	if (*at)
		return (*at)->plan;
	p = calloc(1, sizeof *p);
	if (p)
		p->plan = calloc(1, sizeof *p->plan);
	if (!p || !p->plan) {
		free(p);
		return NULL;
	}
	p->c = comm_use(c);
	*at = p;
	return p->plan;
}

/* One more element; NULL: no memory. */
static void *grow(void *array, unsigned count, size_t size)
{
	/* At powers of two only. */
	if (count & (count - 1))
		return array;
	return realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

static bool add_stream(struct plan *plan, CUstream stream)
{
	void *grown;

	for (unsigned i = 0; i < plan->streams; i++)
		if (plan->stream[i] == stream)
			return true;
	grown = grow(plan->stream, plan->streams, sizeof stream);
	if (!grown)
		return false;
	plan->stream = grown;
	plan->stream[plan->streams++] = stream;
	return true;
}

/* Launches what is pending, or drops it. */
static ncclResult_t finish_work(ncclResult_t error)
{
	struct pending *next;
	ncclResult_t result = error, r;

	for (struct pending *p = group.first; p; p = next) {
		next = p->next;
		if (result) {
			plan_free(p->plan);
		} else {
			r = launch_plan(p->c, p->plan);
			result = result ? result : r;
		}
		comm_leave(p->c);
		free(p);
	}
	group.first = NULL;
	return result;
}

/* Outside of a group each call is one. */
static ncclResult_t added(bool has_memory)
{
	ncclResult_t r = has_memory
			     ? ncclSuccess
			     : error_set(ncclSystemError, "out of memory");

	return group.depth ? r : finish_work(r);
}

ncclResult_t group_collective(struct ncclComm *c, const struct collective *what,
			      CUstream stream)
{
	struct plan *plan = plan_of(c);
	void *grown;

	if (!plan || !add_stream(plan, stream))
		return added(false);
	grown = grow(plan->collective, plan->collectives, sizeof *what);
	if (!grown)
		return added(false);
	plan->collective = grown;
	plan->collective[plan->collectives++] = *what;
	return added(true);
}

ncclResult_t group_message(struct ncclComm *c, const struct message *what,
			   CUstream stream)
{
	struct plan *plan = plan_of(c);
	void *grown;

	if (!plan || !add_stream(plan, stream))
		return added(false);
	grown = grow(plan->message, plan->messages, sizeof *what);
	if (!grown)
		return added(false);
	plan->message = grown;
	plan->message[plan->messages++] = *what;
	return added(true);
}

/* ---- groups ---- */

ncclResult_t group_note(ncclResult_t r)
{
	if (group.depth && r && r != ncclInProgress && !group.error)
		group.error = r;
	return r;
}

FRONT(ncclGroupStart, (void))
{
	group.depth++;
	return ncclSuccess;
}

static ncclResult_t leave_group(bool *ret_last)
{
	if (!group.depth)
		return error_set(ncclInvalidUsage,
				 "ncclGroupEnd without ncclGroupStart");
	*ret_last = --group.depth == 0;
	return ncclSuccess;
}

FRONT(ncclGroupEnd, (void))
{
	struct job *jobs = group.jobs;
	bool last = false;
	ncclResult_t r = leave_group(&last), error = group.error, done;

	if (r || !last)
		return r;
	group.jobs = NULL;
	group.error = ncclSuccess;
	if (error)
		drop_jobs(jobs, error);
	else if (jobs)
		error = do_jobs(jobs);
	done = finish_work(error == ncclInProgress ? ncclSuccess : error);
	return error ? error : done;
}

/* Roughly what it costs here: a kernel, a call, and bytes at 4 GB/s. */
static float estimate_us(const struct plan *plan)
{
	float us = 20;

	for (unsigned i = 0; i < plan->collectives; i++) {
		const struct call *c = &plan->collective[i].call;

		us += 10 + (float)(c->count * type_size((int)c->type)) / 4000;
	}
	for (unsigned i = 0; i < plan->messages; i++)
		us += 10 + (float)plan->message[i].bytes / 4000;
	return us;
}

/* Nothing is done, communicators that were to be made neither. */
FRONT(ncclGroupSimulateEnd, (ncclSimInfo_t * simInfo))
{
	struct job *jobs = group.jobs;
	float most = 0;
	bool last = false;
	ncclResult_t r = leave_group(&last);

	if (r || !last)
		return r;
	if (simInfo && simInfo->magic != NCCL_SIM_INFO_MAGIC)
		r = error_set(ncclInvalidArgument,
			      "the simulation's struct was not initialised");
	for (const struct pending *p = group.first; p; p = p->next) {
		float us = estimate_us(p->plan);

		most = us > most ? us : most;
	}
	group.jobs = NULL;
	drop_jobs(jobs, ncclInvalidUsage);
	finish_work(ncclInvalidUsage);
	group.error = ncclSuccess;
	if (!r && simInfo)
		simInfo->estimatedTime = most;
	return r;
}
