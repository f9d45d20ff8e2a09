/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_wait.c - hooks of calls that wait for streams. After such a call, memory
 * freed by cuMemFreeAsync() has been given back to the driver, and measured
 * work has ended.
 */
#include "limit/preload/memory/hook.h"
#include "limit/preload/time/throttle.h"

static CUresult after_wait(CUresult r)
{
	if (!r) {
		throttle_poll();
		memory_refresh_all();
	}
	return r;
}

/* Hooks that differ only in name and parameters. */
#define WAIT(symbol, params, values)                                           \
	CUresult symbol params                                                 \
	{                                                                      \
		return MISSING(symbol) ? CUDA_ERROR_NO_DEVICE                  \
				       : after_wait(REAL(symbol) values);      \
	}

WAIT(cuCtxSynchronize, (void), ())
WAIT(cuCtxSynchronize_v2, (CUcontext ctx), (ctx))
WAIT(cuEventQuery, (CUevent hEvent), (hEvent))
WAIT(cuEventSynchronize, (CUevent hEvent), (hEvent))
WAIT(cuStreamQuery, (CUstream hStream), (hStream))
WAIT(cuStreamQuery_ptsz, (CUstream hStream), (hStream))
WAIT(cuStreamSynchronize, (CUstream hStream), (hStream))
WAIT(cuStreamSynchronize_ptsz, (CUstream hStream), (hStream))
