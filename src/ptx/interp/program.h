/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - a kernel that is ready to run: its decoded instructions, whose
 * operands are places, and the warps that run them.
 *
 * A warp is 32 lanes in lock-step. A register is 32 adjacent values, one per
 * lane; a predicate is one word with one bit per lane. A place is an offset
 * into an area of such values; its top two bits select the area.
 */
#ifndef GKF_PTX_PROGRAM_H
#define GKF_PTX_PROGRAM_H

#include "ptx/front/match.h"
#include "ptx/interp/kernel.h"

#define GKF_LANES     32
#define GKF_ALL_LANES UINT32_MAX
#define GKF_WINDOWS   64 /* memory windows that a launch caches */
#define GKF_BARRIERS  16 /* per block */

/* Areas of operands. */
enum gkf_area {
	GKF_AREA_FRAME, /* registers of the function */
	GKF_AREA_POOL,  /* constants of the kernel */
	GKF_AREA_WARP,  /* special registers */
};
#define GKF_AREA_SHIFT 30
#define GKF_PLACE(area, offset)                                                \
	((uint32_t)(area) << GKF_AREA_SHIFT | (uint32_t)(offset))
#define GKF_NOWHERE UINT32_MAX
/* The pool of constants begins with a predicate that is true in all lanes. */
#define GKF_TRUE GKF_PLACE(GKF_AREA_POOL, 0)

/* Generic addresses outside device memory have these top 16 bits. */
#define GKF_WINDOW_SHIFT  48
#define GKF_WINDOW_SHARED ((uint64_t)1 << GKF_WINDOW_SHIFT)
#define GKF_WINDOW_LOCAL  ((uint64_t)2 << GKF_WINDOW_SHIFT)
#define GKF_WINDOW_PARAM  ((uint64_t)3 << GKF_WINDOW_SHIFT)

struct gkf_warp;
struct gkf_op;

/* Executes an instruction in the lanes of `mask`, which is never 0. */
typedef void gkf_op_fn(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask);

struct gkf_op {
	gkf_op_fn *run;
	uint32_t guard;      /* place of a predicate */
	uint32_t guard_flip; /* all bits set: the guard is negated */
	/* Places. e is a second result, a fourth operand or a member mask. */
	uint32_t d, e, a, b, c;
	uint32_t line;
	int64_t imm;    /* a number, an offset, the target of a branch */
	uint8_t size;   /* bytes loaded, stored or copied */
	uint8_t count;  /* elements of a vector */
	uint8_t wide;   /* bytes of the register that is read or written */
	uint8_t space;  /* enum gkf_ptx_space */
	uint8_t round;  /* enum gkf_round */
	uint8_t bool_;  /* enum gkf_bool */
	uint8_t window; /* index of the launch's window to try first */
	bool is_signed;
	bool narrow_address; /* the address register has 32 bits */
	bool framed;         /* address is relative to the frame's memory */
	bool flip_c;         /* negate the predicate c */
	bool flush;          /* treat subnormal numbers as 0 */
	bool saturate;
	bool writes;            /* whether the instruction writes to memory */
	const uint32_t *places; /* the places of a vector's elements */
	const struct gkf_call *call;
};

/*
 * One parameter or result of a call, as offsets in the two frames' local
 * memory.
 */
struct gkf_copy {
	uint32_t from, to, size;
};
struct gkf_call {
	uint32_t code; /* index of the called function in the kernel */
	uint32_t in_count, out_count;
	/* copies to the callee, and back to the caller */
	const struct gkf_copy *in, *out;
};

/* A decoded function. */
struct gkf_code {
	const struct gkf_ptx_function *source;
	const struct gkf_op *ops;
	uint32_t count;
	uint32_t frame_size; /* bytes of its registers */
	uint32_t local_size; /* bytes per lane */
};

/* The first instruction that we cannot execute. */
struct gkf_ptx_refused {
	const char *function, *name;
	/* the function that it calls, the register that it reads, or NULL */
	const char *operand;
	uint32_t line;
};

struct gkf_ptx_kernel {
	struct gkf_arena arena;
	const struct gkf_ptx_function *source;
	struct gkf_code *codes; /* codes[0] is the kernel itself */
	uint32_t code_count;
	unsigned char *pool;
	uint32_t static_shared; /* bytes */
	uint32_t constants;     /* bytes of .const variables used */
	uint32_t dynamic_at;    /* offset of dynamic shared memory */
	uint32_t max_frame;
	uint32_t stack;    /* total bytes of local memory per lane */
	uint32_t specials; /* bit set of the special registers used */
	/* the special registers that differ between blocks */
	uint32_t block_specials;
	bool recursive;
	struct gkf_ptx_refused refused; /* name is NULL if nothing is refused */
};

/* An active call. */
struct gkf_frame {
	const struct gkf_code *code;
	struct gkf_frame *parent;
	/* the frame that was allocated before this one */
	struct gkf_frame *made_before;
	const struct gkf_call *call;
	uint32_t return_pc;
	uint32_t inside; /* lanes in this frame or in a frame called from it */
	uint32_t local;  /* offset of its local memory */
	uint32_t depth;
	_Alignas(64) unsigned char registers[];
};

enum gkf_path_state {
	GKF_PATH_READY,
	GKF_PATH_BARRIER, /* waiting at a barrier of the block */
	GKF_PATH_WARP,    /* waiting for lanes of the same warp */
};

