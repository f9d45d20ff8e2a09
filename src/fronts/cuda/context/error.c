/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - the names and texts of result codes. These calls work before
 * cuInit() and are not counted.
 */
#include "fronts/cuda/context/front.h"
#include "fronts/cuda/generation.h"

static const struct {
	int value;
	const char *name, *text;
} errors[] = {
#define CUDA_ERROR(name, value, text) {value, #name, text},
#include "abi/cuda/cuda_error.def"
#undef CUDA_ERROR
};

#define ERROR_COUNT (sizeof(errors) / sizeof(*errors))

/* Whether a code is newer than this driver. */
static bool is_of_later(CUresult error)
{
	return (error == CUDA_ERROR_STREAM_DETACHED &&
		front_generation->cuda < 13010) ||
	       (error == CUDA_ERROR_GRAPH_RECAPTURE_FAILURE &&
		front_generation->cuda < 13030);
}

/* Returns the row of a code; ERROR_COUNT if it is unknown. */
static size_t row_of_error(CUresult error)
{
	size_t i = 0;

	if (is_of_later(error))
		return ERROR_COUNT;
	while (i < ERROR_COUNT && errors[i].value != (int)error)
		i++;
	return i;
}

static CUresult answer_error_text(const char *text, const char **ret_text)
{
	if (!ret_text)
		return CUDA_ERROR_INVALID_VALUE;
	*ret_text = text;
	return text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
	size_t i = row_of_error(error);

	return answer_error_text(i < ERROR_COUNT ? errors[i].name : NULL, pStr);
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
	size_t i = row_of_error(error);

	return answer_error_text(i < ERROR_COUNT ? errors[i].text : NULL, pStr);
}
