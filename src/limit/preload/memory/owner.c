/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c - finds the context that owns the memory a call takes. */
#include "limit/preload/memory/hook.h"

/*
 * Contexts made by the program own their memory. Any other context of a device
 * is its primary context or a green one, whose memory belongs to the primary
 * one.
 */
uint64_t piece_owner(void)
{
	struct memory_state *s = memory_state();
	struct table_row row;
	CUcontext ctx;

	if (!s || !atomic_load(&s->context_count) ||
	    REAL(cuCtxGetCurrent)(&ctx))
		return 0;
	return table_find(&s->contexts, (uintptr_t)ctx, &row) ? row.key : 0;
}
