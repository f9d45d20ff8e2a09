/*
 * pace.h - how far the kernels of a group have got on one GPU, for those on
 * others that may wait for them: plain words of a share (share.h), any process,
 * no locks. A word that is lost to a race is put right by the next launch.
 */
#ifndef GKL_PACE_H
#define GKL_PACE_H

#include "limit/share.h"

/* A launch is let in, its work takes least_ns if it waits for nobody. */
void gkl_pace_begin(struct gkl_share *share, uint64_t now_ns,
		    uint64_t least_ns);

/* What was let in at begun_ns is known to be over. */
void gkl_pace_end(struct gkl_share *share, uint64_t begun_ns);

/*
 * Whether something is not over that should have been before: it may wait for
 * another device. Not if it is so long ago that its process may have died.
 */
bool gkl_pace_is_overdue(const struct gkl_share *share, uint64_t now_ns,
			 uint64_t slack_ns);

/*
 * Launches are counted in bouts, from one moment at which the devices that go
 * together are let in to the next; they are let in one after the other, within
 * a millisecond. open: a bout begins now, if none has since; step: a launch of
 * the latest bout of them all; behind: how many fewer this
 * device has let in in it than another one on which some are not over.
 */
void gkl_pace_open(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine, uint64_t since_ns, uint64_t now_ns);
void gkl_pace_step(struct gkl_share *const share[], unsigned int count,
		   unsigned int mine);
unsigned int gkl_pace_behind(struct gkl_share *const share[],
			     unsigned int count, unsigned int mine);

#endif
