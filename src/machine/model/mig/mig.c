/* SPDX-License-Identifier: Apache-2.0 */
/* mig.c - creates and destroys MIG instances; see mig.h. */
#include "machine/model/mig/mig.h"
#include "abi/nvml/nvml_abi.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/mix.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/model/wave.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <stdio.h>
#include <string.h>

/* The fields of a word; see mig_state.h. */
#define USED       1u
#define PROFILE(w) ((unsigned)((w) >> 8) & 0xff)
#define START(w)   ((unsigned)((w) >> 16) & 0xf)
#define INDEX(w)   ((unsigned)((w) >> 24) & 0xff)
#define LIFE(w)    ((uint32_t)((w) >> 32))

#define NUMBER_MAX 32 /* more than NVML's profile numbers */

unsigned gkf_mig_mode(const struct gkf_machine *m, unsigned device)
{
	return (unsigned)atomic_load_explicit(&m->file->device[device].mig.mode,
					      memory_order_relaxed) &
	       (GKF_MIG_CURRENT | GKF_MIG_PENDING);
}

static struct gkf_mig *mig_of(struct gkf_machine *m, unsigned device)
{
	return &m->file->device[device].mig;
}

static const struct gkf_mig_board *board_of(const struct gkf_machine *m,
					    unsigned device)
{
	return device < m->device_count
		   ? gkf_mig_board(&m->boards[device].profile)
		   : NULL;
}

static bool is_on(struct gkf_machine *m, unsigned device)
{
	return board_of(m, device) && gkf_mig_mode(m, device) & GKF_MIG_CURRENT;
}

/* Takes a free word of the table; this one store creates an instance. */
static void take_place(_Atomic uint64_t *place, unsigned profile,
		       unsigned start, unsigned index)
{
	uint64_t life = LIFE(atomic_load(place)) + 1;

	/* No instance has GKF_MIG_ANY_LIFE. */
	if ((uint32_t)life == GKF_MIG_ANY_LIFE)
		life++;
	atomic_store(place, life << 32 | (uint64_t)index << 24 |
				(uint64_t)start << 16 | (uint64_t)profile << 8 |
				USED);
}

static void leave_place(_Atomic uint64_t *place)
{
	atomic_fetch_and(place, ~(uint64_t)USED);
}

int gkf_mig_gi_read(struct gkf_machine *m, unsigned device, unsigned gi,
		    struct gkf_mig_gi *ret_gi)
{
	const struct gkf_mig_board *board = board_of(m, device);
	const struct gkf_mig_profile *profile;
	uint64_t word;

	if (gi >= GKF_MIG_GIS || !board || !is_on(m, device))
		return GK_ERR_NOT_FOUND;
	word = atomic_load_explicit(&mig_of(m, device)->gi[gi],
				    memory_order_acquire);
	profile = gkf_mig_profile_by_number(board, PROFILE(word));
	if (!(word & USED) || !profile ||
	    profile->memory_slices != gkf_mig_gi_size(gi))
		return GK_ERR_NOT_FOUND;
	*ret_gi = (struct gkf_mig_gi){.id = gi,
				      .life = LIFE(word),
				      .profile = profile,
				      .start = gkf_mig_gi_start(gi)};
	return 0;
}

/* Reads a compute instance of a GPU instance. */
static int read_ci(struct gkf_machine *m, unsigned device,
		   const struct gkf_mig_gi *gi, unsigned ci,
		   struct gkf_mig_ci *ret_ci)
{
	struct gkf_mig_ci found = {.gi = gi->id, .id = ci};
	uint64_t word = atomic_load_explicit(&mig_of(m, device)->ci[gi->id][ci],
					     memory_order_acquire);

	found.life = LIFE(word);
	found.index = INDEX(word);
	found.start = START(word);
	if (!(word & USED) || found.index >= GKF_MIG_MAX ||
	    !gkf_mig_ci_profile(board_of(m, device), gi->profile, PROFILE(word),
				&found.profile))
		return GK_ERR_NOT_FOUND;
	*ret_ci = found;
	return 0;
}

int gkf_mig_ci_read(struct gkf_machine *m, unsigned device, unsigned gi,
		    unsigned ci, struct gkf_mig_ci *ret_ci)
{
	struct gkf_mig_gi whole;
	int r = gkf_mig_gi_read(m, device, gi, &whole);

	if (!r && ci >= GKF_MIG_CIS)
		r = GK_ERR_NOT_FOUND;
	return r ? r : read_ci(m, device, &whole, ci, ret_ci);
}

