/* SPDX-License-Identifier: Apache-2.0 */
/* locks.c - makes, takes and releases the locks of a machine; see locks.h. */
#include "machine/store/locks.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdatomic.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Bytes of a lock that are in the file: its word and another, unused word.
 */
#define SHARED 8

/* All other members of a lock, above all its list links, follow these bytes. */
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 &&
		   offsetof(pthread_mutex_t, __data.__owner) >= SHARED &&
		   offsetof(pthread_mutex_t, __data.__kind) >= SHARED &&
		   offsetof(pthread_mutex_t, __data.__list) >= SHARED,
	       "glibc's robust lock begins with the word that is shared");

/* Greater than any thread id: the kernel's PID_MAX_LIMIT. */
#define THREADS_MAX (4U << 20)

/* How many times to repair a word that another process keeps overwriting. */
#define TRIES 1000

struct gkf_locks {
	/*
	 * The memory of all locks: for each, a page of the file and a private
	 * page.
	 */
	unsigned char *pages;
	size_t page;
	unsigned count;
	unsigned char *words; /* the file's pages in order; NULL: no file */
	/* Whether each lock has been made; most are never needed. */
	atomic_bool ready[GKF_LOCKS_MAX];
	pthread_mutex_t fresh; /* an unlocked lock, for copying */
	atomic_bool stuck;     /* glibc's list may still point here */
	struct gkf_lock_claims *claims;
};

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

size_t gkf_locks_begin(size_t size)
{
	size_t page = page_size();

	return (size + page - 1) / page * page;
}

size_t gkf_locks_end(size_t size)
{
	return gkf_locks_begin(size) + GKF_LOCKS_MAX * page_size();
}

static size_t pages_size(const struct gkf_locks *l)
{
	return 2 * l->count * l->page;
}

/* The address of the page for a lock's word. */
static unsigned char *page_of(const struct gkf_locks *l, unsigned i)
{
	return l->pages + 2 * i * l->page;
}

/*
 * Maps a lock's page of the file a second time. The descriptor is closed by
 * now, but mremap() with an old size of 0 duplicates a shared mapping.
 */
static bool map_word(struct gkf_locks *l, unsigned i)
{
	return mremap(l->words + (l->count - 1 - i) * l->page, 0, l->page,
		      MREMAP_MAYMOVE | MREMAP_FIXED,
		      page_of(l, i)) != MAP_FAILED;
}

/* Fills in the rest of a lock, which lies in the private page that follows. */
static void complete_lock(struct gkf_locks *l, unsigned i)
{
	memcpy(page_of(l, i) + l->page, (char *)&l->fresh + SHARED,
	       sizeof l->fresh - SHARED);
	atomic_store(&l->ready[i], true);
}

static bool make_lock(struct gkf_locks *l, unsigned i)
{
	if (l->words && !map_word(l, i))
		return false;
	complete_lock(l, i);
	return true;
}

/* Returns a lock, which is made at its first use; NULL: out of memory. */
static pthread_mutex_t *lock_of(struct gkf_locks *l, unsigned i)
{
	pthread_mutex_t *making = &l->claims->making;
	bool made;

	GK_ASSERT(i < l->count);
	if (__builtin_expect(
		!atomic_load_explicit(&l->ready[i], memory_order_acquire), 0)) {
		pthread_mutex_lock(making);
		made = atomic_load(&l->ready[i]) || make_lock(l, i);
		pthread_mutex_unlock(making);
		if (!made)
			return NULL;
	}
	return (pthread_mutex_t *)(l->pages + (2 * i + 1) * l->page - SHARED);
}

_Atomic uint32_t *gkf_locks_word(struct gkf_locks *l, unsigned i)
{
	return (_Atomic uint32_t *)(void *)lock_of(l, i);
}

void *gkf_locks_pages(struct gkf_locks *l, size_t *ret_size)
{
	*ret_size = pages_size(l);
	return l->pages;
}

static int init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int error = pthread_mutexattr_init(&attr);

	if (error)
		return error;
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	error = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return error;
}

