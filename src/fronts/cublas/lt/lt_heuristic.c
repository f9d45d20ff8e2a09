/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_heuristic.c - finds algorithms for a product. It returns our only
 * algorithm if that supports the product and matches the preferences.
 */
#include "fronts/cublas/lt/lt_algo.h"

/*
 * The side of the square of D that a thread block would compute. The number of
 * waves follows from it.
 */
#define TILE 128

static float count_waves(const struct lt_problem *p, const struct lt_device *d)
{
	int64_t tiles =
	    (p->m + TILE - 1) / TILE * ((p->n + TILE - 1) / TILE) * p->batches;

	return (float)tiles / (float)(d->sm_count > 0 ? d->sm_count : 1);
}

static cublasStatus_t
find_problem(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
	     cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
	     cublasLtMatrixLayout_t d, struct lt_problem *ret, float *ret_waves)
{
	struct lt_request request = {(const void *)desc, (const void *)a,
				     (const void *)b, (const void *)c,
				     (const void *)d};
	struct lt_device device;
	cublasStatus_t r = lt_find_device(&device);
	const char *why;

	if (r)
		return r;
	r = lt_problem_of(&request, &device, false, ret, &why);
	if (r)
		lt_log(LT_INFO, "cublasLtMatmulAlgoGetHeuristic", "%s", why);
	else
		*ret_waves = count_waves(ret, &device);
	return r;
}

cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
    cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
    cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result)
{
	struct lt_problem p;
	float waves = 0;
	cublasStatus_t r;

	if (!lt_is_handle(lightHandle))
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	if (!algo || !result)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	r = find_problem(operationDesc, Adesc, Bdesc, Cdesc, Ddesc, &p, &waves);
	if (!r)
		r = lt_check_algo(algo, &p);
	if (r)
		return lt_end(__func__, r);
	result->workspaceSize = 0;
	result->state = CUBLAS_STATUS_SUCCESS;
	result->wavesCount = waves;
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

static bool capability_value(const cublasLtMatmulAlgo_t *algo,
			     cublasLtMatmulAlgoCapAttributes_t attribute,
			     void *ret, size_t size)
{
	return !cublasLtMatmulAlgoCapGetAttribute(algo, attribute, ret, size,
						  NULL);
}

/* Whether the algorithm matches the preferences. */
static bool is_preferred(const struct lt_preference *wish,
			 const cublasLtMatmulAlgo_t *algo, float waves)
{
	const struct {
		cublasLtMatmulAlgoCapAttributes_t capability;
		uint32_t wish;
	} alignments[] = {
	    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, wish->align_a},
	    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, wish->align_b},
	    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, wish->align_c},
	    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, wish->align_d},
	};
	uint32_t needed;
	uint64_t flags;

	for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++)
		if (!capability_value(algo, alignments[i].capability, &needed,
				      sizeof needed) ||
		    alignments[i].wish < needed)
			return false;
	if (!capability_value(algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
			      &flags, sizeof flags) ||
	    flags & ~wish->impl_mask)
		return false;
	return wish->max_waves == 0 || waves <= wish->max_waves;
}

/*
 * Finds the algorithm for a problem's types, or checks the one that the program
 * passes.
 */
static cublasStatus_t find_algo(cublasLtHandle_t handle,
				const struct lt_preference *wish,
				const struct lt_problem *p,
				cublasLtMatmulAlgo_t *algo)
{
	int id, count;
	cublasStatus_t r;

	if (wish->search_mode == CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID)
		return lt_check_algo(algo, p);
	if (wish->search_mode != CUBLASLT_SEARCH_BEST_FIT)
		return CUBLAS_STATUS_NOT_SUPPORTED;
#define TYPES_OF(p)                                                            \
	(cublasComputeType_t)(p)->op.compute_type,                             \
	    (cudaDataType_t)(p)->op.scale_type, (cudaDataType_t)(p)->a.type,   \
	    (cudaDataType_t)(p)->b.type, (cudaDataType_t)(p)->c.type,          \
	    (cudaDataType_t)(p)->d.type
	r = cublasLtMatmulAlgoGetIds(handle, TYPES_OF(p), 1, &id, &count);
	return r ? r : cublasLtMatmulAlgoInit(handle, TYPES_OF(p), id, algo);
#undef TYPES_OF
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
    cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
    cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
    cublasLtMatmulPreference_t preference, int requestedAlgoCount,
    cublasLtMatmulHeuristicResult_t heuristicResultsArray[],
    int *returnAlgoCount)
{
	const struct lt_preference *wish = (const void *)preference;
	cublasLtMatmulHeuristicResult_t *first = heuristicResultsArray;
	cublasLtMatmulAlgo_t algo;
	struct lt_problem p;
	float waves = 0;
	cublasStatus_t r;

	if (!lt_is_handle(lightHandle))
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	if (!wish || requestedAlgoCount <= 0 || !first || !returnAlgoCount)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	*returnAlgoCount = 0;
	algo = first->algo;
	r = find_problem(operationDesc, Adesc, Bdesc, Cdesc, Ddesc, &p, &waves);
	if (!r)
		r = find_algo(lightHandle, wish, &p, &algo);
	if (!r && !is_preferred(wish, &algo, waves))
		r = CUBLAS_STATUS_NOT_SUPPORTED;
	if (r)
		return lt_end(__func__, r);
	first->algo = algo;
	first->workspaceSize = 0;
	first->state = CUBLAS_STATUS_SUCCESS;
	first->wavesCount = waves;
	*returnAlgoCount = 1;
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}
