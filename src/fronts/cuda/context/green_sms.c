/* SPDX-License-Identifier: Apache-2.0 */
/* green_sms.c - counts the SMs of a device and of a context. */
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/module/module.h"
#include "machine/file/board.h"

int green_sms_of_device(const struct cuda_device *d)
{
	return d->instance == GKF_NO_INSTANCE
		   ? (int)d->board->profile.sm_count
		   : function_limit(d,
				    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

int green_sms(CUcontext ctx)
{
	return ctx->green ? (int)ctx->green->sm_count
			  : green_sms_of_device(ctx->device);
}
