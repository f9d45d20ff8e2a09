/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.c - owns the list of communicators; counts the users of each, records
 * failures, and frees them.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "fronts/nccl/front.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t left;
	struct ncclComm *first;
	uint64_t last_serial;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

/* ---- the list ---- */

/*
 * Finds a communicator by its address or, if comm is NULL, by its serial
 * number, and adds a user. The caller holds list.lock.
 */
static struct ncclComm *find_comm(const struct ncclComm *comm, uint64_t serial)
{
	struct ncclComm *c = list.first;

	GK_ASSERT(gk_lock_held(&list.lock));
	while (c && (comm ? c != comm : c->serial != serial))
		c = c->next;
	if (c)
		c->users++;
	return c;
}

struct ncclComm *comm_use(ncclComm_t comm)
{
	struct ncclComm *c = NULL;

	pthread_mutex_lock(&list.lock);
	if (comm)
		c = find_comm(comm, 0);
	pthread_mutex_unlock(&list.lock);
	return c;
}

struct ncclComm *comm_use_serial(uint64_t serial)
{
	struct ncclComm *c;

	pthread_mutex_lock(&list.lock);
	c = find_comm(NULL, serial);
	pthread_mutex_unlock(&list.lock);
	return c;
}

void comm_leave(struct ncclComm *c)
{
	pthread_mutex_lock(&list.lock);
	GK_ASSERT(c->users);
	c->users--;
	pthread_cond_broadcast(&list.left);
	pthread_mutex_unlock(&list.lock);
}

void comm_list(struct ncclComm *c)
{
	GK_ASSERT(!c->serial);
	pthread_mutex_lock(&list.lock);
	c->serial = ++list.last_serial;
	c->next = list.first;
	list.first = c;
	pthread_mutex_unlock(&list.lock);
}

/* Removes a communicator from the list and waits for its users. False: it is
 * not in the list. */
static bool unlist_comm(struct ncclComm *c)
{
	struct ncclComm **at = &list.first;
	bool found;

	pthread_mutex_lock(&list.lock);
	while (*at && *at != c)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = c->next;
	while (found && c->users)
		pthread_cond_wait(&list.left, &list.lock);
	pthread_mutex_unlock(&list.lock);
	return found;
}

ncclResult_t comm_enter(ncclComm_t comm, struct ncclComm **ret_comm)
{
	struct ncclComm *c = comm_use(comm);
	ncclResult_t r = ncclSuccess;

	if (!c)
		return error_set(ncclInvalidArgument,
				 "%p is not a communicator, or was destroyed",
				 (void *)comm);
	if (atomic_load(&c->background) == ncclInProgress ||
	    atomic_load(&c->phase) == COMM_COMING)
		r = error_set(ncclInvalidArgument,
			      "rank %u: the communicator is not ready: an "
			      "operation is in progress",
			      c->rank);
	else if (atomic_load(&c->failed))
		r = (ncclResult_t)atomic_load(&c->failed);
	else if (atomic_load(&c->phase) != COMM_READY)
		r = error_set(ncclInvalidUsage,
			      "rank %u: the communicator was finalized",
			      c->rank);
	if (r) {
		comm_leave(c);
		return r;
	}
	*ret_comm = c;
	return ncclSuccess;
}

/* ---- creating ---- */

static ncclResult_t read_config(const ncclConfig_t *config, bool *ret_blocking)
{
	*ret_blocking = true;
	if (!config)
		return ncclSuccess;
	if (config->size < offsetof(ncclConfig_t, cgaClusterSize) ||
	    config->magic != NCCL_CONFIG_MAGIC)
		return error_set(ncclInvalidArgument,
				 "the configuration was not initialised by "
				 "NCCL_CONFIG_INITIALIZER");
	if (config->blocking != NCCL_CONFIG_UNDEF_INT &&
	    config->blocking != 0 && config->blocking != 1)
		return error_set(ncclInvalidArgument,
				 "the configuration's blocking is %d, not 0 "
				 "or 1",
				 config->blocking);
	*ret_blocking = config->blocking != 0;
	return ncclSuccess;
}

/*
 * Records the current context, in which the kernels will run, and its device.
 */
static ncclResult_t take_device(struct ncclComm *c)
{
	const struct native_driver *d = native_driver();
	int major = 0, minor = 0;
	CUresult r = native_context();

	if (!d)
		return error_set(ncclUnhandledCudaError,
				 "gpukit's CUDA driver is not available");
	if (!r)
		r = d->cuCtxGetCurrent(&c->ctx);
	if (!r)
		r = d->cuCtxGetDevice(&c->device);
	if (!r)
		r = d->cuDeviceGetAttribute(
		    &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
		    c->device);
	if (!r)
		r = d->cuDeviceGetAttribute(
		    &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
		    c->device);
	if (!r)
		r = d->cuEventCreate(&c->last, CU_EVENT_DISABLE_TIMING);
	c->capability = 10 * major + minor;
	return error_of_cuda(r, "a communicator's device");
}

