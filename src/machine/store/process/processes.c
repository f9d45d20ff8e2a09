/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - lists the processes on a device. */
#include "machine/store/process/processes.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/clock.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/others.h"
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
			    .pid_ns = slot.pid_ns,
			    .start = slot.start,
			    .types = slot.types,
			    .instance = slot.instance,
			    .bytes = atomic_load(&slot.bytes),
			};
		count++;
	}
	*ret_count = count;
	return 0;
}

/* The pid by which we see a process; 0: we do not see it. */
static int32_t seen_pid(const struct gkf_process *p, uint64_t own_ns,
			struct gkf_others *others)
{
	if (!own_ns || p->pid_ns == own_ns)
		return p->pid;
	return gkf_others_pid(
	    others, &(struct gkf_identity){
			.pid = p->pid, .pid_ns = p->pid_ns, .start = p->start});
}

unsigned gkf_processes_seen(struct gkf_machine *m, struct gkf_process *list,
			    unsigned count)
{
	uint64_t own_ns = gkf_own_namespace(m);
	struct gkf_others others = {0};
	unsigned seen = 0;

	/* Usually no listed process is of another namespace. */
	while (seen < count && list[seen].pid_ns == own_ns)
		seen++;
	for (unsigned i = seen; i < count; i++) {
		int32_t pid = seen_pid(&list[i], own_ns, &others);

		if (!pid)
			continue;
		list[seen] = list[i];
		list[seen++].pid = pid;
	}
	gkf_others_free(&others);
	return seen;
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
