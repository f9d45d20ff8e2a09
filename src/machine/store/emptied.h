/*
 * emptied.h - memory of this process that is zeros again in a forked child:
 * what it knows of itself, and which locks its threads have.
 */
#ifndef GKF_EMPTIED_H
#define GKF_EMPTIED_H

#include "machine/store/identity.h"
#include "machine/store/locks.h"

struct gkf_emptied {
	struct gkf_own own;
	struct gkf_lock_claims claims;
};

/* GK_ERR_NOMEM also where the kernel (before 4.14) knows no such memory. */
int gkf_emptied_new(struct gkf_emptied **ret);
void gkf_emptied_free(struct gkf_emptied *emptied);

#endif
