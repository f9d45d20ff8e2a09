/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.h - generators, shared by the files of libcurand.
 *
 * A generator has settings (settings.c) and a state (state.h). The state is
 * built when first used: a ring of engines for pseudorandom numbers (ring.h; 1
 * to 81920 engines), or direction vectors of Sobol' sequences (quasi.h).
 * Numbers for the host are generated at once, those for a device by a kernel
 * (generate.c).
 */
#ifndef GKF_CURAND_FRONT_H
#define GKF_CURAND_FRONT_H

#include "abi/libraries/curand_abi.h"
#include "fronts/common/native.h"
#include "fronts/curand/state.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * Settings change at once, but kernels that were launched before the change may
 * run after it. So each change gives the settings a new version number, and
 * each kernel carries the settings at its launch, with their number. If the
 * state was built from settings with another number, the kernel rebuilds the
 * state.
 */
struct curandGenerator_st {
	struct curandGenerator_st *next;
	uint64_t id;
	/* number of kernels that use it; protected by the list's lock */
	unsigned users;
	bool gone; /* destroyed; the last user frees it */
	bool host;
	CUcontext launched; /* context of its last launch; NULL: none */
	CUstream stream;
	struct settings settings;
	uint64_t settings_number;

	pthread_mutex_t lock; /* protects the fields below */
	struct state *state;
	uint64_t state_number;
};

curandStatus_t generator_new(int type, bool host, curandGenerator_t *ret);

/*
 * Whether g, which may be any pointer, is a generator that has not been
 * destroyed.
 */
bool generator_lives(const struct curandGenerator_st *g);

/*
 * Finds a generator by id, or returns NULL if it has been destroyed. Call
 * generator_leave() when done.
 */
struct curandGenerator_st *generator_use(uint64_t id);
void generator_leave(struct curandGenerator_st *g);

/*
 * Frees a generator once nobody uses it. Kernels that are still queued fail,
 * because generator_use() no longer finds the generator.
 */
void generator_free(struct curandGenerator_st *g);

/*
 * Generates the numbers of a call, continuing from the generator's state.
 * `number` is the version number of the settings. Returns false when out of
 * memory.
 */
bool generator_run(struct curandGenerator_st *g, const struct settings *s,
		   uint64_t number, const struct call *call, void *to,
		   bool (*stopped)(void));

curandStatus_t front_refuse(const char *symbol, curandStatus_t answer);

#endif
