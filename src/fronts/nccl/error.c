/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - owns the text of the process's last error. */
#include "fronts/nccl/error.h"
#include "base/log.h"
#include "fronts/nccl/front.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	char text[TROUBLE_MAX];
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const texts[] = {
#define NCCL_RESULT(name, value, text) [value] = (text),
#include "abi/libraries/nccl_result.def"
#undef NCCL_RESULT
};

ncclResult_t error_set(ncclResult_t result, const char *format, ...)
{
	char text[TROUBLE_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	pthread_mutex_lock(&last.lock);
	memcpy(last.text, text, sizeof text);
	pthread_mutex_unlock(&last.lock);
	gk_log(GK_LOG_WARN, "NCCL: %s", text);
	return result;
}

ncclResult_t error_of_cuda(CUresult r, const char *what)
{
	return r ? error_set(ncclUnhandledCudaError, "%s: CUDA error %d", what,
			     (int)r)
		 : ncclSuccess;
}

void error_last(char *ret_text)
{
	pthread_mutex_lock(&last.lock);
	memcpy(ret_text, last.text, TROUBLE_MAX);
	pthread_mutex_unlock(&last.lock);
}

const char *front_error_string(ncclResult_t result)
{
	if ((unsigned)result >= sizeof texts / sizeof *texts)
		return "an unknown result";
	return texts[result];
}

FRONT_OTHER(const char *, ncclGetErrorString, (ncclResult_t result))
{
	return front_error_string(result);
}

FRONT_OTHER(void, ncclResetDebugInit, (void))
{
	/* NCCL_DEBUG is not used. */
}
