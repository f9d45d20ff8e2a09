/* SPDX-License-Identifier: Apache-2.0 */
/* measure_capture.c - detects captured streams, which are not measured. */
#include "limit/preload/time/measure_capture.h"
#include "limit/preload/entry/driver.h"
#include "limit/preload/time/measure.h"

#include <stdatomic.h>

static _Atomic bool captures;

void measure_captures(void)
{
	atomic_store_explicit(&captures, true, memory_order_relaxed);
}

static bool are_captures(void)
{
	return atomic_load_explicit(&captures, memory_order_relaxed);
}

bool measure_is_captured(CUstream stream, bool per_thread)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	__typeof__(cuStreamIsCapturing) *ask =
	    per_thread ? REAL(cuStreamIsCapturing_ptsz)
		       : REAL(cuStreamIsCapturing);

	if (__builtin_expect(!are_captures(), 1))
		return false;
	return !ask || ask(stream, &status) ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void measure_exchange_mode(CUstreamCaptureMode *mode)
{
	if (are_captures() && REAL(cuThreadExchangeStreamCaptureMode))
		REAL(cuThreadExchangeStreamCaptureMode)(mode);
}
