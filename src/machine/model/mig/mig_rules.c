/* SPDX-License-Identifier: Apache-2.0 */
/* mig_rules.c - owns the table of mig_profiles.def and its rules. */
#include "machine/model/mig/mig_rules.h"
#include "base/array.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"

#include <stdio.h>
#include <string.h>

enum {
#define MIG_BOARD(board, ...) BOARD_##board,
#define MIG_PROFILE(...)
#include "machine/model/mig/mig_profiles.def"
#undef MIG_BOARD
#undef MIG_PROFILE
};

static const struct gkf_mig_board boards[] = {
#define MIG_BOARD(board, ...) {BOARD_##board, __VA_ARGS__},
#define MIG_PROFILE(...)
#include "machine/model/mig/mig_profiles.def"
#undef MIG_BOARD
#undef MIG_PROFILE
};

static const struct gkf_mig_profile profiles[] = {
#define MIG_BOARD(...)
#define MIG_PROFILE(board, ...) {BOARD_##board, __VA_ARGS__},
#include "machine/model/mig/mig_profiles.def"
#undef MIG_BOARD
#undef MIG_PROFILE
};

/* Whether a GPU has the SMs of a board's largest profile. */
static bool has_sms(const struct gkf_profile *gpu,
		    const struct gkf_mig_board *board)
{
	for (size_t k = 0; k < COUNT(profiles); k++)
		if (profiles[k].board == board->board &&
		    (int64_t)profiles[k].sms > gpu->sm_count)
			return false;
	return true;
}

const struct gkf_mig_board *gkf_mig_board(const struct gkf_profile *gpu)
{
	if (gpu->mig < 0)
		return NULL;
	for (size_t i = 0; i < COUNT(boards); i++) {
		const struct gkf_mig_board *b = &boards[i];

		if (b->compute_major == gpu->compute_major &&
		    b->compute_minor == gpu->compute_minor &&
		    gpu->memory_mib >= b->least_mib &&
		    gpu->memory_mib < b->most_mib && has_sms(gpu, b))
			return b;
	}
	return NULL;
}

const struct gkf_mig_profile *
gkf_mig_profile_at(const struct gkf_mig_board *board, unsigned i)
{
	for (size_t k = 0; k < COUNT(profiles); k++)
		if (profiles[k].board == board->board && !i--)
			return &profiles[k];
	return NULL;
}

const struct gkf_mig_profile *
gkf_mig_profile_by_id(const struct gkf_mig_board *board, unsigned id)
{
	for (size_t k = 0; k < COUNT(profiles); k++)
		if (profiles[k].board == board->board && profiles[k].id == id)
			return &profiles[k];
	return NULL;
}

const struct gkf_mig_profile *
gkf_mig_profile_by_number(const struct gkf_mig_board *board, unsigned profile)
{
	for (size_t k = 0; k < COUNT(profiles); k++)
		if (profiles[k].board == board->board &&
		    profiles[k].profile == profile)
			return &profiles[k];
	return NULL;
}

const struct gkf_mig_profile *
gkf_mig_profile_by_name(const struct gkf_mig_board *board, const char *name,
			size_t len)
{
	for (size_t k = 0; k < COUNT(profiles); k++)
		if (profiles[k].board == board->board &&
		    strlen(profiles[k].name) == len &&
		    !memcmp(profiles[k].name, name, len))
			return &profiles[k];
	return NULL;
}

unsigned gkf_mig_bar1_mib(const struct gkf_mig_board *board,
			  const struct gkf_mig_profile *profile)
{
	return board->bar1_mib * profile->memory_slices / GKF_MIG_SLICES;
}

/* The ids number the nodes of a binary tree of halves, level by level. */
unsigned gkf_mig_gi_id(unsigned start, unsigned memory_slices)
{
	GK_ASSERT(memory_slices);
	return GKF_MIG_SLICES / memory_slices - 1 + start / memory_slices;
}

unsigned gkf_mig_gi_size(unsigned gi)
{
	return gi == 0 ? 8 : gi < 3 ? 4 : gi < 7 ? 2 : 1;
}

