/*
 * front.h - the room that every entry point of this libcuda goes through: is
 * the driver initialised, count the call, which context is current.
 *
 * A topic file defines the functions of its topic; what they share with others
 * is declared here or in the topic's own header.
 */
#ifndef GKF_CUDA_FRONT_H
#define GKF_CUDA_FRONT_H

#include "abi/cuda_abi.h"
#include "fake/cuda/handle.h"
#include "fake/machine.h"
#include "fake/queue.h"

/* Rows of cuda.def. */
enum cuda_row {
#define CUDA(symbol, base, since, stream, params) ROW_##symbol,
#include "abi/cuda.def"
#undef CUDA
	ROW_COUNT
};

/*
 * Whoever has things of its own in every context: called when a context is
 * made (in this order) and destroyed (in reverse). `state` is a word of the
 * context, ctx->part[PART_...]. close() may wait for work that still runs.
 */
enum cuda_part {
	PART_MEMORY, /* memory.c */
	PART_STREAM, /* stream.c */
	PART_MODULE, /* module.c */
	PART_COUNT
};
struct cuda_part_row {
	CUresult (*open)(CUcontext ctx);
	void (*close)(CUcontext ctx);
};
extern const struct cuda_part_row memory_part, stream_part, module_part;

/* A device that this process sees; its place in `cuda.device` is CUdevice. */
struct cuda_device {
	unsigned index;    /* in the machine */
	uint32_t instance; /* MIG, or GKF_NO_INSTANCE */
	const struct gkf_board *board;
	unsigned slot;     /* of the ledger, while a context is alive */
	unsigned contexts; /* alive */
	CUcontext primary; /* NULL while it is not active */
	unsigned primary_retained, primary_flags;
};

/* What cuInit found; written once, before `ready` is set. */
struct cuda_process {
	_Atomic int ready; /* 1; after a fork, in the child, -1 */
	struct gkf_machine *machine;
	struct gkf_file *file;
	unsigned device_count;
	struct cuda_device device[GKF_DEVICES_MAX];
};
extern struct cuda_process cuda;

struct CUctx_st {
	struct cuda_device *device;
	unsigned flags; /* of cuCtxCreate, or of the primary context */
	bool primary;
	uint64_t id;        /* cuCtxGetId */
	_Atomic int sticky; /* CUresult that every call answers from now on */
	void *part[PART_COUNT];
};

/* NULL: none. The current context of the calling thread. */
CUcontext ctx_current(void);

/* A fault of the device that the context does not survive. */
void ctx_stick(CUcontext ctx, CUresult result);

/*
 * Checks that the driver is initialised (CUDA_ERROR_NOT_INITIALIZED, in a
 * forked child too) and counts the call.
 */
CUresult front_enter(enum cuda_row row);

/*
 * The same, and there is a current context (CUDA_ERROR_INVALID_CONTEXT,
 * CUDA_ERROR_CONTEXT_IS_DESTROYED) without a sticky error (that error).
 */
CUresult front_enter_context(enum cuda_row row, CUcontext *ret_ctx);

/* Counts a call that nobody answers; the body of every default. */
CUresult front_refuse(enum cuda_row row);

/* What a gk_err is called in CUDA. */
CUresult front_error(int gk_err);

/* Declare what is needed and leave with an error unless all is well. */
#define ENTER(symbol)                                                          \
	do {                                                                   \
		CUresult entered = front_enter(ROW_##symbol);                  \
		if (entered)                                                   \
			return entered;                                        \
	} while (0)
#define ENTER_CONTEXT(symbol, ctx)                                             \
	CUcontext ctx;                                                         \
	do {                                                                   \
		CUresult entered = front_enter_context(ROW_##symbol, &ctx);    \
		if (entered)                                                   \
			return entered;                                        \
	} while (0)

/*
 * Both twins of a function with streams: BOTH_STREAMS(cuLaunchHostFunc, _ptsz,
 * (CUstream s, ...), (s, ...)) defines cuLaunchHostFunc and
 * cuLaunchHostFunc_ptsz on top of
 *   static CUresult cuLaunchHostFunc_on(enum cuda_row row, bool per_thread,
 *                                       CUstream s, ...)
 * `more` are the arguments' names behind a comma.
 */
#define UNWRAP(...) __VA_ARGS__
#define BOTH_STREAMS(symbol, suffix, params, names)                            \
	CUresult symbol params                                                 \
	{                                                                      \
		return symbol##_on(ROW_##symbol, false, UNWRAP names);         \
	}                                                                      \
	CUresult symbol##suffix params                                         \
	{                                                                      \
		return symbol##_on(ROW_##symbol##suffix, true, UNWRAP names);  \
	}

#endif
