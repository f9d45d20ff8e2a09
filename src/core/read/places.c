/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - reads the CPUs, NUMA node and links of each GPU, and combines what
 * all workers have read into the topology.
 */
#include "core/read/places.h"
#include "base/array.h"

#include "core/read/detail.h"
#include "core/read/gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The maximum numbers of CPUs and NUMA nodes of a machine. */
#define CPUS_MAX  8192
#define NODES_MAX 1024
#define WORD_BITS (8 * (unsigned)sizeof(long))

/* A GPU's place and its links. */
struct seat {
	nvmlDevice_t handle; /* NULL: not opened yet */
	char bus_id[32];
	struct gk_place place;
	unsigned link_count; /* number of active links */
	struct {
		enum gk_link_end end;
		char bus_id[32];
	} links[NVML_NVLINK_MAX_LINKS];
};

/* The lock guards all members but count. */
struct gk_places {
	atomic_uint references;
	pthread_mutex_t lock;
	size_t count;
	struct seat *seats;
	struct gk_peer *peers; /* a matrix of count x count */
};

struct gk_places *gk_places_new(size_t gpus)
{
	struct gk_places *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->references = 1;
	p->count = gpus;
	pthread_mutex_init(&p->lock, NULL);
	p->seats = calloc(gpus + 1, sizeof *p->seats);
	p->peers = calloc(gpus * gpus + 1, sizeof *p->peers);
	if (!p->seats || !p->peers) {
		gk_places_unref(p);
		return NULL;
	}
	for (size_t i = 0; i < gpus; i++) {
		p->seats[i].place.numa_node = -1;
		p->peers[i * gpus + i].path = GK_PATH_SELF;
	}
	return p;
}

struct gk_places *gk_places_ref(struct gk_places *p)
{
	if (p)
		atomic_fetch_add(&p->references, 1);
	return p;
}

void gk_places_unref(struct gk_places *p)
{
	if (!p || atomic_fetch_sub(&p->references, 1) != 1)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p->seats);
	free(p->peers);
	free(p);
}

/* ---- calls of the driver ---- */

static bool in_set(const unsigned long *set, unsigned bits, unsigned i)
{
	return i < bits && set[i / WORD_BITS] >> i % WORD_BITS & 1;
}

/* Writes the numbers in a set as "0-15,32", truncated to the buffer. */
static void write_list(char *to, size_t room, const unsigned long *set,
		       unsigned bits)
{
	size_t len = 0;

	*to = '\0';
	for (unsigned i = 0; i < bits; i++) {
		unsigned first = i;
		char part[32];

		if (!in_set(set, bits, i))
			continue;
		while (in_set(set, bits, i + 1))
			i++;
		snprintf(part, sizeof part, first == i ? "%s%u" : "%s%u-%u",
			 len ? "," : "", first, i);
		if (len + strlen(part) >= room)
			return;
		strcpy(to + len, part);
		len += strlen(part);
	}
}

static void read_place(const struct gk_nvml *nvml, nvmlDevice_t dev,
		       struct gk_place *place)
{
	unsigned long cpus[CPUS_MAX / WORD_BITS] = {0};
	unsigned long nodes[NODES_MAX / WORD_BITS] = {0};
	unsigned node;

	*place = (struct gk_place){.numa_node = -1};
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetCpuAffinity, dev, COUNT(cpus),
			  cpus))
		write_list(place->cpus, sizeof place->cpus, cpus, CPUS_MAX);
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetMemoryAffinity, dev, COUNT(nodes),
			  nodes, NVML_AFFINITY_SCOPE_NODE))
		write_list(place->numa_nodes, sizeof place->numa_nodes, nodes,
			   NODES_MAX);
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetNumaNodeId, dev, &node))
		place->numa_node = (int)gk_bounded(node, GK_BOUND_PART);
}

/* Reads the bus id even with GK_WITHOUT_BOARD: it is needed to match link ends.
 */
static void read_bus_id(const struct gk_nvml *nvml, const struct gk_device *gpu,
			struct seat *seat)
{
	nvmlPciInfo_t pci = {0};

	memcpy(seat->bus_id, gpu->bus_id, sizeof seat->bus_id);
	if (!*seat->bus_id &&
	    !GK_NVML_CALL(nvml, nvmlDeviceGetPciInfo_v3, seat->handle, &pci))
		memcpy(seat->bus_id, pci.busId, sizeof seat->bus_id - 1);
}

/* Reads which device is at the other end of each active link. */
static void read_active_links(const struct gk_nvml *nvml, struct seat *seat)
{
	for (unsigned i = 0; i < NVML_NVLINK_MAX_LINKS; i++) {
		nvmlEnableState_t active = NVML_FEATURE_DISABLED;
		nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetNvLinkState,
					      seat->handle, i, &active);

		if (gk_link_is_last(r, i))
			return;
		if (r || active != NVML_FEATURE_ENABLED)
			continue;
		seat->links[seat->link_count].end =
		    gk_link_end_read(nvml, seat->handle, i,
				     seat->links[seat->link_count].bus_id);
		seat->link_count++;
	}
}

