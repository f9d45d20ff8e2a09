/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_object.c - creates and destroys the objects that describe a call to
 * cuBLASLt. The functions called ..._internal initialise them in the program's
 * memory. Objects own no other memory.
 */
#include "fronts/cublas/lt/lt.h"

#include <stdlib.h>
#include <string.h>

/*
 * Defines the functions of an object, `Name`, which contains a struct
 * lt_`kind`.
 */
#define OBJECT(Name, kind, attribute)                                          \
	_Static_assert(sizeof(struct lt_##kind) <=                             \
			   sizeof(cublasLt##Name##Opaque_t),                   \
		       "an object has room for " #kind);                       \
                                                                               \
	static cublasStatus_t init_##kind(cublasLt##Name##_t object,           \
					  size_t size)                         \
	{                                                                      \
		if (!object)                                                   \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
		if (size < sizeof(struct lt_##kind))                           \
			return CUBLAS_STATUS_ALLOC_FAILED;                     \
		memset(object, 0, size);                                       \
		*(struct lt_##kind *)(void *)object = lt_##kind##_initial;     \
		return CUBLAS_STATUS_SUCCESS;                                  \
	}                                                                      \
                                                                               \
	static cublasStatus_t create_##kind(cublasLt##Name##_t *ret)           \
	{                                                                      \
		cublasLt##Name##_t object;                                     \
                                                                               \
		if (!ret)                                                      \
			return CUBLAS_STATUS_INVALID_VALUE;                    \
		object = malloc(sizeof *object);                               \
		if (!object)                                                   \
			return CUBLAS_STATUS_ALLOC_FAILED;                     \
		*ret = object;                                                 \
		return init_##kind(object, sizeof *object);                    \
	}                                                                      \
                                                                               \
	cublasStatus_t cublasLt##Name##Destroy(cublasLt##Name##_t object)      \
	{                                                                      \
		free(object);                                                  \
		return lt_end(__func__, CUBLAS_STATUS_SUCCESS);                \
	}                                                                      \
                                                                               \
	cublasStatus_t cublasLt##Name##GetAttribute(                           \
	    cublasLt##Name##_t object, attribute attr, void *buf,              \
	    size_t sizeInBytes, size_t *sizeWritten)                           \
	{                                                                      \
		return lt_end(__func__, lt_get(lt_##kind##_attributes, object, \
					       (int)attr, buf, sizeInBytes,    \
					       sizeWritten));                  \
	}                                                                      \
                                                                               \
	cublasStatus_t cublasLt##Name##SetAttribute(                           \
	    cublasLt##Name##_t object, attribute attr, const void *buf,        \
	    size_t sizeInBytes)                                                \
	{                                                                      \
		return lt_end(__func__, lt_set(lt_##kind##_attributes, object, \
					       (int)attr, buf, sizeInBytes));  \
	}

OBJECT(MatrixLayout, layout, cublasLtMatrixLayoutAttribute_t)
OBJECT(MatmulDesc, matmul, cublasLtMatmulDescAttributes_t)
OBJECT(MatrixTransformDesc, transform, cublasLtMatrixTransformDescAttributes_t)
OBJECT(MatmulPreference, preference, cublasLtMatmulPreferenceAttributes_t)
OBJECT(EmulationDesc, emulation, cublasLtEmulationDescAttributes_t)
#undef OBJECT

static void set_layout(cublasLtMatrixLayout_t object, cudaDataType type,
		       uint64_t rows, uint64_t cols, int64_t ld)
{
	struct lt_layout *l = (void *)object;

	l->type = (uint32_t)type;
	l->rows = rows;
	l->cols = cols;
	l->ld = ld;
}

cublasStatus_t
cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t matLayout, size_t size,
				  cudaDataType type, uint64_t rows,
				  uint64_t cols, int64_t ld)
{
	cublasStatus_t r = init_layout(matLayout, size);

	if (!r)
		set_layout(matLayout, type, rows, cols, ld);
	return lt_end(__func__, r);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matLayout,
					  cudaDataType type, uint64_t rows,
					  uint64_t cols, int64_t ld)
{
	cublasStatus_t r = create_layout(matLayout);

	if (!r)
		set_layout(*matLayout, type, rows, cols, ld);
	return lt_end(__func__, r);
}

static void set_matmul(cublasLtMatmulDesc_t object, cublasComputeType_t compute,
		       cudaDataType scale)
{
	struct lt_matmul *m = (void *)object;

	m->compute_type = (int32_t)compute;
	m->scale_type = (int32_t)scale;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmulDesc,
					       size_t size,
					       cublasComputeType_t computeType,
					       cudaDataType_t scaleType)
{
	cublasStatus_t r = init_matmul(matmulDesc, size);

	if (!r)
		set_matmul(matmulDesc, computeType, scaleType);
	return lt_end(__func__, r);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *matmulDesc,
					cublasComputeType_t computeType,
					cudaDataType_t scaleType)
{
	cublasStatus_t r = create_matmul(matmulDesc);

	if (!r)
		set_matmul(*matmulDesc, computeType, scaleType);
	return lt_end(__func__, r);
}

cublasStatus_t
cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t desc,
					 size_t size, cudaDataType scaleType)
{
	cublasStatus_t r = init_transform(desc, size);

	if (!r)
		((struct lt_transform *)(void *)desc)->scale_type =
		    (int32_t)scaleType;
	return lt_end(__func__, r);
}

cublasStatus_t
cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t *desc,
				  cudaDataType scaleType)
{
	cublasStatus_t r = create_transform(desc);

	if (!r)
		((struct lt_transform *)(void *)*desc)->scale_type =
		    (int32_t)scaleType;
	return lt_end(__func__, r);
}

cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t pref,
				      size_t size)
{
	return lt_end(__func__, init_preference(pref, size));
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *pref)
{
	return lt_end(__func__, create_preference(pref));
}

cublasStatus_t
cublasLtEmulationDescInit_internal(cublasLtEmulationDesc_t emulationDesc,
				   size_t size)
{
	return lt_end(__func__, init_emulation(emulationDesc, size));
}

cublasStatus_t
cublasLtEmulationDescCreate(cublasLtEmulationDesc_t *emulationDesc)
{
	return lt_end(__func__, create_emulation(emulationDesc));
}