static int map_pages(struct gkf_locks *l)
{
	l->pages = mmap(NULL, pages_size(l), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return l->pages == MAP_FAILED ? GK_ERR_NOMEM : 0;
}

/*
 * Makes all locks at once, for valgrind and qemu-user: they lack the mremap()
 * that making a lock later needs.
 */
static bool make_all(struct gkf_locks *l, int fd, size_t end)
{
	for (unsigned i = 0; i < l->count; i++) {
		if (mmap(page_of(l, i), l->page, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd,
			 (off_t)(end - (i + 1) * l->page)) == MAP_FAILED)
			return false;
		complete_lock(l, i);
	}
	return true;
}

int gkf_locks_new(int fd, void *file, size_t size, unsigned count,
		  struct gkf_lock_claims *claims, struct gkf_locks **ret)
{
	size_t end = gkf_locks_end(size);
	struct gkf_locks *l = calloc(1, sizeof *l);
	int error, r;

	if (!l)
		return GK_ERR_NOMEM;
	l->page = page_size();
	l->count = count;
	l->claims = claims;
	if (fd >= 0)
		l->words = (unsigned char *)file + end - count * l->page;
	r = map_pages(l);
	if (r) {
		free(l);
		return r;
	}
	error = init_lock(&l->fresh);
	r = error ? gk_err_from_errno(error) : 0;
	/*
	 * The writers' lock is made at once: every process needs it, and it
	 * detects a truncated file.
	 */
	if (!r && !lock_of(l, GKF_LOCK_WRITERS) &&
	    (fd < 0 || !make_all(l, fd, end)))
		r = GK_ERR_NOMEM;
	if (r)
		gkf_locks_free(l);
	else
		*ret = l;
	return r;
}

void gkf_locks_free(struct gkf_locks *l)
{
	if (!l)
		return;
	if (!atomic_load(&l->stuck))
		munmap(l->pages, pages_size(l));
	free(l);
}

/*
 * Whether a lock's word was overwritten, so that nobody will ever release it.
 */
static bool is_spoilt(struct gkf_locks *l, unsigned i)
{
	return (atomic_load(gkf_locks_word(l, i)) & FUTEX_TID_MASK) >
	       THREADS_MAX;
}

/*
 * The timeout uses the wall clock, because sanitizers do not support
 * pthread_mutex_clocklock(). So the wait is longer or shorter if that clock is
 * set during the wait.
 */
static int wait_for_lock(pthread_mutex_t *lock, uint64_t patience_ns)
{
	struct timespec until = gk_timespec(gk_wall_ns() + patience_ns);

	return pthread_mutex_timedlock(lock, &until);
}

/*
 * Takes a lock that all processes share. Only one thread of this process at a
 * time calls this function for a lock.
 */
static int take_shared(struct gkf_locks *l, unsigned i, uint64_t patience_ns)
{
	pthread_mutex_t *lock = lock_of(l, i);
	int error = lock ? pthread_mutex_trylock(lock) : ENOMEM;

	if (__builtin_expect(error == EBUSY, 0)) {
		if (is_spoilt(l, i))
			return EINVAL;
		if (patience_ns)
			error = wait_for_lock(lock, patience_ns);
	}
	if (__builtin_expect(error == EOWNERDEAD, 0))
		pthread_mutex_consistent(lock);
	return error;
}

int gkf_locks_take(struct gkf_locks *l, unsigned i, uint64_t patience_ns)
{
	int error = pthread_mutex_trylock(&l->claims->lock[i]);

	if (__builtin_expect(error == EBUSY, 0) && patience_ns)
		error = wait_for_lock(&l->claims->lock[i], patience_ns);
	if (error)
		return error;
	error = take_shared(l, i, patience_ns);
	if (error && error != EOWNERDEAD)
		pthread_mutex_unlock(&l->claims->lock[i]);
	return error;
}

/*
 * glibc does not unlock a lock whose word names another holder, and would keep
 * it in this thread's list, so the word is repaired first. A lock that cannot
 * be released stays claimed.
 */
void gkf_locks_release(struct gkf_locks *l, unsigned i)
{
	pthread_mutex_t *lock = lock_of(l, i);
	int tries = 0;

	while (__builtin_expect(pthread_mutex_unlock(lock) != 0, 0)) {
		if (++tries == TRIES) {
			atomic_store(&l->stuck, true);
			return;
		}
		atomic_store(gkf_locks_word(l, i),
			     (uint32_t)syscall(SYS_gettid));
	}
	pthread_mutex_unlock(&l->claims->lock[i]);
}

bool gkf_locks_is_mine(struct gkf_locks *l, unsigned i)
{
	return (atomic_load(gkf_locks_word(l, i)) & FUTEX_TID_MASK) ==
	       (uint32_t)syscall(SYS_gettid);
}

bool gkf_locks_held(const struct gkf_locks *l, unsigned i)
{
	return i < l->count && gk_lock_held(&l->claims->lock[i]);
}
