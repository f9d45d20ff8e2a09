/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emptied.h - memory of this process that is zeroed in a forked child: its
 * identity, and which locks its threads hold.
 */
#ifndef GKF_EMPTIED_H
#define GKF_EMPTIED_H

#include "machine/store/process/identity.h"
#include "machine/store/locks.h"

struct gkf_emptied {
	struct gkf_own own;
	struct gkf_lock_claims claims;
};

/* GK_ERR_NOMEM also if the kernel has no such memory (before 4.14). */
int gkf_emptied_new(struct gkf_emptied **ret);
void gkf_emptied_free(struct gkf_emptied *emptied);

#endif
