/* link.c - finds the state of NVLinks and shares out what they carry. */
#include "machine/model/link.h"
#include "base/err.h"
#include "base/pair.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/topology.h"
#include "machine/model/computed.h"
#include "machine/model/model.h"
#include "machine/store/above.h"
#include "machine/store/listed.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <string.h>

static struct gkf_links *links_at(const struct gkf_machine *m, unsigned device)
{
	return &m->file->device[device].links;
}

static uint64_t load_link_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

unsigned gkf_links(const struct gkf_machine *m, unsigned device)
{
	int64_t n = m->boards[device].profile.nvlinks;

	return n > GKF_LINKS_MAX ? GKF_LINKS_MAX : (unsigned)n;
}

struct gkf_link_end gkf_link_end(const struct gkf_machine *m, unsigned device,
				 unsigned link)
{
	return link < GKF_LINKS_MAX ? m->topology.link[device][link]
				    : (struct gkf_link_end){0};
}

/*
 * The state that somebody wants of one end; a word that nobody can want means
 * up.
 */
static enum gkf_link_state wanted_state(const struct gkf_machine *m,
					unsigned device, unsigned link)
{
	uint64_t w = load_link_word(&links_at(m, device)->link[link].wanted);

	return w && w <= GKF_LINK_STATES ? (enum gkf_link_state)(w - 1)
					 : GKF_LINK_UP;
}

#define GONE (GKF_FAULT_BIT(GKF_FAULT_FALLEN) | GKF_FAULT_BIT(GKF_FAULT_LOST))

static bool is_broken(const struct gkf_machine *m, unsigned device,
		      unsigned link)
{
	const struct gkf_fault_state *f = &m->file->device[device].fault;
	uint64_t active = load_link_word(&f->active);

	if (active & GONE || !gkf_is_listed(m, device))
		return true;
	return active & GKF_FAULT_BIT(GKF_FAULT_NVLINK) &&
	       load_link_word(&f->argument[GKF_FAULT_NVLINK]) >> link & 1;
}

static enum gkf_link_state end_state(const struct gkf_machine *m,
				     unsigned device, unsigned link)
{
	return is_broken(m, device, link) ? GKF_LINK_DOWN
					  : wanted_state(m, device, link);
}

enum gkf_link_state gkf_link_state(const struct gkf_machine *m, unsigned device,
				   unsigned link)
{
	struct gkf_link_end to = gkf_link_end(m, device, link);
	enum gkf_link_state here, there;

	if (to.kind == GKF_END_NOTHING)
		return GKF_LINK_DOWN;
	here = there = end_state(m, device, link);
	if (to.kind == GKF_END_GPU)
		there = end_state(m, to.device, to.link);
	if (here == GKF_LINK_DOWN || there == GKF_LINK_DOWN)
		return GKF_LINK_DOWN;
	return here == GKF_LINK_SLEEP ? here : there;
}

uint64_t gkf_links_up(const struct gkf_machine *m, unsigned device)
{
	uint64_t up = 0;

	for (unsigned i = 0; i < gkf_links(m, device); i++)
		if (gkf_link_state(m, device, i) != GKF_LINK_DOWN)
			up |= 1ULL << i;
	return up;
}

uint64_t gkf_link_error(const struct gkf_machine *m, unsigned device,
			unsigned link, enum gkf_link_error error)
{
	return link < gkf_links(m, device)
		   ? load_link_word(
			 &links_at(m, device)->link[link].errors[error])
		   : 0;
}

unsigned gkf_link_mbps(const struct gkf_machine *m, unsigned device,
		       unsigned link)
{
	return gkf_link_state(m, device, link) == GKF_LINK_DOWN
		   ? 0
		   : (unsigned)m->boards[device].profile.nvlink_mbps;
}

/*
 * nvmlNvlinkVersion_t by generation; of generations 2 and 3 there are two:
 * Turing has 2.2 and the Ampere boards without HBM have 3.1.
 */
unsigned gkf_link_version(const struct gkf_machine *m, unsigned device)
{
	static const uint8_t versions[] = {0, 1, 2, 4, 6, 7, 8};
	const struct gkf_profile *p = &m->boards[device].profile;
	int64_t g = p->nvlink_version;

	if (p->nvlinks <= 0 || g >= (int64_t)sizeof versions)
		return 0;
	return versions[g] + ((g == 2 && p->compute_minor == 5) ||
			      (g == 3 && p->compute_minor == 6));
}

