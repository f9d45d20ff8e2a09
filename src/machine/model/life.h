/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - how boards of one model differ, and how their figures wander.
 *
 * Each board has a seed. A seed of 0 is a twin: a board exactly as its profile
 * says, whose figures stand still at rest. docs/MACHINE.md has the sources.
 */
#ifndef GKF_LIFE_H
#define GKF_LIFE_H

#include <stdint.h>

struct gkf_machine;
struct gkf_profile;
struct gkf_state;

/*
 * Turns the profile of a model into that of one of its boards: a little more or
 * less power and heat.
 */
void gkf_life_spread(struct gkf_profile *profile, uint64_t seed);

/*
 * Lets the figures of a board at rest wander: power by tenths of a watt, and
 * the traffic on the PCIe link. The state that is stored stands still, so that
 * long times at rest are computed at once.
 */
void gkf_life_wander(struct gkf_machine *m, unsigned device,
		     struct gkf_state *state);

/* A board's outgoing PCIe traffic, permille of the incoming: of twins half. */
uint32_t gkf_life_pcie_out(uint64_t seed);

#endif
