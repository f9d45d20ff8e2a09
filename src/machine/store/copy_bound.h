/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_bound.h - limits the work of bringing a copy of another user's machine
 * up to date, so that the writer of the file cannot make readers slow.
 */
#ifndef GKF_COPY_BOUND_H
#define GKF_COPY_BOUND_H

struct gkf_machine;

/*
 * Sets bins_left of a copy, whose clock is stopped, and drops the steps of its
 * scenario if they would cost too much. Bins beyond bins_left repeat the last
 * computed bin.
 */
void gkf_copy_bound(struct gkf_machine *m);

#endif
