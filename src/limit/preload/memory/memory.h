/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - device memory within the limit, for the hooks of all calls that
 * take it or give it back.
 *
 * A call that may take memory reserves the most that it can take
 * (memory_begin), calls the driver, and then records what the driver really
 * took (memory_end). There are two sorts of bytes:
 *
 * counted   known from the request: blocks, handles, pools
 * measured  contexts, code, arrays, memory that others keep alive: what NVML
 *           reports for this process, minus what is counted
 */
#ifndef GKL_PRELOAD_MEMORY_H
#define GKL_PRELOAD_MEMORY_H

#include "abi/cuda/cuda_abi.h"
#include "limit/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_call {
	int device; /* negative: nothing is limited */
	enum gkl_kind kind;
	uint64_t pending;           /* bytes reserved for the call */
	enum gkl_kind pending_kind; /* GKL_PENDING or GKL_LOADING */
};

/*
 * Begins a call that may take `most` bytes of a device, a number as
 * limited_device() returns it. Waits while the group is suspended.
 * CUDA_SUCCESS: make the call, and memory_end() soon after it. Return any other
 * result to the program: the refusal has been counted, and ACTIVE_OOM_KILLER
 * obeyed.
 */
CUresult memory_begin(struct memory_call *ret_call, int device,
		      enum gkl_kind kind, uint64_t most);

/*
 * Like memory_begin(), but for a call that needs an unknown number of bytes, of
 * which only an upper bound is known. Reserves `most`, or less if less is left,
 * but at least `least`. Such a call may take long: measuring does not wait for
 * it, and other calls wait only briefly for what it reserved.
 */
CUresult memory_begin_load(struct memory_call *ret_call, int device,
			   enum gkl_kind kind, uint64_t least, uint64_t most);

/* Like memory_begin(), but neither counts nor reports a refusal. */
CUresult memory_try(struct memory_call *ret_call, int device,
		    enum gkl_kind kind, uint64_t most);

/* Counts a refusal, and obeys ACTIVE_OOM_KILLER. */
void memory_refuse(int device, uint64_t bytes);

/* Ends the call: the driver took `taken` bytes; 0: none. */
void memory_end(struct memory_call *call, uint64_t taken);

/*
 * Like memory_end(), but for measured memory; `guess` bytes count until the
 * memory can be measured. False: the group is above its limit now; undo the
 * call.
 */
bool memory_end_measured(struct memory_call *call, uint64_t guess);

/*
 * For a call that gives memory back: call memory_enter(), then the driver. If
 * the driver succeeded and the bytes were counted, call memory_give(). At the
 * end, call memory_leave().
 */
void memory_enter(void);
void memory_leave(void);
void memory_give(int device, enum gkl_kind kind, uint64_t bytes);

/*
 * Stops counting bytes that the program has freed but that the driver may keep.
 * The bytes that it keeps are measured from now on.
 */
void memory_doubt(int device, enum gkl_kind kind, uint64_t bytes);

/*
 * Measures a device; called after measured memory was freed. False: it is
 * measured later.
 */
bool memory_measure(int device, enum gkl_kind kind);

/*
 * Measures, and settles pools, if that is due. Called when the driver gives
 * back memory that was freed by cuMemFreeAsync(), and before usage is reported.
 * Costs one load if nothing is due.
 */
void memory_refresh(int device);
void memory_refresh_all(void);

/*
 * Call when memory of the device may change later without a further call. Makes
 * the next refresh settle pools, and the next `looks` refreshes measure.
 */
void memory_expect(int device, unsigned looks);

/* Lowers measured memory by `bytes` where nothing can be measured. */
void memory_shrink(int device, enum gkl_kind kind, uint64_t bytes);

/*
 * Called before and after the launch of a graph, which may allocate. Costs one
 * load if no graph of this process allocates. Return any result but
 * CUDA_SUCCESS to the program.
 */
struct memory_graph {
	struct memory_call call;
	uint64_t idle; /* claimed from the pool's unused reserve */
	void *pool;    /* NULL: the graph allocates nothing */
};
CUresult memory_graph_begin(CUgraphExec exec, struct memory_graph *ret_graph);
void memory_graph_end(struct memory_graph *graph);

/*
 * The number of measurements so far. Blocks taken before the last measurement
 * may be shared with measured memory.
 */
uint32_t memory_epoch(void);

#endif
