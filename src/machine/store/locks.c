/* locks.c - see locks.h. */
#include "machine/store/locks.h"
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What of a lock lies in the file: its word, and one that nobody reads. */
#define SHARED 8

/* All else, above all the list's links, lies behind. */
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 &&
		   offsetof(pthread_mutex_t, __data.__owner) >= SHARED &&
		   offsetof(pthread_mutex_t, __data.__kind) >= SHARED &&
		   offsetof(pthread_mutex_t, __data.__list) >= SHARED,
	       "glibc's robust lock begins with the word that is shared");

/* No thread has a larger number: PID_MAX_LIMIT of the kernel. */
#define THREADS_MAX (4U << 20)

/* One for each lock, and one to put locks together. */
#define CLAIMS (GKF_LOCKS_MAX + 1)

/* How often a word that somebody keeps writing over is put right. */
#define TRIES 1000

struct gkf_locks {
	unsigned char *pages; /* for each lock, one of the file, one private */
	size_t page;
	unsigned count;
	unsigned char *words; /* those pages of the file; NULL: no file */
	atomic_bool ready[GKF_LOCKS_MAX]; /* most are never needed */
	pthread_mutex_t fresh; /* what a lock that nobody holds is like */
	atomic_bool stuck;     /* glibc's list may still lead there */
	/*
	 * Which of them a thread of this process has, whatever their words say:
	 * one whose word was put to 0 would be taken twice, and glibc would
	 * have it twice in its lists. Gone in a forked child, as the threads.
	 */
	pthread_mutex_t *claims;
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

/*
 * Puts a lock together: its page of the file once more, before a page of this
 * process that has the rest. The descriptor is closed by now: mremap() of
 * nothing makes another mapping of what is shared.
 */
static bool make(struct gkf_locks *l, unsigned i)
{
	unsigned char *at = l->pages + 2 * i * l->page;

	if (l->words &&
	    mremap(l->words + (l->count - 1 - i) * l->page, 0, l->page,
		   MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED)
		return false;
	memcpy(at + l->page, (char *)&l->fresh + SHARED,
	       sizeof l->fresh - SHARED);
	return true;
}

/* NULL: there is no memory for it. */
static pthread_mutex_t *lock_of(struct gkf_locks *l, unsigned i)
{
	pthread_mutex_t *making = &l->claims[GKF_LOCKS_MAX];

	if (__builtin_expect(
		!atomic_load_explicit(&l->ready[i], memory_order_acquire), 0)) {
		pthread_mutex_lock(making);
		if (!atomic_load(&l->ready[i]) && make(l, i))
			atomic_store(&l->ready[i], true);
		pthread_mutex_unlock(making);
		if (!atomic_load(&l->ready[i]))
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
	*ret_size = 2 * l->count * l->page;
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

static int map_words(struct gkf_locks *l, int fd, size_t size)
{
	size_t end = gkf_locks_end(size), taken = l->count * l->page;
	struct stat st;
	void *words;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	if ((uint64_t)st.st_size < end)
		return GK_ERR_CORRUPT;
	words = mmap(NULL, taken, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     (off_t)(end - taken));
	if (words == MAP_FAILED)
		return gk_err_from_errno(errno);
	l->words = words;
	return 0;
}

static pthread_mutex_t *new_claims(void)
{
	size_t size = CLAIMS * sizeof(pthread_mutex_t);
	void *claims = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Zeros are unlocked. */
	return claims != MAP_FAILED && !madvise(claims, size, MADV_WIPEONFORK)
		   ? claims
		   : NULL;
}

int gkf_locks_new(int fd, size_t size, unsigned count, struct gkf_locks **ret)
{
	struct gkf_locks *l = calloc(1, sizeof *l);
	int error, r;

	if (!l)
		return GK_ERR_NOMEM;
	l->page = page_size();
	l->count = count;
	l->pages = mmap(NULL, 2 * count * l->page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->pages == MAP_FAILED) {
		free(l);
		return GK_ERR_NOMEM;
	}
	l->claims = new_claims();
	if (!l->claims) {
		gkf_locks_free(l);
		return GK_ERR_NOMEM;
	}
	r = fd < 0 ? 0 : map_words(l, fd, size);
	error = init_lock(&l->fresh);
	if (!r && error)
		r = gk_err_from_errno(error);
	/* The one that everybody takes, and that tells a truncated file. */
	if (!r && !lock_of(l, GKF_LOCK_WRITERS))
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
		munmap(l->pages, 2 * l->count * l->page);
	if (l->words)
		munmap(l->words, l->count * l->page);
	if (l->claims)
		munmap(l->claims, CLAIMS * sizeof *l->claims);
	free(l);
}

/* Somebody has written over the word: nobody will ever give it back. */
static bool is_spoilt(struct gkf_locks *l, unsigned i)
{
	return (atomic_load(gkf_locks_word(l, i)) & FUTEX_TID_MASK) >
	       THREADS_MAX;
}

/*
 * The wall clock may jump, which costs a wait its exact length; sanitizers do
 * not know pthread_mutex_clocklock().
 */
static int wait_for(pthread_mutex_t *lock, uint64_t patience_ns)
{
	struct timespec until = gk_timespec(gk_wall_ns() + patience_ns);

	return pthread_mutex_timedlock(lock, &until);
}

/* Of this process's threads one at a time comes here. */
static int take_shared(struct gkf_locks *l, unsigned i, uint64_t patience_ns)
{
	pthread_mutex_t *lock = lock_of(l, i);
	int error = lock ? pthread_mutex_trylock(lock) : ENOMEM;

	if (__builtin_expect(error == EBUSY, 0)) {
		if (is_spoilt(l, i))
			return EINVAL;
		if (patience_ns)
			error = wait_for(lock, patience_ns);
	}
	if (__builtin_expect(error == EOWNERDEAD, 0))
		pthread_mutex_consistent(lock);
	return error;
}

int gkf_locks_take(struct gkf_locks *l, unsigned i, uint64_t patience_ns)
{
	int error = pthread_mutex_trylock(&l->claims[i]);

	if (__builtin_expect(error == EBUSY, 0) && patience_ns)
		error = wait_for(&l->claims[i], patience_ns);
	if (error)
		return error;
	error = take_shared(l, i, patience_ns);
	if (error && error != EOWNERDEAD)
		pthread_mutex_unlock(&l->claims[i]);
	return error;
}

/*
 * glibc does not give back a lock whose word says that another holds it: it
 * would stay in the list of what this thread holds. One that cannot be given
 * back stays claimed.
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
	pthread_mutex_unlock(&l->claims[i]);
}

bool gkf_locks_is_mine(struct gkf_locks *l, unsigned i)
{
	return (atomic_load(gkf_locks_word(l, i)) & FUTEX_TID_MASK) ==
	       (uint32_t)syscall(SYS_gettid);
}
