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
#include "base/log.h"
#include "device/queue.h"
#include "fronts/cuda/handle.h"
#include "machine/file/numbers.h"

#include <pthread.h>

struct gkf_gate;
struct gkf_board;
struct gkf_file;
struct gkf_profile;

/* Rows of cuda.def. */
enum cuda_row {
#define CUDA(symbol, base, since, stream, params) ROW_##symbol,
#include "abi/cuda.def"
#undef CUDA
	ROW_COUNT
};

/*
 * Parts that keep something in every context, in ctx->part[PART_...]. open() is
 * called when a context is made (in this order), close() when it is destroyed
 * (in reverse). close() may wait for work that still runs.
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
	uint32_t life;     /* of that instance */
	const struct gkf_board *board;
	_Atomic unsigned slot; /* of the ledger, while a context is alive */
	_Atomic int failed;    /* CUresult that new contexts answer */
	/* The rest is of context.c and context_primary.c. */
	_Atomic unsigned contexts; /* alive */
	unsigned held;             /* device_hold() */
	_Atomic bool attached;     /* has a slot, with or without contexts */
	pthread_mutex_t lock;      /* of what is said of the primary context */
	CUcontext primary;         /* one for ever, once it was retained */
	unsigned primary_retained;
	_Atomic unsigned primary_flags;
};

/* Values of cuda.ready. */
enum cuda_ready {
	CUDA_NOT_READY,
	CUDA_READY,
	CUDA_FORKED = -1, /* a child of a process that was ready */
	CUDA_ENDED = -2,  /* the process exits */
};

/* The state that cuInit found; written once, before `ready` is set. */
struct cuda_process {
	_Atomic int ready; /* enum cuda_ready */
	struct gkf_machine *machine;
	const struct gkf_gate *gate; /* of the machine */
	bool launch_blocking;        /* CUDA_LAUNCH_BLOCKING */
	unsigned device_count;
	struct cuda_device device[GKF_DEVICES_MAX];
};
extern __attribute__((visibility("hidden"))) struct cuda_process cuda;

/* A context; that it lives and what is atomic may be read by any thread. */
struct CUctx_st {
	struct cuda_device *device;
	bool primary;
	/* Whose memory and modules it has: its own, unless it is a green one.
	 */
	CUcontext base;
	CUgreenCtx green;        /* NULL: it has all SMs; green.h */
	_Atomic unsigned greens; /* green ones that have it as base */
	unsigned api;            /* cuCtxGetApiVersion */
	_Atomic uint64_t id;     /* cuCtxGetId */
	_Atomic bool alive;      /* else destroyed, or primary and not active */
	_Atomic int sticky; /* CUresult that every call answers from now on */
	/* The device's word that changes when all contexts fail. */
	const _Atomic uint64_t *strike;
	uint64_t strike_seen;
	_Atomic unsigned flags; /* of cuCtxCreate, or of the primary context */
	_Atomic unsigned attached; /* cuCtxAttach */
	_Atomic size_t limit[CU_LIMIT_MAX];
	_Atomic unsigned cache_config; /* CUfunc_cache */
	/* Contexts whose memory it may use, and their lives; peer.c. */
	struct {
		_Atomic(CUcontext) ctx;
		_Atomic uint64_t id;
	} peer[GKF_DEVICES_MAX];
	void *part[PART_COUNT];
};

/*
 * The context that the calling thread works on: its top of stack, whether or
 * not that still lives. NULL: none.
 */
CUcontext ctx_current(void);

/*
 * The context that a caller means: NULL is the current one. The errors of
 * front_enter_context() for that; CUDA_ERROR_INVALID_CONTEXT for a value that
 * is no context, or one that does not live.
 */
CUresult ctx_of(CUcontext given, CUcontext *ret_ctx);

/*
 * Ends the use of a context by a fault of the device: every call on it answers
 * result from now on. New contexts of this process on that device do, too,
 * unless an assertion of the program's has failed.
 */
void ctx_stick(CUcontext ctx, CUresult result);

/*
 * What every call on it answers: CUDA_SUCCESS, or what it failed with; the
 * whole device may have failed meanwhile.
 */
CUresult ctx_strike(CUcontext ctx);
static inline CUresult ctx_error(CUcontext ctx)
{
	if (__builtin_expect(
		atomic_load_explicit(ctx->strike, memory_order_relaxed) !=
		    ctx->strike_seen,
		0))
		return ctx_strike(ctx);
	return (CUresult)atomic_load_explicit(&ctx->sticky,
					      memory_order_relaxed);
}

/*
 * May kernels in `ctx` use memory of `owner`? Of the same device, or peer
 * access is enabled.
 */
bool ctx_reaches(CUcontext ctx, CUcontext owner);

/* Can a device reach the memory of another one? */
bool device_can_access(const struct cuda_device *d,
		       const struct cuda_device *other);

/* The device of that number; NULL: CUDA_ERROR_INVALID_DEVICE. */
static inline struct cuda_device *front_device(CUdevice device)
{
	return (unsigned)device < cuda.device_count ? &cuda.device[device]
						    : NULL;
}

/* The number by which CUDA knows a device. */
static inline CUdevice front_number(const struct cuda_device *d)
{
	return (CUdevice)(d - cuda.device);
}

/* The value of a device's attribute; false: there is no such attribute. */
bool device_attribute(const struct cuda_device *d, CUdevice_attribute id,
		      int *ret_value);

/*
 * The clock in MHz; a consumer board tells the one printed on its box, not its
 * highest.
 */
int64_t device_clock_mhz(const struct gkf_profile *p);

/* A device's memory for programs in bytes, as cuMemGetInfo tells it. */
void device_memory(const struct cuda_device *d, uint64_t *ret_total,
		   uint64_t *ret_free);

/* Do they reach each other's memory by NVLink? peer.c */
bool device_is_linked(const struct cuda_device *d,
		      const struct cuda_device *other);

/* Does the machine say that the GPU is gone? */
bool device_is_gone(const struct cuda_device *d);

/*
 * Checks that the driver is initialised (CUDA_ERROR_NOT_INITIALIZED, in a
 * forked child too; CUDA_ERROR_DEINITIALIZED while the process exits) and
 * counts the call.
 */
CUresult front_enter(enum cuda_row row);

/*
 * The same, and there is a current context (CUDA_ERROR_INVALID_CONTEXT,
 * CUDA_ERROR_CONTEXT_IS_DESTROYED) without a sticky error (that error).
 */
CUresult front_enter_context(enum cuda_row row, CUcontext *ret_ctx);

/*
 * While a host function runs its thread may not enter:
 * CUDA_ERROR_NOT_PERMITTED.
 */
void front_bar(bool barred);

/* Counts a call that nobody answers; the body of every default. */
CUresult front_refuse(enum cuda_row row);

/* Counts a refused call of an initialised process, and logs it. */
void front_count_refusal(enum cuda_row row);

/* Logs the refusal of a function of any library of ours. */
void front_tell_refusal(const char *symbol);

/*
 * Tells an error: to this process's log and to the program, which asks with
 * cuLogs*. Locks of the front may be held; callbacks of the program's run.
 */
void front_log(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Converts a gk_err into CUDA's result code. */
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
