/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - returns the versions of the releases that this library imitates
 * (nvidia-cufft-cu12 11.3.3.83 and nvidia-cufft 12.0.0.61 on PyPI).
 */
#include "fronts/cufft/front.h"

static const int version[] = {
    [MAJOR_VERSION] = FRONT_MAJOR,
    [MINOR_VERSION] = FRONT_MAJOR == 11 ? 3 : 0,
    [PATCH_LEVEL] = FRONT_MAJOR == 11 ? 3 : 0,
};

EXPORT cufftResult cufftGetVersion(int *ret)
{
	if (!ret)
		return CUFFT_INVALID_VALUE;
	*ret = version[MAJOR_VERSION] * 1000 + version[MINOR_VERSION] * 100 +
	       version[PATCH_LEVEL];
	return CUFFT_SUCCESS;
}

EXPORT cufftResult cufftGetProperty(int type, int *value)
{
	if (type < MAJOR_VERSION || type > PATCH_LEVEL)
		return CUFFT_INVALID_TYPE;
	if (!value)
		return CUFFT_INVALID_VALUE;
	*value = version[type];
	return CUFFT_SUCCESS;
}
