/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dev_resource.c - resources of devices for green contexts: describes them,
 * splits SMs, creates descriptors. The private part of CUdevResource records
 * which SMs a resource has.
 *
 * Rules and numbers: CUDA driver API, "Green Contexts". The SMs of a device are
 * treated as one row; GPCs with fewer SMs than others are not simulated.
 */
#include "abi/cuda/cuda_newer.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/module/module.h"
#include "fronts/cuda/stream/stream_private.h"
#include "machine/file/board.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x67726e31u

/* SMs come in pairs, called TPCs. */
#define PAIR 2

/*
 * The private data of a resource, which this driver stores in its
 * _internal_padding.
 */
struct hidden {
	uint32_t magic;
	int32_t device;
	/* number of the split that produced the resource; 0: none */
	uint32_t split;
	uint32_t is_result, align;
	struct sm_set sms;
};
_Static_assert(sizeof(struct hidden) <= 92, "no room in CUdevResource");

/*
 * The public part of an SM resource. CUDA 13.1 added `flags`, which was padding
 * before.
 */
struct sm_facts {
	unsigned count, least, align, flags;
};

struct CUdevResourceDesc_st {
	struct green_share share;
};

/* ---- sets of SMs ---- */

unsigned green_count(const struct sm_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GREEN_SMS_MAX / 64; i++)
		n += (unsigned)__builtin_popcountll(set->word[i]);
	return n;
}

/* Moves the first `count` SMs of one set to another. */
static void take_sms(struct sm_set *from, unsigned count, struct sm_set *to)
{
	for (unsigned sm = 0; count && sm < GREEN_SMS_MAX; sm++) {
		uint64_t bit = 1ull << (sm % 64);

		if (!green_has(from, sm))
			continue;
		from->word[sm / 64] &= ~bit;
		to->word[sm / 64] |= bit;
		count--;
	}
}

/* ---- facts of an architecture ---- */

static int64_t major_of(CUdevice device)
{
	return front_device(device)->board->profile.compute_major;
}

static unsigned align_of(CUdevice device)
{
	return major_of(device) >= 9 ? 8 : PAIR;
}

/*
 * The minimum size of a part in SMs. On compute capability 8.x it was 4 before
 * CUDA 13.1 and has been 2 since.
 */
static unsigned least_of(CUdevice device, unsigned align)
{
	bool ampere = major_of(device) == 8 && front_generation->cuda < 13010;

	return ampere && align == align_of(device) ? 4 : align;
}

/* ---- describing ---- */

