/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.h - the beginning of every entry point of this libcuda: checks that the
 * driver is initialised, counts the call, and finds the current context.
 *
 * Each source file of libcuda defines the functions of one topic. Functions
 * that several topics need are declared here or in the header of their topic.
 */
#ifndef GKF_CUDA_FRONT_H
#define GKF_CUDA_FRONT_H

#include "abi/cuda/cuda_abi.h"
#include "base/log.h"
#include "device/queue.h"
#include "fronts/cuda/context/handle.h"
#include "machine/file/numbers.h"

#include <pthread.h>

struct gkf_gate;
struct gkf_board;
struct gkf_file;
struct gkf_profile;

/* A number for each row of cuda_symbols.def. */
enum cuda_row {
#define CUDA_SYMBOL(symbol, ...) ROW_##symbol,
#include "abi/cuda/cuda_symbols.def"
	ROW_COUNT
};

/*
 * The parts of a context's state, ctx->part[PART_...]. When a context is
 * created, open() of each part is called, in this order; when it ends, close(),
 * in reverse order. close() may wait for unfinished work.
 */
enum cuda_part {
	PART_MEMORY, /* memory_calls.c */
	PART_STREAM, /* stream.c */
	PART_MODULE, /* module.c */
	PART_COUNT
};
struct cuda_part_row {
	CUresult (*open)(CUcontext ctx);
	void (*close)(CUcontext ctx);
};
extern const struct cuda_part_row memory_part, stream_part, module_part;

/*
 * A device visible to this process; its index in `cuda.device` is its CUdevice.
 */
struct cuda_device {
	unsigned index;    /* index among the machine's GPUs */
	uint32_t instance; /* the MIG instance, or GKF_NO_INSTANCE */
	/* differs between uses of the same instance number */
	uint32_t life;
	const struct gkf_board *board;
	/* this process's slot in the machine file; valid while attached */
	_Atomic unsigned slot;
	/* result with which creating a context on the device fails; 0: none */
	_Atomic int failed;
	/* The members below are private to context.c and context_primary.c. */
	_Atomic unsigned contexts; /* number of live contexts */
	/* number of device_hold() calls not yet undone by device_let_go() */
	unsigned held;
	/* the process has a slot, perhaps without contexts */
	_Atomic bool attached;
	pthread_mutex_t lock; /* guards the primary context */
	CUcontext primary;    /* once created, never freed */
	unsigned primary_retained;
	_Atomic unsigned primary_flags;
};

/* Values of cuda.ready. */
enum cuda_ready {
	CUDA_NOT_READY,
	CUDA_READY,
	CUDA_FORKED = -1, /* in a child forked after cuInit() */
	CUDA_ENDED = -2,  /* the process is exiting */
};

/*
 * The state that cuInit() sets up. It is written once, before `ready` is set.
 */
struct cuda_process {
	_Atomic int ready; /* enum cuda_ready */
	struct gkf_machine *machine;
	const struct gkf_gate *gate; /* the gate of `machine` */
	bool launch_blocking;        /* CUDA_LAUNCH_BLOCKING is set */
	unsigned device_count;
	struct cuda_device device[GKF_DEVICES_MAX];
};
extern __attribute__((visibility("hidden"))) struct cuda_process cuda;

/* A context. Any thread may read `alive` and the atomic members. */
struct CUctx_st {
	struct cuda_device *device;
	bool primary;
	/*
	 * The context whose memory and modules this one uses: itself or, for a
	 * green context, the primary context.
	 */
	CUcontext base;
	/* NULL: an ordinary context, which can use all SMs. See green.h. */
	CUgreenCtx green;
	/* number of live green contexts that have this base */
	_Atomic unsigned greens;
	unsigned api;        /* the version that cuCtxGetApiVersion() returns */
	_Atomic uint64_t id; /* cuCtxGetId */
	/* false: destroyed, or an inactive primary context */
	_Atomic bool alive;
	_Atomic int sticky; /* CUresult of all further calls; 0: no error */
	/*
	 * The device's failure counter: it changes when all contexts of the
	 * device fail.
	 */
	const _Atomic uint64_t *strike;
	uint64_t strike_seen;
	/* flags of cuCtxCreate() or of the primary context */
	_Atomic unsigned flags;
	_Atomic unsigned attached; /* uses counted by cuCtxAttach() */
	_Atomic size_t limit[CU_LIMIT_MAX];
	_Atomic unsigned cache_config; /* CUfunc_cache */
	/*
	 * The contexts whose memory this one may use, and their ids; see
	 * peer.c.
	 */
	struct {
		_Atomic(CUcontext) ctx;
		_Atomic uint64_t id;
	} peer[GKF_DEVICES_MAX];
	void *part[PART_COUNT];
};

/*
 * The current context of the calling thread, alive or not; NULL if there is
 * none.
 */
CUcontext ctx_current(void);

/*
 * Finds the context that an argument names. NULL means the current context and
 * may fail like front_enter_context(). Any other value must be a live context,
 * else CUDA_ERROR_INVALID_CONTEXT.
 */