/* A set of lanes at the same instruction. */
struct gkf_path {
	struct gkf_frame *frame;
	uint32_t mask, pc;
	uint8_t state; /* enum gkf_path_state */
	uint8_t barrier;
	uint32_t wanted; /* the lanes awaited: the instruction's member mask */
	uint32_t waited; /* how often another path was chosen instead */
};

/* One phase of a barrier; counts are in threads. */
struct gkf_barrier {
	uint32_t arrived;
	uint32_t expected; /* 0: all live threads */
	/* for bar.red: how many threads have a true or a false predicate */
	uint32_t yes, no;
	uint32_t all_yes, all_no; /* the same counts for the previous phase */
};

struct gkf_run; /* a launch */
struct gkf_block;

struct gkf_warp {
	unsigned char *base[4]; /* indexed by enum gkf_area */
	uint32_t mask, pc;      /* state of the running path */
	uint32_t limit;         /* run up to this pc; 0: stop at once */
	uint32_t live;          /* lanes that have not exited */
	uint32_t paths, current;
	/* number of back-branches before other paths get a turn */
	int32_t patience;
	uint32_t turn; /* how many more times the running path is chosen */
	bool yields;
	uint32_t carry; /* lanes in which CC.CF is set */
	/* Values that lanes exchange, by lane; stored before a lane waits. */
	uint64_t brought[GKF_LANES];
	uint32_t gathered; /* lanes that wait and have stored their value */
	uint32_t met;      /* lanes in the current exchange; 0: none */
	uint32_t lanes;    /* lanes that have a thread in the block */
	struct gkf_frame *frame, *root;
	struct gkf_run *run;
	struct gkf_block *block;
	uint32_t index;       /* index of this warp in its block */
	uint64_t nap_ns;      /* time slept by its threads in this block */
	unsigned char *local; /* the lanes' local memory, in order */
	/* for each barrier, the lanes that have arrived */
	uint32_t came[GKF_BARRIERS];
	struct gkf_path path[GKF_LANES + 1];
};

struct gkf_block {
	struct gkf_run *run;
	struct gkf_warp **warps;
	uint32_t warp_count, threads;
	uint32_t live; /* threads */
	uint32_t at[3];
	uint64_t number;
	struct gkf_barrier barriers[GKF_BARRIERS];
	unsigned char *shared;
};

struct gkf_run {
	const struct gkf_ptx_launch *launch;
	const struct gkf_ptx_kernel *kernel;
	struct gkf_ptx_report *report;
	enum gkf_ptx_end end;        /* GKF_PTX_DONE until the launch fails */
	uint64_t start_ns, slept_ns; /* slept_ns is the sum over all threads */
	/*
	 * gkf_run_awake_ns() when the block began; 0: no thread had slept
	 * before
	 */
	uint64_t block_ns;
	uint32_t stack; /* bytes of local memory per lane */
	uint32_t shared_size;
	uint32_t sm_count;
	unsigned char *params;   /* read-only */
	struct gkf_frame *spare; /* frames free for reuse */
	struct gkf_frame *made;  /* all frames, for freeing them */
	struct gkf_ptx_window window[GKF_WINDOWS];
};

/* Returns the SM that runs a block. */
static inline uint32_t gkf_run_sm(const struct gkf_run *run, uint64_t block)
{
	uint32_t place = (uint32_t)(block % run->sm_count);

	return run->launch->sms ? run->launch->sms[place] : place;
}

static inline void *gkf_at(struct gkf_warp *w, uint32_t place)
{
	return w->base[place >> GKF_AREA_SHIFT] +
	       (place & ((1U << GKF_AREA_SHIFT) - 1));
}

/*
 * Returns how long the launch has run, not counting the time that its threads
 * slept (run_state.c).
 */
uint64_t gkf_run_awake_ns(const struct gkf_run *run);

/*
 * Ends the launch for the given reason; later calls have no effect. `op` may be
 * NULL.
 */
void gkf_run_fail(struct gkf_warp *w, const struct gkf_op *op, unsigned lane,
		  enum gkf_ptx_end end, uint64_t address);

/*
 * Paths (path.c). The state of the running path is in the warp itself until
 * gkf_path_choose() saves it and loads the next path. gkf_path_choose() returns
 * false if no path can run.
 */
void gkf_path_branch(struct gkf_warp *w, uint32_t taken, uint32_t target);
void gkf_path_exit(struct gkf_warp *w, uint32_t mask);
void gkf_path_block(struct gkf_warp *w, uint32_t mask, unsigned barrier);
/*
 * Makes the lanes of `mask` wait until all lanes of `wanted` wait for the same
 * set, no matter at which instruction. Then each path runs its instruction
 * again with w->met set, before any path continues.
 */
void gkf_path_gather(struct gkf_warp *w, uint32_t mask, uint32_t wanted);
void gkf_path_call(struct gkf_warp *w, uint32_t mask, struct gkf_frame *frame);
void gkf_path_return(struct gkf_warp *w, uint32_t mask);
bool gkf_path_choose(struct gkf_warp *w);

/*
 * Barriers (barrier.c). `count` is the number of threads expected; 0 means all.
 * If the lanes also wait, call gkf_path_block() first. gkf_barriers_look()
 * releases the barriers that no longer wait for anyone; call it when threads
 * have exited.
 */
void gkf_barrier_arrive(struct gkf_warp *w, uint32_t mask, unsigned barrier,
			uint32_t count);
void gkf_barriers_look(struct gkf_block *b);

#endif
