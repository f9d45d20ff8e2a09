/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direction.c - owns the tables that programs pass to generators in their own
 * kernels. A table is made when first used, and kept.
 */
#include "fronts/curand/front.h"
#include "fronts/curand/joe_kuo.h"

#include <stdlib.h>

#define DIMENSIONS CURAND_DIMENSIONS_MAX

static struct {
	pthread_mutex_t lock;
	unsigned (*vectors_32[2])[32]; /* [1]: scrambled */
	unsigned long long (*vectors_64[2])[64];
	unsigned *constants_32;
	unsigned long long *constants_64;
} tables = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void make_32(unsigned (*to)[32], bool scrambled)
{
	uint64_t vectors[32];

	for (unsigned d = 0; d < DIMENSIONS; d++) {
		joe_kuo_vectors(d, 32, scrambled, vectors);
		for (int i = 0; i < 32; i++)
			to[d][i] = (unsigned)vectors[i];
	}
}

static void make_64(unsigned long long (*to)[64], bool scrambled)
{
	uint64_t vectors[64];

	for (unsigned d = 0; d < DIMENSIONS; d++) {
		joe_kuo_vectors(d, 64, scrambled, vectors);
		for (int i = 0; i < 64; i++)
			to[d][i] = vectors[i];
	}
}

/*
 * Sets *ret to the table at `place`; if `place` is still NULL, first allocates
 * the table and runs `make`.
 */
#define ANSWER(place, make, ret)                                               \
	do {                                                                   \
		pthread_mutex_lock(&tables.lock);                              \
		if (!(place)) {                                                \
			(place) = calloc(DIMENSIONS, sizeof *(place));         \
			if (place)                                             \
				make;                                          \
		}                                                              \
		*(ret) = (place);                                              \
		pthread_mutex_unlock(&tables.lock);                            \
	} while (0)

EXPORT curandStatus_t curandGetDirectionVectors32(unsigned (**vectors)[32],
						  int set)
{
	int scrambled = set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6;
	unsigned(*found)[32];

	if ((set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 && !scrambled) ||
	    !vectors)
		return CURAND_STATUS_OUT_OF_RANGE;
	ANSWER(tables.vectors_32[scrambled],
	       make_32(tables.vectors_32[scrambled], scrambled), &found);
	if (!found)
		return CURAND_STATUS_ALLOCATION_FAILED;
	*vectors = found;
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t
curandGetDirectionVectors64(unsigned long long (**vectors)[64], int set)
{
	int scrambled = set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6;
	unsigned long long(*found)[64];

	if ((set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 && !scrambled) ||
	    !vectors)
		return CURAND_STATUS_OUT_OF_RANGE;
	ANSWER(tables.vectors_64[scrambled],
	       make_64(tables.vectors_64[scrambled], scrambled), &found);
	if (!found)
		return CURAND_STATUS_ALLOCATION_FAILED;
	*vectors = found;
	return CURAND_STATUS_SUCCESS;
}

static void make_constants_32(unsigned *to)
{
	for (unsigned d = 0; d < DIMENSIONS; d++)
		to[d] = (unsigned)joe_kuo_constant(d, 32);
}

static void make_constants_64(unsigned long long *to)
{
	for (unsigned d = 0; d < DIMENSIONS; d++)
		to[d] = joe_kuo_constant(d, 64);
}

EXPORT curandStatus_t curandGetScrambleConstants32(unsigned **constants)
{
	unsigned *found;

	if (!constants)
		return CURAND_STATUS_OUT_OF_RANGE;
	ANSWER(tables.constants_32, make_constants_32(tables.constants_32),
	       &found);
	if (!found)
		return CURAND_STATUS_ALLOCATION_FAILED;
	*constants = found;
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t
curandGetScrambleConstants64(unsigned long long **constants)
{
	unsigned long long *found;

	if (!constants)
		return CURAND_STATUS_OUT_OF_RANGE;
	ANSWER(tables.constants_64, make_constants_64(tables.constants_64),
	       &found);
	if (!found)
		return CURAND_STATUS_ALLOCATION_FAILED;
	*constants = found;
	return CURAND_STATUS_SUCCESS;
}
