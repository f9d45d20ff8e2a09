/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - returns the version of the release that we stand in for
 * (nvidia-curand 10.4.0.35 on PyPI).
 */
#include "fronts/curand/front.h"

static const int version[] = {10, 4, 0};

EXPORT curandStatus_t curandGetVersion(int *ret)
{
	if (!ret)
		return CURAND_STATUS_OUT_OF_RANGE;
	*ret = version[0] * 1000 + version[1] * 100 + version[2];
	return CURAND_STATUS_SUCCESS;
}

EXPORT curandStatus_t curandGetProperty(int type, int *value)
{
	if (type < 0 || type > 2 || !value)
		return CURAND_STATUS_OUT_OF_RANGE;
	*value = version[type];
	return CURAND_STATUS_SUCCESS;
}
