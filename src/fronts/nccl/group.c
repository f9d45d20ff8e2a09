/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - owns the calls that a thread makes between ncclGroupStart() and
 * ncclGroupEnd(). Collectives and messages become one kernel per communicator;
 * jobs that wait for other ranks run for all communicators concurrently.
 */
#include "base/clock.h"
#include "fronts/nccl/front.h"

#include <stdlib.h>
#include <string.h>

/* A communicator with work to launch. */
struct pending {
	struct pending *next;
	/* held by comm_use(): call comm_leave() when done */
	struct ncclComm *c;
	struct plan *plan;
};

struct group {
	unsigned depth;
	ncclResult_t error;
	struct pending *first;
	struct job *jobs;
};

static _Thread_local struct group group;

/* The first and the longest time between two polls for other ranks. */
#define JOB_REST_NS     (100 * GK_NS_PER_US)
#define JOB_REST_MAX_NS (2 * GK_NS_PER_MS)

/* ---- jobs ---- */

/* Advances a job by one step. If it is done or has failed, frees it. */
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

/* Runs jobs concurrently; returns the first error. */
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

/* Runs jobs in a thread, for nonblocking communicators. */
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

/* Finds or creates a communicator's plan in this group; NULL: no memory. */
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

/* Provides space for one more element; NULL: no memory. */
static void *grow_array(void *array, unsigned count, size_t size)
{
	/* The capacity doubles when count reaches a power of two. */
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
	grown = grow_array(plan->stream, plan->streams, sizeof stream);
	if (!grown)
		return false;
	plan->stream = grown;
	plan->stream[plan->streams++] = stream;
	return true;
}

/* Launches the pending work, or drops it after an error. */
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

/* Ends a call that has added work. A call outside a group is a group of its
 * own. */
static ncclResult_t finish_call(bool has_memory)
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
		return finish_call(false);
	grown = grow_array(plan->collective, plan->collectives, sizeof *what);
	if (!grown)
		return finish_call(false);
	plan->collective = grown;
	plan->collective[plan->collectives++] = *what;
	return finish_call(true);
}

ncclResult_t group_message(struct ncclComm *c, const struct message *what,
			   CUstream stream)
{
	struct plan *plan = plan_of(c);
	void *grown;

	if (!plan || !add_stream(plan, stream))
		return finish_call(false);
	grown = grow_array(plan->message, plan->messages, sizeof *what);
	if (!grown)
		return finish_call(false);
	plan->message = grown;
	plan->message[plan->messages++] = *what;
	return finish_call(true);
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

/* A rough estimate: 20 us per kernel, 10 us per call, and bytes at 4 GB/s. */
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

/* Drops the group's work and jobs, without creating communicators. */
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
