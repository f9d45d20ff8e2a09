/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - lists the processes on a device. */
#include "machine/store/process/processes.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"

int gkf_processes_in(struct gkf_machine *m, unsigned device, uint32_t instance,
		     unsigned types, struct gkf_process *out, unsigned cap,
		     unsigned *ret_count)
{
	unsigned high, count = 0;
	uint64_t bin;

	if (device >= m->device_count)
		return GK_ERR_RANGE;
	gkf_reap(m, false);
	bin = gkf_machine_bin(m);
	high = gkf_slots_high(m);
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;
		uint64_t life;

		if (!gkf_slot_read_on(m, i, device, &slot, &life) ||
		    !(slot.types & types) || !gkf_slot_is_present(&slot, bin) ||
		    (instance != GKF_NO_INSTANCE && slot.instance != instance))
			continue;
		if (count < cap)
			out[count] = (struct gkf_process){
			    .slot = i,
			    .life = life,
			    .pid = slot.pid,
			    .types = slot.types,
			    .instance = slot.instance,
			    .bytes = atomic_load(&slot.bytes),
			};
		count++;
	}
	*ret_count = count;
	return 0;
}

bool gkf_process_wave(struct gkf_machine *m, const struct gkf_process *p,
		      struct gkf_wave *ret_wave)
{
	struct gkf_slot slot;
	uint64_t life;

	if (!gkf_slot_read(m, p->slot, &slot, &life) || life != p->life)
		return false;
	*ret_wave = slot.wave;
	return true;
}

int gkf_processes(struct gkf_machine *m, unsigned device, unsigned types,
		  struct gkf_process *out, unsigned cap, unsigned *ret_count)
{
	return gkf_processes_in(m, device, GKF_NO_INSTANCE, types, out, cap,
				ret_count);
}
