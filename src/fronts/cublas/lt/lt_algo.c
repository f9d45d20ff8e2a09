/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_algo.c - cuBLASLt's only algorithm: its id, capabilities and
 * configuration.
 */
#include "fronts/cublas/lt/lt_algo.h"

#include <string.h>

#define OUR_ID       1
#define EPILOGUE_ALL 0x3ffu

_Static_assert(sizeof(struct lt_algo) <= sizeof(cublasLtMatmulAlgo_t),
	       "an algorithm has room");

/*
 * Reads an algorithm that the program passes; false if it was not initialised.
 */
static bool read_algo(const cublasLtMatmulAlgo_t *from, struct lt_algo *ret)
{
	if (!from)
		return false;
	memcpy(ret, from, sizeof *ret);
	return ret->magic == LT_ALGO_MAGIC;
}

static struct lt_types types_of(const struct lt_algo *a)
{
	return (struct lt_types){a->compute, a->scale, a->a, a->b, a->c, a->d};
}

cublasStatus_t cublasLtMatmulAlgoGetIds(
    cublasLtHandle_t lightHandle, cublasComputeType_t computeType,
    cudaDataType_t scaleType, cudaDataType_t Atype, cudaDataType_t Btype,
    cudaDataType_t Ctype, cudaDataType_t Dtype, int requestedAlgoCount,
    int algoIdsArray[], int *returnAlgoCount)
{
	struct lt_types types = {(int32_t)computeType, (int32_t)scaleType,
				 (int32_t)Atype,       (int32_t)Btype,
				 (int32_t)Ctype,       (int32_t)Dtype};
	int32_t bias;

	if (!lt_is_handle(lightHandle))
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	if (requestedAlgoCount <= 0 || !algoIdsArray || !returnAlgoCount)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	*returnAlgoCount = 0;
	if (lt_types_are_known(&types, &bias))
		algoIdsArray[(*returnAlgoCount)++] = OUR_ID;
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

cublasStatus_t cublasLtMatmulAlgoInit(
    cublasLtHandle_t lightHandle, cublasComputeType_t computeType,
    cudaDataType_t scaleType, cudaDataType_t Atype, cudaDataType_t Btype,
    cudaDataType_t Ctype, cudaDataType_t Dtype, int algoId,
    cublasLtMatmulAlgo_t *algo)
{
	struct lt_types types = {(int32_t)computeType, (int32_t)scaleType,
				 (int32_t)Atype,       (int32_t)Btype,
				 (int32_t)Ctype,       (int32_t)Dtype};
	struct lt_algo a = lt_algo_initial;
	int32_t bias;

	if (!lt_is_handle(lightHandle))
		return lt_end(__func__, CUBLAS_STATUS_NOT_INITIALIZED);
	if (!algo || algoId != OUR_ID)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	if (!lt_types_are_known(&types, &bias))
		return lt_end(__func__, CUBLAS_STATUS_NOT_SUPPORTED);
	a.id = OUR_ID;
	a.compute = (uint8_t)types.compute;
	a.scale = (uint8_t)types.scale;
	a.a = (uint8_t)types.a;
	a.b = (uint8_t)types.b;
	a.c = (uint8_t)types.c;
	a.d = (uint8_t)types.d;
	memset(algo, 0, sizeof *algo);
	memcpy(algo, &a, sizeof a);
	return lt_end(__func__, CUBLAS_STATUS_SUCCESS);
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr,
    void *buf, size_t sizeInBytes, size_t *sizeWritten)
{
	struct lt_algo a;

	if (!read_algo(algo, &a))
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	return lt_end(__func__, lt_get(lt_algo_attributes, &a, (int)attr, buf,
				       sizeInBytes, sizeWritten));
}

/* Stores the value unchecked; lt_check_algo() checks it later. */
cublasStatus_t
cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo,
				     cublasLtMatmulAlgoConfigAttributes_t attr,
				     const void *buf, size_t sizeInBytes)
{
	struct lt_algo a;
	cublasStatus_t r;

	if (!read_algo(algo, &a) || attr == CUBLASLT_ALGO_CONFIG_ID)
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	r = lt_set(lt_algo_attributes, &a, (int)attr, buf, sizeInBytes);
	if (!r)
		memcpy(algo, &a, sizeof a);
	return lt_end(__func__, r);
}

