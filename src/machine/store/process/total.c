/* total.c - owns the table of what processes did on devices; see total.h. */
#include "machine/store/total.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/store/clock.h"
#include "machine/store/coverage.h"
#include "machine/store/identity.h"
#include "machine/store/view.h"

#include <string.h>

/* Of those for whom there was no room. */
#define SHARED (GKF_TOTALS_MAX - 1)

static struct gkf_total *total_at(const struct gkf_machine *m, unsigned index)
{
	return &m->file->total[index];
}

/* That of a slot; NULL: it is a load's, or nobody's. */
static struct gkf_total *total_of(const struct gkf_machine *m, unsigned slot)
{
	uint64_t place = atomic_load_explicit(&m->file->total_of[slot],
					      memory_order_relaxed);

	return place && place <= GKF_TOTALS_MAX
		   ? total_at(m, (unsigned)place - 1)
		   : NULL;
}

static void put(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void add(_Atomic uint64_t *word, uint64_t more)
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
	return get(&t->pid) == (uint32_t)slot->pid &&
	       get(&t->start) == slot->start &&
	       get(&t->pid_ns) == slot->pid_ns &&
	       get(&t->stack) == slot->stack && get(&t->device) == slot->device;
}

/* The place that a process had before on the device; or GKF_TOTALS_MAX. */
static unsigned find_total(const struct gkf_machine *m,
			   const struct gkf_slot *slot)
{
	unsigned count = count_totals(m);

	for (unsigned i = count; i > 0; i--)
		if (is_of(total_at(m, i - 1), slot))
			return i - 1;
	return GKF_TOTALS_MAX;
}

/* The words of a new one are there before it counts. */
static unsigned new_total(struct gkf_machine *m, const struct gkf_slot *slot)
{
	unsigned index = count_totals(m);
	struct gkf_total *t = total_at(m, index);
	uint64_t name[GKF_CALLER_MAX / 8] = {0};

	if (index == SHARED) {
		put(&t->device, GKF_DEVICES_MAX);
		atomic_store(&m->file->totals, GKF_TOTALS_MAX);
		return index;
	}
	memset((void *)t, 0, sizeof *t);
	strncpy((char *)name, gkf_caller(), sizeof name - 1);
	for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
		put(&t->name[i], name[i]);
	put(&t->device, slot->device);
	put(&t->pid, (uint32_t)slot->pid);
	put(&t->pid_ns, slot->pid_ns);
	put(&t->start, slot->start);
	put(&t->stack, slot->stack);
	put(&t->begin_ns, gkf_machine_ns(m));
	atomic_store(&m->file->totals, index + 1);
	return index;
}

void gkf_total_open(struct gkf_machine *m, unsigned slot,
		    const struct gkf_slot *content)
{
	unsigned index = GKF_TOTALS_MAX;

	put(&m->file->total_of[slot], 0);
	if (content->wave.kind != GKF_WAVE_REAL)
		return;
	index = find_total(m, content);
	if (index == GKF_TOTALS_MAX)
		index = new_total(m, content);
	put(&total_at(m, index)->end_ns, 0);
	put(&m->file->total_of[slot], index + 1);
}

void gkf_total_close(struct gkf_machine *m, unsigned slot)
{
	struct gkf_total *t = total_of(m, slot);

	if (t)
		put(&t->end_ns, gkf_machine_ns(m) + 1);
	put(&m->file->total_of[slot], 0);
}

void gkf_total_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes)
{
	struct gkf_total *t = total_of(m, slot);

	if (t && get(&t->peak) < bytes)
		put(&t->peak, bytes);
}

void gkf_total_busy(struct gkf_machine *m, unsigned slot, uint64_t ns)
{
	struct gkf_total *t = total_of(m, slot);

	if (t)
		add(&t->busy_ns, ns);
}

void gkf_total_moved(struct gkf_machine *m, unsigned slot,
		     enum gkf_direction direction, uint64_t bytes)
{
	struct gkf_total *t = total_of(m, slot);

	if (t)
		add(&t->moved[direction], bytes);
}

/* That of a slot of this process. */
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
		add(&t->launches, 1);
}

void gkf_total_operations(struct gkf_machine *m, unsigned slot,
			  uint64_t operations)
{
	struct gkf_total *t = own_total(m, slot);

	if (t)
		add(&t->operations, operations);
}

bool gkf_total_read(struct gkf_machine *m, unsigned index,
		    struct gkf_total_read *ret)
{
	const struct gkf_total *t = total_at(m, index);
	uint64_t name[GKF_CALLER_MAX / 8];
	uint64_t end = get(&t->end_ns);

	if (index >= atomic_load(&m->file->totals))
		return false;
	*ret = (struct gkf_total_read){
	    .pid = (int32_t)get(&t->pid),
	    .device = (unsigned)get(&t->device),
	    .ended = end,
	    .begin_ns = get(&t->begin_ns),
	    .end_ns = end ? end - 1 : 0,
	    .peak = get(&t->peak),
	    .busy_ns = get(&t->busy_ns),
	    .launches = get(&t->launches),
	    .operations = get(&t->operations),
	};
	for (int d = 0; d < GKF_DIRECTIONS; d++)
		ret->moved[d] = get(&t->moved[d]);
	for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
		name[i] = get(&t->name[i]);
	memcpy(ret->name, name, sizeof name);
	ret->name[GKF_CALLER_MAX - 1] = '\0';
	return ret->device < m->device_count || index == SHARED;
}
