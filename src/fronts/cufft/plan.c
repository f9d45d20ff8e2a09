/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - makes plans, with one entry point for each of cuFFT's functions, and
 * returns the size of their work areas, which is 0.
 */
#include "fronts/cufft/front.h"

/* A call's 32-bit parameters, widened to 64 bits. */
struct wide {
	long long n[RANK_MAX], in[RANK_MAX], on[RANK_MAX];
};

#define DIMS(...) ((const long long[]){__VA_ARGS__})

static struct request basic_request(int type, int rank, const long long *n,
				    int batch)
{
	return (struct request){
	    .type = type, .rank = rank, .n = n, .batch = batch};
}

/* Reads nothing if the rank is invalid: the transform's check reports it. */
static const long long *widen_numbers(long long *to, const int *from, int rank)
{
	for (int i = 0; from && rank <= RANK_MAX && i < rank; i++)
		to[i] = from[i];
	return from ? to : NULL;
}

static struct request widen_request(struct wide *w, struct request r,
				    const int *n, const int *inembed,
				    const int *onembed)
{
	r.n = widen_numbers(w->n, n, r.rank);
	r.inembed = widen_numbers(w->in, inembed, r.rank);
	r.onembed = widen_numbers(w->on, onembed, r.rank);
	return r;
}

/* Returns the size of a work area to callers who have not made a plan. */
static cufftResult estimate_size(struct request r, size_t *ret_size)
{
	struct transform t;
	cufftResult result;

	if (!ret_size)
		return CUFFT_INVALID_VALUE;
	result = transform_make(&r, &t);
	if (!result)
		*ret_size = 0;
	return result;
}

static cufftResult get_size(cufftHandle handle, struct request r,
			    size_t *ret_size)
{
	return plan_find(handle) ? estimate_size(r, ret_size)
				 : CUFFT_INVALID_PLAN;
}

static cufftResult make_plan(cufftHandle handle, struct request r,
			     size_t *ret_size)
{
	struct plan *p = plan_find(handle);
	struct transform t;
	cufftResult result;

	if (!p || p->made)
		return CUFFT_INVALID_PLAN;
	if (!ret_size)
		return CUFFT_INVALID_VALUE;
	result = transform_make(&r, &t);
	if (result)
		return result;
	if (!fftw_ready(t.is_double)) {
		native_missing(GPUKIT_CUFFT, t.is_double ? NEEDED_FFTW_DOUBLE
							 : NEEDED_FFTW_SINGLE);
		return CUFFT_SETUP_FAILED;
	}
	p->transform = t;
	p->made = true;
	*ret_size = 0;
	return CUFFT_SUCCESS;
}

static cufftResult new_plan(cufftHandle *ret, struct request r)
{
	cufftHandle handle;
	size_t size;
	cufftResult result;

	if (!ret)
		return CUFFT_INVALID_VALUE;
	result = cufftCreate(&handle);
	if (result)
		return result;
	result = make_plan(handle, r, &size);
	if (result)
		plan_free(handle);
	else
		*ret = handle;
	return result;
}

EXPORT cufftResult cufftCreate(cufftHandle *handle)
{
	if (!handle)
		return CUFFT_INVALID_VALUE;
	return native_context() ? CUFFT_INTERNAL_ERROR : plan_new(handle);
}

EXPORT cufftResult cufftDestroy(cufftHandle plan)
{
	return plan_free(plan);
}

/*
 * Defines the functions for one, two and three dimensions. `n` declares the
 * parameters with the lengths, and `dims` is the array of these lengths. `tail`
 * declares the parameters that follow them, and `batch` is the number of
 * transforms.
 */
#define OF_LENGTHS(suffix, n, dims, rank, tail, batch)                         \
	EXPORT cufftResult cufftPlan##suffix(cufftHandle *plan,                \
					     STRIP n STRIP tail)               \
	{                                                                      \
		return new_plan(plan, basic_request(type, rank, dims, batch)); \
	}                                                                      \
	EXPORT cufftResult cufftMakePlan##suffix(                              \
	    cufftHandle plan, STRIP n STRIP tail, size_t *workSize)            \
	{                                                                      \
		return make_plan(plan, basic_request(type, rank, dims, batch), \
				 workSize);                                    \
	}                                                                      \
	EXPORT cufftResult cufftGetSize##suffix(                               \
	    cufftHandle handle, STRIP n STRIP tail, size_t *workSize)          \
	{                                                                      \
		return get_size(                                               \
		    handle, basic_request(type, rank, dims, batch), workSize); \
	}                                                                      \
	EXPORT cufftResult cufftEstimate##suffix(STRIP n STRIP tail,           \
						 size_t *workSize)             \
	{                                                                      \
		return estimate_size(basic_request(type, rank, dims, batch),   \
				     workSize);                                \
	}