static const struct {
	nvmlGpuTopologyLevel_t level;
	enum gk_path path;
} paths[] = {
    {NVML_TOPOLOGY_INTERNAL, GK_PATH_BOARD},
    {NVML_TOPOLOGY_SINGLE, GK_PATH_SINGLE},
    {NVML_TOPOLOGY_MULTIPLE, GK_PATH_MULTIPLE},
    {NVML_TOPOLOGY_HOSTBRIDGE, GK_PATH_HOSTBRIDGE},
    {NVML_TOPOLOGY_NODE, GK_PATH_NODE},
    {NVML_TOPOLOGY_SYSTEM, GK_PATH_SYSTEM},
};

static enum gk_path read_path(const struct gk_nvml *nvml, nvmlDevice_t a,
			      nvmlDevice_t b)
{
	nvmlGpuTopologyLevel_t level = NVML_TOPOLOGY_SYSTEM;

	if (GK_NVML_CALL(nvml, nvmlDeviceGetTopologyCommonAncestor, a, b,
			 &level))
		return GK_PATH_UNKNOWN;
	for (size_t i = 0; i < COUNT(paths); i++)
		if (paths[i].level == level)
			return paths[i].path;
	return GK_PATH_UNKNOWN;
}

/* ---- paths between GPUs ---- */

static unsigned links_to(const struct seat *seat, enum gk_link_end end,
			 const char *bus_id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < seat->link_count; i++)
		n += seat->links[i].end == end &&
		     !strcasecmp(seat->links[i].bus_id, bus_id);
	return n;
}

/* Whether an earlier link leads to the same switch, which has then been counted
 * already. */
static bool is_repeated(const struct seat *seat, unsigned link)
{
	for (unsigned i = 0; i < link; i++)
		if (seat->links[i].end == GK_LINK_END_SWITCH &&
		    !strcasecmp(seat->links[i].bus_id,
				seat->links[link].bus_id))
			return true;
	return false;
}

/* Counts the direct links to the other GPU, and the links to switches that both
 * GPUs use. */
static unsigned count_nvlinks(const struct seat *a, const struct seat *b)
{
	unsigned n = 0;

	if (*b->bus_id)
		n = links_to(a, GK_LINK_END_GPU, b->bus_id);
	for (unsigned i = 0; i < a->link_count; i++) {
		const char *bus_id = a->links[i].bus_id;
		unsigned from, to;

		if (a->links[i].end != GK_LINK_END_SWITCH || is_repeated(a, i))
			continue;
		from = links_to(a, GK_LINK_END_SWITCH, bus_id);
		to = links_to(b, GK_LINK_END_SWITCH, bus_id);
		n += from < to ? from : to;
	}
	return n;
}

/* Stores the seat of a GPU. handles[] gets the handles of all GPUs opened so
 * far. */
static void store_seat(struct gk_places *p, size_t at, const struct seat *seat,
		       nvmlDevice_t *handles)
{
	pthread_mutex_lock(&p->lock);
	p->seats[at] = *seat;
	for (size_t i = 0; i < p->count; i++) {
		struct seat *other = &p->seats[i];

		handles[i] = other->handle;
		if (i == at || !other->handle)
			continue;
		p->peers[at * p->count + i].nvlinks =
		    count_nvlinks(seat, other);
		p->peers[i * p->count + at].nvlinks =
		    count_nvlinks(other, seat);
	}
	pthread_mutex_unlock(&p->lock);
}

static void set_path(struct gk_places *p, size_t a, size_t b, enum gk_path path)
{
	pthread_mutex_lock(&p->lock);
	p->peers[a * p->count + b].path = p->peers[b * p->count + a].path =
	    path;
	pthread_mutex_unlock(&p->lock);
}

void gk_places_read(struct gk_places *p, const struct gk_nvml *nvml,
		    const struct gk_device *gpu, nvmlDevice_t handle)
{
	struct seat seat = {.handle = handle};
	nvmlDevice_t *handles;

	if (!p)
		return;
	handles = calloc(p->count, sizeof *handles);
	if (!handles)
		return;
	read_bus_id(nvml, gpu, &seat);
	read_place(nvml, handle, &seat.place);
	read_active_links(nvml, &seat);
	store_seat(p, gpu->index, &seat, handles);
	for (size_t i = 0; i < p->count; i++)
		if (i != gpu->index && handles[i])
			set_path(p, gpu->index, i,
				 read_path(nvml, handle, handles[i]));
	free(handles);
}

int gk_places_copy(struct gk_places *p, struct gk_arena *arena,
		   const struct gk_topology **ret_topology)
{
	size_t peers = p->count * p->count;
	struct gk_topology *t = gk_arena_room(arena, sizeof *t);
	struct gk_place *places =
	    gk_arena_room(arena, (p->count + 1) * sizeof *places);
	struct gk_peer *copy = gk_arena_room(arena, (peers + 1) * sizeof *copy);

	if (!t || !places || !copy)
		return GK_ERR_NOMEM;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->count; i++)
		places[i] = p->seats[i].place;
	memcpy(copy, p->peers, peers * sizeof *copy);
	pthread_mutex_unlock(&p->lock);
	*t = (struct gk_topology){p->count, places, copy};
	*ret_topology = t;
	return 0;
}
