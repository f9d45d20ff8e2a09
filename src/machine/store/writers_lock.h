/*
 * writers_lock.h - the lock of all who change a machine.
 */
#ifndef GKF_WRITERS_LOCK_H
#define GKF_WRITERS_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/*
 * The writers' lock. A dead holder is recovered from; a stopped one makes
 * gkf_lock() give up after a second with GK_ERR_TIMEOUT; an overwritten one
 * is GK_ERR_CORRUPT.
 */
int gkf_lock(struct gkf_machine *m);
bool gkf_trylock(struct gkf_machine *m, uint64_t patience_ns);
void gkf_unlock(struct gkf_machine *m);

/* gkf_lock() for what follows from the time, which copies show, too. */
int gkf_lock_to_compute(struct gkf_machine *m);

#endif
