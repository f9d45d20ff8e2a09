/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - sets the streams, work areas and properties of plans. Our
 * transforms need no work area, so calls that set one are checked and otherwise
 * ignored.
 */
#include "fronts/cufft/front.h"

static cufftResult check_plan(cufftHandle plan)
{
	return plan_find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

EXPORT cufftResult cufftSetStream(cufftHandle plan, CUstream stream)
{
	struct plan *p = plan_find(plan);

	if (!p)
		return CUFFT_INVALID_PLAN;
	p->stream = stream;
	return CUFFT_SUCCESS;
}

EXPORT cufftResult cufftGetSize(cufftHandle handle, size_t *workSize)
{
	const struct plan *p = plan_find(handle);

	if (!p || !p->made)
		return CUFFT_INVALID_PLAN;
	if (!workSize)
		return CUFFT_INVALID_VALUE;
	*workSize = 0;
	return CUFFT_SUCCESS;
}

EXPORT cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate)
{
	(void)autoAllocate;
	return check_plan(plan);
}

EXPORT cufftResult cufftSetWorkArea(cufftHandle plan, void *workArea)
{
	(void)workArea;
	return check_plan(plan);
}

EXPORT cufftResult cufftXtSetWorkArea(cufftHandle plan, void **workArea)
{
	(void)workArea;
	return check_plan(plan);
}

EXPORT cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, int policy,
					    size_t *workSize)
{
	if (policy < CUFFT_WORKAREA_MINIMAL ||
	    policy > CUFFT_WORKAREA_PERFORMANCE)
		return CUFFT_INVALID_VALUE;
	if (check_plan(plan))
		return CUFFT_INVALID_PLAN;
	if (workSize && policy != CUFFT_WORKAREA_USER)
		*workSize = 0;
	return CUFFT_SUCCESS;
}

/* Returns a pointer to a plan's property, or NULL; *ret then has the error. */
static long long *find_property(cufftHandle plan, int property,
				cufftResult *ret)
{
	struct plan *p = plan_find(plan);

	*ret = p ? CUFFT_INVALID_VALUE : CUFFT_INVALID_PLAN;
	if (!p || property < NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT ||
	    property > NVFFT_PLAN_PROPERTY_INT64_MAX_NUM_HOST_THREADS)
		return NULL;
	return &p->properties[property - 1];
}

/*
 * Stores a property. Properties tune how cuFFT compiles a plan; they have no
 * effect here.
 */
static cufftResult put_property(cufftHandle plan, int property, long long value)
{
	cufftResult r;
	long long *at = find_property(plan, property, &r);

	if (!at)
		return r;
	if (plan_find(plan)->made)
		return CUFFT_NOT_SUPPORTED;
	if (value < 0 ||
	    (property == NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT && value > 1))
		return CUFFT_INVALID_VALUE;
	*at = value;
	return CUFFT_SUCCESS;
}

EXPORT cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, int property,
					     const long long inputValueInt)
{
	return put_property(plan, property, inputValueInt);
}

EXPORT cufftResult cufftResetPlanProperty(cufftHandle plan, int property)
{
	return put_property(plan, property, 0);
}

EXPORT cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, int property,
					     long long *returnPtrValue)
{
	cufftResult r;
	const long long *at = find_property(plan, property, &r);

	if (!at)
		return r;
	if (!returnPtrValue)
		return CUFFT_INVALID_VALUE;
	*returnPtrValue = *at;
	return CUFFT_SUCCESS;
}
