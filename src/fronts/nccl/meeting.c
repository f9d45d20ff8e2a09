/* SPDX-License-Identifier: Apache-2.0 */
/* meeting.c - creates, opens and checks the file that ranks share. */
#include "fronts/nccl/meeting.h"
#include "base/assert.h"
#include "base/calls.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/pidstat.h"
#include "fronts/nccl/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_MAGIC      "gpukit nccl id 1"
#define MEETING_MAGIC "gpukit nccl at 1"
#define DIRECTORY     "/dev/shm"

#define PAIR_WINDOW_MAX (64u << 10)
#define PAIR_WINDOW_MIN (4u << 10)

/* ---- ids ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2);
	a ^= a >> 30;
	a *= 0xbf58476d1ce4e5b9;
	a ^= a >> 27;
	a *= 0x94d049bb133111eb;
	return a ^ a >> 31;
}

/* Identifies this boot of the host and this /dev/shm, because each container
 * may have its own /dev/shm. */
static uint64_t this_host(void)
{
	char boot[64] = "";
	struct stat st = {0};
	uint64_t host = 0;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, boot, sizeof boot - 1) < 0)
			boot[0] = 0;
		close(fd);
	}
	for (const char *at = boot; *at; at++)
		host = mix(host, (unsigned char)*at);
	if (!stat(DIRECTORY, &st))
		host = mix(mix(host, st.st_dev), st.st_ino);
	return host;
}

static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

bool meeting_is_orphan(const struct id *id)
{
	struct gk_pidstat stat;
	int error;

	if (!id->pid || id->pid_namespace != pid_namespace())
		return false;
	error = gk_pidstat_of((pid_t)id->pid, &stat);
	return error == GK_ERR_NOT_FOUND ||
	       (!error && (stat.start != id->start || stat.state == 'Z'));
}

bool meeting_new_id(ncclUniqueId *ret_id)
{
	struct id id = {.host = this_host(), .pid_namespace = pid_namespace()};
	struct gk_pidstat self;

	if (!gk_pidstat_self(&self)) {
		id.pid = (uint64_t)self.pid;
		id.start = self.start;
	}
	if (gk_random(id.random, sizeof id.random, 0) != sizeof id.random)
		return false;
	memcpy(id.magic, ID_MAGIC, sizeof id.magic);
	memset(ret_id, 0, sizeof *ret_id);
	memcpy(ret_id, &id, sizeof id);
	return true;
}

void meeting_child_id(const struct id *parent, uint64_t salt, struct id *ret_id)
{
	struct id id = *parent;

	id.random[0] = mix(parent->random[0], salt);
	id.random[1] = mix(parent->random[1], ~salt);
	id.pid = 0;
	*ret_id = id;
}

bool meeting_is_id(const struct id *id, bool *ret_here)
{
	*ret_here = id->host == this_host();
	return !memcmp(id->magic, ID_MAGIC, sizeof id->magic);
}

static void name_of(const struct id *id, char ret_name[static 96])
{
	snprintf(ret_name, 96, DIRECTORY "/gpukit-nccl-%u-%016llx%016llx",
		 (unsigned)geteuid(), (unsigned long long)id->random[0],
		 (unsigned long long)id->random[1]);
}

void meeting_unname(const struct id *id)
{
	char name[96];

	name_of(id, name);
	unlink(name);
}

/* ---- layout of the file ---- */

static uint64_t round_up(uint64_t size)
{
	return (size + 4095) & ~UINT64_C(4095);
}

static uint64_t pairs_at(unsigned ranks)
{
	return round_up(sizeof(struct meeting) + ranks * sizeof(struct member));
}

static uint64_t windows_at(unsigned ranks)
{
	return pairs_at(ranks) +
	       round_up((uint64_t)ranks * ranks * sizeof(struct pair));
}

static uint64_t pair_windows_at(unsigned ranks)
{
	return windows_at(ranks) + (uint64_t)ranks * 2 * WINDOW_BYTES;
}

static uint32_t pair_window_of(unsigned ranks)
{
	uint32_t bytes = PAIR_WINDOW_MAX;

	while (bytes > PAIR_WINDOW_MIN && bytes * ranks > 4 * PAIR_WINDOW_MAX)
		bytes /= 2;
	return bytes;
}

static uint64_t size_of(unsigned ranks)
{
	return pair_windows_at(ranks) +
	       (uint64_t)ranks * ranks * pair_window_of(ranks);
}

static char *bytes_at(const struct seat *s, uint64_t offset)
{
	return (char *)s->at + offset;
}

struct member *meeting_member(const struct seat *s, unsigned rank)
{
	GK_ASSERT(rank < s->ranks);
	return &s->at->member[rank];
}

struct pair *meeting_pair(const struct seat *s, unsigned from, unsigned to)
{
	void *pairs = bytes_at(s, pairs_at(s->ranks));

	GK_ASSERT(from < s->ranks && to < s->ranks);
	return (struct pair *)pairs + ((size_t)from * s->ranks + to);
}

char *meeting_window(const struct seat *s, unsigned rank, unsigned parity)
{
	GK_ASSERT(rank < s->ranks && parity < 2);
	return bytes_at(s, windows_at(s->ranks) +
			       (2 * (uint64_t)rank + parity) * WINDOW_BYTES);
}

