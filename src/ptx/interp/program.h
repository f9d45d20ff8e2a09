/*
 * program.h - a kernel ready to run: decoded instructions whose operands are
 * places, and the warps that run them.
 *
 * A warp is 32 lanes in lock-step. A register is 32 values side by side, one
 * a lane; a predicate is one word, a bit a lane. An operand is an offset in
 * one of four areas of such values, its topmost two bits say in which.
 */
#ifndef GKF_PTX_PROGRAM_H
#define GKF_PTX_PROGRAM_H

#include "ptx/front/match.h"
#include "ptx/interp/kernel.h"

#define GKF_LANES     32
#define GKF_ALL_LANES UINT32_MAX
#define GKF_WINDOWS   64 /* of memory, that a launch remembers */
#define GKF_BARRIERS  16 /* of a block */

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
/* The pool begins with a predicate that is true in all lanes. */
#define GKF_TRUE GKF_PLACE(GKF_AREA_POOL, 0)

/* Generic addresses outside of device memory, by their topmost 16 bits. */
#define GKF_WINDOW_SHIFT  48
#define GKF_WINDOW_SHARED ((uint64_t)1 << GKF_WINDOW_SHIFT)
#define GKF_WINDOW_LOCAL  ((uint64_t)2 << GKF_WINDOW_SHIFT)
#define GKF_WINDOW_PARAM  ((uint64_t)3 << GKF_WINDOW_SHIFT)

struct gkf_warp;
struct gkf_op;

/* Does an instruction in the lanes of mask, which are not none. */
typedef void gkf_op_fn(struct gkf_warp *w, const struct gkf_op *op,
		       uint32_t mask);

struct gkf_op {
	gkf_op_fn *run;
	uint32_t guard;      /* place of a predicate */
	uint32_t guard_flip; /* all ones: where it is false */
	/* Places; e: a second result, a fourth operand, who acts together. */
	uint32_t d, e, a, b, c;
	uint32_t line;
	int64_t imm;    /* a number, an offset, the target of a branch */
	uint8_t size;   /* bytes of what is loaded, stored, copied */
	uint8_t count;  /* of a vector */
	uint8_t wide;   /* bytes of the register it comes from or goes to */
	uint8_t space;  /* enum gkf_ptx_space */
	uint8_t round;  /* enum gkf_round */
	uint8_t bool_;  /* enum gkf_bool */
	uint8_t window; /* of the launch, to look into first */
	bool is_signed;
	bool narrow_address; /* 32 bits of it in a register */
	bool framed;         /* relative to the frame's local memory */
	bool flip_c;         /* the predicate that it reads is negated */
	bool flush;          /* subnormal numbers count as 0 */
	bool saturate;
	bool writes;            /* to memory */
	const uint32_t *places; /* of a vector's elements */
	const struct gkf_call *call;
};

/* A parameter or result of a call: bytes of the frames' local memory. */
struct gkf_copy {
	uint32_t from, to, size;
};
struct gkf_call {
	uint32_t code; /* which function of the kernel */
	uint32_t in_count, out_count;
	const struct gkf_copy *in, *out; /* caller to callee; callee to it */
};

/* A function, decoded. */
struct gkf_code {
	const struct gkf_ptx_function *source;
	const struct gkf_op *ops;
	uint32_t count;
	uint32_t frame_size; /* bytes of its registers */
	uint32_t local_size; /* bytes a lane */
};

/* The first instruction that we do not execute. */
struct gkf_ptx_refused {
	const char *function, *name;
	const char *operand; /* that matters: a callee; NULL: none does */
	uint32_t line;
};

struct gkf_ptx_kernel {
	struct gkf_arena arena;
	const struct gkf_ptx_function *source;
	struct gkf_code *codes; /* codes[0] is the kernel itself */
	uint32_t code_count;
	unsigned char *pool;
	uint32_t static_shared; /* bytes */
	uint32_t constants;     /* bytes of .const that it names */
	uint32_t dynamic_at;    /* where a launch's own begins */
	uint32_t max_frame;
	uint32_t stack;    /* bytes of local memory a lane, of all functions */
	uint32_t specials; /* registers that it reads */
	uint32_t block_specials; /* of those, what differs between blocks */
	bool recursive;
	struct gkf_ptx_refused refused; /* name NULL: nothing is */
};