struct ncclComm *comm_new(const ncclConfig_t *config, ncclResult_t *ret_result)
{
	struct ncclComm *c = calloc(1, sizeof *c);

	if (!c) {
		*ret_result = error_set(ncclSystemError, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->turn, NULL);
	*ret_result = read_config(config, &c->blocking);
	if (!*ret_result)
		*ret_result = take_device(c);
	if (*ret_result) {
		free(c);
		return NULL;
	}
	return c;
}

/* ---- ending ---- */

void plan_free(struct plan *plan)
{
	free(plan->stream);
	free(plan->collective);
	free(plan->message);
	free(plan);
}

struct leaving {
	struct member *self;
	enum member_state how;
};

static void leave_meeting(void *argument)
{
	struct leaving *l = argument;

	atomic_store(&l->self->state, l->how);
	pthread_mutex_unlock(&l->self->life);
}

static void leave_others(struct ncclComm *c, enum member_state how)
{
	struct leaving l = {.how = how};

	if (!c->seat.at)
		return;
	l.self = meeting_member(&c->seat, c->rank);
	if (atomic_load(&l.self->state) == MEMBER_THERE)
		service_call(leave_meeting, &l);
	meeting_ring_all(&c->seat);
}

static void free_comm(struct ncclComm *c)
{
	struct plan *next;

	for (struct plan *p = c->plans; p; p = next) {
		next = p->next;
		plan_free(p);
	}
	meeting_unname(&c->id);
	meeting_close(&c->seat);
	native_driver()->cuEventDestroy_v2(c->last);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->turn);
	free(c->sent);
	free(c->received);
	free(c);
}

void comm_end(struct ncclComm *c, enum member_state how)
{
	if (c->seat.at)
		leave_others(c, how);
	if (c->serial && !unlist_comm(c))
		return;
	free_comm(c);
}

/* ---- failures ---- */

/* Records this rank's failure. False: it had already failed. */
static bool note_failure(struct ncclComm *c, ncclResult_t r, const char *text)
{
	bool first;

	pthread_mutex_lock(&c->lock);
	first = !atomic_load(&c->failed);
	if (first) {
		memcpy(c->text, text, TROUBLE_MAX);
		atomic_store(&c->failed, r);
	}
	pthread_mutex_unlock(&c->lock);
	if (first)
		error_set(r, "%s", text);
	return first;
}

void comm_fail(struct ncclComm *c, ncclResult_t r, const char *format, ...)
{
	struct member *self;
	char text[TROUBLE_MAX];
	uint32_t nobody = 0;
	va_list args;

	GK_ASSERT(r != ncclSuccess);
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (!note_failure(c, r, text) || !c->seat.at)
		return;
	self = meeting_member(&c->seat, c->rank);
	memcpy(self->trouble, text, sizeof text);
	atomic_store(&self->failed, r);
	atomic_compare_exchange_strong(&c->seat.at->broken, &nobody,
				       c->rank + 1);
	meeting_ring_all(&c->seat);
}

/* Takes over another rank's failure. Invalid usage is returned as such; other
 * errors are returned as ncclRemoteError. */
void comm_adopt(struct ncclComm *c)
{
	uint32_t rank = atomic_load(&c->seat.at->broken) - 1;
	struct member *m;
	char theirs[TROUBLE_MAX], text[TROUBLE_MAX + 32];
	ncclResult_t r;

	if (rank >= c->ranks || rank == c->rank)
		return;
	m = meeting_member(&c->seat, rank);
	memcpy(theirs, m->trouble, sizeof theirs);
	theirs[sizeof theirs - 1] = 0;
	r = atomic_load(&m->failed) == ncclInvalidUsage ? ncclInvalidUsage
							: ncclRemoteError;
	snprintf(text, sizeof text, "rank %u has failed: %s", rank, theirs);
	text[TROUBLE_MAX - 1] = 0;
	note_failure(c, r, text);
}

bool comm_text(ncclComm_t comm, char *ret_text)
{
	struct ncclComm *c = comm_use(comm);
	bool has;

	if (!c)
		return false;
	pthread_mutex_lock(&c->lock);
	has = atomic_load(&c->failed);
	if (has)
		memcpy(ret_text, c->text, TROUBLE_MAX);
	pthread_mutex_unlock(&c->lock);
	comm_leave(c);
	return has;
}
