/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - objects with a handle whose size only the driver knows: arrays,
 * memory of other APIs. Their maximum size is reserved first; their real size
 * is measured afterwards.
 */
#include "limit/preload/memory/hook.h"

CUresult handle_end(struct memory_call *call, CUresult r, uint64_t handle,
		    uint64_t guess)
{
	struct table_row row = {.key = handle,
				.bytes = guess,
				.device = (uint16_t)call->device,
				.kind = (uint16_t)call->kind};

	if (call->device < 0)
		return r;
	if (r) {
		memory_end(call, 0);
		return r;
	}
	/* If memory for the row is lacking, the object is still measured. */
	table_put(&memory_state()->measured, &row);
	return memory_end_measured(call, guess) ? CUDA_SUCCESS
						: CUDA_ERROR_OUT_OF_MEMORY;
}

/*
 * Measures after an object was destroyed. Where nothing can be measured,
 * subtracts the guessed size.
 */
static void thing_gone(const struct table_row *row)
{
	struct memory_device *d = &memory_state()->device[row->device];
	enum gkl_kind kind = (enum gkl_kind)row->kind;

	if (!memory_measure(row->device, kind) && !atomic_load(&d->seen))
		memory_shrink(row->device, kind, row->bytes);
}

CUresult handle_give(uint64_t handle, CUresult (*release)(uint64_t handle))
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;
	bool ours;
	CUresult r;

	if (!s)
		return release(handle);
	ours = table_take(&s->measured, handle, &row);
	memory_enter();
	r = release(handle);
	memory_leave();
	if (ours && r)
		table_put(&s->measured, &row);
	else if (ours)
		thing_gone(&row);
	return r;
}