unsigned gkf_mig_gi_start(unsigned gi)
{
	unsigned size = gkf_mig_gi_size(gi);

	return (gi - (GKF_MIG_SLICES / size - 1)) * size;
}

/* Bits of the memory slices that an instance of a profile would take. */
static unsigned slice_bits(const struct gkf_mig_profile *profile,
			   unsigned start)
{
	return ((1u << profile->memory_slices) - 1) << start;
}

unsigned gkf_mig_free_places(const struct gkf_mig_profile *profile,
			     const struct gkf_mig_use *use)
{
	unsigned places = 0;

	if (use->count[profile->profile] >= profile->instances)
		return 0;
	for (unsigned s = 0; s < GKF_MIG_SLICES; s++)
		if (profile->placements >> s & 1 &&
		    !(slice_bits(profile, s) & use->taken))
			places |= 1u << s;
	return places;
}

/* Relies on placements of one profile never overlapping one another. */
unsigned gkf_mig_capacity(const struct gkf_mig_profile *profile,
			  const struct gkf_mig_use *use)
{
	unsigned places =
	    (unsigned)__builtin_popcount(gkf_mig_free_places(profile, use));
	unsigned left = profile->instances - use->count[profile->profile];

	return places < left ? places : places ? left : 0;
}

/* The number of free placements, over all profiles. */
static unsigned places_left(const struct gkf_mig_board *board,
			    const struct gkf_mig_use *use)
{
	unsigned left = 0;

	for (size_t k = 0; k < COUNT(profiles); k++)
		if (profiles[k].board == board->board)
			left += (unsigned)__builtin_popcount(
			    gkf_mig_free_places(&profiles[k], use));
	return left;
}

int gkf_mig_choose(const struct gkf_mig_board *board,
		   const struct gkf_mig_profile *profile,
		   const struct gkf_mig_use *use)
{
	unsigned places = gkf_mig_free_places(profile, use), most = 0;
	int best = -1;

	for (unsigned s = 0; s < GKF_MIG_SLICES; s++) {
		struct gkf_mig_use then = *use;
		unsigned left;

		if (!(places >> s & 1))
			continue;
		then.taken |= slice_bits(profile, s);
		then.count[profile->profile]++;
		left = places_left(board, &then);
		if (best >= 0 && left <= most)
			continue;
		best = (int)s;
		most = left;
	}
	return best;
}

/* NVML's numbers of the compute profiles, and the slices of each. */
static const struct {
	unsigned number, slices, step; /* start is a multiple of step */
} ci_shapes[] = {{0, 1, 1}, {1, 2, 2}, {2, 3, 4}, {3, 4, 4}, {4, 7, 8}};

/*
 * Profiles of one and two slices fit into every larger instance. Profiles of
 * three and four slices fit only into the largest. Each instance has one
 * profile that fills it.
 */
static bool is_offered(unsigned slices, unsigned of)
{
	return slices == of || (slices < of && (slices < 3 || of == 7));
}

bool gkf_mig_ci_profile(const struct gkf_mig_board *board,
			const struct gkf_mig_profile *gi, unsigned number,
			struct gkf_mig_ci_profile *ret_profile)
{
	struct gkf_mig_ci_profile p = {.number = number};
	unsigned step;

	if (number >= COUNT(ci_shapes) ||
	    !is_offered(ci_shapes[number].slices, gi->slices))
		return false;
	p.slices = ci_shapes[number].slices;
	step = ci_shapes[number].step;
	for (unsigned s = 0; s + p.slices <= gi->slices; s += step) {
		p.placements |= 1u << s;
		p.instances++;
	}
	if (p.slices == gi->slices) {
		p.sms = gi->sms;
		snprintf(p.name, sizeof p.name, "%s", gi->name);
	} else {
		p.sms = board->slice_sms * p.slices;
		snprintf(p.name, sizeof p.name, "%uc.%s", p.slices, gi->name);
	}
	*ret_profile = p;
	return true;
}

unsigned gkf_mig_ci_whole(const struct gkf_mig_profile *gi)
{
	for (unsigned i = 0; i < COUNT(ci_shapes); i++)
		if (ci_shapes[i].slices == gi->slices)
			return ci_shapes[i].number;
	return 0;
}
