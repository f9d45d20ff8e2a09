/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c - opens ledgers, and claims slots and entries for exports in them.
 */
#include "limit/ledger.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/truncated.h"
#include "limit/ledger_export.h"
#include "limit/ledger_op.h"
#include "limit/life.h"
#include "limit/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void fill_file(void *at, const void *arg)
{
	struct gkl_ledger_file *f = at;

	(void)arg;
	f->magic = GKL_LEDGER_MAGIC;
	f->version = GKL_LEDGER_VERSION;
}

/* Allocates memory that the kernel zeroes in a forked child, if it can. */
static int make_own(struct gkl_ledger *ledger)
{
	size_t size = sizeof *ledger->own;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return GK_ERR_NOMEM;
	ledger->own = at;
	ledger->is_wiped = !madvise(at, size, MADV_WIPEONFORK);
	return 0;
}

static int map_file(struct gkl_ledger *ledger, int fd)
{
	struct stat st;
	void *at;

	if (fstat(fd, &st) < 0)
		return gk_err_from_errno(errno);
	at = mmap(NULL, sizeof *ledger->file, PROT_READ | PROT_WRITE,
		  MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return gk_err_from_errno(errno);
	ledger->file = at;
	gk_truncated_watch(at, sizeof *ledger->file, &ledger->damaged);
	ledger->dev = st.st_dev;
	ledger->ino = st.st_ino;
	if (ledger->file->magic != GKL_LEDGER_MAGIC)
		return GK_ERR_CORRUPT;
	return ledger->file->version == GKL_LEDGER_VERSION ? make_own(ledger)
							   : GK_ERR_VERSION;
}

/* A hash of this boot's id; 0: unknown. */
static uint64_t number_of_boot(void)
{
	char text[64];
	ssize_t len = gk_read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id",
				 text, sizeof text);
	uint64_t number = 0xcbf29ce484222325ULL; /* FNV-1a */

	if (len <= 0)
		return 0;
	for (ssize_t i = 0; i < len; i++)
		number = (number ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return number ? number : 1;
}

/*
 * A ledger on a disk may outlive the clock that its shares use: after a boot,
 * their times may lie far in the future. So the first process that opens the
 * ledger after a boot resets all shares. If two processes do so at once, both
 * reset them.
 */
static void renew_shares(struct gkl_ledger_file *f)
{
	uint64_t boot = number_of_boot();

	if (!boot || atomic_load(&f->boot) == boot)
		return;
	for (unsigned int d = 0; d < GKL_DEVICES; d++) {
		_Atomic uint64_t *word = (void *)f->share[d];

		for (size_t i = 0; i < GKL_SHARE_BYTES / sizeof *word; i++)
			if (atomic_load(&word[i]))
				atomic_store(&word[i], 0);
	}
	atomic_store(&f->boot, boot);
}

static void free_ledger(struct gkl_ledger *ledger)
{
	if (ledger->file) {
		gk_truncated_forget(ledger->file);
		munmap(ledger->file, sizeof *ledger->file);
	}
	if (ledger->own)
		munmap(ledger->own, sizeof *ledger->own);
	free(ledger);
}

int gkl_ledger_open(const char *path, enum gkl_trust trust,
		    struct gkl_ledger **ret_ledger)
{
	struct gkl_file_kind kind = {
	    .trust = trust,
	    .mode =
		trust == GKL_COMMON && gkl_file_is_shared(path) ? 0666 : 0600,
	    .size = sizeof(struct gkl_ledger_file),
	    .fill = fill_file,
	};
	struct gkl_ledger *ledger;
	int fd, r;

	if (*path != '/' || strlen(path) >= sizeof ledger->path)
		return GK_ERR_INVALID;
	fd = gkl_file_open_or_make(path, &kind, true);
	if (fd < 0)
		return fd;
	ledger = calloc(1, sizeof *ledger);
	r = ledger ? map_file(ledger, fd) : GK_ERR_NOMEM;
	close(fd);
	if (r) {
		if (ledger)
			free_ledger(ledger);
		return r;
	}
	renew_shares(ledger->file);
	strcpy(ledger->path, path);
	*ret_ledger = ledger;
	return 0;
}

/* Several threads of a forked child may call this at once. */
struct gkl_own *gkl_own_checked(const struct gkl_ledger *ledger)
{
	struct gkl_own *own = ledger->own;
	int32_t self = (int32_t)getpid(), seen = atomic_load(&own->pid);

	if (seen == self)
		return own;
	if (seen != -self &&
	    atomic_compare_exchange_strong(&own->pid, &seen, -self)) {
		memset((char *)own + sizeof own->pid, 0,
		       sizeof *own - sizeof own->pid);
		atomic_store(&own->pid, self);
	}
	while (atomic_load(&own->pid) != self)
		sched_yield();
	return own;
}

static void raise_to(_Atomic uint32_t *word, uint32_t value)
{
	uint32_t seen = atomic_load(word);

	while (seen < value &&
	       !atomic_compare_exchange_weak(word, &seen, value))
		;
}

/* Claims a free slot for *self. Returns its number, or GK_ERR_TOO_MANY. */
static int take_slot(struct gkl_ledger_file *f, union gkl_wide *self)
{
	static const union gkl_wide free_slot = {.both = 0};

	for (unsigned i = 0; i < GKL_PROCESSES; i++) {
		union gkl_wide *life = &f->slots[i].life;

		if (gkl_high(life))
			continue;
		*self = gkl_life_in_turn(
		    *self, atomic_fetch_add(&f->slots[i].turn, 1));
		/*
		 * `high` grows before the swap: if this process is killed right
		 * after the swap, others must find what the slot holds.
		 */
		raise_to(&f->high, i + 1);
		if (gkl_wide_swap(life, free_slot, *self))
			return (int)i;
	}
	return GK_ERR_TOO_MANY;
}

static void begin_counters(struct gkl_slot *s, union gkl_wide self)
{
	atomic_store(&s->host_pid, gkl_life_host_pid(self));
	atomic_store(&s->unlocked_ns, 0);
	for (unsigned d = 0; d < GKL_DEVICES; d++) {
		struct gkl_account *a = &s->account[d];

		for (unsigned k = 0; k < GKL_KINDS; k++)
			atomic_store(&a->kinds[k], 0);
		for (unsigned c = 0; c < GKL_COUNTS; c++)
			atomic_store(&a->counts[c], 0);
		atomic_store(&a->peak, 0);
		atomic_store(&a->refused, 0);
	}
	atomic_store(&s->counted, self.high);
}

/* The caller holds own->claiming. */
static int claim_slot(struct gkl_ledger *ledger, struct gkl_own *own)
{
	struct gkl_ledger_file *f = ledger->file;
	int r = gkl_life_self(&own->life), slot;

	GK_ASSERT(gkl_lock_held(&own->claiming));
	if (r)
		return r;
	gkl_bury_former(f, own->life);
	slot = take_slot(f, &own->life);
	if (slot < 0 && gkl_bury_round(ledger).buried)
		slot = take_slot(f, &own->life);
	if (slot < 0)
		return slot;
	begin_counters(&f->slots[slot], own->life);
	own->lock = gkl_life_lock(ledger, (unsigned)slot);
	if (own->lock)
		atomic_store(&f->slots[slot].locked, own->life.high);
	return slot;
}

__attribute__((noinline, cold)) static int claim_once(struct gkl_ledger *ledger,
						      struct gkl_own *own)
{
	int slot, cancel = gkl_uncancelled_begin();

	gkl_lock(&own->claiming);
	slot = (int)atomic_load(&own->slot_and_one) - 1;
	if (slot < 0) {
		slot = claim_slot(ledger, own);
		if (slot < 0)
			gk_log(GK_LOG_ERROR, "no slot in %s: error %d",
			       ledger->path, slot);
		else
			atomic_store(&own->slot_and_one, (uint32_t)slot + 1);
	}
	gkl_unlock(&own->claiming);
	gkl_uncancelled_end(cancel);
	return slot;
}

int gkl_ledger_slot(struct gkl_ledger *ledger)
{
	struct gkl_own *own = gkl_own(ledger);
	uint32_t slot =
	    atomic_load_explicit(&own->slot_and_one, memory_order_acquire);

	return slot ? (int)slot - 1 : claim_once(ledger, own);
}

/*
 * An export gets its owner first and its number last: if the process is killed
 * in between, the export is freed with its slot.
 */
int gkl_export_begin(struct gkl_ledger *ledger, unsigned int device,
		     uint64_t number, uint64_t bytes)
{
	static const union gkl_wide nobody = {.both = 0};
	struct gkl_ledger_file *f = ledger->file;

	GK_ASSERT(device < GKL_DEVICES);
	GK_ASSERT(number);
	if (gkl_ledger_slot(ledger) < 0)
		return GK_ERR_NOT_FOUND;
	for (int i = 0; i < GKL_EXPORTS; i++) {
		struct gkl_export *e = &f->exports[i];

		if (gkl_high(&e->owner))
			continue;
		raise_to(&f->exports_high, (uint32_t)i + 1);
		if (!gkl_wide_swap(&e->owner, nobody, ledger->own->life))
			continue;
		atomic_store(&e->bytes, bytes);
		atomic_store(&e->device, device);
		atomic_store(&e->number, number);
		return i;
	}
	return GK_ERR_TOO_MANY;
}

void gkl_ledger_close(struct gkl_ledger *ledger)
{
	struct gkl_own *own;
	uint32_t slot;

	if (!ledger)
		return;
	own = gkl_own(ledger);
	slot = atomic_load(&own->slot_and_one);
	if (slot) {
		/* The next owner must be able to take the lock. */
		atomic_store(&ledger->file->slots[slot - 1].locked, 0);
		gkl_life_unlock(own->lock);
		gkl_bury_slot(ledger->file, slot - 1, own->life,
			      &(struct gkl_holds){.looked = false});
	}
	free_ledger(ledger);
}

bool gkl_ledger_is_damaged(const struct gkl_ledger *ledger)
{
	return __atomic_load_n(&ledger->file->magic, __ATOMIC_RELAXED) !=
		   GKL_LEDGER_MAGIC ||
	       atomic_load_explicit(&ledger->damaged, memory_order_relaxed);
}
