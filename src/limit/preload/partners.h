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

/* How long until all partners of a device have saved_ns, in time of the clock.
 */
uint64_t partners_wait(const struct place *p, uint64_t saved_ns);

/*
 * Whether a launch is to go on though there is no time left: a partner was let
 * in for what waits for it, or work on another device lasts longer than it
 * should, which may be because it waits for it.
 */
bool partners_need(const struct place *p, uint64_t since_ns);

/*
 * A launch is let in that came at since_ns; opened: because there was time
 * again.
 */
void partners_let_in(const struct place *p, bool opened, uint64_t since_ns);

/* Whether a device has any. */
bool partners_are(const struct place *p);

#endif
