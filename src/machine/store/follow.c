/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c - keeps copies of a shared machine up to date; see follow.h. */
#include "machine/store/follow.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/min.h"
#include "base/pair.h"
#include "base/truncated.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/store/clock.h"
#include "machine/store/copy_bound.h"
#include "machine/store/gate.h"
#include "machine/store/state_bin.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

/* How old a copy may get. */
#define FOLLOW_NS (125 * GK_NS_PER_MS)

/*
 * A launcher that has not updated the machine for this long is dead or stopped.
 */
#define KEPT_NS (2 * GK_NS_PER_S)

/*
 * How often to read a state that its owner keeps changing; usually one read is
 * enough.
 */
#define READS_MAX 100

static bool is_kept(uint64_t kept_ns)
{
	return gk_boot_ns() - kept_ns < KEPT_NS;
}

bool gkf_machine_keep(struct gkf_machine *m)
{
	if (!m->file->shared || m->copied)
		return false;
	if (!gkf_machine_settle(m))
		atomic_store(&m->file->kept_ns, gk_boot_ns());
	return true;
}

/*
 * The machine time that a copy shows: that of the owner's states while a
 * launcher keeps them up to date, else that of the clock. It never goes back.
 */
static uint64_t time_to_show(const struct gkf_machine *m)
{
	uint64_t now = gkf_machine_ns(m), shown = UINT64_MAX;

	for (unsigned i = 0; i < m->device_count; i++)
		shown = gk_min(shown, gkf_state_bin(m, i));
	if (!is_kept(atomic_load(&m->file->kept_ns)) ||
	    shown >= now / GKF_BIN_NS)
		return now;
	shown *= GKF_BIN_NS;
	return shown > m->shown_ns ? shown : gk_min(m->shown_ns, now);
}

void gkf_copy_freeze(struct gkf_machine *m)
{
	GK_ASSERT(gkf_lock_held(m));
	m->shown_ns = time_to_show(m);
	gkf_clock_stop_copy(m, m->shown_ns);
	atomic_store(&m->file->permission, GKF_PERMIT_NONE);
	gkf_copy_bound(m);
	m->copied = true;
}

void gkf_copy_follow(struct gkf_machine *m, int fd)
{
	void *source;

	if (!m->file->shared)
		return;
	source = mmap(NULL, m->size, PROT_READ, MAP_SHARED, fd, 0);
	if (source == MAP_FAILED)
		return;
	gk_truncated_watch(source, m->size, &m->damaged);
	m->source = source;
	m->followed_ns = gk_mono_ns();
}

/*
 * Like gk_pair_read(), but gives up after READS_MAX reads, so that an owner
 * cannot keep it from returning.
 */
static void read_source(const _Atomic uint64_t *seq, const void *copies,
			void *ret, size_t size)
{
	uint64_t now = atomic_load(seq), before;
	unsigned reads = 0;

	do {
		before = now;
		gk_words_copy(ret, (const char *)copies + now % 2 * size, size);
		atomic_thread_fence(memory_order_acquire);
		now = atomic_load(seq);
	} while (now != before && ++reads < READS_MAX);
}

/*
 * Copies the state of a device. If a sum is lower in the owner's state than in
 * the copy, the copy keeps its sum until the owner's has caught up. The owner's
 * may be lower because only the owner knows that a process has ended. Returns
 * false if the whole state of the copy is ahead.
 */
static bool copy_state(struct gkf_device *to, const struct gkf_device *from)
{
	const size_t first = offsetof(struct gkf_state, energy_mwbins);
	uint64_t shown = atomic_load(&to->energy_shown_mj);
	uint64_t theirs_mj = atomic_load(&from->energy_shown_mj);
	struct gkf_state mine, theirs;
	const uint64_t *least = &mine.energy_mwbins;
	uint64_t *sum = &theirs.energy_mwbins;

	gk_pair_read(&to->state_seq, to->state, &mine, sizeof mine);
	read_source(&from->state_seq, from->state, &theirs, sizeof theirs);
	if (theirs.bin < mine.bin)
		return false;
	for (size_t i = 0; i < (sizeof theirs - first) / sizeof *sum; i++)
		if (sum[i] < least[i])
			sum[i] = least[i];
	gk_pair_write(&to->state_seq, to->state, &theirs, sizeof theirs);
	atomic_store(&to->energy_shown_mj,
		     theirs_mj > shown ? theirs_mj : shown);
	return true;
}

static void copy_bytes(struct gkf_machine *m, size_t from, size_t to)
{
	memcpy((char *)m->file + from, (const char *)m->source + from,
	       to - from);
}

/*
 * Does not copy a device if the copy itself has computed it further than the
 * owner: without a launcher, the copy goes on from there.
 */
static void copy_device(struct gkf_machine *m, unsigned i)
{
	const struct gkf_file *from = m->source;
	size_t at =
	    offsetof(struct gkf_file, device) + i * sizeof from->device[0];

	if (!copy_state(&m->file->device[i], &from->device[i]))
		return;
	copy_bytes(m, at, at + offsetof(struct gkf_device, state_seq));
	copy_bytes(m, at + offsetof(struct gkf_device, links),
		   at + sizeof from->device[0]);
}

static void copy_source(struct gkf_machine *m)
{
	copy_bytes(m, 0, offsetof(struct gkf_file, device));
	for (unsigned i = 0; i < m->device_count; i++)
		copy_device(m, i);
	copy_bytes(m, offsetof(struct gkf_file, board), m->size);
}

/*
 * Whether the copy already has the latest state that the launcher has computed.
 */
static bool is_up_to_date(const struct gkf_machine *m)
{
	const struct gkf_file *source = m->source;
	uint64_t kept = atomic_load(&source->kept_ns);

	return kept == atomic_load(&m->file->kept_ns) && is_kept(kept);
}

/*
 * Other threads may read the copy while it is being updated: they see what they
 * would see in the file itself. Threads that compute the state hold the lock.
 */
void gkf_machine_follow(struct gkf_machine *m)
{
	uint64_t now, last;

	if (__builtin_expect(!m->source, 1))
		return;
	now = gk_mono_ns();
	last = atomic_load(&m->followed_ns);
	if (now - last < FOLLOW_NS || is_up_to_date(m) ||
	    !atomic_compare_exchange_strong(&m->followed_ns, &last, now) ||
	    gkf_lock_to_compute(m))
		return;
	copy_source(m);
	gkf_copy_freeze(m);
	gkf_unlock(m);
}
