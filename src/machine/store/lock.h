/*
 * lock.h - the writers' lock of a machine, and robust locks in its file.
 */
#ifndef GKF_LOCK_H
#define GKF_LOCK_H

#include <pthread.h>
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

/* A robust lock between processes; what glibc notes in one of this kind. */
int gkf_lock_init(pthread_mutex_t *lock);
int gkf_lock_kind(int *ret_kind);

#endif
