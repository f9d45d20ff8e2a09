/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c - peer access: which devices can access each other's memory, and which
 * contexts may.
 */
#include "fronts/cuda/context/context.h"
#include "machine/file/numbers.h"
#include "machine/file/topology.h"
#include "machine/model/peer.h"
#include "machine/store/board.h"

/* The maximum number of peers of a device without NVSwitch. */
#define CONNECTIONS_MAX 8

/* Held while the peers of a context change. */
static pthread_mutex_t allowing = PTHREAD_MUTEX_INITIALIZER;

bool device_can_access(const struct cuda_device *d,
		       const struct cuda_device *other)
{
	unsigned a = d->index, b = other->index;

	return a != b && !gkf_peer_split(cuda.machine, a, b) &&
	       (gkf_peer_nvlink(cuda.machine, a, b) ||
		gkf_peer_pcie(cuda.machine, a, b) == GKF_PEER_OK);
}

bool device_is_linked(const struct cuda_device *d,
		      const struct cuda_device *other)
{
	return device_can_access(d, other) &&
	       gkf_peer_nvlink(cuda.machine, d->index, other->index);
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev,
			       CUdevice peerDev)
{
	const struct cuda_device *d, *other;

	ENTER(cuDeviceCanAccessPeer);
	d = front_device(dev);
	other = front_device(peerDev);
	if (!canAccessPeer)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d || !other)
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = device_can_access(d, other);
	return CUDA_SUCCESS;
}

/* Returns an attribute of two different devices; -1: unknown attribute. */
static int peer_attribute(CUdevice_P2PAttribute id, const struct cuda_device *d,
			  const struct cuda_device *other)
{
	bool linked = device_is_linked(d, other);
	bool can = device_can_access(d, other);

	switch (id) {
	case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
		return can && !linked;
	case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
	case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
		return can;
	case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
		return linked;
	case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
		return 0;
	default:
		return -1;
	}
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
				 CUdevice srcDevice, CUdevice dstDevice)
{
	const struct cuda_device *d, *other;
	int found;

	ENTER(cuDeviceGetP2PAttribute);
	d = front_device(srcDevice);
	other = front_device(dstDevice);
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d || !other || d == other)
		return CUDA_ERROR_INVALID_DEVICE;
	found = peer_attribute(attrib, d, other);
	if (found < 0)
		return CUDA_ERROR_INVALID_VALUE;
	*value = found;
	return CUDA_SUCCESS;
}

/* Returns the index of `other` among the peers of ctx; -1: not a peer. */
static int peer_at(CUcontext ctx, CUcontext other)
{
	for (int i = 0; i < GKF_DEVICES_MAX; i++)
		if (atomic_load(&ctx->peer[i].ctx) == other &&
		    atomic_load(&ctx->peer[i].id) == other->id)
			return i;
	return -1;
}

bool ctx_reaches(CUcontext ctx, CUcontext owner)
{
	return ctx->device == owner->device ||
	       peer_at(ctx->base, owner->base) >= 0;
}

/* Whether the entry is unused: empty, or its context has ended. */
static bool is_free(CUcontext ctx, int place)
{
	CUcontext other = atomic_load(&ctx->peer[place].ctx);

	return !other || !handle_is(other, HANDLE_CONTEXT) ||
	       !atomic_load(&other->alive) ||
	       other->id != atomic_load(&ctx->peer[place].id);
}

static CUresult allow_peer(CUcontext ctx, CUcontext other)
{
	int place = -1, taken = 0;

	if (peer_at(ctx, other) >= 0)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	for (int i = 0; i < GKF_DEVICES_MAX; i++) {
		if (!is_free(ctx, i))
			taken++;
		else if (place < 0)
			place = i;
	}
	if (place < 0 ||
	    (taken >= CONNECTIONS_MAX &&
	     !gkf_topology(cuda.machine)->seat[ctx->device->index].fabric))
		return CUDA_ERROR_TOO_MANY_PEERS;
	atomic_store(&ctx->peer[place].id, other->id);
	atomic_store(&ctx->peer[place].ctx, other);
	return CUDA_SUCCESS;
}

/* Checks that a context can be a peer of ctx. */
static CUresult check_peer(CUcontext ctx, CUcontext given)
{
	CUcontext other;

	if (!given || given == ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return ctx_of(given, &other);
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
	CUresult r;

	ENTER_CONTEXT(cuCtxEnablePeerAccess, ctx);
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_peer(ctx, peerContext);
	if (r)
		return r;
	if (!device_can_access(ctx->device, peerContext->device))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	pthread_mutex_lock(&allowing);
	r = allow_peer(ctx->base, peerContext->base);
	pthread_mutex_unlock(&allowing);
	return r;
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext)
{
	CUresult r;
	int place;

	ENTER_CONTEXT(cuCtxDisablePeerAccess, ctx);
	r = check_peer(ctx, peerContext);
	if (r)
		return r;
	pthread_mutex_lock(&allowing);
	place = peer_at(ctx->base, peerContext->base);
	if (place >= 0)
		atomic_store(&ctx->base->peer[place].ctx, NULL);
	pthread_mutex_unlock(&allowing);
	return place < 0 ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_SUCCESS;
}
