/*
 * refuse.c - calls that are refused are counted, for everybody who asks the
 * machine, and told to who reads this process's log.
 */
#include "fronts/cuda/front.h"
#include "machine/store/coverage.h"

#include <stddef.h>
#include <string.h>

/* One piece of text and places in it: pointers would be relocated at start. */
static const struct names {
#define CUDA(symbol, base, since, stream, params) char symbol[sizeof #symbol];
#include "abi/cuda.def"
#undef CUDA
} names = {
#define CUDA(symbol, base, since, stream, params) #symbol,
#include "abi/cuda.def"
#undef CUDA
};

static const uint16_t places[ROW_COUNT] = {
#define CUDA(symbol, base, since, stream, params)                              \
	offsetof(struct names, symbol),
#include "abi/cuda.def"
#undef CUDA
};
_Static_assert(sizeof(struct names) <= UINT16_MAX, "places are too narrow");

static const struct {
	char beginning[40], reason[64];
} reasons[] = {
#define REFUSED(beginning, reason) {beginning, reason},
#include "fronts/common/refused.def"
#undef REFUSED
};

static const char *reason_of(const char *symbol)
{
	const char *name = symbol + (strncmp(symbol, "cuda", 4) ? 2 : 4);

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (!strncmp(name, reasons[i].beginning,
			     strlen(reasons[i].beginning)))
			return reasons[i].reason;
	return "a made-up GPU does not do this";
}

void front_tell_refusal(const char *symbol)
{
	front_log(GK_LOG_WARN, "%s: refused, %s", symbol, reason_of(symbol));
}

void front_count_refusal(enum cuda_row row)
{
	gkf_cuda_refuse(cuda.machine, row);
	front_tell_refusal((const char *)&names + places[row]);
}
