/* SPDX-License-Identifier: Apache-2.0 */
/* slot.c - reads the slots of processes. */
#include "machine/store/process/slot.h"
#include "base/pair.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/view.h"

bool gkf_slot_read(struct gkf_machine *m, unsigned index,
		   struct gkf_slot *ret_slot, uint64_t *ret_life)
{
	struct gkf_slot *slot = &m->file->slot[index];
	uint64_t life = atomic_load_explicit(&slot->life, memory_order_acquire);

	if (!(life & 1))
		return false;
	gk_words_copy(ret_slot, slot, sizeof *slot);
	atomic_thread_fence(memory_order_acquire);
	if (ret_life)
		*ret_life = life;
	return atomic_load_explicit(&slot->life, memory_order_relaxed) ==
		   life &&
	       ret_slot->device < m->device_count;
}
