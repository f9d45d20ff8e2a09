/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_capture.h - lets our own calls succeed while streams are captured.
 * Used by measure.c.
 */
#ifndef GKL_PRELOAD_MEASURE_CAPTURE_H
#define GKL_PRELOAD_MEASURE_CAPTURE_H

#include "abi/cuda/cuda_abi.h"

/*
 * While a stream is captured, calls like ours would end the capture, unless the
 * calling thread declares them unrelated to it.
 */
void measure_exchange_mode(CUstreamCaptureMode *mode);

#endif
