/*
 * memory.h - device memory within the limit, for the hooks of all calls that
 * take it or give it back.
 *
 * A call that may take memory reserves the most that it can take
 * (memory_begin), asks the driver, and settles to what the driver really took
 * (memory_end). Two sorts of bytes are told apart:
 *
 * counted   known by what was asked for: blocks, handles, pools
 * measured  contexts, code, arrays, what others keep alive: what NVML says of
 *           this process, less what is counted
 */
#ifndef GKL_PRELOAD_MEMORY_H
#define GKL_PRELOAD_MEMORY_H

#include "abi/cuda_abi.h"
#include "limit/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* All that is left within the limit, be it nothing. */
#define MEMORY_ALL_LEFT UINT64_MAX

struct memory_call {
	int device; /* negative: nothing is limited */
	enum gkl_kind kind;
	uint64_t pending; /* reserved for it */
};

/*
 * For a call that may take `most` bytes of a device (a LIMITED_ number:
 * limited.h). Waits while the group is suspended. CUDA_SUCCESS: make the call,
 * then memory_end(), soon. Anything else is the answer to the program; a
 * refusal is counted, and ACTIVE_OOM_KILLER obeyed.
 */
CUresult memory_begin(struct memory_call *ret_call, int device,
		      enum gkl_kind kind, uint64_t most);

/* The same, without a word to anybody when there is no room. */
CUresult memory_try(struct memory_call *ret_call, int device,
		    enum gkl_kind kind, uint64_t most);

/* Counts a refusal, and obeys ACTIVE_OOM_KILLER. */
void memory_refuse(int device, uint64_t bytes);

/* The driver took so much; 0: nothing. */
void memory_end(struct memory_call *call, uint64_t taken);

/*
 * The same for what is measured; `guess` is taken for right until that is
 * possible. False: the group is above its limit now; undo the call.
 */
bool memory_end_measured(struct memory_call *call, uint64_t guess);

/*
 * Around a call that gives memory back: enter, the driver's call, memory_give()
 * if it succeeded, leave. give: bytes that were counted.
 */
void memory_enter(void);
void memory_leave(void);
void memory_give(int device, enum gkl_kind kind, uint64_t bytes);

/*
 * Bytes that were counted are the driver's to keep or to give back from now
 * on; what it keeps is measured.
 */
void memory_doubt(int device, enum gkl_kind kind, uint64_t bytes);

/* After something that is measured ended. False: it is measured later. */
bool memory_measure(int device, enum gkl_kind kind);

/*
 * A moment at which the driver gives back what was freed in the order of
 * streams; and before anybody is told what is used. One load where nothing is
 * due.
 */
void memory_refresh(int device);
void memory_refresh_all(void);

/*
 * Something of the device may change later, at a moment of its own: pools say
 * so when they are asked; for what is measured, the next `looks` refreshes do.
 */
void memory_expect(int device, unsigned looks);

/* What is measured is less by that, as nobody can measure it. */
void memory_shrink(int device, enum gkl_kind kind, uint64_t bytes);

/*
 * Around a launch of a graph, which may allocate. One load where no graph of
 * this process does. Anything but CUDA_SUCCESS is the answer to the program.
 */
struct memory_graph {
	struct memory_call call;
	uint64_t idle; /* what was there for it */
	void *pool;    /* NULL: it allocates nothing */
};
CUresult memory_graph_begin(CUgraphExec exec, struct memory_graph *ret_graph);
void memory_graph_end(struct memory_graph *graph);

/* Moments of measuring, counted: what was taken before one may be shared. */
uint32_t memory_epoch(void);

#endif