CUresult ctx_of(CUcontext given, CUcontext *ret_ctx);

/*
 * Makes a device fault sticky: every further call on the context returns
 * `result`. Unless the fault is a failed assertion of the program, new contexts
 * of this process on the device return it too.
 */
void ctx_stick(CUcontext ctx, CUresult result);

/*
 * Returns the result that calls on the context must return: its sticky error,
 * which may come from a failure of the whole device, or CUDA_SUCCESS.
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
 * Whether kernels in `ctx` may use memory of `owner`: both are on one device,
 * or peer access is enabled.
 */
bool ctx_reaches(CUcontext ctx, CUcontext owner);

/* Whether a device can access the memory of another device. */
bool device_can_access(const struct cuda_device *d,
		       const struct cuda_device *other);

/*
 * Returns the device with this number, or NULL (then the caller returns
 * CUDA_ERROR_INVALID_DEVICE).
 */
static inline struct cuda_device *front_device(CUdevice device)
{
	return (unsigned)device < cuda.device_count ? &cuda.device[device]
						    : NULL;
}

/* The number by which programs name a device. */
static inline CUdevice front_number(const struct cuda_device *d)
{
	return (CUdevice)(d - cuda.device);
}

/* Reads an attribute of a device; false: unknown attribute. */
bool device_attribute(const struct cuda_device *d, CUdevice_attribute id,
		      int *ret_value);

/*
 * The clock in MHz that programs see. Consumer boards report the clock of their
 * specification, not their highest one.
 */
int64_t device_clock_mhz(const struct gkf_profile *p);

/*
 * The bytes of memory that programs can use and those that are free, as
 * reported by cuMemGetInfo().
 */
void device_memory(const struct cuda_device *d, uint64_t *ret_total,
		   uint64_t *ret_free);

/* Whether two devices are connected by NVLink (peer.c). */
bool device_is_linked(const struct cuda_device *d,
		      const struct cuda_device *other);

/* Whether the GPU or MIG instance no longer exists. */
bool device_is_gone(const struct cuda_device *d);

/*
 * Begins a call: counts it and checks that the driver is initialised. Returns
 * CUDA_ERROR_NOT_INITIALIZED if it is not, or in a forked child;
 * CUDA_ERROR_DEINITIALIZED while the process exits.
 */
CUresult front_enter(enum cuda_row row);

/*
 * Like front_enter(), but also returns the current context. Fails with
 * CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED or the sticky
 * error of the context.
 */
CUresult front_enter_context(enum cuda_row row, CUcontext *ret_ctx);

/*
 * Forbids the calling thread to use CUDA while it runs a host function: its
 * calls fail with CUDA_ERROR_NOT_PERMITTED.
 */
void front_bar(bool barred);

/*
 * Counts and refuses a call; the body of every function whose row says
 * "refused".
 */
CUresult front_refuse(enum cuda_row row);

/* Counts a refused call and logs it. The driver must be initialised. */
void front_count_refusal(enum cuda_row row);

/*
 * Logs that a function of one of our libraries was refused; `why` may be NULL.
 */
void front_tell_refusal(const char *symbol, const char *why);

/*
 * Logs an error, both in this process's log and in the log that programs read
 * with cuLogs*. Runs callbacks of the program; the caller may hold locks of
 * this library.
 */
void front_log(int level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Converts a gk_err to a CUresult. */
CUresult front_error(int gk_err);

/* Begin an entry point, and return from it on an error. */
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
 * Defines the twins of a function with a stream, that is the function itself
 * and its variant for per-thread default streams (suffix _ptsz or _ptds), and
 * begins the body that they share:
 * BOTH_STREAMS(cuLaunchHostFunc, _ptsz, (CUstream s, ...), (s, ...)) {...}
 * defines
 *   static CUresult cuLaunchHostFunc_on(enum cuda_row row, bool per_thread,
 *                                       CUstream s, ...)
 * which cuLaunchHostFunc() and cuLaunchHostFunc_ptsz() call. So every body has
 * two more parameters: row, the twin that was called, and per_thread, whether a
 * NULL stream is the calling thread's own. To find the definition of NAME_on,
 * search for "BOTH_STREAMS(NAME,".
 */
#define UNWRAP(...) __VA_ARGS__
#define BOTH_STREAMS(symbol, suffix, params, names)                            \
	static CUresult symbol##_on(enum cuda_row row, bool per_thread,        \
				    UNWRAP params);                            \
	CUresult symbol params                                                 \
	{                                                                      \
		return symbol##_on(ROW_##symbol, false, UNWRAP names);         \
	}                                                                      \
	CUresult symbol##suffix params                                         \
	{                                                                      \
		return symbol##_on(ROW_##symbol##suffix, true, UNWRAP names);  \
	}                                                                      \
	static inline CUresult symbol##_on(enum cuda_row row, bool per_thread, \
					   UNWRAP params)

#endif