void green_whole(CUdevice device, struct green_share *ret_share)
{
	int sms = function_limit(front_device(device),
				 CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	const char *set = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	int queues = set ? atoi(set) : 0;

	*ret_share = (struct green_share){
	    .device = device,
	    .align = align_of(device),
	    .queue_limit = queues > 0 && queues <= 32 ? (unsigned)queues : 8,
	    .queue_scope = CU_WORKQUEUE_SCOPE_DEVICE_CTX,
	    .has_default = true,
	};
	for (int sm = 0; sm < sms && sm < GREEN_SMS_MAX; sm++)
		ret_share->sms.word[sm / 64] |= 1ull << (sm % 64);
}

static void write_hidden(CUdevResource *r, const struct hidden *h)
{
	memcpy(r->_internal_padding, h, sizeof *h);
}

static struct hidden read_hidden(const CUdevResource *r)
{
	struct hidden h;

	memcpy(&h, r->_internal_padding, sizeof h);
	return h;
}

static void write_sms(CUdevResource *r, const struct hidden *h, unsigned flags)
{
	struct sm_facts facts = {green_count(&h->sms),
				 least_of(h->device, h->align), h->align,
				 flags};

	memset(r, 0, sizeof *r);
	if (!facts.count)
		return; /* CU_DEV_RESOURCE_TYPE_INVALID */
	r->type = CU_DEV_RESOURCE_TYPE_SM;
	write_hidden(r, h);
	memcpy(&r->sm, &facts, sizeof facts);
}

CUresult green_tell(const struct green_share *share, uint64_t id,
		    CUdevResourceType type, CUdevResource *ret_resource)
{
	struct hidden h = {.magic = MAGIC,
			   .device = share->device,
			   .align = share->align,
			   .sms = share->sms};
	CUdevWorkqueueConfigResource queues = {
	    .device = share->device,
	    .wqConcurrencyLimit = share->queue_limit,
	    .sharingScope = (CUdevWorkqueueConfigScope)share->queue_scope};

	if (type == CU_DEV_RESOURCE_TYPE_SM) {
		write_sms(ret_resource, &h, 0);
		return CUDA_SUCCESS;
	}
	if (front_generation->cuda < 13010 ||
	    ((int)type != CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG &&
	     ((int)type != CU_DEV_RESOURCE_TYPE_WORKQUEUE || !id)))
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	memset(ret_resource, 0, sizeof *ret_resource);
	ret_resource->type = type;
	write_hidden(ret_resource, &h);
	if ((int)type == CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG)
		memcpy(&ret_resource->sm, &queues, sizeof queues);
	else
		memcpy(&ret_resource->sm, &id, sizeof id);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource,
				CUdevResourceType type)
{
	struct green_share share;

	ENTER(cuDeviceGetDevResource);
	if (!resource)
		return CUDA_ERROR_INVALID_VALUE;
	if (!front_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	green_whole(device, &share);
	return green_tell(&share, 0, type, resource);
}

static CUresult tell_of_context(CUcontext ctx, CUdevResourceType type,
				CUdevResource *ret_resource)
{
	struct green_share share;

	if (!ret_resource)
		return CUDA_ERROR_INVALID_VALUE;
	green_whole(front_number(ctx->device), &share);
	return green_tell(ctx->green ? &ctx->green->share : &share, ctx->id,
			  type, ret_resource);
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource,
			     CUdevResourceType type)
{
	CUcontext ctx;
	CUresult r;

	ENTER(cuCtxGetDevResource);
	r = ctx_of(hCtx, &ctx);
	return r ? r : tell_of_context(ctx, type, resource);
}

/* Work queues belong to contexts, so SMs are the only resource of a stream. */
BOTH_STREAMS(cuStreamGetDevResource, _ptsz,
	     (CUstream hStream, CUdevResource *resource,
	      CUdevResourceType type),
	     (hStream, resource, type))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	return type == CU_DEV_RESOURCE_TYPE_SM
		   ? tell_of_context(s->ctx, type, resource)
		   : CUDA_ERROR_INVALID_RESOURCE_TYPE;
}

/* ---- splitting ---- */

static CUresult read_sms(const CUdevResource *input, struct hidden *ret)
{
	if (!input)
		return CUDA_ERROR_INVALID_VALUE;
	if (input->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	*ret = read_hidden(input);
	if (ret->magic != MAGIC || !front_device(ret->device))
		return CUDA_ERROR_INVALID_VALUE;
	/*
	 * The results of a split cannot be split again, but its remainder can.
	 */
	return ret->is_result ? CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
			      : CUDA_SUCCESS;
}

static uint32_t next_split(void)
{
	static _Atomic uint32_t splits;

	return atomic_fetch_add(&splits, 1) + 1;
}

#define SPLIT_FLAGS                                                            \
	(CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |                     \
	 CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE)

/*
 * Returns the size of a part in SMs: at least `wanted`, a multiple of the
 * alignment.
 */
static unsigned part_size(const struct hidden *h, unsigned wanted)
{
	unsigned least = least_of(h->device, h->align);

	wanted = wanted < least ? least : wanted;
	return (wanted + h->align - 1) / h->align * h->align;
}

CUresult cuDevSmResourceSplitByCount(
    CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input,
    CUdevResource *remaining, unsigned int useFlags, unsigned int minCount)
{
	unsigned size, groups, all;
	struct hidden rest, part;
	CUresult r;

	ENTER(cuDevSmResourceSplitByCount);
	if (!nbGroups || useFlags & ~(unsigned)SPLIT_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_sms(input, &rest);
	if (r)
		return r;
	all = green_count(&rest.sms);
	if (minCount > all || (result && !*nbGroups) ||
	    (useFlags & CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE &&
	     major_of(rest.device) < 9))
		return CUDA_ERROR_INVALID_VALUE;
	if (useFlags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING)
		rest.align = PAIR;
	size = part_size(&rest, minCount);
	groups = all / size;
	if (!groups)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	if (!result) {
		*nbGroups = groups;
		return CUDA_SUCCESS;
	}
	groups = groups < *nbGroups ? groups : *nbGroups;
	rest.split = next_split();
	for (unsigned i = 0; i < groups; i++) {
		part = rest;
		part.is_result = true;
		memset(&part.sms, 0, sizeof part.sms);
		take_sms(&rest.sms, size, &part.sms);
		write_sms(&result[i], &part, 0);
	}
	if (remaining)
		write_sms(remaining, &rest, 0);
	*nbGroups = groups;
	return CUDA_SUCCESS;
}

static bool is_zero(const unsigned *values, unsigned count)
{
	while (count && !values[count - 1])
		count--;
	return !count;
}

/* Returns how many SMs are scheduled together: as requested, or the default. */
static unsigned coscheduled_sms(const struct hidden *from,
				const CU_DEV_SM_RESOURCE_GROUP_PARAMS *p)
{
	return p->coscheduledSmCount ? p->coscheduledSmCount
				     : align_of(from->device);
}

static bool are_params_ok(const struct hidden *from,
			  const CU_DEV_SM_RESOURCE_GROUP_PARAMS *p,
			  unsigned all)
{
	unsigned most = major_of(from->device) >= 9 ? 32 : PAIR;
	unsigned each = coscheduled_sms(from, p);
	bool backfill = p->flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL;

	if (p->flags & ~(unsigned)CU_DEV_SM_RESOURCE_GROUP_BACKFILL ||
	    !is_zero(p->reserved, sizeof p->reserved / sizeof *p->reserved))
		return false;
	if (each % PAIR || each > most ||
	    p->preferredCoscheduledSmCount % each ||
	    p->preferredCoscheduledSmCount > most)
		return false;
	return !p->smCount ||
	       (p->smCount >= PAIR && p->smCount <= all &&
		!(p->smCount % PAIR) && (backfill || !(p->smCount % each)));
}

/*
 * Returns how many of the remaining SMs a group gets; 0: the group is
 * impossible.
 */
static unsigned group_size(const struct hidden *from,
			   const CU_DEV_SM_RESOURCE_GROUP_PARAMS *p)
{
	unsigned left = green_count(&from->sms),
		 each = coscheduled_sms(from, p);
	bool backfill = p->flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL;

	if (left < each || p->smCount > left)
		return 0;
	if (p->smCount)
		return p->smCount < each ? 0 : p->smCount;
	return backfill ? left / PAIR * PAIR : left / each * each;
}

/* Makes all groups; stores them in `result` unless that is NULL. */
static CUresult split_groups(CUdevResource *result, unsigned count,
			     struct hidden *rest,
			     CU_DEV_SM_RESOURCE_GROUP_PARAMS *params)
{
	for (unsigned i = 0; i < count; i++) {
		struct hidden part = *rest;
		unsigned size = group_size(rest, &params[i]);

		if (!size && (result || params[i].smCount))
			return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
		memset(&part.sms, 0, sizeof part.sms);
		part.is_result = true;
		part.align = coscheduled_sms(rest, &params[i]);
		take_sms(&rest->sms, size, &part.sms);
		if (result)
			write_sms(&result[i], &part, params[i].flags);
		params[i].smCount = size;
	}
	return CUDA_SUCCESS;
}

/*
 * Works on copies, so that nothing is written unless all groups are possible.
 */
CUresult cuDevSmResourceSplit(CUdevResource *result, unsigned int nbGroups,
			      const CUdevResource *input,
			      CUdevResource *remainder, unsigned int flags,
			      CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams)
{
	size_t bytes = nbGroups * sizeof *groupParams;
	CU_DEV_SM_RESOURCE_GROUP_PARAMS *copy;
	struct hidden from, trial;
	CUdevResource *made;
	CUresult r;

	ENTER(cuDevSmResourceSplit);
	if (!nbGroups || nbGroups > GREEN_SMS_MAX || !groupParams || flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_sms(input, &from);
	for (unsigned i = 0; !r && i < nbGroups; i++)
		if (!are_params_ok(&from, &groupParams[i],
				   green_count(&from.sms)))
			r = CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	copy = malloc(bytes);
	made = calloc(nbGroups, sizeof *made);
	if (copy && made) {
		memcpy(copy, groupParams, bytes);
		trial = from;
		trial.split = next_split();
		r = split_groups(result ? made : NULL, nbGroups, &trial, copy);
	} else {
		r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (!r) {
		memcpy(groupParams, copy, bytes);
		if (result)
			memcpy(result, made, nbGroups * sizeof *made);
		if (remainder)
			write_sms(remainder, &trial, 0);
	}
	free(copy);
	free(made);
	return r;
}

/* ---- descriptors ---- */

/*
 * The contents of a descriptor that is being made. Resources are added one by
 * one.
 */
struct gathered {
	struct green_share share;
	struct hidden sms; /* sms.magic is 0 if no SMs have been read yet */
	bool device, queues;
};

static CUresult gather_sms(struct gathered *g, const struct hidden *h)
{
	if (g->sms.magic &&
	    (!h->split || h->split != g->sms.split || h->align != g->sms.align))
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	if (!g->sms.magic)
		memset(&g->share.sms, 0, sizeof g->share.sms);
	for (unsigned i = 0; i < GREEN_SMS_MAX / 64; i++)
		g->share.sms.word[i] |= h->sms.word[i];
	g->share.align = h->align;
	g->sms = *h;
	return CUDA_SUCCESS;
}

static CUresult gather_queues(struct gathered *g, const CUdevResource *r)
{
	CUdevWorkqueueConfigResource queues;

	if (g->queues)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	g->queues = true;
	if ((int)r->type == CU_DEV_RESOURCE_TYPE_WORKQUEUE)
		/* streams do not compete for work queues here */
		return CUDA_SUCCESS;
	memcpy(&queues, &r->sm, sizeof queues);
	if (!queues.wqConcurrencyLimit ||
	    (unsigned)queues.sharingScope >
		CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	g->share.queue_limit = queues.wqConcurrencyLimit;
	g->share.queue_scope = queues.sharingScope;
	return CUDA_SUCCESS;
}

/*
 * Returns the device of a resource. A work queue configuration may have been
 * filled in by the program itself, so its public part is read.
 */
static CUdevice device_of(const CUdevResource *r)
{
	CUdevWorkqueueConfigResource queues;

	if ((int)r->type != CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG)
		return read_hidden(r).magic == MAGIC ? read_hidden(r).device
						     : CU_DEVICE_INVALID;
	memcpy(&queues, &r->sm, sizeof queues);
	return queues.device;
}

static CUresult gather_resource(struct gathered *g, const CUdevResource *r)
{
	bool is_sms = r->type == CU_DEV_RESOURCE_TYPE_SM;
	struct hidden h = read_hidden(r);

	if (!is_sms &&
	    (front_generation->cuda < 13010 ||
	     ((int)r->type != CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG &&
	      (int)r->type != CU_DEV_RESOURCE_TYPE_WORKQUEUE)))
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	if (!front_device(device_of(r)))
		return CUDA_ERROR_INVALID_VALUE;
	if (!g->device)
		green_whole(device_of(r), &g->share);
	else if (g->share.device != device_of(r))
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	g->device = true;
	return is_sms ? gather_sms(g, &h) : gather_queues(g, r);
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc,
				   CUdevResource *resources,
				   unsigned int nbResources)
{
	struct gathered g = {0};
	CUdevResourceDesc desc;
	CUresult r = CUDA_SUCCESS;

	ENTER(cuDevResourceGenerateDesc);
	if (!phDesc || !resources || !nbResources)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; !r && i < nbResources; i++)
		r = gather_resource(&g, &resources[i]);
	if (r)
		return r;
	desc = handle_new(HANDLE_RESOURCE_DESC, sizeof *desc);
	if (!desc)
		return CUDA_ERROR_OUT_OF_MEMORY;
	desc->share = g.share;
	*phDesc = desc;
	return CUDA_SUCCESS;
}

bool green_described(CUdevResourceDesc desc, struct green_share *ret_share)
{
	if (!handle_is(desc, HANDLE_RESOURCE_DESC))
		return false;
	*ret_share = desc->share;
	return true;
}
