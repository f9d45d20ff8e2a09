/*
 * forward.c - the functions of forward.def and forward_graph.def: one call of
 * the driver each.
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

/* A parameter list with the driver before it, less the parentheses. */
#define WITH_DRIVER(...) const struct driver *d, __VA_ARGS__
#define PASS_STREAM(symbol, suffix, params, names, call)                       \
	static inline cudaError_t symbol##_by(WITH_DRIVER params)              \
	{                                                                      \
		ENTER_CONTEXT();                                               \
		return runtime_result(d->call);                                \
	}                                                                      \
	BOTH(symbol, suffix, params, names)

#include "fronts/cudart/forward.def"
#include "fronts/cudart/forward_graph.def"
#undef PASS
#undef PASS_STREAM
