/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.h - the robust locks of a machine. Processes share only one word of
 * each lock, which names its holder.
 *
 * While a robust lock is held, glibc keeps list links in it and, on unlock,
 * writes to where they point. In shared memory other processes could choose
 * that address. So a lock lies across two pages: the end of a page of the file
 * holds the word, and a private page after it holds the rest. The file has a
 * page for each lock.
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
 * The locks that threads of this process hold, whatever their words say.
 * Without this, a lock whose word was overwritten with 0 could be taken twice
 * and be in glibc's lists twice. All zeros: none. A forked child starts with
 * zeros, because it has none of those threads.
 */
struct gkf_lock_claims {
	pthread_mutex_t lock[GKF_LOCKS_MAX];
	pthread_mutex_t making; /* held while a lock is made */
};

/*
 * The offsets at which the locks of a file begin and end; `size` is the size of
 * the file's other content.
 */
size_t gkf_locks_begin(size_t size);
size_t gkf_locks_end(size_t size);

/*
 * Makes the first `count` locks of a file that has `size` bytes of other
 * content. The first lock is the last in the file. fd must be open during this
 * call. The file, with all its locks, must be mapped at `file`, and the claims
 * must exist, until gkf_locks_free(). fd -1: locks of this process alone.
 */
int gkf_locks_new(int fd, void *file, size_t size, unsigned count,
		  struct gkf_lock_claims *claims, struct gkf_locks **ret);
void gkf_locks_free(struct gkf_locks *locks);

/*
 * Takes a lock, waiting at most patience_ns (0: not at all). 0: taken;
 * EOWNERDEAD: taken, after its holder died; ETIMEDOUT, EBUSY: not taken;
 * EINVAL: its word was overwritten; ENOMEM: it could not be made on first use.
 */
int gkf_locks_take(struct gkf_locks *locks, unsigned i, uint64_t patience_ns);
void gkf_locks_release(struct gkf_locks *locks, unsigned i);

/* The memory in which all locks lie. */
void *gkf_locks_pages(struct gkf_locks *locks, size_t *ret_size);

/* Whether the calling thread holds a lock, according to the lock's word. */
bool gkf_locks_is_mine(struct gkf_locks *locks, unsigned i);

/*
 * For GK_ASSERT: whether the calling thread holds a lock, according to the
 * claims.
 */
bool gkf_locks_held(const struct gkf_locks *locks, unsigned i);

/* The shared word: the id of the holding thread, and glibc's bits. */
_Atomic uint32_t *gkf_locks_word(struct gkf_locks *locks, unsigned i);

#endif
