/* ledger.c - opens ledgers, claims slots, reserves and refunds. */
#include "limit/ledger.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "limit/life.h"
#include "limit/lock.h"
#include "limit/ledger_op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who is refused waits so long for those who are dying. */
#define DYING_MAX_NS  (100 * GK_NS_PER_MS)
#define DYING_STEP_NS GK_NS_PER_MS

static void fill(void *at, const void *arg)
{
	struct gkl_ledger_file *f = at;

	(void)arg;
	f->magic = GKL_LEDGER_MAGIC;
	f->version = GKL_LEDGER_VERSION;
}

/* Memory that the kernel empties in a forked child, where it can. */
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
	ledger->dev = st.st_dev;
	ledger->ino = st.st_ino;
	if (ledger->file->magic != GKL_LEDGER_MAGIC)
		return GK_ERR_CORRUPT;
	return ledger->file->version == GKL_LEDGER_VERSION ? make_own(ledger)
							   : GK_ERR_VERSION;
}

static void free_ledger(struct gkl_ledger *ledger)
{
	if (ledger->file)
		munmap(ledger->file, sizeof *ledger->file);
	if (ledger->own)
		munmap(ledger->own, sizeof *ledger->own);
	free(ledger);
}

int gkl_ledger_open(const char *path, enum gkl_trust trust,
		    struct gkl_ledger **ret_ledger)
{
	struct gkl_file_kind kind = {
	    .trust = trust,
	    .mode = trust == GKL_COMMON ? 0666 : 0600,
	    .size = sizeof(struct gkl_ledger_file),
	    .fill = fill,
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
	strcpy(ledger->path, path);
	*ret_ledger = ledger;
	return 0;
}

struct gkl_own *gkl_own_checked(const struct gkl_ledger *ledger)
{
	struct gkl_own *own = ledger->own;

	if (atomic_load(&own->pid) != getpid()) {
		memset(own, 0, sizeof *own);
		atomic_store(&own->pid, getpid());
	}
	return own;
}

/* One round over the slots. */
struct round {
	int buried, dying;
};

static struct round bury_dead(const struct gkl_ledger *ledger)
{
	struct gkl_ledger_file *f = ledger->file;
	unsigned high = gkl_slots_high(f);
	struct round round = {0};
	struct gkl_look look;

