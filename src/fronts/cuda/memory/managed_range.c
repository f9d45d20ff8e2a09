/* SPDX-License-Identifier: Apache-2.0 */
/* managed_range.c - reports the attributes of a range of managed memory. */
#include "fronts/cuda/memory/managed.h"

#include <string.h>

/* The advice that all stretches of a range share. */
struct common {
	struct memory_advice advice;
	bool any;
};

static bool is_same_location(const CUmemLocation *a, const CUmemLocation *b)
{
	return a->type == b->type && a->id == b->id;
}

static void narrow_common(const struct memory_advice *a, void *data)
{
	static const CUmemLocation none = {CU_MEM_LOCATION_TYPE_INVALID, 0};
	struct common *c = data;

	if (!c->any) {
		c->advice = *a;
		c->any = true;
		return;
	}
	c->advice.read_mostly = c->advice.read_mostly && a->read_mostly;
	c->advice.accessed_by &= a->accessed_by;
	c->advice.accessed_by_host =
	    c->advice.accessed_by_host && a->accessed_by_host;
	if (!is_same_location(&c->advice.preferred, &a->preferred))
		c->advice.preferred = none;
	if (!is_same_location(&c->advice.prefetched, &a->prefetched))
		c->advice.prefetched = none;
}

/* Returns a location as a CUdevice. */
static int device_of_location(const CUmemLocation *l)
{
	if (l->type == CU_MEM_LOCATION_TYPE_DEVICE)
		return l->id;
	return l->type == CU_MEM_LOCATION_TYPE_INVALID ? CU_DEVICE_INVALID
						       : CU_DEVICE_CPU;
}

/* Lists the devices that access the memory, padded with CU_DEVICE_INVALID. */
static void tell_accessed_by(const struct memory_advice *a, int *out,
			     size_t room)
{
	size_t n = 0;

	for (int i = 0; n < room && i < (int)cuda.device_count; i++)
		if (a->accessed_by >> i & 1)
			out[n++] = i;
	if (n < room && a->accessed_by_host)
		out[n++] = CU_DEVICE_CPU;
	while (n < room)
		out[n++] = CU_DEVICE_INVALID;
}

static bool size_fits(CUmem_range_attribute attribute, size_t size)
{
	return attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
		   ? size && size % sizeof(int) == 0
		   : size == sizeof(int);
}

static CUresult tell_range_attribute(const struct memory_advice *a,
				     CUmem_range_attribute attribute, int *out,
				     size_t size)
{
	if (!out || !size_fits(attribute, size))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		*out = a->read_mostly;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		*out = device_of_location(&a->preferred);
		break;
	case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		tell_accessed_by(a, out, size / sizeof(int));
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		*out = device_of_location(&a->prefetched);
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		*out = (int)a->preferred.type;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		*out = a->preferred.id;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		*out = (int)a->prefetched.type;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		*out = a->prefetched.id;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static CUresult common_of(CUdeviceptr at, size_t count,
			  struct memory_advice *ret_advice)
{
	struct common c = {.any = false};
	struct managed_range range;
	CUresult r = managed_range(at, count, &range);

	if (r)
		return r;
	managed_visit(&range, narrow_common, &c);
	*ret_advice = c.advice;
	return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t dataSize,
				CUmem_range_attribute attribute,
				CUdeviceptr devPtr, size_t count)
{
	struct memory_advice a;
	CUresult r;

	ENTER_CONTEXT(cuMemRangeGetAttribute, ctx);
	r = common_of(devPtr, count, &a);
	return r ? r : tell_range_attribute(&a, attribute, data, dataSize);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes,
				 CUmem_range_attribute *attributes,
				 size_t numAttributes, CUdeviceptr devPtr,
				 size_t count)
{
	struct memory_advice a;
	CUresult r;

	ENTER_CONTEXT(cuMemRangeGetAttributes, ctx);
	if (!data || !dataSizes || !attributes || !numAttributes)
		return CUDA_ERROR_INVALID_VALUE;
	r = common_of(devPtr, count, &a);
	for (size_t i = 0; !r && i < numAttributes; i++)
		r = tell_range_attribute(&a, attributes[i], data[i],
					 dataSizes[i]);
	return r;
}
