/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.c - counts refused calls in the machine, where every process can read
 * the counts, and writes them to this process's log.
 */
#include "fronts/common/needed.h"
#include "fronts/common/refused.h"
#include "fronts/cuda/context/front.h"
#include "machine/store/coverage.h"

#include <stddef.h>
#include <string.h>

/*
 * All names are in one string and are found by offset. Pointers to them would
 * need relocation when the library is loaded.
 */
static const struct names {
#define CUDA_SYMBOL(symbol, ...) char symbol[sizeof #symbol];
#include "abi/cuda/cuda_symbols.def"
} names = {
#define CUDA_SYMBOL(symbol, ...) #symbol,
#include "abi/cuda/cuda_symbols.def"
};

static const uint16_t places[ROW_COUNT] = {
#define CUDA_SYMBOL(symbol, ...) offsetof(struct names, symbol),
#include "abi/cuda/cuda_symbols.def"
};
_Static_assert(sizeof(struct names) <= UINT16_MAX, "places are too narrow");

static const uint8_t reason_of[ROW_COUNT] = {
#define CUDA_SYMBOL(symbol, base, since, stream, limit, capture, refused,      \
		    params)                                                    \
	WHY_##refused,
#include "abi/cuda/cuda_symbols.def"
};

void front_tell_refusal(const char *symbol, const char *why)
{
	if (!strncmp(symbol, NEEDED_MARK, strlen(NEEDED_MARK)))
		front_log(GK_LOG_ERROR, "a library %s", symbol);
	else
		front_log(GK_LOG_WARN, "%s: refused, %s", symbol,
			  why ? why : refusal_reasons[NO_REASON]);
}

void front_count_refusal(enum cuda_row row)
{
	gkf_cuda_refuse(cuda.machine, row);
	front_tell_refusal((const char *)&names + places[row],
			   refusal_reasons[reason_of[row]]);
}

CUresult front_refuse(enum cuda_row row)
{
	CUresult r = front_enter(row);

	if (r)
		return r;
	front_count_refusal(row);
	return CUDA_ERROR_NOT_SUPPORTED;
}
