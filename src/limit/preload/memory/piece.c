/* SPDX-License-Identifier: Apache-2.0 */
/*
 * piece.c - owns the table of memory with addresses: the pieces of this process
 * and how many blocks they take.
 */
#include "limit/preload/memory/hook.h"
#include "limit/preload/memory/sharing.h"

#include <sys/mman.h>

uint64_t piece_most(uint64_t bytes)
{
	return blocks_round(bytes);
}

static bool add_piece(const struct memory_call *call, uint64_t address,
		      uint64_t bytes, uint64_t *ret_taken)
{
	struct memory_state *s = memory_state();
	struct table_row row = {.key = address,
				.bytes = bytes,
				.owner = piece_owner(),
				.device = (uint16_t)call->device,
				.kind = (uint16_t)call->kind};
	uint64_t old;

	*ret_taken = blocks_add(&s->blocks, address, bytes, memory_epoch());
	if (*ret_taken == UINT64_MAX)
		return false;
	if (table_put(&s->pieces, &row))
		return true;
	blocks_remove(&s->blocks, address, bytes, 0, &old);
	return false;
}

CUresult piece_end(struct memory_call *call, CUresult r, uint64_t address,
		   uint64_t bytes)
{
	uint64_t taken = 0;

	if (call->device < 0)
		return r;
	if (!r && !add_piece(call, address, bytes, &taken)) {
		REAL(cuMemFree_v2)(address);
		r = CUDA_ERROR_OUT_OF_MEMORY;
		taken = 0;
	}
	memory_end(call, taken);
	return r;
}

/*
 * Blocks taken before a measurement may be shared with measured memory. A
 * driver counts managed memory for no process, so managed memory is never
 * measured.
 */
void piece_gone(const struct table_row *row)
{
	bool managed = row->kind == GKL_MANAGED;
	uint64_t old, all;

	piece_unexport(row);
	if (row->kind == GKL_POOL) {
		pool_piece_gone(row);
		return;
	}
	all = blocks_remove(&memory_state()->blocks, row->key, row->bytes,
			    managed ? 0 : memory_epoch(), &old);
	memory_doubt(row->device, row->kind, old);
	memory_give(row->device, row->kind, all - old);
}

CUresult piece_give(uint64_t address, CUresult (*release)(uint64_t address))
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;
	bool ours;
	CUresult r;

	if (!s)
		return release(address);
	ours = table_take(&s->pieces, address, &row);
	memory_enter();
	r = release(address);
	if (ours && r)
		table_put(&s->pieces, &row);
	else if (ours)
		piece_gone(&row);
	memory_leave();
	if (!ours && !r)
		import_gone(EXPORT_POINTER, address);
	if (ours)
		memory_refresh(row.device);
	else
		memory_refresh_all();
	return r;
}

/* ---- the end of a context ---- */

static bool make_room(struct piece_list *list)
{
	uint32_t room = list->room ? 2 * list->room : 1024;
	struct table_row *row =
	    list->room ? mremap(list->row, list->room * sizeof(*row),
				room * sizeof(*row), MREMAP_MAYMOVE)
		       : mmap(NULL, room * sizeof(*row), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (row == MAP_FAILED)
		return false;
	list->row = row;
	list->room = room;
	return true;
}

static bool belongs_to(const struct table_row *row, void *arg)
{
	struct piece_list *list = arg;

	if (row->device != list->device || row->owner != list->owner ||
	    row->kind == GKL_POOL ||
	    (list->count == list->room && !make_room(list)))
		return false;
	list->row[list->count++] = *row;
	return true;
}

void piece_end_begin(struct piece_list *ret_list, int device, uint64_t owner)
{
	*ret_list = (struct piece_list){.device = device, .owner = owner};
	if (device >= 0)
		table_sweep(&memory_state()->pieces, belongs_to, ret_list);
}

void piece_end_done(struct piece_list *list, bool ended)
{
	if (list->device < 0)
		return;
	memory_enter();
	for (uint32_t i = 0; i < list->count; i++) {
		if (ended)
			piece_gone(&list->row[i]);
		else
			table_put(&memory_state()->pieces, &list->row[i]);
	}
	memory_leave();
	if (list->room)
		munmap(list->row, list->room * sizeof(*list->row));
	if (!ended)
		return;
	imports_end(list->device, list->owner);
	memory_measure(list->device, GKL_CONTEXT);
}
