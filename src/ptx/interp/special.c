/* SPDX-License-Identifier: Apache-2.0 */
/* special.c - finds and computes special registers such as %tid and %clock. */
#include "ptx/interp/special.h"
#include "base/clock.h"
#include "ptx/interp/lanes.h"
#include "ptx/interp/op.h"

#include <string.h>

enum special {
#define SPECIAL(name, letter, value) SPECIAL_AT(__LINE__),
#define SPECIAL_AT(line)             SPECIAL_AT_(line)
#define SPECIAL_AT_(line)            SPECIAL_##line
#include "ptx/special.def"
#undef SPECIAL
	SPECIALS
};

static const char *const names[SPECIALS] = {
#define SPECIAL(name, letter, value) "%" #name,
#include "ptx/special.def"
#undef SPECIAL
};

uint32_t gkf_specials_size(void)
{
	return SPECIALS * GKF_LANES * sizeof(uint32_t);
}

_Static_assert(SPECIALS <= 32, "a bit for each");

uint32_t gkf_special_find(const char *name, uint32_t *ret_bit)
{
	for (uint32_t i = 0; i < SPECIALS; i++)
		if (!strcmp(names[i], name)) {
			*ret_bit = 1U << i;
			return GKF_PLACE(GKF_AREA_WARP,
					 i * GKF_LANES * sizeof(uint32_t));
		}
	return GKF_NOWHERE;
}

static uint32_t special_value(const struct gkf_warp *w, enum special which,
			      unsigned l)
{
	const struct gkf_ptx_launch *g = w->run->launch;
	uint32_t t = w->index * GKF_LANES + l;

	switch (which) {
#define SPECIAL(name, letter, value)                                           \
	case SPECIAL_AT(__LINE__):                                             \
		return value;
#include "ptx/special.def"
#undef SPECIAL
	case SPECIALS:
		break;
	}
	return 0;
}

/* Whether a special register differs between blocks. */
static bool differs_between_blocks(enum special which)
{
	return !strncmp(names[which], "%ctaid", 6) ||
	       !strcmp(names[which], "%smid");
}

uint32_t gkf_specials_of_blocks(void)
{
	uint32_t set = 0;

	for (unsigned i = 0; i < SPECIALS; i++)
		set |= (uint32_t)differs_between_blocks((enum special)i) << i;
	return set;
}

void gkf_specials_fill(struct gkf_warp *w, uint32_t set)
{
	for (; set; set &= set - 1) {
		unsigned i = (unsigned)__builtin_ctz(set);
		u32 *values = (u32 *)(void *)w->base[GKF_AREA_WARP] +
			      (size_t)i * GKF_LANES;

		for (unsigned l = 0; l < GKF_LANES; l++)
			values[l] = special_value(w, (enum special)i, l);
	}
}

enum gkf_clock_kind gkf_clock_find(const char *name, unsigned *ret_bytes)
{
	static const struct {
		const char *name;
		unsigned bytes;
	} clocks[GKF_CLOCK_KINDS] = {
#define CLOCK(id, name, bytes) [GKF_##id] = {"%" #name, bytes},
#include "ptx/special.def"
#undef CLOCK
	};
	unsigned i = 0;

	while (i < GKF_CLOCK_KINDS && strcmp(clocks[i].name, name))
		i++;
	if (i < GKF_CLOCK_KINDS)
		*ret_bytes = clocks[i].bytes;
	return (enum gkf_clock_kind)i;
}

/* Returns monotonic time in clock ticks, or wall-clock time in ns. */
static uint64_t read_clock_register(const struct gkf_warp *w, int64_t which)
{
	uint64_t khz = w->run->launch->clock_khz;
	uint64_t ns;

	if (which >= GKF_GLOBALTIMER)
		return gk_wall_ns();
	ns = gk_mono_ns();
	return khz ? (uint64_t)((unsigned __int128)ns * khz / 1000000) : ns;
}

void gkf_op_clock(struct gkf_warp *w, const struct gkf_op *op, uint32_t mask)
{
	uint64_t value = read_clock_register(w, op->imm);
	void *out = gkf_at(w, op->d);

	if (op->imm == GKF_CLOCK_HI || op->imm == GKF_GLOBALTIMER_HI)
		value >>= 32;
	for (unsigned l = 0; l < GKF_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		if (op->size == 8)
			((u64 *)out)[l] = value;
		else
			((u32 *)out)[l] = (uint32_t)value;
	}
}
