/*
 * two_devices.h - the room of functions that ask about two devices.
 */
#ifndef GKF_NVML_PAIR_H
#define GKF_NVML_PAIR_H

#include "fronts/nvml/front.h"
#include "machine/store/gate.h"

/*
 * As enter_device() for the first; the second must be a listed GPU that is not
 * broken either.
 */
static inline nvmlReturn_t enter_pair(struct call *c, unsigned *ret_other,
				      enum nvml_row row, nvmlDevice_t first,
				      nvmlDevice_t second, bool arguments_ok)
{
	nvmlReturn_t r = enter_device(c, row, first, arguments_ok);
	size_t index = handle_index(second);
	struct call also = *c;

	if (r)
		return r;
	if (index >= c->device_count ||
	    !gkf_gate_lists(c->gate, (unsigned)index))
		return NVML_ERROR_INVALID_ARGUMENT;
	*ret_other = also.index = (unsigned)index;
	return broken(&also);
}

/* Declares `c` of the first device and `other`, the index of the second. */
#define ENTER_PAIR(symbol, first, second, arguments_ok)                        \
	struct call c;                                                         \
	unsigned other;                                                        \
	nvmlReturn_t entered = enter_pair(&c, &other, ROW_##symbol, (first),   \
					  (second), (arguments_ok));           \
	if (entered)                                                           \
	return entered

#endif
