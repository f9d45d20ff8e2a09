/* SPDX-License-Identifier: Apache-2.0 */
/* total.c - owns the table of processes' totals on devices; see total.h. */
#include "machine/store/process/total.h"
#include "base/assert.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/clock.h"
#include "machine/store/coverage.h"
#include "machine/store/process/identity.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <string.h>

/* The last entry, which processes share when the table is full. */
#define SHARED (GKF_TOTALS_MAX - 1)

static struct gkf_total *total_at(const struct gkf_machine *m, unsigned index)
{
	return &m->file->total[index];
}

/* The entry of a slot; NULL: the slot is a load's, or unused. */
static struct gkf_total *total_of(const struct gkf_machine *m, unsigned slot)
{
	uint64_t place = atomic_load_explicit(&m->file->total_of[slot],
					      memory_order_relaxed);

	return place && place <= GKF_TOTALS_MAX
		   ? total_at(m, (unsigned)place - 1)
		   : NULL;
}

static void store_word(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t load_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void add_to_word(_Atomic uint64_t *word, uint64_t more)
{
	atomic_fetch_add_explicit(word, more, memory_order_relaxed);
}

static unsigned count_totals(const struct gkf_machine *m)
{
	uint64_t count = atomic_load(&m->file->totals);

	return count < SHARED ? (unsigned)count : SHARED;
}

static bool is_of(const struct gkf_total *t, const struct gkf_slot *slot)
{
	return load_word(&t->pid) == (uint32_t)slot->pid &&
	       load_word(&t->start) == slot->start &&
	       load_word(&t->pid_ns) == slot->pid_ns &&
	       load_word(&t->stack) == slot->stack &&
	       load_word(&t->device) == slot->device;
}

/* The entry that a process already has for the device; GKF_TOTALS_MAX: none. */
static unsigned find_total(const struct gkf_machine *m,
			   const struct gkf_slot *slot)
{
	unsigned count = count_totals(m);

	for (unsigned i = count; i > 0; i--)
		if (is_of(total_at(m, i - 1), slot))
			return i - 1;
	return GKF_TOTALS_MAX;
}

/* Adds an entry; its words are written before the count includes it. */
static unsigned new_total(struct gkf_machine *m, const struct gkf_slot *slot)
{
	unsigned index = count_totals(m);
	struct gkf_total *t = total_at(m, index);
	uint64_t name[GKF_CALLER_MAX / 8] = {0};

	if (index == SHARED) {
		store_word(&t->device, GKF_DEVICES_MAX);
		atomic_store(&m->file->totals, GKF_TOTALS_MAX);
		return index;
	}
	memset((void *)t, 0, sizeof *t);
	strncpy((char *)name, gkf_caller(), sizeof name - 1);
	for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
		store_word(&t->name[i], name[i]);
	store_word(&t->device, slot->device);
	store_word(&t->pid, (uint32_t)slot->pid);
	store_word(&t->pid_ns, slot->pid_ns);
	store_word(&t->start, slot->start);
	store_word(&t->stack, slot->stack);
	store_word(&t->begin_ns, gkf_machine_ns(m));
	atomic_store(&m->file->totals, index + 1);
	return index;
}

void gkf_total_open(struct gkf_machine *m, unsigned slot,
		    const struct gkf_slot *content)
{
	unsigned index = GKF_TOTALS_MAX;

	GK_ASSERT(gkf_lock_held(m));
	store_word(&m->file->total_of[slot], 0);
	if (content->wave.kind != GKF_WAVE_REAL)
		return;
	index = find_total(m, content);
	if (index == GKF_TOTALS_MAX)
		index = new_total(m, content);
	store_word(&total_at(m, index)->end_ns, 0);
	store_word(&m->file->total_of[slot], index + 1);
}

void gkf_total_close(struct gkf_machine *m, unsigned slot)
{
	struct gkf_total *t = total_of(m, slot);

	GK_ASSERT(gkf_lock_held(m));
	if (t)
		store_word(&t->end_ns, gkf_machine_ns(m) + 1);
	store_word(&m->file->total_of[slot], 0);
}

void gkf_total_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes)
{
	struct gkf_total *t = total_of(m, slot);

	if (t && load_word(&t->peak) < bytes)
		store_word(&t->peak, bytes);
}

void gkf_total_busy(struct gkf_machine *m, unsigned slot, uint64_t ns)
{
	struct gkf_total *t = total_of(m, slot);

	if (t)
		add_to_word(&t->busy_ns, ns);
}

void gkf_total_moved(struct gkf_machine *m, unsigned slot,
		     enum gkf_direction direction, uint64_t bytes)
{
	struct gkf_total *t = total_of(m, slot);

	if (t)
		add_to_word(&t->moved[direction], bytes);
}

/* The entry of a slot; NULL if the slot is not this process's. */
static struct gkf_total *own_total(struct gkf_machine *m, unsigned slot)
{
	return slot < GKF_SLOTS_MAX && gkf_owns(m, &m->file->slot[slot])
		   ? total_of(m, slot)
		   : NULL;
}

void gkf_total_launched(struct gkf_machine *m, unsigned slot)
{
	struct gkf_total *t = own_total(m, slot);

	if (t)
		add_to_word(&t->launches, 1);
}

void gkf_total_operations(struct gkf_machine *m, unsigned slot,
			  uint64_t operations)
{
	struct gkf_total *t = own_total(m, slot);

	if (t)
		add_to_word(&t->operations, operations);
}

bool gkf_total_read(struct gkf_machine *m, unsigned index,
		    struct gkf_total_read *ret)
{
	uint64_t name[GKF_CALLER_MAX / 8], end;
	const struct gkf_total *t;

	if (index >= atomic_load(&m->file->totals))
		return false;
	t = total_at(m, index);
	end = load_word(&t->end_ns);
	*ret = (struct gkf_total_read){
	    .pid = (int32_t)load_word(&t->pid),
	    .device = (unsigned)load_word(&t->device),
	    .ended = end,
	    .begin_ns = load_word(&t->begin_ns),
	    .end_ns = end ? end - 1 : 0,
	    .peak = load_word(&t->peak),
	    .busy_ns = load_word(&t->busy_ns),
	    .launches = load_word(&t->launches),
	    .operations = load_word(&t->operations),
	};
	for (int d = 0; d < GKF_DIRECTIONS; d++)
		ret->moved[d] = load_word(&t->moved[d]);
	for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
		name[i] = load_word(&t->name[i]);
	memcpy(ret->name, name, sizeof name);
	ret->name[GKF_CALLER_MAX - 1] = '\0';
	return ret->device < m->device_count || index == SHARED;
}
