/* front.h - what the files of libnccl share: communicators and their work. */
#ifndef GKF_NCCL_FRONT_H
#define GKF_NCCL_FRONT_H

#include "abi/nccl_abi.h"
#include "fronts/common/native.h"
#include "fronts/nccl/error.h"
#include "fronts/nccl/meeting.h"

#define EXPORT __attribute__((visibility("default")))

/* A function of nccl.def, and its second name. */
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
	struct place at; /* pointer: the device's address until it runs */
	CUdeviceptr address;
};

/* A collective, and its buffers on the device. */
struct collective {
	struct call call;
	CUdeviceptr in, out;
	CUdeviceptr scalar; /* to be read when it runs; 0: call.scalar is it */
};

/* What one kernel does: collectives in their order, then all messages. */
struct plan {
	struct plan *next;
	CUstream *stream; /* it runs on the first, and the others wait */
	unsigned streams;
	bool kept; /* a graph may run it again */
	unsigned collectives, messages;
	struct collective *collective;
	struct message *message;
};

/* An operator of ncclRedOpCreatePreMulSum(). */
struct scaled {
	bool used;
	ncclDataType_t type;
	uint64_t scalar;
	CUdeviceptr address; /* 0: the scalar was given */
};

#define SCALED_MAX 64

enum comm_phase { COMM_COMING, COMM_READY, COMM_FINALIZING, COMM_FINALIZED };

struct ncclComm {
	struct ncclComm *next; /* that live */
	uint64_t serial;       /* never used again */
	unsigned users;        /* kernels and threads in it; the list's lock */
	bool blocking;

	CUcontext ctx;
	int device, capability; /* 90 is 9.0 */
	unsigned rank, ranks;
	struct id id;
	struct seat seat;
	unsigned children; /* that were made of it */

	_Atomic uint32_t phase, abort;
	_Atomic uint32_t background; /* ncclResult_t of a thread's job */
	_Atomic uint32_t failed;     /* ncclResult_t, for good */
	pthread_mutex_t lock;        /* of what follows */
	char text[TROUBLE_MAX];
	struct plan *plans; /* that were launched */
	CUevent last;       /* the end of the last kernel */
	CUstream last_stream;
	bool launched;
	struct scaled scaled[SCALED_MAX];

	pthread_mutex_t turn; /* one kernel of it at a time; what follows */
	uint64_t number;      /* of its last collective */
	uint64_t *sent, *received; /* messages to and from each rank */
};

/* ---- comm.c ---- */

/* Between these a communicator stays. NULL: it is none, or no more. */
struct ncclComm *comm_use(ncclComm_t comm);
struct ncclComm *comm_use_serial(uint64_t serial);
void comm_leave(struct ncclComm *c);

/* The same for calls that need it ready; tells why not. */
ncclResult_t comm_enter(ncclComm_t comm, struct ncclComm **ret_comm);

/* A new one, in no list yet. */
struct ncclComm *comm_new(const ncclConfig_t *config, ncclResult_t *ret_result);
void comm_list(struct ncclComm *c);

/* Waits for those in it and frees it. */
void comm_end(struct ncclComm *c, enum member_state how);

/*
 * It has failed, for itself and all others; the first failure stays. Of a rank
 * that failed before: its words are taken.
 */
void comm_fail(struct ncclComm *c, ncclResult_t r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void comm_adopt(struct ncclComm *c);
bool comm_text(ncclComm_t comm, char *ret_text);

const char *front_error_string(ncclResult_t result);

/* ---- op.c ---- */

/* What the operator of a program is to a rank: op and scalar of the call. */
ncclResult_t op_resolve(struct ncclComm *c, ncclRedOp_t op, ncclDataType_t type,
			struct collective *to);

size_t type_size(ncclDataType_t type); /* 0: no type */
const char *type_name(uint32_t type);
const char *op_name(uint32_t op);
const char *function_name(uint32_t function);

/* The operator of a scaled sum, in a call. */
#define OP_SCALED ncclNumOps

/* ---- group.c ---- */

/* A collective or a message of this thread; launched when its group ends. */
ncclResult_t group_collective(struct ncclComm *c, const struct collective *what,
			      CUstream stream);
ncclResult_t group_message(struct ncclComm *c, const struct message *what,
			   CUstream stream);

/* An error within a group is the group's, too. */
ncclResult_t group_note(ncclResult_t r);

/* A job on a communicator, that waits for other ranks. */
struct job {
	struct job *next;
	struct ncclComm *c;
	/* ncclInProgress: to be called again. */
	ncclResult_t (*advance)(struct job *job);
	/* It failed, or its communicator was aborted; frees what it has. */
	void (*end)(struct job *job, ncclResult_t r);
	unsigned step;
	/* Of a split or a shrink. */
	struct ncclComm *parent;
	int color, key;
	ncclComm_t *ret_comm;
};

/* Takes the job: does it now, when the group ends, or in a thread. */
ncclResult_t group_job(struct job *job);

/* ---- launch.c ---- */

ncclResult_t launch_plan(struct ncclComm *c, struct plan *plan);
void plan_free(struct plan *plan);

/* Where the others find a buffer; only memory that others can open is shown. */
void place_show(struct place *place, CUdeviceptr address, uint64_t bytes);

/* ---- service.c ---- */

/* Calls it on a thread that lives as long as the process; false: none. */
bool service_call(void (*function)(void *), void *argument);
uint64_t service_process(void); /* a number of this process */

/* ---- run.c ---- */

struct work {
	struct gpukit_run *run;
	struct ncclComm *c;
	struct member *self;
	uint64_t looked_ns; /* whether all still live */
	uint64_t over_link; /* bytes that came from other devices */
};

/* Does the kernel go on? Not: it failed, was aborted, or is stopped. */
bool work_goes_on(struct work *w);

/*
 * Sleeps until the bell is no more `seen`, shortly at most. `dead`: asked of
 * those that are waited for. false: it goes on no more.
 */
bool work_rest(struct work *w, uint32_t seen,
	       bool (*awaits)(const struct work *w, unsigned rank, void *what),
	       void *what);

/* Memory of this rank; NULL: it is none, and the kernel has failed. */
void *work_memory(struct work *w, enum gpukit_access access,
		  CUdeviceptr address, uint64_t bytes);

/* Memory of another rank, by what it says; NULL: it cannot be reached. */
void *work_reach(struct work *w, unsigned rank, const struct place *place,
		 enum gpukit_access access, uint64_t bytes);

/* Copies in pieces; false: it goes on no more. */
bool work_copy(struct work *w, void *to, const void *from, uint64_t bytes);

/* ---- collective.c, message.c ---- */

bool collective_run(struct work *w, struct collective *what);
bool messages_run(struct work *w, struct plan *plan);

/* ---- reach.c ---- */

/* The address here of an allocation that is shown; 0: it cannot be opened. */
uint64_t reach_open(struct ncclComm *c, const struct place *place);

#endif
