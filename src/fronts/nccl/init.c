/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init.c - creates communicators: joins the shared file and waits for all
 * ranks.
 */
#include "fronts/nccl/front.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- joining ---- */

struct coming {
	struct member *self;
	int error;
};

/* Called on the service's thread, which lives as long as the process. */
static void hold_life(void *argument)
{
	struct coming *coming = argument;

	coming->error = pthread_mutex_trylock(&coming->self->life);
}

static ncclResult_t publish_device(struct ncclComm *c, struct member *self)
{
	const struct native_driver *d = native_driver();
	CUuuid uuid;
	CUresult r = d->cuDeviceGetUuid_v2(&uuid, c->device);

	if (!r)
		r = d->cuDeviceGetPCIBusId(self->bus, sizeof self->bus,
					   c->device);
	if (!r)
		memcpy(self->uuid, uuid.bytes, sizeof self->uuid);
	return error_of_cuda(r, "the device's identity");
}

static ncclResult_t take_seat(struct ncclComm *c)
{
	struct coming coming = {.self = meeting_member(&c->seat, c->rank)};
	struct member *self = coming.self;
	uint32_t nobody = MEMBER_NOBODY;
	ncclResult_t r;

	if (!atomic_compare_exchange_strong(&self->state, &nobody,
					    MEMBER_COMING))
		return error_set(ncclInvalidUsage,
				 "rank %u joined the communicator twice",
				 c->rank);
	if (!service_call(hold_life, &coming) || coming.error)
		return error_set(ncclSystemError,
				 "rank %u: no thread, or no lock", c->rank);
	self->process = service_process();
	self->pid = getpid();
	self->device = (uint32_t)c->device;
	r = publish_device(c, self);
	if (r)
		return r;
	atomic_store(&self->state, MEMBER_THERE);
	atomic_fetch_add(&c->seat.at->there, 1);
	meeting_ring_all(&c->seat);
	return ncclSuccess;
}

static ncclResult_t join_meeting(struct ncclComm *c)
{
	ncclResult_t r = meeting_open(&c->id, c->ranks, &c->seat);

	c->sent = calloc(c->ranks, sizeof *c->sent);
	c->received = calloc(c->ranks, sizeof *c->received);
	if (!r && (!c->sent || !c->received))
		r = error_set(ncclSystemError, "out of memory");
	return r ? r : take_seat(c);
}

/* ---- waiting for all ranks ---- */

static bool is_one_device(const struct member *a, const struct member *b)
{
	return !memcmp(a->uuid, b->uuid, sizeof a->uuid);
}

static ncclResult_t check_devices(const struct ncclComm *c)
{
	for (unsigned i = 0; i < c->ranks; i++) {
		const struct member *a = meeting_member(&c->seat, i);

		for (unsigned k = 0; k < i; k++)
			if (is_one_device(a, meeting_member(&c->seat, k)))
				return error_set(
				    ncclInvalidUsage,
				    "duplicate GPU: ranks %u and %u are both "
				    "on device %.15s",
				    k, i, a->bus);
	}
	return ncclSuccess;
}

static ncclResult_t find_gone(const struct ncclComm *c)
{
	for (unsigned i = 0; i < c->ranks; i++) {
		struct member *m = meeting_member(&c->seat, i);
		uint32_t state = atomic_load(&m->state);

		if (state == MEMBER_LEFT || state == MEMBER_ABORTED ||
		    meeting_is_dead(m))
			return error_set(ncclRemoteError,
					 "rank %u (process %d) ended before "
					 "all ranks had joined",
					 i, m->pid);
	}
	return meeting_is_orphan(&c->id)
		   ? error_set(ncclRemoteError,
			       "the process that made the id (%d) ended before "
			       "all ranks had joined",
			       (int)c->id.pid)
		   : ncclSuccess;
}

static ncclResult_t advance_init(struct job *job)
{
	struct ncclComm *c = job->c;
	ncclResult_t r;

	if (job->step == 0) {
		r = join_meeting(c);
		if (r)
			return r;
		job->step = 1;
	}
	if (atomic_load(&c->seat.at->there) < c->ranks) {
		r = find_gone(c);
		return r ? r : ncclInProgress;
	}
	meeting_unname(&c->id);
	r = check_devices(c);
	if (!r)
		atomic_store(&c->phase, COMM_READY);
	return r;
}

/*
 * After a failure, a blocking communicator is destroyed. A nonblocking one
 * stays, and ncclCommGetAsyncError() returns its error.
 */
