/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - copies of machines that their owners share, and what the owner's
 * launcher does for them.
 *
 * While a launcher keeps a machine up to date, copies show the state that the
 * launcher has computed, and compute nothing themselves: so all readers see the
 * same, and no counter falls. Without a launcher, copies compute the state like
 * any other process.
 */
#ifndef GKF_FOLLOW_H
#define GKF_FOLLOW_H

#include "machine/file/numbers.h"

#include <stdbool.h>

struct gkf_machine;

/*
 * Stops the clock of a copy, which then only advances to the time that the
 * clock shows. The caller holds the lock.
 */
void gkf_copy_freeze(struct gkf_machine *m);

/* Makes a copy follow its file, if that is shared. */
void gkf_copy_follow(struct gkf_machine *m, int fd);

/*
 * For the launcher: brings the machine up to date for its copies. Returns false
 * if nobody needs that, else it must be called again after GKF_KEEP_NS.
 */
bool gkf_machine_keep(struct gkf_machine *m);
#define GKF_KEEP_NS GKF_BIN_NS

#endif