unsigned gkf_link_threshold(const struct gkf_machine *m, unsigned device)
{
	uint64_t t = load_link_word(&links_at(m, device)->low_power_threshold);

	return t <= 0x1fff ? (unsigned)t : 0;
}

enum gkf_link_bw gkf_link_bw(const struct gkf_machine *m, unsigned device)
{
	uint64_t mode = load_link_word(&links_at(m, device)->bw_mode);

	return mode < GKF_LINK_BW_COUNT ? (enum gkf_link_bw)mode
					: GKF_LINK_BW_FULL;
}

unsigned gkf_links_between(const struct gkf_machine *m, unsigned a, unsigned b)
{
	const struct gkf_topology *t = &m->topology;
	unsigned found = 0, others;

	if (t->seat[a].fabric) {
		found = (unsigned)__builtin_popcountll(gkf_links_up(m, a));
		others = (unsigned)__builtin_popcountll(gkf_links_up(m, b));
		if (t->seat[a].fabric != t->seat[b].fabric)
			return 0;
		return found < others ? found : others;
	}
	for (unsigned i = 0; i < gkf_links(m, a); i++)
		found += t->link[a][i].kind == GKF_END_GPU &&
			 t->link[a][i].device == b &&
			 gkf_link_state(m, a, i) != GKF_LINK_DOWN;
	return found;
}

/* ---- traffic ---- */

/* Which links carry: those that are awake, as many as the mode allows. */
static uint64_t find_carrying(const struct gkf_machine *m, unsigned device)
{
	static const unsigned quarters[] = {4, 0, 0, 2, 3};
	enum gkf_link_bw mode = gkf_link_bw(m, device);
	unsigned n = gkf_links(m, device), least = mode == GKF_LINK_BW_MIN;
	unsigned most = (n * quarters[mode] + 3) / 4;
	uint64_t mask = 0;

	if (most < least)
		most = least;
	for (unsigned i = 0; i < n && most; i++)
		if (gkf_link_state(m, device, i) == GKF_LINK_UP) {
			mask |= 1ULL << i;
			most--;
		}
	return mask;
}

unsigned gkf_links_carrying(const struct gkf_machine *m, unsigned device)
{
	return (unsigned)__builtin_popcountll(find_carrying(m, device));
}

/* Links that are wired: they carry from the start of the machine on. */
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

/* The part of one of `of` carriers; all parts make up the whole. */
static uint64_t part_of_whole(uint64_t whole, unsigned of, unsigned rank)
{
	return (whole + of - 1 - rank) / of;
}

/* The bytes that a link has carried since the shares were closed. */
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

/* Closes the shares at the device's bytes; the caller holds the lock. */
static void close_shares(struct gkf_machine *m, unsigned device)
{
	struct gkf_links *l = links_at(m, device);
	struct gkf_link_shares b;
	struct gkf_state s;

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
	b.carrying = find_carrying(m, device);
	gk_pair_write(&l->shares_seq, l->shares, &b, sizeof b);
}

/*
 * The shares, closed anew if other links carry than when they were: whoever
 * reads first after a change does so, if the lock is free.
 */
static void shares_now(struct gkf_machine *m, unsigned device,
		       struct gkf_link_shares *ret)
{
	read_shares(m, device, ret);
	if (ret->carrying == find_carrying(m, device) || !gkf_trylock(m, 0))
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

/* Every device whose links carry otherwise than its shares say. */
static void close_all(struct gkf_machine *m)
{
	for (unsigned i = 0; i < m->device_count; i++)
		if (gkf_links(m, i))
			close_shares(m, i);
}

/* Stores a word between two closings of the shares. */
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

int64_t gkf_compute_fabric_state(struct gkf_machine *m, unsigned device)
{
	return m->topology.seat[device].fabric ? GKF_FABRIC_COMPLETED : 0;
}

struct gkf_link_counter *gkf_link_counter(struct gkf_machine *m,
					  unsigned device, unsigned link,
					  unsigned counter)
{
	return &m->file->device[device].links.link[link].counter[counter];
}