static void end_init(struct job *job, ncclResult_t r)
{
	struct ncclComm *c = job->c;
	bool ends = r && c->blocking && !atomic_load(&c->abort);
	char text[TROUBLE_MAX];

	if (r) {
		error_last(text);
		comm_fail(c, r, "%s", text);
	}
	if (ends)
		*job->ret_comm = NULL;
	atomic_store(&c->background, ncclSuccess);
	comm_leave(c);
	if (ends)
		comm_end(c, MEMBER_ABORTED);
	free(job);
}

/* Takes ownership of `c` and returns it to the program. */
static ncclResult_t start_init(struct ncclComm *c, ncclComm_t *ret_comm)
{
	struct job *job = calloc(1, sizeof *job);

	if (!job) {
		comm_end(c, MEMBER_ABORTED);
		return error_set(ncclSystemError, "out of memory");
	}
	job->c = c;
	job->advance = advance_init;
	job->end = end_init;
	job->ret_comm = ret_comm;
	comm_list(c);
	comm_use(c);
	*ret_comm = c;
	return group_job(job);
}

static ncclResult_t check_ranks(ncclComm_t *comm, int nranks, int rank,
				const struct id *id)
{
	bool here;

	if (!comm)
		return error_set(ncclInvalidArgument, "comm is NULL");
	*comm = NULL;
	if (nranks < 1 || rank < 0 || rank >= nranks)
		return error_set(ncclInvalidArgument, "invalid rank %d of %d",
				 rank, nranks);
	if (nranks > RANKS_MAX)
		return error_set(ncclInvalidArgument,
				 "%d ranks: at most %d are supported", nranks,
				 RANKS_MAX);
	if (!meeting_is_id(id, &here))
		return error_set(ncclInvalidArgument,
				 "the id is not from this library's "
				 "ncclGetUniqueId()");
	if (!here)
		return error_set(ncclSystemError,
				 "the id is from another host, or from a "
				 "container with its own /dev/shm: ranks on "
				 "made-up GPUs share memory");
	return ncclSuccess;
}

static ncclResult_t init_rank(ncclComm_t *comm, int nranks,
			      const ncclUniqueId *id_bytes, int rank,
			      const ncclConfig_t *config)
{
	struct ncclComm *c;
	struct id id;
	ncclResult_t r;

	memcpy(&id, id_bytes, sizeof id);
	r = check_ranks(comm, nranks, rank, &id);
	if (r)
		return r;
	c = comm_new(config, &r);
	if (!c)
		return r;
	c->id = id;
	c->rank = (unsigned)rank;
	c->ranks = (unsigned)nranks;
	return start_init(c, comm);
}

FRONT(ncclGetUniqueId, (ncclUniqueId * uniqueId))
{
	if (!uniqueId)
		return error_set(ncclInvalidArgument, "uniqueId is NULL");
	return meeting_new_id(uniqueId)
		   ? ncclSuccess
		   : error_set(ncclSystemError, "no random numbers");
}

FRONT(ncclCommInitRank,
      (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank))
{
	return group_note(init_rank(comm, nranks, &commId, rank, NULL));
}

FRONT(ncclCommInitRankConfig,
      (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank,
       ncclConfig_t *config))
{
	return group_note(init_rank(comm, nranks, &commId, rank, config));
}

/* All ranks pass the same ids; the first one suffices. */
FRONT(ncclCommInitRankScalable,
      (ncclComm_t * newcomm, int nranks, int myrank, int nId,
       ncclUniqueId *commIds, ncclConfig_t *config))
{
	if (nId < 1 || nId > nranks || !commIds)
		return group_note(error_set(
		    ncclInvalidArgument, "%d ids for %d ranks", nId, nranks));
	return group_note(init_rank(newcomm, nranks, commIds, myrank, config));
}

/* ---- all devices of a process ---- */

static ncclResult_t init_one(ncclComm_t *comm, int ndev, int device, int rank,
			     const ncclUniqueId *id)
{
	const struct native_driver *d = native_driver();
	CUcontext before = NULL, ctx;
	ncclResult_t r;

	if (!d)
		return error_set(ncclUnhandledCudaError,
				 "gpukit's CUDA driver is not available");
	d->cuCtxGetCurrent(&before);
	if (d->cuDevicePrimaryCtxRetain(&ctx, device) ||
	    d->cuCtxSetCurrent(ctx))
		return error_set(ncclInvalidArgument, "invalid device %d",
				 device);
	r = init_rank(comm, ndev, id, rank, NULL);
	d->cuCtxSetCurrent(before);
	return r;
}

