/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places_test.c - checks where GPUs are relative to each other, from what a
 * driver reports.
 */
#include "core/read/places.h"
#include "core/driver/nvml.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define GPUS 4

static struct gk_nvml nvml;
static struct gk_places *places;
static struct gk_arena arena;
static char seat[GPUS]; /* their addresses are handles */

/* The driver's answers about each GPU. */
static struct {
	unsigned long cpus[128], nodes[16];
	unsigned node;
	bool no_cpus, no_nodes, no_node;
	unsigned links;
	struct {
		nvmlReturn_t answer;
		bool down;
		bool is_switch;
		const char *to;
	} link[40];
} gpus[GPUS];
static nvmlGpuTopologyLevel_t level;
static nvmlReturn_t level_answer;

static nvmlDevice_t handle_of(unsigned gpu)
{
	return (nvmlDevice_t)(void *)&seat[gpu];
}

static unsigned index_of(nvmlDevice_t dev)
{
	return (unsigned)((char *)(void *)dev - seat);
}

static nvmlReturn_t tell_cpus(nvmlDevice_t dev, unsigned words,
			      unsigned long *set)
{
	unsigned g = index_of(dev);

	assert_int_equal(words, 128);
	assert_int_equal(set[0] | set[127], 0);
	memcpy(set, gpus[g].cpus, sizeof gpus[g].cpus);
	return gpus[g].no_cpus ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

static nvmlReturn_t tell_nodes(nvmlDevice_t dev, unsigned words,
			       unsigned long *set, nvmlAffinityScope_t scope)
{
	unsigned g = index_of(dev);

	assert_int_equal(words, 16);
	assert_int_equal(scope, NVML_AFFINITY_SCOPE_NODE);
	assert_int_equal(set[0] | set[15], 0);
	memcpy(set, gpus[g].nodes, sizeof gpus[g].nodes);
	return gpus[g].no_nodes ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

static nvmlReturn_t tell_node(nvmlDevice_t dev, unsigned *node)
{
	*node = gpus[index_of(dev)].node;
	return gpus[index_of(dev)].no_node ? NVML_ERROR_NOT_SUPPORTED
					   : NVML_SUCCESS;
}

static nvmlReturn_t tell_state(nvmlDevice_t dev, unsigned link,
			       nvmlEnableState_t *active)
{
	unsigned g = index_of(dev);

	if (link >= gpus[g].links)
		return NVML_ERROR_INVALID_ARGUMENT;
	*active = gpus[g].link[link].down ? NVML_FEATURE_DISABLED
					  : NVML_FEATURE_ENABLED;
	return gpus[g].link[link].answer;
}

static nvmlReturn_t tell_end(nvmlDevice_t dev, unsigned link,
			     nvmlPciInfo_t *pci)
{
	strcpy(pci->busId, gpus[index_of(dev)].link[link].to);
	return NVML_SUCCESS;
}

static nvmlReturn_t tell_type(nvmlDevice_t dev, unsigned link,
			      nvmlIntNvLinkDeviceType_t *type)
{
	*type = gpus[index_of(dev)].link[link].is_switch
		    ? NVML_NVLINK_DEVICE_TYPE_SWITCH
		    : NVML_NVLINK_DEVICE_TYPE_GPU;
	return NVML_SUCCESS;
}

static nvmlReturn_t tell_pci(nvmlDevice_t dev, nvmlPciInfo_t *pci)
{
	snprintf(pci->busId, sizeof pci->busId, "bus-%u", index_of(dev));
	return NVML_SUCCESS;
}

static nvmlReturn_t tell_level(nvmlDevice_t a, nvmlDevice_t b,
			       nvmlGpuTopologyLevel_t *to)
{
	assert_ptr_not_equal(a, b);
	*to = level;
	return level_answer;
}

static int setup(void **state)
{
	(void)state;
	memset(gpus, 0, sizeof gpus);
	nvml.nvmlDeviceGetCpuAffinity = tell_cpus;
	nvml.nvmlDeviceGetMemoryAffinity = tell_nodes;
	nvml.nvmlDeviceGetNumaNodeId = tell_node;
	nvml.nvmlDeviceGetNvLinkState = tell_state;
	nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2 = tell_end;
	nvml.nvmlDeviceGetNvLinkRemoteDeviceType = tell_type;
	nvml.nvmlDeviceGetPciInfo_v3 = tell_pci;
	nvml.nvmlDeviceGetTopologyCommonAncestor = tell_level;
	level = NVML_TOPOLOGY_NODE;
	level_answer = NVML_SUCCESS;
	places = gk_places_new(GPUS);
	assert_non_null(places);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_places_unref(places);
	gk_arena_free(&arena);
	return 0;
}

/* Opens GPU g, which is on bus "bus-g". */
static void open_gpu(unsigned g)
{
	struct gk_device dev = {.index = g};

	snprintf(dev.bus_id, sizeof dev.bus_id, "BUS-%u", g);
	gk_places_read(places, &nvml, &dev, handle_of(g));
}

static const struct gk_topology *topology(void)
{
	const struct gk_topology *t = NULL;

	assert_int_equal(gk_places_copy(places, &arena, &t), 0);
	assert_int_equal(t->count, GPUS);
	return t;
}

static struct gk_peer peer(unsigned a, unsigned b)
{
	return topology()->peers[a * GPUS + b];
}

static void set_bit(unsigned long *set, unsigned bit)
{
	set[bit / 64] |= 1UL << bit % 64;
}

static void sets_become_lists(void **state)
{
	static const unsigned cpus[] = {0,  2,   3,   4,    62,   63,  64,
					65, 127, 128, 1000, 8190, 8191};
	const struct gk_place *place;

	(void)state;
	for (size_t i = 0; i < COUNT(cpus); i++)
		set_bit(gpus[1].cpus, cpus[i]);
	set_bit(gpus[1].nodes, 1);
	set_bit(gpus[1].nodes, 1023);
	gpus[1].node = 7;
	open_gpu(1);
	place = &topology()->places[1];
	assert_string_equal(place->cpus, "0,2-4,62-65,127-128,1000,8190-8191");
	assert_string_equal(place->numa_nodes, "1,1023");
	assert_int_equal(place->numa_node, 7);
	/* The places of the others are unknown. */
	place = &topology()->places[0];
	assert_string_equal(place->cpus, "");
	assert_string_equal(place->numa_nodes, "");
	assert_int_equal(place->numa_node, -1);
}

/* 16 numbers take 63 letters, which fill the room with the NUL. */
static void what_has_no_room_is_left_out(void **state)
{
	(void)state;
	for (unsigned i = 100; i < 140; i += 2)
		set_bit(gpus[0].nodes, i);
	open_gpu(0);
	assert_string_equal(
	    topology()->places[0].numa_nodes,
	    "100,102,104,106,108,110,112,114,116,118,120,122,124,126,128,130");
	/* One more letter does not fit. */
	set_bit(gpus[0].nodes, 101);
	open_gpu(0);
	assert_string_equal(
	    topology()->places[0].numa_nodes,
	    "100-102,104,106,108,110,112,114,116,118,120,122,124,126,128,130");
	set_bit(gpus[0].nodes, 0);
	open_gpu(0);
	assert_string_equal(
	    topology()->places[0].numa_nodes,
	    "0,100-102,104,106,108,110,112,114,116,118,120,122,124,126,128");
}

static void what_the_driver_refuses_is_unknown(void **state)
{
	const struct gk_place *place;

	(void)state;
	set_bit(gpus[0].cpus, 1);
	set_bit(gpus[0].nodes, 1);
	gpus[0].no_cpus = gpus[0].no_nodes = gpus[0].no_node = true;
	open_gpu(0);
	place = &topology()->places[0];
	assert_string_equal(place->cpus, "");
	assert_string_equal(place->numa_nodes, "");
	assert_int_equal(place->numa_node, -1);
}

static const struct {
	nvmlGpuTopologyLevel_t level;
	enum gk_path path;
} levels[] = {
    {NVML_TOPOLOGY_INTERNAL, GK_PATH_BOARD},
    {NVML_TOPOLOGY_SINGLE, GK_PATH_SINGLE},
    {NVML_TOPOLOGY_MULTIPLE, GK_PATH_MULTIPLE},
    {NVML_TOPOLOGY_HOSTBRIDGE, GK_PATH_HOSTBRIDGE},
    {NVML_TOPOLOGY_NODE, GK_PATH_NODE},
    {NVML_TOPOLOGY_SYSTEM, GK_PATH_SYSTEM},
    {4711, GK_PATH_UNKNOWN},
};

static void ways_are_known_between_opened_gpus(void **state)
{
	(void)state;
	open_gpu(1);
	assert_int_equal(peer(1, 2).path, GK_PATH_UNKNOWN);
	for (size_t i = 0; i < COUNT(levels); i++) {
		level = levels[i].level;
		open_gpu(2);
		assert_int_equal(peer(1, 2).path, levels[i].path);
		assert_int_equal(peer(2, 1).path, levels[i].path);
	}
	level_answer = NVML_ERROR_UNKNOWN;
	level = NVML_TOPOLOGY_NODE;
	open_gpu(3);
	assert_int_equal(peer(1, 3).path, GK_PATH_UNKNOWN);
	for (unsigned a = 0; a < GPUS; a++)
		assert_int_equal(peer(a, a).path, GK_PATH_SELF);
	assert_int_equal(peer(0, 1).path, GK_PATH_UNKNOWN);
	assert_int_equal(peer(0, 3).path, GK_PATH_UNKNOWN);
}

static void add_link(unsigned gpu, bool is_switch, const char *to)
{
	gpus[gpu].link[gpus[gpu].links].is_switch = is_switch;
	gpus[gpu].link[gpus[gpu].links++].to = to;
}

static void check_nvlinks(unsigned a, unsigned b, unsigned ab, unsigned ba)
{
	assert_int_equal(peer(a, b).nvlinks, ab);
	assert_int_equal(peer(b, a).nvlinks, ba);
}

static void links_are_counted_to_each_end(void **state)
{
	(void)state;
	add_link(0, false, "bus-1");
	add_link(0, false, "BUS-1");
	add_link(0, false, "bus-2");
	add_link(1, false, "bus-0");
	open_gpu(0);
	open_gpu(1);
	open_gpu(2);
	check_nvlinks(0, 1, 2, 1);
	check_nvlinks(0, 2, 1, 0);
	check_nvlinks(1, 2, 0, 0);
	assert_int_equal(peer(0, 0).nvlinks, 0);
	assert_int_equal(peer(0, 3).nvlinks, 0);
}

/* Links through a switch are as many as both GPUs have to it. */
static void links_by_switches_are_the_fewer_of_both(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		add_link(0, true, "sw-1");
	add_link(0, true, "sw-2");
	add_link(0, true, "sw-3");
	add_link(1, true, "SW-1");
	add_link(1, true, "sw-1");
	for (int i = 0; i < 3; i++)
		add_link(1, true, "sw-2");
	/* A GPU on a bus of that name is not a switch. */
	add_link(2, false, "sw-1");
	open_gpu(0);
	open_gpu(1);
	open_gpu(2);
	check_nvlinks(0, 1, 3, 3);
	check_nvlinks(0, 2, 0, 0);
	check_nvlinks(1, 2, 0, 0);
}

static void links_that_are_down_lead_nowhere(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		add_link(0, false, "bus-1");
	gpus[0].link[0].down = true;
	gpus[0].link[2].answer = NVML_ERROR_NOT_SUPPORTED;
	gpus[0].link[3].answer = NVML_ERROR_UNKNOWN;
	open_gpu(0);
	open_gpu(1);
	check_nvlinks(0, 1, 2, 0);
	/* If the first link is not supported, there are none. */
	gpus[0].link[0].answer = NVML_ERROR_NOT_SUPPORTED;
	open_gpu(0);
	check_nvlinks(0, 1, 0, 0);
}

static void no_more_links_than_nvml_can_name(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++)
		add_link(0, false, "bus-1");
	open_gpu(0);
	open_gpu(1);
	check_nvlinks(0, 1, GK_LINKS_MAX, 0);
}

/* With GK_WITHOUT_BOARD nobody has read where the GPU is. */
static void a_bus_that_is_not_known_is_asked_for(void **state)
{
	struct gk_device dev = {.index = 1};

	(void)state;
	add_link(0, false, "bus-1");
	add_link(0, false, "");
	open_gpu(0);
	gk_places_read(places, &nvml, &dev, handle_of(1));
	check_nvlinks(0, 1, 1, 0);
	/* Without an answer no link leads to it. */
	nvml.nvmlDeviceGetPciInfo_v3 = NULL;
	gk_places_read(places, &nvml, &dev, handle_of(1));
	check_nvlinks(0, 1, 0, 0);
}

static void the_last_user_frees_them(void **state)
{
	(void)state;
	assert_ptr_equal(gk_places_ref(places), places);
	gk_places_unref(places);
	open_gpu(0);
	assert_null(gk_places_ref(NULL));
	gk_places_unref(NULL);
	gk_places_read(NULL, &nvml, NULL, NULL);
}

static void a_copy_stays_as_it_is(void **state)
{
	const struct gk_topology *before;

	(void)state;
	before = topology();
	set_bit(gpus[0].cpus, 3);
	open_gpu(0);
	open_gpu(1);
	assert_string_equal(before->places[0].cpus, "");
	assert_int_equal(before->peers[1].path, GK_PATH_UNKNOWN);
	assert_string_equal(topology()->places[0].cpus, "3");
	assert_int_equal(topology()->peers[1].path, GK_PATH_NODE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(sets_become_lists),
	    TEST(what_has_no_room_is_left_out),
	    TEST(what_the_driver_refuses_is_unknown),
	    TEST(ways_are_known_between_opened_gpus),
	    TEST(links_are_counted_to_each_end),
	    TEST(links_by_switches_are_the_fewer_of_both),
	    TEST(links_that_are_down_lead_nowhere),
	    TEST(no_more_links_than_nvml_can_name),
	    TEST(a_bus_that_is_not_known_is_asked_for),
	    TEST(the_last_user_frees_them),
	    TEST(a_copy_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
