/* state.h - a generator at work: what it is set to, where it stands, and its
 * numbers as the distributions have them. One thread at a time. */
#ifndef GKF_CURAND_STATE_H
#define GKF_CURAND_STATE_H

#include "fronts/curand/functions.h"
#include "fronts/curand/quasi.h"
#include "fronts/curand/ring.h"

/* Plain bytes without padding: a kernel's parameter. */
struct settings {
	int type, ordering;
	uint64_t seed, offset;
	uint64_t dimensions; /* of quasirandom generators */
};

enum kind {
	BITS,
	BITS_64,
	UNIFORM,
	UNIFORM_2, /* _2: double precision */
	NORMAL,
	NORMAL_2,
	LOG_NORMAL,
	LOG_NORMAL_2,
	POISSON,
};

struct call {
	uint64_t kind, count;
	double mean, deviation; /* POISSON: lambda, nothing */
};

struct state {
	const struct ring_type *pseudo; /* NULL: `quasi` */
	struct ring ring;
	struct quasi quasi;
	struct poisson poisson;
};

/* NULL: a quasirandom type. */
const struct ring_type *state_pseudo(int type);

/* The bits of a quasirandom type's numbers: 32, 64; 0: it is none. */
unsigned state_quasi_bits(int type);

/* The bytes of a number. */
size_t state_size(enum kind kind);

/* NULL: no memory. state_free() accepts NULL. */
struct state *state_new(const struct settings *s);
void state_free(struct state *s);

/*
 * Writes call->count numbers and stands behind them; false: no memory. May
 * leave off early when stopped() is true; NULL: never.
 */
bool state_generate(struct state *s, const struct call *call, void *to,
		    bool (*stopped)(void));

#endif