static bool has_twice(const int *devices, int n)
{
	for (int i = 0; devices && i < n; i++)
		for (int k = 0; k < i; k++)
			if (devices[i] == devices[k])
				return true;
	return false;
}

FRONT(ncclCommInitAll, (ncclComm_t * comm, int ndev, const int *devlist))
{
	ncclResult_t r = ncclSuccess, end;
	ncclUniqueId id;

	if (!comm || ndev < 1)
		return error_set(ncclInvalidArgument, "%d devices", ndev);
	if (has_twice(devlist, ndev))
		return error_set(ncclInvalidUsage, "a device is listed twice");
	r = ncclGetUniqueId(&id);
	if (r)
		return r;
	ncclGroupStart();
	for (int i = 0; i < ndev && !r; i++)
		r = group_note(
		    init_one(&comm[i], ndev, devlist ? devlist[i] : i, i, &id));
	end = ncclGroupEnd();
	return r ? r : end;
}

/* ---- communicators for some ranks of an existing one ---- */

#define NO_COLOR UINT32_MAX

static uint64_t host_word(const struct seat *s, unsigned rank, uint64_t step)
{
	return meeting_member(s, rank)->host_word[step & 1];
}

/* Publishes this rank's color and key, once for each split. */
static void publish_color(struct job *job)
{
	struct ncclComm *p = job->parent;
	struct member *self = meeting_member(&p->seat, p->rank);
	uint32_t color =
	    job->color == NCCL_SPLIT_NOCOLOR ? NO_COLOR : (uint32_t)job->color;
	uint64_t step = atomic_load(&self->host_step) + 1;

	self->host_word[step & 1] = (uint64_t)color << 32 | (uint32_t)job->key;
	atomic_store(&self->host_step, step);
	meeting_ring_all(&p->seat);
	job->step = 1;
}

static ncclResult_t have_all_published(const struct ncclComm *p, uint64_t step)
{
	for (unsigned i = 0; i < p->ranks; i++) {
		struct member *m = meeting_member(&p->seat, i);

		if (atomic_load(&m->host_step) >= step)
			continue;
		if (meeting_is_dead(m))
			return error_set(ncclRemoteError,
					 "rank %u (process %d) has ended", i,
					 m->pid);
		return ncclInProgress;
	}
	return ncclSuccess;
}

/* Finds the rank in the new communicator: among the ranks of the same color,
 * ordered by key, then by old rank. */
static void find_place(const struct job *job, uint64_t step, unsigned *ret_rank,
		       unsigned *ret_ranks)
{
	const struct ncclComm *p = job->parent;
	uint64_t mine = host_word(&p->seat, p->rank, step);

	*ret_rank = *ret_ranks = 0;
	for (unsigned i = 0; i < p->ranks; i++) {
		uint64_t word = host_word(&p->seat, i, step);
		int32_t key = (int32_t)(uint32_t)word;

		if (word >> 32 != mine >> 32)
			continue;
		++*ret_ranks;
		if (key < job->key || (key == job->key && i < p->rank))
			++*ret_rank;
	}
}

static ncclResult_t advance_split(struct job *job)
{
	struct ncclComm *p = job->parent;
	struct member *self = meeting_member(&p->seat, p->rank);
	uint64_t step;
	ncclResult_t r;

	if (job->step == 0)
		publish_color(job);
	step = atomic_load(&self->host_step);
	if (job->step == 1) {
		r = have_all_published(p, step);
		if (r)
			return r;
		if (!job->c)
			return ncclSuccess;
		find_place(job, step, &job->c->rank, &job->c->ranks);
		meeting_child_id(&p->id, step << 32 | (uint32_t)job->color,
				 &job->c->id);
		job->step = 2;
	}
	/* From here on, the rank joins as in ncclCommInitRank(). */
	if (job->step == 2) {
		job->step = 0;
		job->advance = advance_init;
	}
	return advance_init(job);
}

static void end_split(struct job *job, ncclResult_t r)
{
	if (!job->c)
		atomic_store(&job->parent->background, ncclSuccess);
	comm_leave(job->parent);
	if (job->c)
		end_init(job, r);
	else
		free(job);
}

static ncclResult_t start_child(struct job *job, struct ncclComm *c)
{
	struct job *own = malloc(sizeof *own);

	if (!own) {
		comm_leave(job->parent);
		if (c)
			comm_end(c, MEMBER_ABORTED);
		return error_set(ncclSystemError, "out of memory");
	}
	*own = *job;
	own->c = c;
	own->end = end_split;
	if (c) {
		comm_list(c);
		comm_use(c);
	}
	*own->ret_comm = c;
	return group_job(own);
}

