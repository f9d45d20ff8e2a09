/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - finds the state of NVLinks, and which of them carry traffic. */
#include "machine/model/link.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/topology.h"
#include "machine/store/listed.h"
#include "machine/store/view.h"

#include <string.h>

static struct gkf_links *links_at(const struct gkf_machine *m, unsigned device)
{
	GK_ASSERT(device < m->device_count);
	return &m->file->device[device].links;
}

static uint64_t load_link_word(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

unsigned gkf_links(const struct gkf_machine *m, unsigned device)
{
	int64_t n;

	GK_ASSERT(device < m->device_count);
	n = m->boards[device].profile.nvlinks;
	return n > GKF_LINKS_MAX ? GKF_LINKS_MAX : (unsigned)n;
}

struct gkf_link_end gkf_link_end(const struct gkf_machine *m, unsigned device,
				 unsigned link)
{
	return link < GKF_LINKS_MAX ? m->topology.link[device][link]
				    : (struct gkf_link_end){0};
}

/*
 * The requested state of one end; a word out of range means up.
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
 * nvmlNvlinkVersion_t by generation. Generations 2 and 3 have two versions:
 * Turing has 2.2, and Ampere boards without HBM have 3.1.
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

	GK_ASSERT(a < m->device_count && b < m->device_count && a != b);
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

uint64_t gkf_links_find_carrying(const struct gkf_machine *m, unsigned device)
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
	return (unsigned)__builtin_popcountll(
	    gkf_links_find_carrying(m, device));
}

struct gkf_link_counter *gkf_link_counter(struct gkf_machine *m,
					  unsigned device, unsigned link,
					  unsigned counter)
{
	GK_ASSERT(device < m->device_count);
	GK_ASSERT(link < GKF_LINKS_MAX && counter < GKF_LINK_COUNTERS);
	return &m->file->device[device].links.link[link].counter[counter];
}
