/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - how far a group's kernels have got on one GPU, for kernels on other
 * GPUs that may wait for them. The data are words of a share (share.h) that any
 * process uses without locks. If a race loses a word, the next launch corrects
 * it.
 */
#ifndef GKL_PACE_H
#define GKL_PACE_H

#include "limit/share.h"

/*
 * Records that a launch proceeds. Its work takes least_ns if it does not wait
 * for other work.
 */
void gkl_pace_begin(struct gkl_share *share, uint64_t now_ns,
		    uint64_t least_ns);

/* Records that the launch which proceeded at begun_ns has ended. */
void gkl_pace_end(struct gkl_share *share, uint64_t begun_ns);

/*
 * Whether a launch should have ended by now but has not, so that it may be
 * waiting for another device. False once it is so late that its process may
 * have died.
 */
bool gkl_pace_is_overdue(const struct gkl_share *share, uint64_t now_ns,
			 uint64_t slack_ns);

/*
 * Devices whose kernels wait for each other launch together, within a
 * millisecond. Each time they do so, a new bout begins. In a bout every device
 * counts its launches, so the counts show which device is behind.
 *
 * gkl_pace_open() begins a bout now, unless a bout has begun since since_ns.
 * gkl_pace_step() counts a launch on device `mine` in the latest bout.
 * gkl_pace_behind() returns how many launches `mine` is behind the device that
 * has the most launches in the latest bout, of all devices with unfinished
 * launches.
 */
void gkl_pace_open(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine, uint64_t since_ns, uint64_t now_ns);
void gkl_pace_step(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine);
unsigned int gkl_pace_behind(struct gkl_share *const share[],
			     unsigned int count, unsigned int mine);

#endif
