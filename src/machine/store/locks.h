/*
 * locks.h - the robust locks of a machine, of which its processes share
 * nothing but the word that says who holds it.
 *
 * While a robust lock is held, glibc keeps the links of a list in it, and
 * unlocking writes where they point to. In memory that others can write that
 * would be their choice. So a lock lies across two pages: the end of a page of
 * the file holds the word, the page behind it, which is this process's own,
 * all the rest. In the file there is a page for each lock.
 */
#ifndef GKF_LOCKS_H
#define GKF_LOCKS_H

#include "machine/file/numbers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The lock of all writers, then one for the books of each device. */
enum { GKF_LOCK_WRITERS, GKF_LOCK_BOOKS };
#define GKF_LOCKS_MAX (GKF_LOCK_BOOKS + GKF_DEVICES_MAX)

struct gkf_locks;

/*
 * Which of them a thread of this process has, whatever their words say: one
 * whose word was put to 0 would be taken twice, and glibc would have it twice
 * in its lists. All zeros: none. A forked child has none of those threads.
 */
struct gkf_lock_claims {
	pthread_mutex_t lock[GKF_LOCKS_MAX];
	pthread_mutex_t making; /* of a lock that is put together */
};

/* Where a file of so many bytes has its locks, and where it ends with them. */
size_t gkf_locks_begin(size_t size);
size_t gkf_locks_end(size_t size);

/*
 * The first `count` locks, from the end, of a file whose other contents take
 * `size` bytes. It is open as fd during this call, and mapped at `file` with
 * all its locks until gkf_locks_free(). fd -1: locks of this process alone. The
 * claims must last as long.
 */
int gkf_locks_new(int fd, void *file, size_t size, unsigned count,
		  struct gkf_lock_claims *claims, struct gkf_locks **ret);
void gkf_locks_free(struct gkf_locks *locks);

/*
 * Takes a lock within that time (0: at once). 0, EOWNERDEAD: taken, and its
 * holder died with it; ETIMEDOUT, EBUSY; EINVAL: its word was written over;
 * ENOMEM: locks are put together when they are needed first.
 */
int gkf_locks_take(struct gkf_locks *locks, unsigned i, uint64_t patience_ns);
void gkf_locks_release(struct gkf_locks *locks, unsigned i);

/* Where they lie, all of them. */
void *gkf_locks_pages(struct gkf_locks *locks, size_t *ret_size);

/* Does the calling thread hold it, as far as its word tells? */
bool gkf_locks_is_mine(struct gkf_locks *locks, unsigned i);

/* The word that the others see: the thread that holds it, and glibc's bits. */
_Atomic uint32_t *gkf_locks_word(struct gkf_locks *locks, unsigned i);

#endif
