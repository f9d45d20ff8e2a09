/*
 * partners.h - devices of this group whose kernels wait for each other inside,
 * as ranks of one program do. Used by throttle.c.
 */
#ifndef GKL_PRELOAD_PARTNERS_H
#define GKL_PRELOAD_PARTNERS_H

#include "limit/preload/place.h"

/*
 * A kernel was measured; least_ns: what it takes when it waits for nobody, 0:
 * not known. Answers as gkl_share_meet().
 */
unsigned partners_meet(const struct place *p, uint64_t begin_ns,
		       uint64_t end_ns, uint64_t least_ns);

/*
 * How long until all partners of a device have saved_ns, in time of the clock.
 * Who waits since `since_ns` waits for nobody who has launched meanwhile: that
 * one waits for us.
 */
uint64_t partners_wait(const struct place *p, uint64_t since_ns,
		       uint64_t saved_ns);

/* Whether a device has any. */
bool partners_are(const struct place *p);

#endif
