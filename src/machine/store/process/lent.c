/* SPDX-License-Identifier: Apache-2.0 */
/* lent.c - finds the memory of dead processes that others still use. */
#include "machine/store/process/lent.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/ofd_locks.h"
#include "base/units.h"
#include "machine/file/file.h"
#include "machine/store/process/identity.h"
#include "machine/store/view.h"

#include <stdlib.h>

/* Devices allocate memory in blocks of this size. */
#define BLOCK (2 * MIB)

/*
 * More bytes than any device has: lock offsets beyond it have other meanings.
 */
#define BYTES_MAX (1ULL << 48)

static uint64_t read_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

void gkf_lend(struct gkf_machine *m, unsigned index,
	      const struct gkf_lending *lending)
{
	struct gkf_lent *lent = &m->file->lent[index % GKF_SLOTS_MAX];

	if (!gkf_owns(m, &m->file->slot[index % GKF_SLOTS_MAX]))
		return;
	atomic_store(&lent->device, lending->device);
	atomic_store(&lent->pooled, lending->pooled);
	atomic_store(&lent->inode, lending->inode);
}

void gkf_lent_open(struct gkf_machine *m, unsigned index)
{
	GK_ASSERT(index < GKF_SLOTS_MAX);
	atomic_store(&m->file->lent[index].inode, 0);
}

struct range {
	uint64_t begin, end;
};

struct ranges {
	uint64_t device, inode;
	struct range *at;
	size_t count, room;
	bool pools, failed;
};

static void add_range(struct ranges *r, struct range range)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct range *more = r->at;

	if (r->count == r->room) {
		more = gk_resize(r->at, room, sizeof *more);
		if (!more) {
			r->failed = true;
			return;
		}
		r->at = more;
		r->room = room;
	}
	r->at[r->count++] = range;
}

static void visit_lock(void *arg, const struct gk_ofd_lock *lock)
{
	struct ranges *r = arg;

	if (lock->device != r->device || lock->inode != r->inode)
		return;
	if (lock->begin >= GKF_LENT_POOLS)
		r->pools = true;
	else if (lock->end <= BYTES_MAX)
		add_range(
		    r, (struct range){lock->begin / BLOCK * BLOCK,
				      (lock->end + BLOCK - 1) / BLOCK * BLOCK});
}

static int by_begin(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* The number of bytes in the union of the ranges. */
static uint64_t sum_ranges(struct ranges *r)
{
	uint64_t sum = 0, at = 0;

	if (r->count)
		qsort(r->at, r->count, sizeof *r->at, by_begin);
	for (size_t i = 0; i < r->count; i++) {
		uint64_t begin = r->at[i].begin > at ? r->at[i].begin : at;

		if (r->at[i].end <= begin)
			continue;
		sum += r->at[i].end - begin;
		at = r->at[i].end;
	}
	return sum;
}

uint64_t gkf_lent_bytes(const struct gkf_machine *m, unsigned index)
{
	const struct gkf_lent *lent = &m->file->lent[index];
	struct ranges r = {.device = read_word(&lent->device),
			   .inode = read_word(&lent->inode)};
	uint64_t pooled = read_word(&lent->pooled), sum;
	int err;

	if (!r.inode)
		return 0;
	err = gk_ofd_locks(visit_lock, &r);
	if (err == GK_ERR_NOT_SUPPORTED)
		gk_log(GK_LOG_INFO,
		       "/proc/locks cannot be read: what process "
		       "%d shared is taken to be nobody's",
		       (int)m->file->slot[index].pid);
	else if (err)
		r.failed = true; /* the locks cannot be read now */
	sum = r.failed ? UINT64_MAX / 2 : sum_ranges(&r);
	free(r.at);
	return sum + (r.pools ? (pooled + BLOCK - 1) / BLOCK * BLOCK : 0);
}
