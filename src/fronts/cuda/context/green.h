/*
 * green.h - green contexts: a part of a device's SMs with streams of its own.
 * What they load and allocate is the primary context's; a handle of one that
 * is made current (struct CUctx_st) has it as `base`.
 */
#ifndef GKF_CUDA_GREEN_H
#define GKF_CUDA_GREEN_H

#include "fronts/cuda/front.h"

#define GREEN_SMS_MAX 256

/* SMs of a device, a bit for each. */
struct sm_set {
	uint64_t word[GREEN_SMS_MAX / 64];
};

/* What a descriptor says, and a green context has. */
struct green_share {
	CUdevice device;
	struct sm_set sms;
	unsigned align;       /* SMs that are scheduled together */
	unsigned queue_limit; /* of CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG */
	unsigned queue_scope; /* enum CUdevWorkqueueConfigScope */
	bool has_default;     /* a default stream */
};

struct CUgreenCtx_st {
	CUcontext ctx;
	struct green_share share;
	uint16_t sm[GREEN_SMS_MAX]; /* the numbers of its SMs, ascending */
	unsigned sm_count;
	CUgreenCtx next;
};

/* The green contexts of a primary context end with it, before its memory. */
void green_end_all(CUcontext base);

/* Waits for a context; for the green ones of a primary context, too. */
CUresult green_drain(CUcontext ctx);

/* The share of a whole device; dev_resource.c. */
void green_whole(CUdevice device, struct green_share *ret_share);

/* A descriptor's; false: it is none; dev_resource.c. */
bool green_described(CUdevResourceDesc desc, struct green_share *ret_share);

/* Tells a resource of a share; `id` is of the context; dev_resource.c. */
CUresult green_tell(const struct green_share *share, uint64_t id,
		    CUdevResourceType type, CUdevResource *ret_resource);

/* The SMs of a device, and those that work of a context runs on. */
int green_sms_of_device(const struct cuda_device *d);
int green_sms(CUcontext ctx);

unsigned green_count(const struct sm_set *set);

static inline bool green_has(const struct sm_set *set, unsigned sm)
{
	return set->word[sm / 64] >> (sm % 64) & 1;
}

#endif
