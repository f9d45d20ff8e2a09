/* SPDX-License-Identifier: Apache-2.0 */
/*
 * green.h - green contexts: some of a device's SMs, with streams of their own.
 * Their memory and code belong to the device's primary context. Each has a
 * CUcontext that programs can make current, and whose `base` is the primary
 * context.
 */
#ifndef GKF_CUDA_GREEN_H
#define GKF_CUDA_GREEN_H

#include "fronts/cuda/context/front.h"

#define GREEN_SMS_MAX 256

/* A set of SMs, one bit each. */
struct sm_set {
	uint64_t word[GREEN_SMS_MAX / 64];
};

/* A part of a device, as stored in a descriptor or owned by a green context. */
struct green_share {
	CUdevice device;
	struct sm_set sms;
	unsigned align; /* number of SMs that are scheduled together */
	/* the limit set by CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG */
	unsigned queue_limit;
	unsigned queue_scope; /* enum CUdevWorkqueueConfigScope */
	/* whether the green context has a default stream */
	bool has_default;
};

struct CUgreenCtx_st {
	CUcontext ctx;
	struct green_share share;
	uint16_t sm[GREEN_SMS_MAX]; /* the numbers of its SMs, ascending */
	unsigned sm_count;
	CUgreenCtx next;
};

/*
 * green_list.c: the list of green contexts that are not destroyed.
 * green_take_out() returns false if the context is not in the list.
 */
void green_enlist(CUgreenCtx g);
bool green_take_out(CUgreenCtx g);

/* Ends the CUcontext of a green context; false: it has ended already. */
bool green_end(CUcontext ctx);

/*
 * Ends the green contexts of a primary context; called before its memory is
 * freed.
 */
void green_end_all(CUcontext base);

/*
 * Waits for the work of a context. For a primary context, also waits for the
 * work of its green contexts.
 */
CUresult green_drain(CUcontext ctx);

/* Returns the whole device as a share (dev_resource.c). */
void green_whole(CUdevice device, struct green_share *ret_share);

/*
 * Returns the share in a descriptor; false: not a descriptor. Defined in
 * dev_resource.c.
 */
bool green_described(CUdevResourceDesc desc, struct green_share *ret_share);

/*
 * Describes a share as a resource. `id` is the id of the context that has it,
 * or 0. Defined in dev_resource.c.
 */
CUresult green_tell(const struct green_share *share, uint64_t id,
		    CUdevResourceType type, CUdevResource *ret_resource);

/*
 * Return the number of SMs of a device, and of those that a context's work can
 * use.
 */
int green_sms_of_device(const struct cuda_device *d);
int green_sms(CUcontext ctx);

unsigned green_count(const struct sm_set *set);

static inline bool green_has(const struct sm_set *set, unsigned sm)
{
	return set->word[sm / 64] >> (sm % 64) & 1;
}

#endif
