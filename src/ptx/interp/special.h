/* SPDX-License-Identifier: Apache-2.0 */
/*
 * special.h - special registers that are constant during a block, and clocks.
 */
#ifndef GKF_PTX_SPECIAL_H
#define GKF_PTX_SPECIAL_H

#include "ptx/interp/program.h"

enum gkf_clock_kind {
#define CLOCK(id, name, bytes) GKF_##id,
#include "ptx/special.def"
#undef CLOCK
	GKF_CLOCK_KINDS,
};

/* Returns the size of a warp's area of special registers, in bytes. */
uint32_t gkf_specials_size(void);

/*
 * Returns the place of a special register such as "%tid.x", which is 32 bits
 * wide, and sets *ret_bit to its bit in sets of registers. Returns GKF_NOWHERE
 * if there is none of that name.
 */
uint32_t gkf_special_find(const char *name, uint32_t *ret_bit);

/*
 * Finds a clock by a name such as "%clock64"; GKF_CLOCK_KINDS: there is none.
 */
enum gkf_clock_kind gkf_clock_find(const char *name, unsigned *ret_bytes);

/* Computes the special registers in the given set. */
void gkf_specials_fill(struct gkf_warp *w, uint32_t set);

/* Returns the set of special registers that differ between blocks. */
uint32_t gkf_specials_of_blocks(void);

#endif
