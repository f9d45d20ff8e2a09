/* SPDX-License-Identifier: Apache-2.0 */
/* stream_attribute.c - gets, sets and copies the attributes of streams. */
#include "fronts/cuda/stream/stream_private.h"

#include <string.h>

static bool is_policy(unsigned policy)
{
	return policy >= CU_SYNC_POLICY_AUTO &&
	       policy <= CU_SYNC_POLICY_BLOCKING_SYNC;
}

/*
 * Whether an access policy window is valid: no larger than the device's limit,
 * if there is one.
 */
static bool is_window(CUstream s, const CUaccessPolicyWindow *window)
{
	int most = 0;

	device_attribute(s->ctx->device,
			 CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE,
			 &most);
	return window->hitRatio >= 0.0F && window->hitRatio <= 1.0F &&
	       (!most || window->num_bytes <= (size_t)most);
}

static CUresult set_stream_attribute(CUstream s, CUstreamAttrID attr,
				     const CUstreamAttrValue *value)
{
	bool ok = true;

	switch ((int)attr) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		ok = is_window(s, &value->accessPolicyWindow);
		if (ok)
			s->window = *value;
		break;
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		ok = is_policy(value->syncPolicy);
		if (ok)
			s->sync_policy = value->syncPolicy;
		break;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		s->priority = stream_priority(value->priority);
		gkf_queue_priority(s->queue, s->priority);
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		s->domain_map = *value;
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		ok = value->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
		if (ok)
			s->domain = *value;
		break;
	default:
		ok = false;
	}
	return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult get_stream_attribute(CUstream s, CUstreamAttrID attr,
				     CUstreamAttrValue *ret_value)
{
	CUstreamAttrValue value;

	memset(&value, 0, sizeof(value));
	switch ((int)attr) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		value = s->window;
		break;
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		value.syncPolicy = s->sync_policy;
		break;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		value.priority = s->priority;
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		value = s->domain_map;
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		value = s->domain;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	*ret_value = value;
	return CUDA_SUCCESS;
}

BOTH_STREAMS(cuStreamSetAttribute, _ptsz,
	     (CUstream hStream, CUstreamAttrID attr,
	      const CUstreamAttrValue *value),
	     (hStream, attr, value))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	stream_lock(s);
	r = set_stream_attribute(s, attr, value);
	stream_unlock(s);
	return r;
}

BOTH_STREAMS(cuStreamGetAttribute, _ptsz,
	     (CUstream hStream, CUstreamAttrID attr,
	      CUstreamAttrValue *value_out),
	     (hStream, attr, value_out))
{
	CUstream s;
	CUresult r = stream_enter(row, hStream, per_thread, &s);

	if (r)
		return r;
	if (!value_out)
		return CUDA_ERROR_INVALID_VALUE;
	stream_lock(s);
	r = get_stream_attribute(s, attr, value_out);
	stream_unlock(s);
	return r;
}

/* The attributes copied from one stream to another: all except the priority. */
static const CUstreamAttrID copied[] = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
};

BOTH_STREAMS(cuStreamCopyAttributes, _ptsz, (CUstream dst, CUstream src),
	     (dst, src))
{
	CUstreamAttrValue value;
	CUstream to, from;
	CUresult r = stream_enter(row, dst, per_thread, &to);

	if (!r)
		r = stream_find(to->ctx, src, per_thread, &from);
	if (r)
		return r;
	stream_lock(to);
	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++)
		if (!get_stream_attribute(from, copied[i], &value))
			set_stream_attribute(to, copied[i], &value);
	stream_unlock(to);
	return CUDA_SUCCESS;
}
