/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - how boards of one model differ, and how their figures wander, that
 * is, change slowly and at random.
 *
 * Each board has a seed. A board with seed 0 is a twin: it is exactly as its
 * profile says, and its figures stay constant at rest. docs/MACHINE.md has the
 * sources.
 */
#ifndef GKF_LIFE_H
#define GKF_LIFE_H

#include <stdint.h>

struct gkf_machine;
struct gkf_profile;
struct gkf_state;

/*
 * Adapts the profile of a model to one of its boards, which has a little more
 * or less power and heat.
 */
void gkf_life_spread(struct gkf_profile *profile, uint64_t seed);

/*
 * Lets the figures of a board at rest wander: power by tenths of a watt, and
 * the traffic on the PCIe link. The stored state does not wander, so that long
 * times at rest are computed at once.
 */
void gkf_life_wander(struct gkf_machine *m, unsigned device,
		     struct gkf_state *state);

/*
 * Adds the drift of the figures to the sums of energy and traffic, for the bins
 * after an earlier state; `before` is that state's number of bins.
 */
void gkf_life_add(struct gkf_machine *m, unsigned device, uint64_t before,
		  struct gkf_state *state);

/*
 * A board's outgoing PCIe traffic, in permille of its incoming traffic; 500 for
 * a twin.
 */
uint32_t gkf_life_pcie_out(uint64_t seed);

#endif
