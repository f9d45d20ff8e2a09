/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c - owns memory of other processes that this process has opened. It is
 * never closed, because closing would wait for all work of the context. The
 * service's thread opens it, because kernels may not.
 */
#include "base/assert.h"
#include "fronts/nccl/front.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of open allocations; data in further allocations goes
 * through windows. */
#define OPENED_MAX 8192

struct opened {
	struct opened *next;
	CUcontext ctx;
	unsigned char handle[sizeof((struct place *)0)->handle];
	CUdeviceptr address; /* 0: the memory cannot be opened */
};

/* A hash table of opened memory, by memory handle. */
static struct {
	pthread_mutex_t lock;
	struct opened *first[64];
	unsigned count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct opened **list_of(const struct place *place)
{
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof place->handle; i++)
		sum = sum * 31 + place->handle[i];
	return &all.first[sum % 64];
}

static void open_handle(void *argument)
{
	const struct native_driver *d = native_driver();
	struct opened *o = argument;
	CUipcMemHandle handle;

	if (d->cuCtxSetCurrent(o->ctx))
		return;
	memcpy(&handle, o->handle, sizeof handle);
	if (d->cuIpcOpenMemHandle_v2(&o->address, handle,
				     CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
		o->address = 0;
	d->cuCtxSetCurrent(NULL);
}

/* Opens memory. NULL: no memory, or too many are open. The caller holds
 * all.lock. */
static struct opened *open_new(struct ncclComm *c, const struct place *place)
{
	struct opened **list = list_of(place), *o;

	GK_ASSERT(gk_lock_held(&all.lock));
	o = all.count < OPENED_MAX ? calloc(1, sizeof *o) : NULL;
	if (!o)
		return NULL;
	o->ctx = c->ctx;
	memcpy(o->handle, place->handle, sizeof o->handle);
	service_call(open_handle, o);
	o->next = *list;
	*list = o;
	all.count++;
	return o;
}

uint64_t reach_open(struct ncclComm *c, const struct place *place)
{
	struct opened *o;
	uint64_t address;

	pthread_mutex_lock(&all.lock);
	for (o = *list_of(place); o; o = o->next)
		if (o->ctx == c->ctx &&
		    !memcmp(o->handle, place->handle, sizeof o->handle))
			break;
	if (!o)
		o = open_new(c, place);
	address = o ? o->address : 0;
	pthread_mutex_unlock(&all.lock);
	return address;
}