char *meeting_pair_window(const struct seat *s, unsigned from, unsigned to)
{
	GK_ASSERT(from < s->ranks && to < s->ranks);
	return bytes_at(s,
			pair_windows_at(s->ranks) +
			    ((uint64_t)from * s->ranks + to) * s->pair_window);
}

/* ---- creating and opening ---- */

static void fill_meeting(struct meeting *m, unsigned ranks)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	for (unsigned i = 0; i < ranks; i++)
		pthread_mutex_init(&m->member[i].life, &attr);
	pthread_mutexattr_destroy(&attr);
	m->size = size_of(ranks);
	m->ranks = ranks;
	m->pair_window = pair_window_of(ranks);
	memcpy(m->magic, MEETING_MAGIC, sizeof m->magic);
}

static struct meeting *map_file(int fd, uint64_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Links the file only when it is complete, so that no one sees a partial one.
 */
static ncclResult_t make_file(const char *name, unsigned ranks)
{
	int fd = open(DIRECTORY, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	ncclResult_t r = ncclSystemError;
	struct meeting *m = NULL;
	char self[64];
	int error = fd < 0 ? errno : 0;

	if (!error)
		error = posix_fallocate(fd, 0, (off_t)size_of(ranks));
	if (!error && !(m = map_file(fd, size_of(ranks))))
		error = errno;
	if (m) {
		fill_meeting(m, ranks);
		munmap(m, size_of(ranks));
		snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, name,
			    AT_SYMLINK_FOLLOW) ||
		    errno == EEXIST)
			r = ncclSuccess;
		else
			error = errno;
	}
	if (fd >= 0)
		close(fd);
	return r ? error_set(
		       r,
		       "a communicator of %u ranks needs %llu KiB of " DIRECTORY
		       ": %s",
		       ranks, (unsigned long long)size_of(ranks) >> 10,
		       strerror(error))
		 : r;
}

/* Whether the descriptor is of a regular file that only this user can write. */
static bool is_trusted(int fd, uint64_t size)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid() && !(st.st_mode & 077) &&
	       (uint64_t)st.st_size >= size;
}

static ncclResult_t enter_file(int fd, unsigned ranks, struct seat *ret_seat)
{
	struct seat s = {.ranks = ranks, .pair_window = pair_window_of(ranks)};

	if (!is_trusted(fd, sizeof *s.at))
		return error_set(ncclSystemError,
				 "the communicator's file in " DIRECTORY
				 " does not belong to this user");
	s.at = map_file(fd, sizeof *s.at);
	if (!s.at)
		return error_set(ncclSystemError, "mmap: %s", strerror(errno));
	if (memcmp(s.at->magic, MEETING_MAGIC, sizeof s.at->magic) ||
	    s.at->ranks != ranks) {
		error_set(ncclInvalidUsage,
			  "this rank has nranks %u, another one %u", ranks,
			  s.at->ranks);
		munmap(s.at, sizeof *s.at);
		return ncclInvalidUsage;
	}
	munmap(s.at, sizeof *s.at);
	s.size = size_of(ranks);
	s.at = is_trusted(fd, s.size) ? map_file(fd, s.size) : NULL;
	if (!s.at)
		return error_set(ncclSystemError,
				 "no memory for a file of "
				 "%llu bytes",
				 (unsigned long long)s.size);
	*ret_seat = s;
	return ncclSuccess;
}

ncclResult_t meeting_open(const struct id *id, unsigned ranks,
			  struct seat *ret_seat)
{
	char name[96];
	ncclResult_t r = ncclSuccess;
	int fd;

	name_of(id, name);
	fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		r = make_file(name, ranks);
		if (!r)
			fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd < 0)
		return r ? r
			 : error_set(ncclSystemError, "%s: %s", name,
				     strerror(errno));
	r = enter_file(fd, ranks, ret_seat);
	close(fd);
	return r;
}

void meeting_close(struct seat *s)
{
	if (s->at)
		munmap(s->at, s->size);
	s->at = NULL;
}

/* ---- waking ranks, and checking whether they are alive ---- */

void meeting_ring(const struct seat *s, unsigned rank)
{
	struct member *m = meeting_member(s, rank);

	atomic_fetch_add(&m->bell, 1);
	if (atomic_load(&m->sleeps))
		gk_futex_wake(GK_FUTEX_SHARED, &m->bell, INT_MAX);
}

void meeting_ring_all(const struct seat *s)
{
	for (unsigned i = 0; i < s->ranks; i++)
		meeting_ring(s, i);
}

/*
 * When a thread that holds a robust lock ends, the kernel releases the lock,
 * even after kill -9 and in another pid namespace.
 */
bool meeting_is_dead(struct member *m)
{
	int error;

	if (atomic_load(&m->state) != MEMBER_THERE)
		return false;
	error = pthread_mutex_trylock(&m->life);
	if (error == EBUSY)
		return false;
	if (!error || error == EOWNERDEAD)
		pthread_mutex_unlock(&m->life);
	return error || atomic_load(&m->state) == MEMBER_THERE;
}
