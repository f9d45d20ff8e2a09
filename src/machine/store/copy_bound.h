/*
 * copy_bound.h - how much is computed to bring a copy of another user's machine
 * up to its time: whoever wrote the file must not take the time of those who
 * look at it.
 */
#ifndef GKF_COPY_BOUND_H
#define GKF_COPY_BOUND_H

struct gkf_machine;

/*
 * Sets bins_left of a copy, whose clock stands, and takes from it the steps of
 * its scenario when they would cost too much. What is not computed bin by bin
 * is filled by what the last bin was like.
 */
void gkf_copy_bound(struct gkf_machine *m);

#endif
