/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.c - defines the functions of forward.def and forward_graph.def, each
 * of which makes one call to the driver.
 */
#include "fronts/cudart/runtime.h"

static inline CUmemLocation driver_location(struct cudaMemLocation location)
{
	return (CUmemLocation){.type = (CUmemLocationType)location.type,
			       .id = location.id};
}

#define ENTER_FOR_NONE()    ENTER()
#define ENTER_FOR_CONTEXT() ENTER_CONTEXT()

#define PASS(need, symbol, params, call)                                       \
	cudaError_t symbol params                                              \
	{                                                                      \
		ENTER_FOR_##need();                                            \
		return runtime_result(legacy->call);                           \
	}

#define PASS_STREAM(symbol, suffix, params, names, call)                       \
	BOTH_STREAMS(symbol, suffix, params, names)                            \
	{                                                                      \
		ENTER_CONTEXT();                                               \
		return runtime_result(d->call);                                \
	}

#include "fronts/cudart/forward.def"
#include "fronts/cudart/forward_graph.def"
#undef PASS
#undef PASS_STREAM
