/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_jit.c - handles the options of the JIT compiler: writes logs and
 * times; checks the other options and ignores them.
 */
#include "fronts/cuda/module/module.h"

#include <stdio.h>
#include <string.h>

static unsigned jit_size(void *value)
{
	return (unsigned)(uintptr_t)value;
}

static CUresult take_jit_option(CUjit_option option, void **place,
				struct module_log *log)
{
	switch ((unsigned)option) {
	case CU_JIT_INFO_LOG_BUFFER:
		log->info = *place;
		break;
	case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
		log->info_size = jit_size(*place);
		log->info_used = place;
		break;
	case CU_JIT_ERROR_LOG_BUFFER:
		log->error = *place;
		break;
	case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
		log->error_size = jit_size(*place);
		log->error_used = place;
		break;
	case CU_JIT_WALL_TIME:
		log->wall_place = place;
		break;
	default:
		return (unsigned)option < CU_JIT_NUM_OPTIONS
			   ? CUDA_SUCCESS
			   : CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult module_log_open(unsigned count, const CUjit_option *options,
			 void **values, struct module_log *ret_log)
{
	CUresult r = CUDA_SUCCESS;

	*ret_log = (struct module_log){0};
	if (count && (!options || !values))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count && !r; i++)
		r = take_jit_option(options[i], &values[i], ret_log);
	return r;
}

/* Sets *used to the number of bytes written, as the driver does. */
static void put_jit_message(char *buffer, unsigned size, void **used,
			    const char *message)
{
	unsigned length = 0;

	if (buffer && size) {
		snprintf(buffer, size, "%s", message);
		length = (unsigned)strlen(buffer);
		if (length)
			length++;
	}
	if (used)
		*used = (void *)(uintptr_t)length;
}

void module_log_close(const struct module_log *log, const char *message)
{
	put_jit_message(log->error, log->error_size, log->error_used, message);
	put_jit_message(log->info, log->info_size, log->info_used, "");
	if (log->wall_place)
		*log->wall_place = NULL; /* the bit pattern of 0.0F */
}
