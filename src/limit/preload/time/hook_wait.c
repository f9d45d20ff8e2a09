/*
 * hook_wait.c - calls that wait for streams: a driver gives back what was freed
 * in their order, and what was measured has come to its end.
 */
#include "limit/preload/hook.h"
#include "limit/preload/throttle.h"

static CUresult after_wait(CUresult r)
{
	if (!r) {
		throttle_poll();
		memory_refresh_all();
	}
	return r;
}

/* Functions that differ in name and parameters alone. */
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
