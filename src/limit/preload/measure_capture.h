/*
 * measure_capture.h - calls of ours while streams are captured. Used by
 * measure.c.
 */
#ifndef GKL_PRELOAD_MEASURE_CAPTURE_H
#define GKL_PRELOAD_MEASURE_CAPTURE_H

#include "abi/cuda_abi.h"

/*
 * While some stream is captured, calls like ours would end the capture, unless
 * their thread says that they have nothing to do with it.
 */
void measure_exchange_mode(CUstreamCaptureMode *mode);

#endif
