/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_export.c - owns the table of exports, and finds who holds them. */
#include "limit/ledger_export.h"
#include "base/assert.h"
#include "base/calls.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mix.h"
#include "base/ofd_locks.h"
#include "limit/ledger_op.h"
#include "limit/uncancelled.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static uint64_t into_range(uint64_t word)
{
	return GKL_EXPORT_FIRST | (word & (GKL_EXPORT_FIRST - 1));
}

static bool is_number(uint64_t number)
{
	return number >= GKL_EXPORT_FIRST && number < 2 * GKL_EXPORT_FIRST;
}

uint64_t gkl_export_number(void)
{
	uint64_t word;

	if (gk_random(&word, sizeof word, GRND_NONBLOCK) != sizeof word)
		word = gk_mono_ns() * 0x9e3779b97f4a7c15ULL ^
		       (uint64_t)syscall(SYS_gettid) << 32;
	return into_range(word);
}

uint64_t gkl_export_number_of(const void *handle, unsigned int bytes)
{
	const unsigned char *byte = handle;
	uint64_t word = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (unsigned i = 0; i < bytes; i++)
		word = (word ^ byte[i]) * 0x100000001b3ULL;
	return into_range(word);
}

/* ---- places ---- */

static struct gkl_export *export_at(const struct gkl_ledger *ledger, int place)
{
	return place >= 0 && place < GKL_EXPORTS ? &ledger->file->exports[place]
						 : NULL;
}

static unsigned exports_high(const struct gkl_ledger_file *f)
{
	uint32_t high = atomic_load(&f->exports_high);

	return high < GKL_EXPORTS ? high : GKL_EXPORTS;
}

void gkl_export_change(struct gkl_ledger *ledger, int place, int64_t bytes)
{
	struct gkl_export *e = export_at(ledger, place);

	if (e)
		atomic_fetch_add(&e->bytes, (uint64_t)bytes);
}

/*
 * Frees an export, unless it was freed meanwhile: then it has another number or
 * another owner, and nothing is changed.
 */
static void free_export(struct gkl_export *e, uint64_t number,
			union gkl_wide owner)
{
	static const union gkl_wide nobody = {.both = 0};

	if (!number || atomic_compare_exchange_strong(&e->number, &number, 0))
		gkl_wide_swap(&e->owner, owner, nobody);
}

void gkl_export_end(struct gkl_ledger *ledger, int place)
{
	struct gkl_export *e = export_at(ledger, place);

	if (e)
		free_export(e, atomic_load(&e->number),
			    gkl_wide_read(&e->owner));
}

/* ---- holders of exports ---- */

static struct flock byte_of(uint64_t number)
{
	return (struct flock){.l_type = F_RDLCK,
			      .l_whence = SEEK_SET,
			      .l_start = (off_t)number,
			      .l_len = 1};
}

bool gkl_export_mark(int fd, uint64_t number)
{
	struct flock byte = byte_of(number);

	GK_ASSERT(is_number(number));
	return fcntl(fd, F_OFD_SETLK, &byte) == 0;
}

/* The kernel lists a descriptor's locks in its fdinfo, one a line. */
uint64_t gkl_export_read(int fd)
{
	char path[40], text[2048], *line = text, *end;
	struct gk_ofd_lock lock;
	ssize_t length;
	int cancel = gkl_uncancelled_begin();

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	length = gk_read_at(AT_FDCWD, path, text, sizeof text);
	gkl_uncancelled_end(cancel);
	if (length < 0)
		return 0;
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!strncmp(line, "lock:\t", 6) &&
		    gk_ofd_lock_parse(line + 6, &lock) && is_number(lock.begin))
			return lock.begin;
	}
	return 0;
}

/*
 * Makes a hold: a mapping of a locked file. A forked child does not inherit the
 * mapping, because the child must not keep its parent's hold.
 */
static void *hold_number(uint64_t number)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = gk_memfd("gpukit-import", MFD_CLOEXEC);
	void *hold = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (gkl_export_mark(fd, number))
		hold = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (hold != MAP_FAILED && madvise(hold, size, MADV_DONTFORK)) {
		munmap(hold, size);
		hold = MAP_FAILED;
	}
	return hold == MAP_FAILED ? NULL : hold;
}

void *gkl_export_hold(uint64_t number)
{
	int cancel = gkl_uncancelled_begin();
	void *hold = hold_number(number);

	gkl_uncancelled_end(cancel);
	return hold;
}

void gkl_export_drop(void *hold)
{
	if (hold)
		munmap(hold, (size_t)sysconf(_SC_PAGESIZE));
}

struct search {
	uint64_t number;
	bool found;
};

static void compare_number(void *arg, const struct gk_ofd_lock *lock)
{
	struct search *search = arg;

	search->found |= lock->begin == search->number;
}

bool gkl_export_is_held(uint64_t number)
{
	struct search search = {.number = number};

	return gk_ofd_locks(compare_number, &search) || search.found;
}

/* ---- exports of dead processes ---- */

struct look {
	const struct gkl_ledger_file *file;
	struct gkl_holds *holds;
};

static bool is_of(const struct gkl_export *e, union gkl_wide life)
{
	return gkl_high(&e->owner) == life.high &&
	       gkl_wide_read(&e->owner).both == life.both;
}

static void mark_held(void *arg, const struct gk_ofd_lock *lock)
{
	struct look *look = arg;
	unsigned high = exports_high(look->file);

	if (!is_number(lock->begin))
		return;
	for (unsigned i = 0; i < high; i++)
		if (atomic_load(&look->file->exports[i].number) == lock->begin)
			look->holds->is_held[i / 64] |= 1ULL << i % 64;
}

/*
 * If the locks cannot be read because no descriptor is free, every export
 * counts as held. Otherwise a process could use up the descriptors and get back
 * memory that others hold.
 */
static void look_at_holds(const struct gkl_ledger_file *f,
			  struct gkl_holds *holds)
{
	struct look look = {f, holds};
	int err = gk_ofd_locks(mark_held, &look);

	if (err && err != GK_ERR_NOT_SUPPORTED)
		memset(holds->is_held, 0xff, sizeof holds->is_held);
	holds->looked = true;
}

static bool has_exports(const struct gkl_ledger_file *f, union gkl_wide life)
{
	unsigned high = exports_high(f);

	for (unsigned i = 0; i < high; i++)
		if (is_of(&f->exports[i], life))
			return true;
	return false;
}

void gkl_exports_sum(const struct gkl_ledger_file *f, union gkl_wide life,
		     struct gkl_holds *holds, uint64_t ret_bytes[GKL_DEVICES])
{
	unsigned high = exports_high(f);

	memset(ret_bytes, 0, GKL_DEVICES * sizeof *ret_bytes);
	if (!has_exports(f, life))
		return;
	if (!holds->looked)
		look_at_holds(f, holds);
	for (unsigned i = 0; i < high; i++) {
		const struct gkl_export *e = &f->exports[i];
		uint64_t device = atomic_load(&e->device);

		if (holds->is_held[i / 64] >> i % 64 & 1 && is_of(e, life) &&
		    device < GKL_DEVICES)
			ret_bytes[device] = gkl_add(
			    ret_bytes[device],
			    (int64_t)(atomic_load(&e->bytes) & INT64_MAX));
	}
}

void gkl_exports_free(struct gkl_ledger_file *f, union gkl_wide life)
{
	unsigned high = exports_high(f);

	for (unsigned i = 0; i < high; i++) {
		struct gkl_export *e = &f->exports[i];
		uint64_t number = atomic_load(&e->number);

		if (is_of(e, life))
			free_export(e, number, life);
	}
}