static uint64_t flags_of_input(int32_t type)
{
	switch ((int)element_real((enum element)type)) {
	case R_16F:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F;
	case R_16BF:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
	case R_32F:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
	case R_64F:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
	case R_8I:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I;
	case R_8F_E4M3:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3;
	case R_8F_E5M2:
		return CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2;
	default:
		return 0;
	}
}

static uint64_t flags_of(const struct lt_types *t)
{
	enum element sums = element_real(lt_sums_of(t));
	uint64_t accumulator =
	    sums == R_32I   ? CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I
	    : sums == R_64F ? CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F
			    : CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;

	return CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | accumulator |
	       flags_of_input(t->a) | flags_of_input(t->b);
}

static struct lt_capability capability_of(const struct lt_types *t)
{
	struct lt_capability c = lt_capability_initial;
	uint32_t a = (uint32_t)t->a;
	int32_t bias = LT_NO_TYPE;

	if (lt_types_are_known(t, &bias) && bias != LT_NO_TYPE)
		c.epilogues = EPILOGUE_ALL;
	c.flags = flags_of(t);
	c.custom_order = a == R_8I && lt_sums_of(t) == R_32I;
	c.align_a = lt_alignment(a, a);
	c.align_b = lt_alignment(a, (uint32_t)t->b);
	c.align_c = lt_alignment(a, (uint32_t)t->c);
	c.align_d = lt_alignment(a, (uint32_t)t->d);
	return c;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoCapAttributes_t attr,
    void *buf, size_t sizeInBytes, size_t *sizeWritten)
{
	struct lt_capability c;
	struct lt_types types;
	struct lt_algo a;

	if (!read_algo(algo, &a))
		return lt_end(__func__, CUBLAS_STATUS_INVALID_VALUE);
	types = types_of(&a);
	c = capability_of(&types);
	/*
	 * There is only one tile and one stage; the program's buffer may be
	 * larger.
	 */
	if ((attr == CUBLASLT_ALGO_CAP_TILE_IDS ||
	     attr == CUBLASLT_ALGO_CAP_STAGES_IDS) &&
	    sizeInBytes > sizeof c.tiles)
		sizeInBytes = sizeof c.tiles;
	return lt_end(__func__, lt_get(lt_capability_attributes, &c, (int)attr,
				       buf, sizeInBytes, sizeWritten));
}

static struct lt_types types_of_problem(const struct lt_problem *p)
{
	return (struct lt_types){p->op.compute_type, p->op.scale_type,
				 (int32_t)p->a.type, (int32_t)p->b.type,
				 (int32_t)p->c.type, (int32_t)p->d.type};
}

cublasStatus_t lt_check_algo(const cublasLtMatmulAlgo_t *algo,
			     const struct lt_problem *p)
{
	struct lt_types of_problem = types_of_problem(p), of_algo;
	struct lt_algo a, as_made = lt_algo_initial;

	if (!read_algo(algo, &a) || a.id != OUR_ID)
		return CUBLAS_STATUS_INVALID_VALUE;
	of_algo = types_of(&a);
	if (memcmp(&of_algo, &of_problem, sizeof of_algo) != 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (a.tile != as_made.tile || a.splits > as_made.splits ||
	    a.scheme != as_made.scheme || a.swizzle != as_made.swizzle ||
	    a.custom != as_made.custom || a.stages != as_made.stages ||
	    a.inner_shape != as_made.inner_shape ||
	    a.cluster != as_made.cluster)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	return CUBLAS_STATUS_SUCCESS;
}
