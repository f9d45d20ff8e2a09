/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.h - communicators and their work: the structs and functions that the
 * files of libnccl share.
 *
 * Each group of calls becomes a plan, which one native kernel executes in the
 * program's stream. The kernels of all ranks, which may be in several
 * processes, work together through a shared file (meeting.h).
 */
#ifndef GKF_NCCL_FRONT_H
#define GKF_NCCL_FRONT_H

#include "abi/libraries/nccl_abi.h"
#include "fronts/common/native.h"
#include "fronts/nccl/error.h"
#include "fronts/nccl/meeting.h"

#define EXPORT __attribute__((visibility("default")))

/* Defines a function of nccl.def, and its alias pncclX, which profilers use. */
#define FRONT(symbol, params)                                                  \
	EXPORT extern __typeof__(symbol) p##symbol                             \
	    __attribute__((alias(#symbol)));                                   \
	EXPORT ncclResult_t symbol params
#define FRONT_OTHER(type, symbol, params)                                      \
	EXPORT extern __typeof__(symbol) p##symbol                             \
	    __attribute__((alias(#symbol)));                                   \
	EXPORT type symbol params

enum function {
	ALL_GATHER,
	ALL_REDUCE,
	ALL_TO_ALL,
	BROADCAST,
	GATHER,
	REDUCE,
	REDUCE_SCATTER,
	SCATTER,
	FUNCTIONS,
};

/* A send or a receive. */
struct message {
	bool sends;
	unsigned peer;
	uint64_t bytes;
	struct place at; /* where other processes find the buffer */
	CUdeviceptr address;
};

/* A collective, and its buffers on the device. */
struct collective {
	struct call call;
	CUdeviceptr in, out;
	/* device address of the scalar; 0: use call.scalar */
	CUdeviceptr scalar;
};

/* The work of one kernel: collectives in order, then all messages at once. */
struct plan {
	struct plan *next;
	CUstream *stream; /* streams; the kernel runs in the first one */
	unsigned streams;
	bool kept; /* the plan was captured: a graph may run it again */
	unsigned collectives, messages;
	struct collective *collective;
	struct message *message;
};

/* An operator that ncclRedOpCreatePreMulSum() has created. */
struct scaled {
	bool used;
	ncclDataType_t type;
	uint64_t scalar;
	CUdeviceptr address; /* address of the scalar; 0: use `scalar` */
};

#define SCALED_MAX 64

enum comm_phase { COMM_COMING, COMM_READY, COMM_FINALIZING, COMM_FINALIZED };

struct ncclComm {
	struct ncclComm *next; /* next communicator of the list */
	uint64_t serial;       /* unique in the process */
	unsigned users;        /* kernels and threads; guarded by list.lock */
	bool blocking;

	CUcontext ctx;
	int device, capability; /* capability 9.0 is 90 */
	unsigned rank, ranks;
	struct id id;
	struct seat seat;
	unsigned children; /* number made by ncclCommShrink() */

	_Atomic uint32_t phase, abort;
	_Atomic uint32_t background; /* ncclInProgress: a thread runs a job */
	_Atomic uint32_t failed;     /* ncclResult_t; never cleared */
	pthread_mutex_t lock;        /* guards text, plans and scaled */
	char text[TROUBLE_MAX];      /* why it has failed */
	struct plan *plans;          /* plans that were launched */
	CUevent last;                /* marks the end of the last kernel */
	CUstream last_stream;
	bool launched;
	struct scaled scaled[SCALED_MAX];

	pthread_mutex_t turn; /* held while a kernel runs; guards the rest */
	uint64_t number;      /* number of the last collective */
	uint64_t *sent, *received; /* numbers of messages, by peer */
};

/* ---- comm.c ---- */

/*
 * Finds a communicator, which then exists until comm_leave(). NULL: it does not
 * exist or was destroyed.
 */
struct ncclComm *comm_use(ncclComm_t comm);
struct ncclComm *comm_use_serial(uint64_t serial);
void comm_leave(struct ncclComm *c);

/* Like comm_use(), for calls that need a ready communicator. Sets the error if
 * it is not ready. */
ncclResult_t comm_enter(ncclComm_t comm, struct ncclComm **ret_comm);

/* Creates a communicator; comm_list() adds it to the list. */
struct ncclComm *comm_new(const ncclConfig_t *config, ncclResult_t *ret_result);
void comm_list(struct ncclComm *c);

/* Waits until the communicator has no users, and frees it. */
void comm_end(struct ncclComm *c, enum member_state how);

/*
 * Makes the communicator fail on all ranks; later failures are ignored.
 * comm_adopt() takes over the failure of another rank.
 */
void comm_fail(struct ncclComm *c, ncclResult_t r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void comm_adopt(struct ncclComm *c);
bool comm_text(ncclComm_t comm, char *ret_text);
void plan_free(struct plan *plan);

const char *front_error_string(ncclResult_t result);

/* ---- op.c ---- */

size_t type_size(ncclDataType_t type); /* 0: unknown type */
const char *type_name(uint32_t type);
const char *op_name(uint32_t op);
const char *function_name(uint32_t function);

/* ---- op_scaled.c ---- */

/* Sets the op and scalar of a call for the operator that the program passed. */
ncclResult_t op_resolve(struct ncclComm *c, ncclRedOp_t op, ncclDataType_t type,
			struct collective *to);

/* The value of `op` in a call for a scaled sum. */
#define OP_SCALED ncclNumOps

/* ---- group.c ---- */

/* Adds a collective or a message to the thread's group, which runs when the
 * group ends. */
ncclResult_t group_collective(struct ncclComm *c, const struct collective *what,
			      CUstream stream);
ncclResult_t group_message(struct ncclComm *c, const struct message *what,
			   CUstream stream);

/* Records r as the group's error if it is an error; returns r. */
ncclResult_t group_note(ncclResult_t r);

/* An operation on a communicator that must wait for other ranks. */
struct job {
	struct job *next;
	struct ncclComm *c;
	/* Makes progress. ncclInProgress: must be called again. */
	ncclResult_t (*advance)(struct job *job);
	/* Called once at the end, with the result; frees the job. */
	void (*end)(struct job *job, ncclResult_t r);
	unsigned step;
	/* The next members are only for a split or a shrink. */
	struct ncclComm *parent;
	int color, key;
	ncclComm_t *ret_comm;
};

/* Takes ownership of a job. Runs it now, at the end of the group, or in a
 * thread. */
ncclResult_t group_job(struct job *job);

/* ---- launch.c ---- */

ncclResult_t launch_plan(struct ncclComm *c, struct plan *plan);

/* Describes a buffer for other processes, if they can open its memory. */
void place_show(struct place *place, CUdeviceptr address, uint64_t bytes);

/* ---- service.c ---- */

/* Calls a function on the service's thread and waits. False: there is no
 * thread. */
bool service_call(void (*function)(void *), void *argument);
uint64_t service_process(void); /* random number that stands for this process */

/* ---- run.c ---- */

struct work {
	struct gpukit_run *run;
	struct ncclComm *c;
	struct member *self;
	uint64_t looked_ns; /* when all ranks were last checked */
};

/* Whether the kernel may continue. False: it failed, was aborted or is being
 * stopped, and must end. */
bool work_goes_on(struct work *w);

/*
 * Sleeps until this rank's bell differs from `seen`, but only for a short time.
 * awaits() says whether this rank waits for another rank. If such a rank has
 * ended or was aborted, the communicator fails. False: the kernel must end.
 */
bool work_rest(struct work *w, uint32_t seen,
	       bool (*awaits)(const struct work *w, unsigned rank, void *what),
	       void *what);

/* Gets the host address of this rank's memory. NULL: the address is invalid,
 * and the communicator has failed. */
void *work_memory(struct work *w, enum gpukit_access access,
		  CUdeviceptr address, uint64_t bytes);

/* Gets the host address of another rank's memory. NULL: this process cannot
 * access it. */
void *work_reach(struct work *w, unsigned rank, const struct place *place,
		 enum gpukit_access access, uint64_t bytes);

/* Copies in pieces. False: the kernel must end. */
bool work_copy(struct work *w, void *to, const void *from, uint64_t bytes);

/* ---- collective.c, message.c ---- */

bool collective_run(struct work *w, struct collective *what);
bool messages_run(struct work *w, struct plan *plan);

/* ---- reach.c ---- */

/* The local address of another process's allocation; 0: it cannot be opened. */
uint64_t reach_open(struct ncclComm *c, const struct place *place);

#endif
