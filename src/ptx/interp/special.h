/*
 * special.h - special registers: those that keep their value during a block,
 * and the clocks.
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

/* Bytes of a warp's area of special registers. */
uint32_t gkf_specials_size(void);

/*
 * The place of "%tid.x", all of them 32 bits wide, and the bit that stands for
 * it in a set; GKF_NOWHERE: none.
 */
uint32_t gkf_special_find(const char *name, uint32_t *ret_bit);

/* "%clock64" is a clock of 64 bits; GKF_CLOCK_KINDS: no clock. */
enum gkf_clock_kind gkf_clock_find(const char *name, unsigned *ret_bytes);

/* Fills in the special registers of a set, by their bits. */
void gkf_specials_fill(struct gkf_warp *w, uint32_t set);

/* The set of special registers that differ between blocks. */
uint32_t gkf_specials_of_blocks(void);

#endif
