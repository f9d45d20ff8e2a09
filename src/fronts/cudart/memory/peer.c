/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c - enables and disables access to another device's memory.
 */
#include "fronts/cudart/runtime.h"

static cudaError_t find_peer(int device, CUcontext *ret_context)
{
	int mine = 0;

	ENTER_CONTEXT();
	TRY(cudart_current_device(&mine));
	REQUIRE(device != mine, cudaErrorInvalidDevice);
	return cudart_primary(device, ret_context);
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
	CUcontext peer;

	TRY(find_peer(peerDevice, &peer));
	return runtime_result(legacy->cuCtxEnablePeerAccess(peer, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
	CUcontext peer;

	TRY(find_peer(peerDevice, &peer));
	return runtime_result(legacy->cuCtxDisablePeerAccess(peer));
}