	atomic_store(&f->looked_ns, gk_mono_ns());
	gkl_look_begin(&look, ledger);
	for (unsigned i = 0; i < high; i++) {
		union gkl_wide life = gkl_wide_read(&f->slots[i].life);
		enum gkl_life is =
		    life.high ? gkl_look_at(&look, i, life) : GKL_ALIVE;

		round.dying += is == GKL_DYING;
		if (is == GKL_DEAD && gkl_op_bury(f, i, life)) {
			gk_log(GK_LOG_INFO, "process %d is dead, slot %u free",
			       gkl_life_pid(life), i);
			round.buried++;
		}
	}
	gkl_look_end(&look);
	return round;
}

int gkl_ledger_bury(const struct gkl_ledger *ledger)
{
	return bury_dead(ledger).buried;
}

static void raise_to(_Atomic uint32_t *word, uint32_t value)
{
	uint32_t seen = atomic_load(word);

	while (seen < value &&
	       !atomic_compare_exchange_weak(word, &seen, value))
		;
}

/* Takes a free slot. Its number, or GK_ERR_TOO_MANY. */
static int take_slot(struct gkl_ledger_file *f, union gkl_wide self)
{
	static const union gkl_wide free_slot = {.both = 0};

	for (unsigned i = 0; i < GKL_PROCESSES; i++) {
		union gkl_wide *life = &f->slots[i].life;

		if (gkl_high(life))
			continue;
		/* First: what it holds must be found if it is killed. */
		raise_to(&f->high, i + 1);
		if (gkl_wide_swap(life, free_slot, self))
			return (int)i;
	}
	return GK_ERR_TOO_MANY;
}

/* What this process held before exec. */
static void bury_former(struct gkl_ledger_file *f, union gkl_wide self)
{
	unsigned high = gkl_slots_high(f);

	for (unsigned i = 0; i < high; i++) {
		union gkl_wide life = gkl_wide_read(&f->slots[i].life);

		if (life.high == self.high && life.low != self.low &&
		    gkl_life_ns(life) == gkl_life_ns(self))
			gkl_op_bury(f, i, life);
	}
}

static void begin_counters(struct gkl_slot *s, union gkl_wide self)
{
	atomic_store(&s->host_pid, 0);
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

static int claim_slot(struct gkl_ledger *ledger, struct gkl_own *own)
{
	struct gkl_ledger_file *f = ledger->file;
	int r = gkl_life_self(&own->life), slot;

	if (r)
		return r;
	bury_former(f, own->life);
	slot = take_slot(f, own->life);
	if (slot < 0 && bury_dead(ledger).buried)
		slot = take_slot(f, own->life);
	if (slot < 0)
		return slot;
	begin_counters(&f->slots[slot], own->life);
	own->lock = gkl_life_lock(ledger, (unsigned)slot);
	if (own->lock)
		atomic_store(&f->slots[slot].locked, own->life.high);
	return slot;
}

static int claim_once(struct gkl_ledger *ledger, struct gkl_own *own)
{
	int slot;

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
	return slot;
}

int gkl_ledger_slot(struct gkl_ledger *ledger)
{
	struct gkl_own *own = gkl_own(ledger);
	uint32_t slot =
	    atomic_load_explicit(&own->slot_and_one, memory_order_acquire);

	return slot ? (int)slot - 1 : claim_once(ledger, own);
}

void gkl_ledger_close(struct gkl_ledger *ledger)
{
	struct gkl_own *own;
	uint32_t slot;

	if (!ledger)
		return;
	own = gkl_own(ledger);
	slot = atomic_load(&own->slot_and_one);
	if (slot)
		gkl_op_bury(ledger->file, slot - 1, own->life);
	gkl_life_unlock(own->lock);
	free_ledger(ledger);
}

static void add_kind(struct gkl_account *a, enum gkl_kind kind, int64_t delta)
{
	uint64_t had =
	    atomic_load_explicit(&a->kinds[kind], memory_order_relaxed);

	atomic_store_explicit(&a->kinds[kind], gkl_add(had, delta),
			      memory_order_relaxed);
}

/* Nobody else writes it, but several may write that of the group. */
static void note_peaks(struct gkl_ledger_file *f, unsigned device,
		       struct gkl_account *a)
{
	uint64_t held = gkl_low(&a->held),
		 now = gkl_low(&f->taken[device].total);
	_Atomic uint64_t *peak = &f->taken[device].peak;
	uint64_t seen = atomic_load_explicit(peak, memory_order_relaxed);

	if (held > atomic_load_explicit(&a->peak, memory_order_relaxed))
		atomic_store_explicit(&a->peak, held, memory_order_relaxed);
	while (seen < now && !atomic_compare_exchange_weak(peak, &seen, now))
		;
}

static bool take(struct gkl_ledger *ledger, unsigned device, enum gkl_kind kind,
		 uint64_t bytes, uint64_t limit)
{
	int slot = gkl_ledger_slot(ledger);
	struct gkl_ledger_file *f = ledger->file;
	_Atomic uint32_t *lock = &ledger->own->locks[device];
	struct gkl_account *a;
	bool done;

	if (slot < 0 || bytes > INT64_MAX)
		return false;
	a = &f->slots[slot].account[device];
	gkl_lock(lock);
	done = gkl_op(f, device, (unsigned)slot, (int64_t)bytes, limit);
	if (done) {
		add_kind(a, kind, (int64_t)bytes);
		note_peaks(f, device, a);
	}
	gkl_unlock(lock);
	return done;
}

/* Once more, without the dead; those who die just now are waited for. */
static bool take_from_dead(struct gkl_ledger *ledger, unsigned device,
			   enum gkl_kind kind, uint64_t bytes, uint64_t limit)
{
	uint64_t end = gk_mono_ns() + DYING_MAX_NS, now;
	struct round round;

	do {
		round = bury_dead(ledger);
		if (take(ledger, device, kind, bytes, limit))
			return true;
		if (!round.dying)
			return false;
		now = gk_mono_ns();
		gk_sleep_until(now + DYING_STEP_NS);
	} while (now < end);
	return false;
}

bool gkl_ledger_reserve(struct gkl_ledger *ledger, unsigned int device,
			enum gkl_kind kind, uint64_t bytes, uint64_t limit)
{
	if (take(ledger, device, kind, bytes, limit))
		return true;
	return gkl_ledger_slot(ledger) >= 0 && bytes <= INT64_MAX &&
	       (!limit || bytes <= limit) &&
	       take_from_dead(ledger, device, kind, bytes, limit);
}

void gkl_ledger_charge(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes)
{
	if (!take(ledger, device, kind, bytes, 0))
		gk_log(GK_LOG_ERROR, "%llu bytes of device %u are not counted",
		       (unsigned long long)bytes, device);
}

void gkl_ledger_refund(struct gkl_ledger *ledger, unsigned int device,
		       enum gkl_kind kind, uint64_t bytes)
{
	struct gkl_slot *slot = gkl_own_slot(ledger);
	uint64_t held = 0, give;

	if (slot) {
		struct gkl_account *a = &slot->account[device];

		gkl_lock(&ledger->own->locks[device]);
		held = gkl_low(&a->held);
		give = bytes < held ? bytes : held;
		if (give) {
			gkl_op(ledger->file, device,
			       (unsigned)(slot - ledger->file->slots),
			       -(int64_t)give, 0);
			add_kind(a, kind, -(int64_t)give);
		}
		gkl_unlock(&ledger->own->locks[device]);
	}
	if (bytes > held)
		gk_log(GK_LOG_ERROR,
		       "device %u: %llu bytes given back, %llu held", device,
		       (unsigned long long)bytes, (unsigned long long)held);
}

void gkl_ledger_move(struct gkl_ledger *ledger, unsigned int device,
		     enum gkl_kind from, enum gkl_kind to, uint64_t bytes)
{
	struct gkl_slot *slot = gkl_own_slot(ledger);

	if (!slot || bytes > INT64_MAX)
		return;
	gkl_lock(&ledger->own->locks[device]);
	add_kind(&slot->account[device], from, -(int64_t)bytes);
	add_kind(&slot->account[device], to, (int64_t)bytes);
	gkl_unlock(&ledger->own->locks[device]);
}
