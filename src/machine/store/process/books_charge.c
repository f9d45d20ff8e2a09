/* SPDX-License-Identifier: Apache-2.0 */
/* books_charge.c - takes memory, after removing dead processes if needed. */
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"
#include "machine/store/process/books.h"
#include "machine/store/process/ledger.h"

static int charge_bytes(struct gkf_machine *m, unsigned index, uint64_t bytes,
			bool managed)
{
	int r = gkf_books_try(m, index, bytes, managed);

	/* Try again in any case: another process may have removed the dead. */
	if (r == GK_ERR_NO_SPACE) {
		gkf_reap(m, true);
		r = gkf_books_try(m, index, bytes, managed);
	}
	return r;
}

int gkf_books_charge(struct gkf_machine *m, unsigned index, uint64_t bytes)
{
	return charge_bytes(m, index, bytes, false);
}

int gkf_books_charge_managed(struct gkf_machine *m, unsigned index,
			     uint64_t bytes)
{
	return charge_bytes(m, index, bytes, true);
}

int gkf_books_attach(struct gkf_machine *m, unsigned device, uint32_t instance,
		     unsigned *ret_slot)
{
	const struct gkf_wave real = {.kind = GKF_WAVE_REAL};
	int r = gkf_attach_instance(m, device, instance, GKF_COMPUTE, &real,
				    ret_slot);

	if (r == GK_ERR_TOO_MANY || r == GK_ERR_IN_USE) {
		gkf_reap(m, true);
		r = gkf_attach_instance(m, device, instance, GKF_COMPUTE, &real,
					ret_slot);
	}
	return r;
}
