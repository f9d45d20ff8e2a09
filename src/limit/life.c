/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.c - finds out who owns a slot, and whether that process lives; see
 * life.h.
 */
#include "limit/life.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/pidstat.h"
#include "limit/ledger_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAGS (O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/*
 * How long an exiting process may keep devices open after its memory is gone.
 */
#define DYING_NS (50 * GK_NS_PER_MS)

/* Stacks begin at multiples of 16; the bits above are random. */
static uint32_t fold_stack(uint64_t stack)
{
	return (uint32_t)(stack >> 4) & 0xffffff;
}

int gkl_life_self(union gkl_wide *ret_life)
{
	struct gk_pidstat st;
	struct stat ns;

	if (gk_pidstat_self(&st) || stat("/proc/self/ns/pid", &ns))
		return GK_ERR_NOT_SUPPORTED;
	/*
	 * If /proc belongs to another pid namespace, our pid means another
	 * process there.
	 */
	if (st.pid != getpid() || !st.start)
		return GK_ERR_NOT_SUPPORTED;
	ret_life->high = st.start << 23 | (uint64_t)(uint32_t)st.pid << 1 | 1;
	ret_life->low =
	    (uint64_t)ns.st_ino << 32 | (uint64_t)fold_stack(st.stack) << 8;
	return 0;
}

/* Opens the ledger's own file, not another file that now has its name. */
static int open_file(const struct gkl_ledger *ledger)
{
	int fd = open(ledger->path, FLAGS);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_dev == ledger->dev &&
	    st.st_ino == ledger->ino)
		return fd;
	close(fd);
	return -1;
}

static bool is_locked(const struct gkl_ledger *ledger, unsigned int slot)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = slot, .l_len = 1};
	int fd = open_file(ledger), r;

	if (fd < 0)
		return false;
	r = fcntl(fd, F_OFD_GETLK, &lock);
	close(fd);
	return r == 0 && lock.l_type != F_UNLCK;
}

/*
 * Some file systems (overlayfs, which containers use) map a different file from
 * the one opened; there the lock would be released with the descriptor.
 */
void *gkl_life_lock(const struct gkl_ledger *ledger, unsigned int slot)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = slot, .l_len = 1};
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open_file(ledger);
	void *kept = MAP_FAILED;

	GK_ASSERT(slot < GKL_PROCESSES);
	if (fd < 0)
		return NULL;
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		kept = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	/* A child must not keep its parent's lock. */
	if (kept != MAP_FAILED && madvise(kept, size, MADV_DONTFORK)) {
		munmap(kept, size);
		kept = MAP_FAILED;
	}
	close(fd);
	if (kept != MAP_FAILED && !is_locked(ledger, slot)) {
		munmap(kept, size);
		kept = MAP_FAILED;
	}
	return kept == MAP_FAILED ? NULL : kept;
}

void gkl_life_unlock(void *kept)
{
	if (kept)
		munmap(kept, (size_t)sysconf(_SC_PAGESIZE));
}

void gkl_look_begin(struct gkl_look *look, const struct gkl_ledger *ledger)
{
	look->ledger = ledger;
	look->fd = open_file(ledger);
	if (gkl_life_self(&look->self))
		look->self = (union gkl_wide){.both = 0};
}

void gkl_look_end(struct gkl_look *look)
{
	if (look->fd >= 0)
		close(look->fd);
}

enum lock { UNKNOWN, FREE, HELD };

static enum lock lock_of(const struct gkl_look *look, unsigned int slot,
			 union gkl_wide life)
{
	const struct gkl_slot *s = &look->ledger->file->slots[slot];
	struct flock lock = {.l_type = F_WRLCK, .l_start = slot, .l_len = 1};

	if (atomic_load(&s->locked) != life.high || look->fd < 0 ||
	    fcntl(look->fd, F_OFD_GETLK, &lock))
		return UNKNOWN;
	return lock.l_type == F_UNLCK ? FREE : HELD;
}

/* Judges a process of another namespace: only its lock can be seen. */
static enum gkl_life judge_unseen(const struct gkl_look *look,
				  unsigned int slot, enum lock lock)
{
	_Atomic uint64_t *since = &look->ledger->file->slots[slot].unlocked_ns;
	uint64_t now = gk_mono_ns(), seen = atomic_load(since);

	if (lock != FREE)
		return GKL_ALIVE;
	/* A time ahead of the clock comes from another time namespace. */
	if (!seen || seen > now) {
		atomic_compare_exchange_strong(since, &seen, now);
		return GKL_DYING;
	}
	return now - seen < DYING_NS ? GKL_DYING : GKL_DEAD;
}

static enum gkl_life judge_by_proc(union gkl_wide life, enum lock lock)
{
	uint32_t stack = gkl_life_stack(life), now;
	struct gk_pidstat st;

	/* hidepid hides other users' processes, but kill() has found this one.
	 */
	if (gk_pidstat_of(gkl_life_pid(life), &st))
		return lock == FREE ? GKL_DYING : GKL_ALIVE;
	if (st.start != gkl_life_start(life))
		return GKL_DEAD;
	/*
	 * A process whose first thread has ended lives as long as other threads
	 * do.
	 */
	if ((st.state == 'Z' || st.state == 'X') && st.threads <= 1)
		return GKL_DEAD;
	now = fold_stack(st.stack);
	if (stack && now && stack != now)
		return GKL_DEAD;
	if (lock != FREE)
		return GKL_ALIVE;
	/* The lock is free. If the process has memory, it has called exec, and
	 * the new program's stack begins at the same address. */
	return st.rss_pages ? GKL_DEAD : GKL_DYING;
}

enum gkl_life gkl_look_at(const struct gkl_look *look, unsigned int slot,
			  union gkl_wide life)
{
	enum lock lock;

	GK_ASSERT(slot < GKL_PROCESSES);
	lock = lock_of(look, slot, life);
	if (gkl_life_ns(life) != gkl_life_ns(look->self))
		return judge_unseen(look, slot, lock);
	if (kill(gkl_life_pid(life), 0) < 0 && errno == ESRCH)
		return GKL_DEAD;
	return lock == HELD ? GKL_ALIVE : judge_by_proc(life, lock);
}
