/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - creates, sets and destroys generators. */
#include "fronts/curand/front.h"

static curandStatus_t create_generator(int type, bool host, const char *symbol,
				       curandGenerator_t *ret)
{
	if (!ret)
		return CURAND_STATUS_NOT_INITIALIZED;
	if (type == CURAND_RNG_PSEUDO_DEFAULT)
		type = CURAND_RNG_PSEUDO_XORWOW;
	if (type == CURAND_RNG_QUASI_DEFAULT)
		type = CURAND_RNG_QUASI_SOBOL32;
	if (type == CURAND_RNG_PSEUDO_MTGP32)
		return front_refuse(symbol, CURAND_STATUS_ARCH_MISMATCH);
	if (!state_pseudo(type) && !state_quasi_bits(type))
		return CURAND_STATUS_TYPE_ERROR;
	if (!functions_ready() || (!host && native_context()))
		return CURAND_STATUS_INITIALIZATION_FAILED;
	return generator_new(type, host, ret);
}

EXPORT curandStatus_t curandCreateGenerator(curandGenerator_t *generator,
					    int rng_type)
{
	return create_generator(rng_type, false, __func__, generator);
}

EXPORT curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator,
						int rng_type)
{
	return create_generator(rng_type, true, __func__, generator);
}

/* Waits for all work of a context, which need not be the current one. */
static void wait_for(CUcontext context)
{
	const struct native_driver *d = native_driver();
	CUcontext was = NULL;

	d->cuCtxGetCurrent(&was);
	if (!d->cuCtxSetCurrent(context))
		d->cuCtxSynchronize();
	d->cuCtxSetCurrent(was);
}

/*
 * First waits for the generator's queued work, as freeing device memory does.
 */
EXPORT curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	if (generator->launched)
		wait_for(generator->launched);
	generator_free(generator);
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t curandSetStream(curandGenerator_t generator,
				      CUstream stream)
{
	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	generator->stream = stream;
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t curandSetPseudoRandomGeneratorSeed(
    curandGenerator_t generator, unsigned long long seed)
{
	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	if (!state_pseudo(generator->settings.type))
		return CURAND_STATUS_TYPE_ERROR;
	generator->settings.seed = seed;
	generator->settings_number++;
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
					       unsigned long long offset)
{
	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	if (generator->settings.type == CURAND_RNG_PSEUDO_MT19937)
		return CURAND_STATUS_TYPE_ERROR;
	generator->settings.offset = offset;
	generator->settings_number++;
	return CURAND_STATUS_SUCCESS;
}

static bool takes_ordering(const struct curandGenerator_st *g, int order)
{
	int type = g->settings.type;

	if (!state_pseudo(type))
		return order == CURAND_ORDERING_QUASI_DEFAULT;
	switch (order) {
	case CURAND_ORDERING_PSEUDO_BEST:
	case CURAND_ORDERING_PSEUDO_DEFAULT:
	case CURAND_ORDERING_PSEUDO_LEGACY:
		return true;
	case CURAND_ORDERING_PSEUDO_SEEDED:
		return type == CURAND_RNG_PSEUDO_XORWOW;
	/* cuRAND tunes this ordering to the GPU */
	case CURAND_ORDERING_PSEUDO_DYNAMIC:
		return !g->host;
	default:
		return false;
	}
}

EXPORT curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
						 int order)
{
	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	if (!takes_ordering(generator, order))
		return CURAND_STATUS_OUT_OF_RANGE;
	generator->settings.ordering = order;
	generator->settings_number++;
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t curandSetQuasiRandomGeneratorDimensions(
    curandGenerator_t generator, unsigned num_dimensions)
{
	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	if (state_pseudo(generator->settings.type))
		return CURAND_STATUS_TYPE_ERROR;
	if (num_dimensions < 1 || num_dimensions > CURAND_DIMENSIONS_MAX)
		return CURAND_STATUS_OUT_OF_RANGE;
	generator->settings.dimensions = num_dimensions;
	generator->settings_number++;
	return CURAND_STATUS_SUCCESS;
}
