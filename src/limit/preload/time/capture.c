/*
 * capture.c - the hooks of calls that begin to capture a stream. From the first
 * on, each stream is asked whether it is captured before anything is put into
 * it: a stream may join a capture by an event, so no list of them would do.
 */
#include "limit/preload/driver.h"
#include "limit/preload/measure.h"

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