#define STRIP(...) __VA_ARGS__

OF_LENGTHS(1d, (int nx, ), DIMS(nx), 1, (int type, int batch), batch)
OF_LENGTHS(2d, (int nx, int ny, ), DIMS(nx, ny), 2, (int type), 1)
OF_LENGTHS(3d, (int nx, int ny, int nz, ), DIMS(nx, ny, nz), 3, (int type), 1)

#define MANY_PARAMS(integer)                                                   \
	int rank, integer *n, integer *inembed, integer istride,               \
	    integer idist, integer *onembed, integer ostride, integer odist
#define MANY_REQUEST                                                           \
	((struct request){.type = type,                                        \
			  .rank = rank,                                        \
			  .istride = istride,                                  \
			  .idist = idist,                                      \
			  .ostride = ostride,                                  \
			  .odist = odist,                                      \
			  .batch = batch})
#define WIDE_REQUEST                                                           \
	widen_request(&(struct wide){0}, MANY_REQUEST, n, inembed, onembed)
#define LONG_REQUEST long_request(MANY_REQUEST, n, inembed, onembed)

static struct request long_request(struct request r, const long long *n,
				   const long long *inembed,
				   const long long *onembed)
{
	r.n = n;
	r.inembed = inembed;
	r.onembed = onembed;
	return r;
}

EXPORT cufftResult cufftPlanMany(cufftHandle *plan, MANY_PARAMS(int), int type,
				 int batch)
{
	return new_plan(plan, WIDE_REQUEST);
}

EXPORT cufftResult cufftMakePlanMany(cufftHandle plan, MANY_PARAMS(int),
				     int type, int batch, size_t *workSize)
{
	return make_plan(plan, WIDE_REQUEST, workSize);
}

EXPORT cufftResult cufftGetSizeMany(cufftHandle handle, MANY_PARAMS(int),
				    int type, int batch, size_t *workSize)
{
	return get_size(handle, WIDE_REQUEST, workSize);
}

EXPORT cufftResult cufftEstimateMany(MANY_PARAMS(int), int type, int batch,
				     size_t *workSize)
{
	return estimate_size(WIDE_REQUEST, workSize);
}

EXPORT cufftResult cufftMakePlanMany64(cufftHandle plan, MANY_PARAMS(long long),
				       int type, long long batch,
				       size_t *workSize)
{
	return make_plan(plan, LONG_REQUEST, workSize);
}

EXPORT cufftResult cufftGetSizeMany64(cufftHandle plan, MANY_PARAMS(long long),
				      int type, long long batch,
				      size_t *workSize)
{
	return get_size(plan, LONG_REQUEST, workSize);
}

/*
 * Returns the transform type for the three data types, or 0 if there is none.
 */
static int find_xt_type(int in, int out, int execution)
{
	static const struct {
		int in, out, execution, type;
	} rows[] = {
	    {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_C2C},
	    {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_R2C},
	    {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_C2R},
	    {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
	    {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_D2Z},
	    {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_Z2D},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].in == in && rows[i].out == out &&
		    rows[i].execution == execution)
			return rows[i].type;
	return 0;
}

/* Whether the type has 16 bits; cuFFT supports such types, we do not. */
static bool is_narrow(int execution)
{
	return execution == CUDA_C_16F || execution == CUDA_C_16BF;
}

#define XT(symbol, act)                                                        \
	EXPORT cufftResult symbol(                                             \
	    cufftHandle plan, int rank, long long *n, long long *inembed,      \
	    long long istride, long long idist, int inputtype,                 \
	    long long *onembed, long long ostride, long long odist,            \
	    int outputtype, long long batch, size_t *workSize,                 \
	    int executiontype)                                                 \
	{                                                                      \
		int type = find_xt_type(inputtype, outputtype, executiontype); \
                                                                               \
		if (is_narrow(executiontype))                                  \
			return front_refuse(#symbol);                          \
		return act(plan, LONG_REQUEST, workSize);                      \
	}

XT(cufftXtMakePlanMany, make_plan)
XT(cufftXtGetSizeMany, get_size)
