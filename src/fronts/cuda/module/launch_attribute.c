/* SPDX-License-Identifier: Apache-2.0 */
/* launch_attribute.c - applies launch attributes. */
#include "fronts/cuda/generation.h"
#include "fronts/cuda/module/launch.h"

/* All launches use clusters of one block; larger clusters are refused. */
static CUresult take_cluster(const CUlaunchAttributeValue *v)
{
	unsigned size = v->clusterDim.x * v->clusterDim.y * v->clusterDim.z;

	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	return size == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/*
 * Whether this is one of two hints added in CUDA 13.3, which affect only
 * clusters and shared memory of other GPUs.
 */
static bool is_later_hint(int id)
{
	return front_generation->cuda >= 13030 &&
	       (id == CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE ||
		id == CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE);
}

/*
 * Hints are ignored; attributes that change the result are obeyed or refused.
 */
CUresult launch_attribute(const CUlaunchAttribute *a, struct launch *l)
{
	switch (a->id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		l->cooperative = a->value.cooperative != 0;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		return take_cluster(&a->value);
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
	case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
	case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
	case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return is_later_hint((int)a->id) ? CUDA_SUCCESS
						 : CUDA_ERROR_INVALID_VALUE;
	}
}
