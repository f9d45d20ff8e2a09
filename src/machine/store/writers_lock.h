/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writers_lock.h - the lock of all writers of a machine.
 */
#ifndef GKF_WRITERS_LOCK_H
#define GKF_WRITERS_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct gkf_machine;

/*
 * The writers' lock. A dead holder's lock is recovered. gkf_lock() returns
 * GK_ERR_TIMEOUT after a second if a stopped process holds the lock, and
 * GK_ERR_CORRUPT if the lock's word was overwritten.
 */
int gkf_lock(struct gkf_machine *m);
bool gkf_trylock(struct gkf_machine *m, uint64_t patience_ns);
void gkf_unlock(struct gkf_machine *m);

/*
 * Like gkf_lock(), but only for advancing to the current time, which is allowed
 * in copies, too.
 */
int gkf_lock_to_compute(struct gkf_machine *m);

/*
 * For GK_ASSERT: whether the calling thread holds the writers' lock. A machine
 * that no other process sees needs no lock.
 */
bool gkf_lock_held(const struct gkf_machine *m);

#endif
