/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c - generates numbers: at once in host memory, or by a kernel in
 * device memory.
 */
#include "fronts/curand/front.h"

struct run {
	uint64_t id, number;
	struct settings settings;
	struct call call;
	CUdeviceptr to;
};

static CUresult run_generator(struct gpukit_run *run)
{
	const struct run *p = run->params;
	size_t size = state_size((enum kind)p->call.kind), all;
	struct curandGenerator_st *g = generator_use(p->id);
	void *to;
	bool done;

	/*
	 * If the generator was destroyed, fails like a kernel that reads freed
	 * memory.
	 */
	if (!g)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (__builtin_mul_overflow(size, p->call.count, &all))
		all = SIZE_MAX;
	to = run->memory(run, GPUKIT_WRITES, p->to, all);
	done = to && p->to % size == 0 &&
	       generator_run(g, &p->settings, p->number, &p->call, to,
			     run->stopped);
	run->operations += p->call.count;
	generator_leave(g);
	if (p->to % size)
		return CUDA_ERROR_MISALIGNED_ADDRESS;
	return done ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

static struct native_kernel kernels[] = {
    {"curand_generate", run_generator, sizeof(struct run), NULL},
};
static struct native_library library = {kernels, 1, PTHREAD_MUTEX_INITIALIZER,
					NULL};

/*
 * Sticky errors: after one of these, every later call in the context returns
 * it.
 */
static const CUresult lasting[] = {
    CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT};

static curandStatus_t status_of(CUresult r)
{
	for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
		if (r == lasting[i])
			return CURAND_STATUS_PREEXISTING_FAILURE;
	return r ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

static curandStatus_t start_run(struct curandGenerator_st *g, struct call call,
				void *to)
{
	struct run run = {.id = g->id,
			  .number = g->settings_number,
			  .settings = g->settings,
			  .call = call,
			  .to = (CUdeviceptr)(uintptr_t)to};

	if (g->host && !to)
		return CURAND_STATUS_OUT_OF_RANGE;
	if (g->host)
		return generator_run(g, &run.settings, run.number, &call, to,
				     NULL)
			   ? CURAND_STATUS_SUCCESS
			   : CURAND_STATUS_ALLOCATION_FAILED;
	if (native_context())
		return CURAND_STATUS_LAUNCH_FAILURE;
	native_driver()->cuCtxGetCurrent(&g->launched);
	return status_of(native_launch(&library, 0, g->stream, &run));
}

/* Whether the generator makes numbers of this kind only in pairs. */
static bool wants_pairs(int type, enum kind kind)
{
	return (type == CURAND_RNG_PSEUDO_XORWOW ||
		type == CURAND_RNG_PSEUDO_MRG32K3A) &&
	       (kind == NORMAL || kind == NORMAL_2 || kind == LOG_NORMAL ||
		kind == LOG_NORMAL_2);
}

static curandStatus_t generate_numbers(curandGenerator_t g, struct call call,
				       void *to)
{
	int type;

	if (!generator_lives(g))
		return CURAND_STATUS_NOT_INITIALIZED;
	type = g->settings.type;
	if ((call.kind == BITS && state_quasi_bits(type) == 64) ||
	    (call.kind == BITS_64 && state_quasi_bits(type) != 64))
		return CURAND_STATUS_TYPE_ERROR;
	if (!state_pseudo(type) && call.count % g->settings.dimensions)
		return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
	if (wants_pairs(type, (enum kind)call.kind) && call.count % 2)
		return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
	if (call.kind == POISSON &&
	    !(call.mean > 0 && call.mean <= CURAND_LAMBDA_MAX))
		return CURAND_STATUS_OUT_OF_RANGE;
	return call.count ? start_run(g, call, to) : CURAND_STATUS_SUCCESS;
}

#define PLAIN(symbol, kind, number)                                            \
	EXPORT curandStatus_t symbol(curandGenerator_t generator,              \
				     number *outputPtr, size_t num)            \
	{                                                                      \
		return generate_numbers(                                       \
		    generator, (struct call){kind, num, 0, 0}, outputPtr);     \
	}
#define OF_MEAN(symbol, kind, number)                                          \
	EXPORT curandStatus_t symbol(curandGenerator_t generator,              \
				     number *outputPtr, size_t n, number mean, \
				     number stddev)                            \
	{                                                                      \
		return generate_numbers(                                       \
		    generator,                                                 \
		    (struct call){kind, n, (double)mean, (double)stddev},      \
		    outputPtr);                                                \
	}

PLAIN(curandGenerate, BITS, unsigned)
PLAIN(curandGenerateLongLong, BITS_64, unsigned long long)
PLAIN(curandGenerateUniform, UNIFORM, float)
PLAIN(curandGenerateUniformDouble, UNIFORM_2, double)
OF_MEAN(curandGenerateNormal, NORMAL, float)
OF_MEAN(curandGenerateNormalDouble, NORMAL_2, double)
OF_MEAN(curandGenerateLogNormal, LOG_NORMAL, float)
OF_MEAN(curandGenerateLogNormalDouble, LOG_NORMAL_2, double)

EXPORT curandStatus_t curandGeneratePoisson(curandGenerator_t generator,
					    unsigned *outputPtr, size_t n,
					    double lambda)
{
	return generate_numbers(generator, (struct call){POISSON, n, lambda, 0},
				outputPtr);
}

/* Builds the state by generating 0 numbers. */
EXPORT curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
	static char nothing[8] __attribute__((aligned(8)));

	if (!generator_lives(generator))
		return CURAND_STATUS_NOT_INITIALIZED;
	return start_run(generator, (struct call){UNIFORM, 0, 0, 0}, nothing);
}