/* A call that has not returned. */
struct gkf_frame {
	const struct gkf_code *code;
	struct gkf_frame *parent;
	struct gkf_frame *made_before; /* in this launch */
	const struct gkf_call *call;
	uint32_t return_pc;
	uint32_t inside; /* lanes, also of what they call from here */
	uint32_t local;  /* where its local memory begins */
	uint32_t depth;
	_Alignas(64) unsigned char registers[];
};

enum gkf_path_state {
	GKF_PATH_READY,
	GKF_PATH_BARRIER, /* of the block */
	GKF_PATH_WARP,    /* of lanes of the warp */
};

/* Lanes of a warp that stand at the same instruction. */
struct gkf_path {
	struct gkf_frame *frame;
	uint32_t mask, pc;
	uint8_t state; /* enum gkf_path_state */
	uint8_t barrier;
	uint32_t wanted; /* lanes that it waits for, as the instruction says */
	uint32_t waited; /* turns it was passed over */
};

/* Counts of a phase. */
struct gkf_barrier {
	uint32_t arrived;         /* threads */
	uint32_t expected;        /* 0: all threads that there are */
	uint32_t yes, no;         /* what its threads said */
	uint32_t all_yes, all_no; /* of the phase before */
};

struct gkf_run; /* a launch */
struct gkf_block;

struct gkf_warp {
	unsigned char *base[4]; /* of areas */
	uint32_t mask, pc;      /* of the path that runs */
	uint32_t limit;         /* it is looked after at this pc; 0: at once */
	uint32_t live;          /* lanes that have not ended */
	uint32_t paths, current;
	int32_t patience; /* back-branches until others have a turn */
	uint32_t turn;    /* choices for which the path keeps its turn */
	bool yields;
	uint32_t carry; /* lanes whose flag CC.CF is set */
	/*
	 * The values that lanes bring when they wait for each other, and whose
	 * they are.
	 */
	uint64_t brought[GKF_LANES];
	uint32_t gathered; /* lanes that wait, and have brought theirs */
	uint32_t met;      /* lanes that have come, while they act; else 0 */
	uint32_t lanes;    /* that the block has here */
	struct gkf_frame *frame, *root;
	struct gkf_run *run;
	struct gkf_block *block;
	uint32_t index;       /* in the block */
	uint64_t nap_ns;      /* that its threads have slept in this block */
	unsigned char *local; /* lane after lane */
	uint32_t came[GKF_BARRIERS]; /* lanes, in a barrier's phase */
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
	enum gkf_ptx_end end;        /* GKF_PTX_DONE while all is well */
	uint64_t start_ns, slept_ns; /* slept: by all threads */
	uint64_t block_ns; /* not slept until the block began, if any slept */
	uint32_t stack;    /* bytes of local memory a lane */
	uint32_t shared_size;
	uint32_t sm_count;
	unsigned char *params;   /* only read */
	struct gkf_frame *spare; /* frames of calls that returned */
	struct gkf_frame *made;  /* all frames of calls */
	struct gkf_ptx_window window[GKF_WINDOWS];
};

/* The SM that a block runs on. */
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

/* The time of a launch until now, less the time that its threads slept. */
uint64_t gkf_run_awake_ns(const struct gkf_run *run);

/* Ends the launch for a reason; the first one counts. */
void gkf_run_fail(struct gkf_warp *w, const struct gkf_op *op, unsigned lane,
		  enum gkf_ptx_end end, uint64_t address);

/*
 * Paths; path.c. What runs is in the warp itself until gkf_path_choose() puts
 * it back and takes the next one; false: none can run.
 */
void gkf_path_branch(struct gkf_warp *w, uint32_t taken, uint32_t target);
void gkf_path_exit(struct gkf_warp *w, uint32_t mask);
void gkf_path_block(struct gkf_warp *w, uint32_t mask, unsigned barrier);
/*
 * Waits until all lanes that are wanted wait for the same ones, wherever they
 * stand. Then the instruction is run again by each, with met, before any of
 * them goes on.
 */
void gkf_path_gather(struct gkf_warp *w, uint32_t mask, uint32_t wanted);
void gkf_path_call(struct gkf_warp *w, uint32_t mask, struct gkf_frame *frame);
void gkf_path_return(struct gkf_warp *w, uint32_t mask);
bool gkf_path_choose(struct gkf_warp *w);

/*
 * Barriers; barrier.c. count 0: all threads. Looking releases those whose
 * threads have come, because some came or others ended.
 */
void gkf_barrier_arrive(struct gkf_warp *w, uint32_t mask, unsigned barrier,
			uint32_t count, bool waits);
void gkf_barriers_look(struct gkf_block *b);

#endif
