/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - hooks of calls that begin to capture a stream. After the first
 * such call, every stream is checked for being captured before work is put into
 * it: events can make streams join a capture, so a list of captured streams
 * would not suffice.
 */
#include "limit/preload/entry/driver.h"
#include "limit/preload/time/measure.h"

#define CAPTURE(symbol, params, names)                                         \
	CUresult symbol params                                                 \
	{                                                                      \
		measure_captures();                                            \
		return REAL(symbol) names;                                     \
	}

#define CAPTURES(symbol, params, names)                                        \
	CAPTURE(symbol, params, names)                                         \
	CAPTURE(symbol##_ptsz, params, names)

CAPTURES(cuStreamBeginCapture, (CUstream hStream), (hStream))
CAPTURES(cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode),
	 (hStream, mode))
CAPTURES(cuStreamBeginCaptureToGraph,
	 (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
	  const CUgraphEdgeData *dependencyData, size_t numDependencies,
	  CUstreamCaptureMode mode),
	 (hStream, hGraph, dependencies, dependencyData, numDependencies, mode))
CAPTURES(cuStreamBeginCaptureToCig,
	 (CUstream hStream, CUstreamCigCaptureParams *streamCigCaptureParams),
	 (hStream, streamCigCaptureParams))
CAPTURES(cuStreamBeginRecaptureToGraph,
	 (CUstream hStream, CUstreamCaptureMode mode, CUgraph hGraph,
	  CUgraphRecaptureCallback callbackFunc, void *userData),
	 (hStream, mode, hGraph, callbackFunc, userData))
