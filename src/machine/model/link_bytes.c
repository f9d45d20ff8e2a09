/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_bytes.c - divides NVLink traffic among links, and changes the state of
 * links.
 */
#include "machine/model/link.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/pair.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/topology.h"
#include "machine/model/model.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"
#include <string.h>

static struct gkf_links *links_at(const struct gkf_machine *m, unsigned device)
{
	return &m->file->device[device].links;
}

/* The wired links, which carry traffic when the machine starts. */
static uint64_t find_wired(const struct gkf_machine *m, unsigned device)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < gkf_links(m, device); i++)
		if (m->topology.link[device][i].kind != GKF_END_NOTHING)
			mask |= 1ULL << i;
	return mask;
}

static void read_shares(const struct gkf_machine *m, unsigned device,
			struct gkf_link_shares *ret)
{
	struct gkf_links *l = links_at(m, device);

	if (!gk_pair_read(&l->shares_seq, l->shares, ret, sizeof *ret))
		ret->carrying = find_wired(m, device);
	ret->carrying &= (1ULL << GKF_LINKS_MAX) - 1;
}

/*
 * Returns the share of `whole` that belongs to one of the links that carry
 * traffic. There are `of` such links; `rank` is the link's number among them,
 * from 0. All shares add up to `whole`.
 */
static uint64_t part_of_whole(uint64_t whole, unsigned of, unsigned rank)
{
	return (whole + of - 1 - rank) / of;
}

/* The bytes that a link has carried since close_shares(). */
static uint64_t carried_since(const struct gkf_link_shares *b, unsigned link,
			      enum gkf_way way, uint64_t device_bytes)
{
	uint64_t before = b->carrying & ((1ULL << link) - 1);

	if (!(b->carrying >> link & 1) || device_bytes < b->device[way])
		return 0;
	return part_of_whole(device_bytes - b->device[way],
			     (unsigned)__builtin_popcountll(b->carrying),
			     (unsigned)__builtin_popcountll(before));
}

/*
 * Closes the shares of a device: adds its traffic up to now to the links that
 * carried it, and records which links carry traffic from now on. The caller
 * holds the writers' lock.
 */
static void close_shares(struct gkf_machine *m, unsigned device)
{
	struct gkf_links *l = links_at(m, device);
	struct gkf_link_shares b;
	struct gkf_state s;

	GK_ASSERT(gkf_lock_held(m));
	gkf_state_advance(m, device);
	gkf_state_now(m, device, &s);
	read_shares(m, device, &b);
	for (unsigned i = 0; i < gkf_links(m, device); i++) {
		b.bytes[i][GKF_RECEIVED] +=
		    carried_since(&b, i, GKF_RECEIVED, s.nvlink_rx_bytes);
		b.bytes[i][GKF_SENT] +=
		    carried_since(&b, i, GKF_SENT, s.nvlink_tx_bytes);
	}
	b.device[GKF_RECEIVED] = s.nvlink_rx_bytes;
	b.device[GKF_SENT] = s.nvlink_tx_bytes;
	b.carrying = gkf_links_find_carrying(m, device);
	gk_pair_write(&l->shares_seq, l->shares, &b, sizeof b);
}

/*
 * Reads the shares. If other links carry traffic than when the shares were last
 * closed, closes them first, provided that the lock is free.
 */
static void shares_now(struct gkf_machine *m, unsigned device,
		       struct gkf_link_shares *ret)
{
	read_shares(m, device, ret);
	if (ret->carrying == gkf_links_find_carrying(m, device) ||
	    !gkf_trylock(m, 0))
		return;
	close_shares(m, device);
	gkf_unlock(m);
	read_shares(m, device, ret);
}

uint64_t gkf_link_bytes(struct gkf_machine *m, unsigned device, unsigned link,
			enum gkf_way way)
{
	struct gkf_link_shares b;
	struct gkf_state s;

	if (link >= gkf_links(m, device))
		return 0;
	gkf_state_now(m, device, &s);
	shares_now(m, device, &b);
	return b.bytes[link][way] + carried_since(&b, link, way,
						  way == GKF_SENT
						      ? s.nvlink_tx_bytes
						      : s.nvlink_rx_bytes);
}

/* ---- changes ---- */

/* Closes the shares of every device that has links. */
static void close_all(struct gkf_machine *m)
{
	for (unsigned i = 0; i < m->device_count; i++)
		if (gkf_links(m, i))
			close_shares(m, i);
}

/* Stores a word, closing the shares before and after. */
static int change_link_word(struct gkf_machine *m, _Atomic uint64_t *word,
			    uint64_t to)
{
	int r = gkf_lock(m);

	if (r)
		return r;
	close_all(m);
	atomic_store(word, to);
	close_all(m);
	gkf_unlock(m);
	return 0;
}

int gkf_link_set_state(struct gkf_machine *m, unsigned device, unsigned link,
		       enum gkf_link_state state)
{
	if (link >= gkf_links(m, device) || state >= GKF_LINK_STATES)
		return GK_ERR_RANGE;
	return change_link_word(m, &links_at(m, device)->link[link].wanted,
				state + 1U);
}

int gkf_link_set_error(struct gkf_machine *m, unsigned device, unsigned link,
		       enum gkf_link_error error, uint64_t count)
{
	if (link >= gkf_links(m, device) || error >= GKF_LINK_ERRORS)
		return GK_ERR_RANGE;
	atomic_store(&links_at(m, device)->link[link].errors[error], count);
	return 0;
}

int gkf_link_set_threshold(struct gkf_machine *m, unsigned device,
			   unsigned units)
{
	if (units > 0x1fff)
		return GK_ERR_RANGE;
	atomic_store(&links_at(m, device)->low_power_threshold, units);
	return 0;
}

int gkf_link_set_bw(struct gkf_machine *m, unsigned device,
		    enum gkf_link_bw mode)
{
	if (mode >= GKF_LINK_BW_COUNT)
		return GK_ERR_RANGE;
	return change_link_word(m, &links_at(m, device)->bw_mode, mode);
}

int gkf_links_clear(struct gkf_machine *m, unsigned device)
{
	struct gkf_links *l = links_at(m, device);
	int r = gkf_lock(m);

	if (r)
		return r;
	close_all(m);
	for (unsigned i = 0; i < GKF_LINKS_MAX; i++) {
		atomic_store(&l->link[i].wanted, 0);
		for (int e = 0; e < GKF_LINK_ERRORS; e++)
			atomic_store(&l->link[i].errors[e], 0);
	}
	atomic_store(&l->low_power_threshold, 0);
	atomic_store(&l->bw_mode, GKF_LINK_BW_FULL);
	close_all(m);
	gkf_unlock(m);
	return 0;
}
