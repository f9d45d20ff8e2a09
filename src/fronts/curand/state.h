/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of a generator: its settings, its position, and the
 * numbers of a distribution that follow from them. A state is used by one
 * thread at a time.
 */
#ifndef GKF_CURAND_STATE_H
#define GKF_CURAND_STATE_H

#include "fronts/curand/functions.h"
#include "fronts/curand/quasi.h"
#include "fronts/curand/ring.h"

/*
 * Plain bytes without padding, because they are part of a kernel's parameters.
 */
struct settings {
	int type, ordering;
	uint64_t seed, offset;
	uint64_t dimensions; /* only for quasirandom generators */
};

enum kind {
	BITS,
	BITS_64,
	UNIFORM,
	UNIFORM_2, /* _2 means double precision */
	NORMAL,
	NORMAL_2,
	LOG_NORMAL,
	LOG_NORMAL_2,
	POISSON,
};

struct call {
	uint64_t kind, count;
	double mean, deviation; /* for POISSON, mean is lambda */
};

struct state {
	const struct ring_type *pseudo; /* NULL: quasi is used */
	struct ring ring;
	struct quasi quasi;
	struct poisson poisson;
};

/*
 * Returns the ring_type of a pseudorandom type of generator, or NULL for a
 * quasirandom one.
 */
const struct ring_type *state_pseudo(int type);

/*
 * Returns the number of bits, 32 or 64, in a quasirandom type's numbers; 0 if
 * the type is not quasirandom.
 */
unsigned state_quasi_bits(int type);

/* Returns the size of a number in bytes. */
size_t state_size(enum kind kind);

/* Returns NULL when out of memory. state_free() accepts NULL. */
struct state *state_new(const struct settings *s);
void state_free(struct state *s);

/*
 * Writes call->count numbers and advances past them. Stops early when
 * stopped(), which may be NULL, returns true. Returns false when out of memory.
 */
bool state_generate(struct state *s, const struct call *call, void *to,
		    bool (*stopped)(void));

#endif
