/* front.h - what the files of libcurand share: generators. */
#ifndef GKF_CURAND_FRONT_H
#define GKF_CURAND_FRONT_H

#include "abi/curand_abi.h"
#include "fronts/common/native.h"
#include "fronts/curand/state.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * Programs set a generator at once, but kernels that were launched before run
 * later: each carries the settings that it was launched with and their number,
 * and sets up the state anew when that is of another number.
 */
struct curandGenerator_st {
	struct curandGenerator_st *next;
	uint64_t id;
	unsigned users; /* that run with it now; the list's lock */
	bool gone;      /* the last of them frees it */
	bool host;
	CUcontext launched; /* where it last did; NULL: nowhere */
	CUstream stream;
	struct settings settings;
	uint64_t settings_number;

	pthread_mutex_t lock; /* of what follows */
	struct state *state;
	uint64_t state_number;
};

curandStatus_t generator_new(int type, bool host, curandGenerator_t *ret);

/* Whether it is one that lives. */
bool generator_lives(const struct curandGenerator_st *g);

/* By its id; NULL: destroyed. generator_leave() afterwards. */
struct curandGenerator_st *generator_use(uint64_t id);
void generator_leave(struct curandGenerator_st *g);

/* What is queued shall no longer find it. */
void generator_free(struct curandGenerator_st *g);

/* With settings of that number, at the state's place. */
bool generator_run(struct curandGenerator_st *g, const struct settings *s,
		   uint64_t number, const struct call *call, void *to,
		   bool (*stopped)(void));

curandStatus_t front_refuse(const char *symbol, curandStatus_t answer);

#endif
