/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - reports properties and errors of communicators, and ends them. */
#include "base/clock.h"
#include "fronts/nccl/front.h"

#include <stdlib.h>

/* This library has the functions of NCCL 2.28.9. */
#define VERSION 22809

FRONT(ncclGetVersion, (int *version))
{
	if (!version)
		return error_set(ncclInvalidArgument, "version is NULL");
	*version = VERSION;
	return ncclSuccess;
}

/* ---- facts ---- */

static ncclResult_t read_fact(ncclComm_t comm, int *ret,
			      int (*what)(const struct ncclComm *c))
{
	struct ncclComm *c;
	ncclResult_t r;

	if (!ret)
		return error_set(ncclInvalidArgument,
				 "the result pointer is NULL");
	c = comm_use(comm);
	if (!c)
		return error_set(ncclInvalidArgument,
				 "%p is not a communicator", (void *)comm);
	r = atomic_load(&c->phase) == COMM_COMING
		? error_set(ncclInvalidArgument,
			    "the communicator is not ready")
		: ncclSuccess;
	if (!r)
		*ret = what(c);
	comm_leave(c);
	return r;
}

static int count_of(const struct ncclComm *c)
{
	return (int)c->ranks;
}

static int device_of(const struct ncclComm *c)
{
	return c->device;
}

static int rank_of(const struct ncclComm *c)
{
	return (int)c->rank;
}

FRONT(ncclCommCount, (const ncclComm_t comm, int *count))
{
	return read_fact(comm, count, count_of);
}

FRONT(ncclCommCuDevice, (const ncclComm_t comm, int *device))
{
	return read_fact(comm, device, device_of);
}

FRONT(ncclCommUserRank, (const ncclComm_t comm, int *rank))
{
	return read_fact(comm, rank, rank_of);
}

FRONT(ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t *asyncError))
{
	struct ncclComm *c;

	if (!asyncError)
		return error_set(ncclInvalidArgument, "asyncError is NULL");
	c = comm_use(comm);
	if (!c)
		return error_set(ncclInvalidArgument,
				 "%p is not a communicator", (void *)comm);
	*asyncError = (ncclResult_t)atomic_load(&c->failed);
	if (!*asyncError)
		*asyncError = (ncclResult_t)atomic_load(&c->background);
	comm_leave(c);
	return ncclSuccess;
}

/* ---- ending ---- */

/* Waits until the last kernel has ended or its context has failed. */
static ncclResult_t advance_finalize(struct job *job)
{
	struct ncclComm *c = job->c;

	if (c->launched && !atomic_load(&c->abort) &&
	    native_driver()->cuEventQuery(c->last) == CUDA_ERROR_NOT_READY)
		return ncclInProgress;
	atomic_store(&c->phase, COMM_FINALIZED);
	return ncclSuccess;
}

static void end_finalize(struct job *job, ncclResult_t r)
{
	(void)r;
	atomic_store(&job->c->background, ncclSuccess);
	comm_leave(job->c);
	free(job);
}

static ncclResult_t start_finalize(ncclComm_t comm)
{
	struct ncclComm *c = comm_use(comm);
	uint32_t ready = COMM_READY;
	struct job *job;

	if (!c)
		return error_set(ncclInvalidArgument,
				 "%p is not a communicator", (void *)comm);
	job = calloc(1, sizeof *job);
	if (!job || !atomic_compare_exchange_strong(&c->phase, &ready,
						    COMM_FINALIZING)) {
		free(job);
		comm_leave(c);
		return error_set(ncclInvalidArgument,
				 "the communicator is finalized, or was never "
				 "ready");
	}
	job->c = c;
	job->advance = advance_finalize;
	job->end = end_finalize;
	return group_job(job);
}

FRONT(ncclCommFinalize, (ncclComm_t comm))
{
	return group_note(start_finalize(comm));
}

/* Waits for the thread that initialises or finalizes the communicator. */
static void wait_for_background(struct ncclComm *c)
{
	while (atomic_load(&c->background) == ncclInProgress)
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS / 5);
}

/* After a failure, does not wait for kernels, which may be waiting for other
 * ranks. */
FRONT(ncclCommDestroy, (ncclComm_t comm))
{
	struct ncclComm *c;
	bool failed;

	if (!comm)
		return ncclSuccess;
	c = comm_use(comm);
	if (!c)
		return error_set(ncclInvalidArgument,
				 "%p is not a communicator, or was destroyed",
				 (void *)comm);
	wait_for_background(c);
	failed = atomic_load(&c->failed) || !c->seat.at;
	if (!failed && c->launched)
		native_driver()->cuEventSynchronize(c->last);
	comm_leave(c);
	comm_end(c, failed ? MEMBER_ABORTED : MEMBER_LEFT);
	return ncclSuccess;
}

FRONT(ncclCommAbort, (ncclComm_t comm))
{
	struct ncclComm *c;

	if (!comm)
		return ncclSuccess;
	c = comm_use(comm);
	if (!c)
		return error_set(ncclInvalidArgument,
				 "%p is not a communicator, or was destroyed",
				 (void *)comm);
	atomic_store(&c->abort, 1);
	if (c->seat.at)
		meeting_ring(&c->seat, c->rank);
	wait_for_background(c);
	comm_leave(c);
	comm_end(c, MEMBER_ABORTED);
	return ncclSuccess;
}

/* ---- errors ---- */

/* Each thread has its own copy of the text, as another thread may fail
 * meanwhile. */
FRONT_OTHER(const char *, ncclGetLastError, (ncclComm_t comm))
{
	static _Thread_local char text[TROUBLE_MAX];

	if (!comm || !comm_text(comm, text))
		error_last(text);
	return text;
}
