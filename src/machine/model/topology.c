/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - seats the GPUs of a machine and wires their NVLinks. */
#include "machine/model/topology.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/topology.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(GKF_SEATS_MAX >= GKF_DEVICES_MAX, "a seat for every device");

/* Number of GPUs in a mesh or on a baseboard. */
#define GROUP 8

static const char *const layouts[GKF_LAYOUT_COUNT] = {"auto", "hgx", "pcie",
						      "nvl", "mesh"};

int gkf_layout_find(const char *name)
{
	for (int i = 0; i < GKF_LAYOUT_COUNT; i++)
		if (!strcmp(layouts[i], name))
			return i;
	return -1;
}

/*
 * The PCI tree of each kind of machine. Sources: `nvidia-smi topo -m` of a
 * DGX A100 (pairs PXB) and a DGX-1 (pairs PIX, two pairs PHB), as published;
 * each card of a PC has its own port (PHB).
 */
enum tree { TREE_HGX, TREE_SERVER, TREE_PC };

static const struct {
	uint8_t gpus;     /* GPUs per switch */
	uint8_t bridges;  /* bridges between these GPUs */
	uint8_t switches; /* switches per host bridge */
} trees[] = {
    [TREE_HGX] = {2, 2, 1},
    [TREE_SERVER] = {2, 1, 2},
    [TREE_PC] = {1, 1, 4},
};

/* The layout of one board: resolves `auto`. */
static enum gkf_layout layout_of(const struct gkf_profile *p,
				 enum gkf_layout layout)
{
	if (p->nvlinks <= 0 || layout == GKF_LAYOUT_PCIE)
		return GKF_LAYOUT_PCIE;
	if (layout != GKF_LAYOUT_AUTO)
		return layout;
	if (!p->sxm)
		return GKF_LAYOUT_NVL;
	return p->nvlink_version >= 3 ? GKF_LAYOUT_HGX : GKF_LAYOUT_MESH;
}

static enum tree tree_of(const struct gkf_profile *p, enum gkf_layout layout)
{
	if (gkf_is_consumer(p) && !p->sxm)
		return TREE_PC;
	return layout_of(p, layout) == GKF_LAYOUT_HGX ? TREE_HGX : TREE_SERVER;
}

/*
 * A run is a sequence of adjacent boards of one model. Returns the index after
 * the last board of the run that begins at `from`.
 */
static unsigned run_end(const struct gkf_board *boards, unsigned count,
			unsigned from)
{
	unsigned end = from + 1;

	while (end < count &&
	       !strcmp(boards[end].profile.id, boards[from].profile.id))
		end++;
	return end;
}

/* Gives each GPU of a run its switch; returns the next free number. */
static unsigned seat_run(struct gkf_topology *t, enum tree tree, unsigned from,
			 unsigned end, unsigned pci_switch)
{
	for (unsigned i = from; i < end; i++) {
		unsigned at = i - from;

		t->seat[i].pci_switch =
		    (uint8_t)(pci_switch + at / trees[tree].gpus);
		t->seat[i].bridges = trees[tree].bridges;
		t->seat[i].module = (uint8_t)(at % GROUP + 1);
	}
	return t->seat[end - 1].pci_switch + 1U;
}

/* Assigns half of the switches to each node; no host bridge spans two. */
static void group_switches(struct gkf_topology *t,
			   const struct gkf_board *boards, unsigned switches,
			   enum gkf_layout layout)
{
	unsigned bridge = 0, held = 0;

	t->nodes = t->count >= 4 ? 2 : 1;
	for (unsigned i = 0; i < t->count; i++) {
		struct gkf_seat *s = &t->seat[i], *before = s - (i > 0);
		enum tree tree = tree_of(&boards[i].profile, layout);
		bool same = s->pci_switch == before->pci_switch;

		s->node = t->nodes > 1 && s->pci_switch >= (switches + 1) / 2;
		if (!same &&
		    (++held == trees[tree].switches ||
		     s->node != before->node ||
		     tree != tree_of(&boards[i - 1].profile, layout))) {
			bridge++;
			held = 0;
		}
		s->host_bridge = (uint8_t)bridge;
	}
}

/* Connects the first free link of GPU `a` to the first free link of GPU `b`. */
static bool join_gpus(struct gkf_topology *t, unsigned links, unsigned a,
		      unsigned b)
{
	unsigned i = 0, j = 0;

	while (i < links && t->link[a][i].kind)
		i++;
	while (j < links && t->link[b][j].kind)
		j++;
	if (i == links || j == links)
		return false;
	t->link[a][i] =
	    (struct gkf_link_end){GKF_END_GPU, (uint8_t)b, (uint16_t)j};
	t->link[b][j] =
	    (struct gkf_link_end){GKF_END_GPU, (uint8_t)a, (uint16_t)i};
	return true;
}