int gkf_mig_by_index(struct gkf_machine *m, unsigned device, unsigned index,
		     struct gkf_mig_ci *ret_ci)
{
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++) {
		struct gkf_mig_gi whole;
		struct gkf_mig_ci ci;

		if (gkf_mig_gi_read(m, device, gi, &whole))
			continue;
		for (unsigned i = 0; i < GKF_MIG_CIS; i++) {
			if (read_ci(m, device, &whole, i, &ci) ||
			    ci.index != index)
				continue;
			*ret_ci = ci;
			return 0;
		}
	}
	return GK_ERR_NOT_FOUND;
}

void gkf_mig_use(struct gkf_machine *m, unsigned device,
		 struct gkf_mig_use *ret_use)
{
	struct gkf_mig_use use = {0};
	struct gkf_mig_gi gi;

	for (unsigned i = 0; i < GKF_MIG_GIS; i++) {
		if (gkf_mig_gi_read(m, device, i, &gi))
			continue;
		use.taken |= ((1u << gi.profile->memory_slices) - 1)
			     << gi.start;
		use.count[gi.profile->profile % NUMBER_MAX]++;
	}
	*ret_use = use;
}

void gkf_mig_uuid(struct gkf_machine *m, unsigned device,
		  const struct gkf_mig_ci *ci, char ret_uuid[GKF_MIG_UUID_MAX])
{
	const char *of = m->boards[device].uuid;
	uint64_t a = (uint64_t)ci->life << 32 | GKF_INSTANCE(ci->gi, ci->id);
	uint64_t b;

	for (; *of; of++)
		a = gkf_mix(a ^ (unsigned char)*of);
	b = gkf_mix(a);
	/* A UUID of version 5 (made from a name), variant 1 of RFC 4122. */
	snprintf(ret_uuid, GKF_MIG_UUID_MAX, "MIG-%08x-%04x-5%03x-%04x-%012llx",
		 (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
		 (unsigned)a & 0xfff, 0x8000 | ((unsigned)(b >> 48) & 0x3fff),
		 (unsigned long long)(b & 0xffffffffffffULL));
}

/* Loads of a scenario are present for a limited time. */
static bool is_load_present(const struct gkf_slot *slot, uint64_t bin)
{
	return !slot->wave.stop_bin || gkf_wave_present(&slot->wave, bin);
}

/*
 * Whether any process is on the device (gi and ci are ALL), in a GPU instance
 * (ci is ALL) or in a compute instance. Reaps dead processes first.
 */
#define ALL 0xffffu
static bool is_instance_used(struct gkf_machine *m, unsigned device,
			     unsigned gi, unsigned ci)
{
	uint64_t bin = gkf_machine_bin(m);
	unsigned high = gkf_slots_high(m);
	struct gkf_slot slot;

	for (unsigned i = 0; i < high; i++)
		if (gkf_slot_read_on(m, i, device, &slot, NULL) &&
		    is_load_present(&slot, bin) &&
		    (gi == ALL || GKF_INSTANCE_GI(slot.instance) == gi) &&
		    (ci == ALL || GKF_INSTANCE_CI(slot.instance) == ci))
			return true;
	return false;
}

static bool has_instances(struct gkf_machine *m, unsigned device)
{
	struct gkf_mig_use use;

	gkf_mig_use(m, device, &use);
	return use.taken != 0;
}

static void push_change(struct gkf_machine *m, unsigned device)
{
	gkf_event_push(m, device, nvmlEventMigConfigChange, 0, GKF_NO_INSTANCE);
}

int gkf_mig_mode_set(struct gkf_machine *m, unsigned device, bool on)
{
	uint64_t wanted = on ? GKF_MIG_PENDING : 0, now;
	int r;

	if (!board_of(m, device))
		return GK_ERR_NOT_SUPPORTED;
	gkf_reap(m, true);
	r = gkf_lock(m);
	if (r)
		return r;
	now = gkf_mig_mode(m, device);
	if (!!(now & GKF_MIG_CURRENT) == on) {
		wanted |= now & GKF_MIG_CURRENT;
	} else if (is_instance_used(m, device, ALL, ALL) ||
		   has_instances(m, device)) {
		wanted |= now & GKF_MIG_CURRENT;
		r = GK_ERR_IN_USE;
	} else if (on) {
		wanted |= GKF_MIG_CURRENT;
	}
	atomic_store(&mig_of(m, device)->mode, wanted);
	if ((wanted ^ now) & GKF_MIG_CURRENT)
		push_change(m, device);
	gkf_unlock(m);
	return r;
}

/* The caller holds the writers' lock. */
static int create_gi(struct gkf_machine *m, unsigned device,
		     const struct gkf_mig_profile *profile, int start,
		     unsigned *ret_gi)
{
	struct gkf_mig_use use;
	unsigned gi;

	GK_ASSERT(gkf_lock_held(m));
	gkf_mig_use(m, device, &use);
	if (start == GKF_MIG_ANYWHERE)
		start = gkf_mig_choose(board_of(m, device), profile, &use);
	else if (!(gkf_mig_free_places(profile, &use) >> start & 1))
		start = -1;
	if (start < 0)
		return GK_ERR_NO_SPACE;
	gi = gkf_mig_gi_id((unsigned)start, profile->memory_slices);
	/*
	 * Another process may have overwritten the file and left compute
	 * instances there.
	 */
	for (unsigned i = 0; i < GKF_MIG_CIS; i++)
		leave_place(&mig_of(m, device)->ci[gi][i]);
	take_place(&mig_of(m, device)->gi[gi], profile->profile,
		   (unsigned)start, 0);
	push_change(m, device);
	*ret_gi = gi;
	return 0;
}

int gkf_mig_gi_create(struct gkf_machine *m, unsigned device,
		      unsigned profile_id, int start, unsigned *ret_gi)
{
	const struct gkf_mig_board *board = board_of(m, device);
	const struct gkf_mig_profile *profile;
	int r;

	if (!board || !is_on(m, device))
		return GK_ERR_NOT_SUPPORTED;
	profile = gkf_mig_profile_by_id(board, profile_id);
	if (!profile || (start != GKF_MIG_ANYWHERE &&
			 (start < 0 || start >= GKF_MIG_SLICES ||
			  !(profile->placements >> start & 1))))
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	r = is_on(m, device) ? create_gi(m, device, profile, start, ret_gi)
			     : GK_ERR_NOT_SUPPORTED;
	gkf_unlock(m);
	return r;
}

/* Bits of the compute slices taken in a GPU instance. */
static unsigned slices_taken(struct gkf_machine *m, unsigned device,
			     const struct gkf_mig_gi *gi)
{
	struct gkf_mig_ci ci;
	unsigned taken = 0;

	for (unsigned i = 0; i < GKF_MIG_CIS; i++)
		if (!read_ci(m, device, gi, i, &ci))
			taken |= ((1u << ci.profile.slices) - 1) << ci.start;
	return taken;
}

unsigned gkf_mig_ci_capacity(struct gkf_machine *m, unsigned device,
			     const struct gkf_mig_gi *gi,
			     const struct gkf_mig_ci_profile *profile)
{
	unsigned taken = slices_taken(m, device, gi), n = 0;

	for (unsigned s = 0; s < GKF_MIG_SLICES; s++)
		if (profile->placements >> s & 1 &&
		    !(((1u << profile->slices) - 1) << s & taken))
			n++;
	return n;
}

/*
 * The lowest free slice at which a compute instance may start; with a `start`,
 * only that slice is tried. -1: none is free.
 */
static int ci_start(const struct gkf_mig_ci_profile *p, unsigned taken,
		    int start)
{
	for (int s = 0; s < GKF_MIG_SLICES; s++)
		if ((start == GKF_MIG_ANYWHERE || s == start) &&
		    p->placements >> s & 1 &&
		    !(((1u << p->slices) - 1) << s & taken))
			return s;
	return -1;
}

static unsigned free_ci(struct gkf_machine *m, unsigned device, unsigned gi)
{
	unsigned i = 0;

	while (i < GKF_MIG_CIS &&
	       atomic_load(&mig_of(m, device)->ci[gi][i]) & USED)
		i++;
	return i;
}

static unsigned free_index(struct gkf_machine *m, unsigned device)
{
	struct gkf_mig_ci ci;
	unsigned i = 0;

	while (i < GKF_MIG_MAX && !gkf_mig_by_index(m, device, i, &ci))
		i++;
	return i;
}

/* The caller holds the writers' lock. */
static int create_ci(struct gkf_machine *m, unsigned device,
		     const struct gkf_mig_gi *gi, unsigned number, int start,
		     unsigned *ret_ci)
{
	unsigned ci = free_ci(m, device, gi->id);
	unsigned index = free_index(m, device);
	struct gkf_mig_ci_profile profile;

	GK_ASSERT(gkf_lock_held(m));
	if (!gkf_mig_ci_profile(board_of(m, device), gi->profile, number,
				&profile))
		return GK_ERR_RANGE;
	if (start != GKF_MIG_ANYWHERE &&
	    (start < 0 || start >= GKF_MIG_SLICES ||
	     !(profile.placements >> start & 1)))
		return GK_ERR_RANGE;
	start = ci_start(&profile, slices_taken(m, device, gi), start);
	if (start < 0 || ci == GKF_MIG_CIS || index == GKF_MIG_MAX)
		return GK_ERR_NO_SPACE;
	take_place(&mig_of(m, device)->ci[gi->id][ci], number, (unsigned)start,
		   index);
	push_change(m, device);
	*ret_ci = ci;
	return 0;
}

static bool is_life(uint32_t wanted, uint32_t life)
{
	return wanted == GKF_MIG_ANY_LIFE || wanted == life;
}

int gkf_mig_ci_create(struct gkf_machine *m, unsigned device, unsigned gi,
		      uint32_t gi_life, unsigned number, int start,
		      unsigned *ret_ci)
{
	struct gkf_mig_gi whole;
	int r = gkf_lock(m);

	if (r)
		return r;
	r = gkf_mig_gi_read(m, device, gi, &whole);
	if (!r && !is_life(gi_life, whole.life))
		r = GK_ERR_NOT_FOUND;
	if (!r)
		r = create_ci(m, device, &whole, number, start, ret_ci);
	gkf_unlock(m);
	return r;
}

static bool has_cis(struct gkf_machine *m, unsigned device,
		    const struct gkf_mig_gi *gi)
{
	struct gkf_mig_ci ci;

	for (unsigned i = 0; i < GKF_MIG_CIS; i++)
		if (!read_ci(m, device, gi, i, &ci))
			return true;
	return false;
}

int gkf_mig_gi_destroy(struct gkf_machine *m, unsigned device, unsigned gi,
		       uint32_t life)
{
	struct gkf_mig_gi whole;
	int r;

	gkf_reap(m, true);
	r = gkf_lock(m);
	if (r)
		return r;
	r = gkf_mig_gi_read(m, device, gi, &whole);
	if (!r && !is_life(life, whole.life))
		r = GK_ERR_NOT_FOUND;
	if (!r && (has_cis(m, device, &whole) ||
		   is_instance_used(m, device, gi, ALL)))
		r = GK_ERR_IN_USE;
	if (!r) {
		leave_place(&mig_of(m, device)->gi[gi]);
		push_change(m, device);
	}
	gkf_unlock(m);
	return r;
}

int gkf_mig_ci_destroy(struct gkf_machine *m, unsigned device, unsigned gi,
		       unsigned ci, uint32_t life)
{
	struct gkf_mig_ci found;
	int r;

	gkf_reap(m, true);
	r = gkf_lock(m);
	if (r)
		return r;
	r = gkf_mig_ci_read(m, device, gi, ci, &found);
	if (!r && !is_life(life, found.life))
		r = GK_ERR_NOT_FOUND;
	if (!r && is_instance_used(m, device, gi, ci))
		r = GK_ERR_IN_USE;
	if (!r) {
		leave_place(&mig_of(m, device)->ci[gi][ci]);
		push_change(m, device);
	}
	gkf_unlock(m);
	return r;
}

void gkf_mig_reset(struct gkf_machine *m, unsigned device)
{
	struct gkf_mig *mig = mig_of(m, device);
	unsigned mode = gkf_mig_mode(m, device);

	GK_ASSERT(gkf_lock_held(m));
	if (!mode || is_instance_used(m, device, ALL, ALL))
		return;
	/*
	 * Destroys compute instances first: none may exist without its GPU
	 * instance.
	 */
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++) {
		for (unsigned ci = 0; ci < GKF_MIG_CIS; ci++)
			leave_place(&mig->ci[gi][ci]);
		leave_place(&mig->gi[gi]);
	}
	atomic_store(&mig->mode, mode & GKF_MIG_PENDING
				     ? GKF_MIG_CURRENT | GKF_MIG_PENDING
				     : 0);
	push_change(m, device);
}
