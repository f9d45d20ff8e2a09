/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_bins.c - adds each process's share of the device in past bins to its
 * account.
 */
#include "machine/model/account_bins.h"
#include "base/assert.h"
#include "machine/file/account_state.h"
#include "machine/file/slot.h"
#include "machine/model/demand.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/model/wave.h"
#include "machine/store/process/account.h"
#include "machine/store/process/slot.h"
#include "machine/store/writers_lock.h"

/* The number of bins added at a time. */
#define CHUNK 256

/*
 * Adds bins to a process's account: of the `count` bins from `first`, those in
 * which the process was on the device.
 */
static void add_bins(struct gkf_machine *m, unsigned index,
		     const struct gkf_slot *slot, uint64_t first,
		     unsigned count, const uint32_t *demand)
{
	const struct gkf_wave *wave = &slot->wave;
	struct gkf_sums sums = {0};

	for (unsigned i = 0; i < count; i++) {
		struct gkf_share share;

		if (!gkf_wave_present(wave, first + i))
			continue;
		share = gkf_share_of(m, slot->device, index, wave, first + i,
				     demand[i]);
		sums.bins++;
		sums.sm += share.sm;
		sums.mem += share.mem;
	}
	if (sums.bins)
		gkf_account_add(m, index, &sums);
}

static void add_chunk(struct gkf_machine *m, struct gkf_demand *wants,
		      uint64_t first, unsigned count)
{
	unsigned high = gkf_slots_high(m);
	uint32_t demand[CHUNK];

	for (unsigned i = 0; i < count; i++) {
		struct gkf_drive drive;

		gkf_demand_drive(wants, first + i, &drive);
		demand[i] = drive.demand;
	}
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (gkf_slot_read_on(m, i, wants->device, &slot, NULL))
			add_bins(m, i, &slot, first, count, demand);
	}
}

void gkf_account_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		      uint64_t end)
{
	struct gkf_demand wants;

	GK_ASSERT(gkf_lock_held(m));
	if (!gkf_account_is_on(m, device))
		return;
	gkf_demand_collect(m, device, &wants);
	if (wants.all && !wants.count)
		return;
	while (first < end) {
		unsigned n =
		    end - first < CHUNK ? (unsigned)(end - first) : CHUNK;

		add_chunk(m, &wants, first, n);
		first += n;
	}
}