/* A child inherits `blocking` if its configuration does not set it. */
static struct ncclComm *new_child(const struct ncclComm *parent,
				  const ncclConfig_t *config, ncclResult_t *ret)
{
	const struct native_driver *d = native_driver();
	CUcontext before = NULL;
	struct ncclComm *c;

	d->cuCtxGetCurrent(&before);
	d->cuCtxSetCurrent(parent->ctx);
	c = comm_new(config, ret);
	d->cuCtxSetCurrent(before);
	if (c && (!config || config->blocking == NCCL_CONFIG_UNDEF_INT))
		c->blocking = parent->blocking;
	return c;
}

static ncclResult_t start_split(ncclComm_t comm, int color, int key,
				ncclComm_t *newcomm, const ncclConfig_t *config)
{
	struct job job = {.advance = advance_split,
			  .color = color,
			  .key = key,
			  .ret_comm = newcomm};
	struct ncclComm *c = NULL;
	ncclResult_t r;

	if (!newcomm || color < NCCL_SPLIT_NOCOLOR)
		return error_set(ncclInvalidArgument, "invalid color %d",
				 color);
	*newcomm = NULL;
	r = comm_enter(comm, &job.parent);
	if (r)
		return r;
	if (color != NCCL_SPLIT_NOCOLOR) {
		c = new_child(job.parent, config, &r);
		if (!c) {
			comm_leave(job.parent);
			return r;
		}
	}
	return start_child(&job, c);
}

FRONT(ncclCommSplit, (ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
		      ncclConfig_t *config))
{
	return group_note(start_split(comm, color, key, newcomm, config));
}

static bool is_in(const int *ranks, int n, unsigned rank)
{
	for (int i = 0; i < n; i++)
		if (ranks[i] >= 0 && (unsigned)ranks[i] == rank)
			return true;
	return false;
}

static ncclResult_t check_excluded(const struct ncclComm *p, const int *ranks,
				   int n)
{
	if (n < 1 || !ranks)
		return error_set(ncclInvalidArgument, "no ranks to exclude");
	for (int i = 0; i < n; i++)
		if (ranks[i] < 0 || (unsigned)ranks[i] >= p->ranks)
			return error_set(ncclInvalidArgument,
					 "cannot exclude rank %d: it does not "
					 "exist",
					 ranks[i]);
	if (is_in(ranks, n, p->rank))
		return error_set(ncclInvalidArgument,
				 "rank %u is excluded, but calls", p->rank);
	return ncclSuccess;
}

/* All remaining ranks pass the same list; the excluded ranks do not call this.
 */
static ncclResult_t start_shrink(struct job *job, const int *excluded, int n,
				 const ncclConfig_t *config, int flags)
{
	struct ncclComm *p = job->parent, *c;
	ncclResult_t r = check_excluded(p, excluded, n);
	uint64_t salt;

	c = r ? NULL : new_child(p, config, &r);
	if (!c) {
		comm_leave(p);
		return r;
	}
	if (flags & NCCL_SHRINK_ABORT) {
		atomic_store(&p->abort, 1);
		meeting_ring(&p->seat, p->rank);
	}
	salt = 0x5348524eULL << 32 | ++p->children;
	for (unsigned i = 0; i < p->ranks; i++) {
		if (is_in(excluded, n, i))
			salt = salt * 1000003 + i;
		else if (i < p->rank)
			c->rank++;
		c->ranks += !is_in(excluded, n, i);
	}
	meeting_child_id(&p->id, salt, &c->id);
	return start_child(job, c);
}

/* The parent may have failed; a shrink is meant to recover from that. */
FRONT(ncclCommShrink,
      (ncclComm_t comm, int *excludeRanksList, int excludeRanksCount,
       ncclComm_t *newcomm, ncclConfig_t *config, int shrinkFlags))
{
	struct job job = {.advance = advance_init, .ret_comm = newcomm};

	if (!newcomm)
		return group_note(
		    error_set(ncclInvalidArgument, "newcomm is NULL"));
	*newcomm = NULL;
	job.parent = comm_use(comm);
	if (!job.parent)
		return group_note(error_set(ncclInvalidArgument,
					    "%p is not a communicator",
					    (void *)comm));
	return group_note(start_shrink(&job, excludeRanksList,
				       excludeRanksCount, config, shrinkFlags));
}