static void wire_pairs(struct gkf_topology *t, unsigned links, unsigned from,
		       unsigned end)
{
	for (; from + 1 < end; from += 2)
		while (join_gpus(t, links, from, from + 1))
			;
}

/*
 * The links of a DGX-1 with V100: from, to, how many of each GPU's six. Source:
 * `nvidia-smi topo -m` of that machine, as published.
 */
static const uint8_t mesh[][3] = {
    {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
    {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
    {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
};
#define MESH_LINKS 6

static void wire_mesh(struct gkf_topology *t, unsigned links, unsigned from,
		      unsigned end)
{
	unsigned times = links < MESH_LINKS ? 1 : links / MESH_LINKS;

	for (; from < end; from += GROUP)
		for (unsigned e = 0; e < sizeof mesh / sizeof *mesh; e++) {
			unsigned a = from + mesh[e][0], b = from + mesh[e][1];

			for (unsigned n = 0; b < end && n < mesh[e][2] * times;
			     n++)
				join_gpus(t, links, a, b);
		}
}

/*
 * Number of NVSwitches on a baseboard by NVLink generation; not checked against
 * a source.
 */
static unsigned switches_of(const struct gkf_profile *p)
{
	static const uint8_t count[] = {6, 6, 6, 6, 4, 2};

	return count[p->nvlink_version < 5 ? p->nvlink_version : 5];
}

/* Spreads each GPU's links over the switches; each GPU has its own ports. */
static void wire_switches(struct gkf_topology *t, const struct gkf_profile *p,
			  unsigned links, unsigned from, unsigned end,
			  unsigned fabric)
{
	unsigned switches = switches_of(p);
	unsigned ports = (links + switches - 1) / switches;

	for (unsigned i = from; i < end; i++) {
		t->seat[i].fabric = (uint8_t)fabric;
		for (unsigned l = 0; l < links; l++)
			t->link[i][l] = (struct gkf_link_end){
			    GKF_END_SWITCH, (uint8_t)(l % switches),
			    (uint16_t)((i - from) * ports + l / switches)};
	}
}

static unsigned count_links(const struct gkf_profile *p)
{
	return p->nvlinks > GKF_LINKS_MAX ? GKF_LINKS_MAX
					  : (unsigned)p->nvlinks;
}

void gkf_topology_make(const struct gkf_board *boards, unsigned count,
		       enum gkf_layout layout, struct gkf_topology *ret)
{
	unsigned switches = 0, fabrics = 0, end;

	memset(ret, 0, sizeof *ret);
	ret->count = count;
	for (unsigned i = 0; i < count; i = end) {
		const struct gkf_profile *p = &boards[i].profile;
		unsigned links = count_links(p);
		enum gkf_layout wiring;

		end = run_end(boards, count, i);
		switches = seat_run(ret, tree_of(p, layout), i, end, switches);
		wiring = layout_of(p, layout);
		if (wiring == GKF_LAYOUT_HGX)
			wire_switches(ret, p, links, i, end, ++fabrics);
		else if (wiring == GKF_LAYOUT_MESH)
			wire_mesh(ret, links, i, end);
		else if (wiring == GKF_LAYOUT_NVL)
			wire_pairs(ret, links, i, end);
	}
	group_switches(ret, boards, switches, layout);
}

enum gkf_distance gkf_topology_distance(const struct gkf_topology *t,
					unsigned a, unsigned b)
{
	const struct gkf_seat *one = &t->seat[a], *other = &t->seat[b];

	GK_ASSERT(a < t->count && b < t->count);
	if (a == b)
		return GKF_SAME_BOARD;
	if (one->pci_switch == other->pci_switch)
		return one->bridges > 1 ? GKF_SAME_SWITCHES : GKF_SAME_SWITCH;
	if (one->host_bridge == other->host_bridge)
		return GKF_SAME_BRIDGE;
	return one->node == other->node ? GKF_SAME_NODE : GKF_SAME_MACHINE;
}

/*
 * The switches' buses lie between the GPUs' buses, which are 7, 15, 23 and so
 * on. The ids are those of NVSwitches in A100 and H100 machines; they were not
 * checked against a source.
 */
struct gkf_nvswitch gkf_topology_nvswitch(const struct gkf_topology *t,
					  const struct gkf_profile *profile,
					  unsigned device, unsigned nvswitch)
{
	return (struct gkf_nvswitch){
	    .domain = t->seat[device].fabric - 1U,
	    .bus = 3 + 8 * nvswitch,
	    .pci_device_id = profile->nvlink_version == 3   ? 0x1af110de
			     : profile->nvlink_version == 4 ? 0x22a310de
							    : 0,
	};
}
