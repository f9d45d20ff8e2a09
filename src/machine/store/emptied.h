/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emptied.h - memory of this process that the kernel zeroes in a forked child.
 * It holds the process's identity, and which locks its threads hold.
 */
#ifndef GKF_EMPTIED_H
#define GKF_EMPTIED_H

#include "machine/store/process/identity.h"
#include "machine/store/locks.h"

struct gkf_emptied {
	struct gkf_own own;
	struct gkf_lock_claims claims;
};

/* Also GK_ERR_NOMEM if the kernel cannot zero memory at fork (before 4.14). */
int gkf_emptied_new(struct gkf_emptied **ret);
void gkf_emptied_free(struct gkf_emptied *emptied);

#endif
