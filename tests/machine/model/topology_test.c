/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_test.c - checks the wiring of machines of every shipped profile,
 * layout and size: both ends of a link agree.
 */
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/topology.h"
#include "machine/fixture.h"
#include "machine/model/topology.h"
#include "machine/words/profile_yaml.h"

#define PROFILES TEST_DATA "/../../profiles"
#define GPUS_MAX 16

static const char *const ids[] = {
    "a100-pcie-40gb", "a100-sxm4-80gb", "b200",     "gtx-1080-ti",
    "h100",           "h200",           "l4",       "l40s",
    "rtx-2080-ti",    "rtx-3090",       "rtx-4090", "t4",
    "v100",
};
#define IDS (sizeof ids / sizeof *ids)

static struct gkf_profile profiles[IDS];
static struct gkf_board boards[GPUS_MAX];
static struct gkf_topology t;

static int load_all(void **state)
{
	char message[512];

	(void)state;
	for (unsigned i = 0; i < IDS; i++)
		assert_int_equal(gkf_profile_load(PROFILES, ids[i],
						  &profiles[i], message,
						  sizeof message),
				 0);
	return 0;
}

static const struct gkf_profile *profile(const char *id)
{
	for (unsigned i = 0; i < IDS; i++)
		if (!strcmp(ids[i], id))
			return &profiles[i];
	fail_msg("%s", id);
	return NULL;
}

/* A machine of n boards of one model. */
static void make(const struct gkf_profile *p, unsigned n,
		 enum gkf_layout layout)
{
	for (unsigned i = 0; i < n; i++)
		boards[i].profile = *p;
	gkf_topology_make(boards, n, layout, &t);
}

static void both_ends_agree(unsigned n)
{
	for (unsigned d = 0; d < n; d++)
		for (unsigned l = 0; l < GKF_LINKS_MAX; l++) {
			struct gkf_link_end to = t.link[d][l];

			if (to.kind != GKF_END_GPU)
				continue;
			assert_true(to.device < n && to.device != d);
			assert_int_equal(t.link[to.device][to.link].kind,
					 GKF_END_GPU);
			assert_int_equal(t.link[to.device][to.link].device, d);
			assert_int_equal(t.link[to.device][to.link].link, l);
		}
}

/* Distances are those of a tree: symmetric, without shortcuts. */
static void is_a_tree(unsigned n)
{
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++) {
			enum gkf_distance d = gkf_topology_distance(&t, a, b);

			assert_int_equal(d, gkf_topology_distance(&t, b, a));
			assert_int_equal(d == GKF_SAME_BOARD, a == b);
			assert_int_equal(d == GKF_SAME_MACHINE,
					 t.seat[a].node != t.seat[b].node);
			for (unsigned c = 0; c < n; c++) {
				enum gkf_distance over =
				    gkf_topology_distance(&t, a, c);
				enum gkf_distance rest =
				    gkf_topology_distance(&t, c, b);

				assert_true(d <= (over > rest ? over : rest));
			}
		}
}

static void no_port_twice(unsigned n)
{
	static bool used[8][1024];

	memset(used, 0, sizeof used);
	for (unsigned d = 0; d < n; d++)
		for (unsigned l = 0; l < GKF_LINKS_MAX; l++) {
			struct gkf_link_end to = t.link[d][l];

			if (to.kind != GKF_END_SWITCH)
				continue;
			assert_true(to.device < 8 && to.link < 1024);
			assert_false(used[to.device][to.link]);
			used[to.device][to.link] = true;
		}
}

static void every_machine_is_consistent(void **state)
{
	(void)state;
	for (unsigned i = 0; i < IDS; i++)
		for (unsigned n = 1; n <= GPUS_MAX; n++)
			for (int l = 0; l < GKF_LAYOUT_COUNT; l++) {
				make(&profiles[i], n, (enum gkf_layout)l);
				both_ends_agree(n);
				is_a_tree(n);
				no_port_twice(n);
			}
}

/* The number of links of GPU a that lead to GPU b. */
static unsigned between(unsigned a, unsigned b)
{
	unsigned n = 0;

	for (unsigned l = 0; l < GKF_LINKS_MAX; l++)
		n += t.link[a][l].kind == GKF_END_GPU &&
		     t.link[a][l].device == b;
	return n;
}

static void a_dgx_1_is_a_cube_mesh(void **state)
{
	static const unsigned of_first[] = {0, 1, 1, 2, 2, 0, 0, 0};
	static const unsigned of_sixth[] = {0, 2, 0, 0, 1, 0, 2, 1};
	unsigned all;

	(void)state;
	make(profile("v100"), 8, GKF_LAYOUT_AUTO);
	for (unsigned b = 0; b < 8; b++) {
		assert_int_equal(between(0, b), of_first[b]);
		assert_int_equal(between(5, b), of_sixth[b]);
	}
	for (unsigned a = 0; a < 8; a++) {
		all = 0;
		for (unsigned b = 0; b < 8; b++)
			all += between(a, b);
		assert_int_equal(all, 6);
	}
	assert_int_equal(gkf_topology_distance(&t, 0, 1), GKF_SAME_SWITCH);
	assert_int_equal(gkf_topology_distance(&t, 0, 2), GKF_SAME_BRIDGE);
	assert_int_equal(gkf_topology_distance(&t, 0, 4), GKF_SAME_MACHINE);
}

static void modules_hang_on_switches(void **state)
{
	(void)state;
	make(profile("h100"), 8, GKF_LAYOUT_AUTO);
	for (unsigned d = 0; d < 8; d++) {
		assert_int_equal(t.seat[d].fabric, 1);
		assert_int_equal(t.seat[d].module, d + 1);
		for (unsigned l = 0; l < 18; l++)
			assert_int_equal(t.link[d][l].kind, GKF_END_SWITCH);
		assert_int_equal(t.link[d][18].kind, GKF_END_NOTHING);
	}
	assert_int_equal(gkf_topology_distance(&t, 0, 1), GKF_SAME_SWITCHES);
	assert_int_equal(gkf_topology_distance(&t, 0, 2), GKF_SAME_NODE);
	assert_int_equal(gkf_topology_distance(&t, 0, 4), GKF_SAME_MACHINE);
	make(profile("h100"), 8, GKF_LAYOUT_PCIE);
	assert_int_equal(t.seat[0].fabric, 0);
	assert_int_equal(t.link[0][0].kind, GKF_END_NOTHING);
}

static void cards_are_bridged_in_pairs(void **state)
{
	(void)state;
	make(profile("rtx-3090"), 3, GKF_LAYOUT_AUTO);
	assert_int_equal(between(0, 1), 4);
	assert_int_equal(between(2, 0) + between(2, 1), 0);
	assert_int_equal(gkf_topology_distance(&t, 0, 1), GKF_SAME_BRIDGE);
	make(profile("a100-pcie-40gb"), 4, GKF_LAYOUT_AUTO);
	assert_int_equal(between(2, 3), 12);
	assert_int_equal(between(1, 2), 0);
	assert_int_equal(gkf_topology_distance(&t, 2, 3), GKF_SAME_SWITCH);
	make(profile("rtx-4090"), 2, GKF_LAYOUT_NVL);
	assert_int_equal(between(0, 1), 0); /* has no links to bridge */
}

static void other_models_are_not_joined(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++)
		boards[i].profile = *profile(i < 3 ? "h100" : "a100-sxm4-80gb");
	gkf_topology_make(boards, 6, GKF_LAYOUT_AUTO, &t);
	assert_int_equal(t.seat[2].fabric, 1);
	assert_int_equal(t.seat[3].fabric, 2);
	assert_int_equal(t.seat[3].module, 1);
	assert_int_not_equal(t.seat[2].pci_switch, t.seat[3].pci_switch);
}

/* Switch, host bridge and node of each GPU: "0.0.0 1.0.0". */
static void assert_seats(unsigned n, const char *expected)
{
	char text[512] = "";
	size_t len = 0;

	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof text - len,
					"%s%u.%u.%u", i ? " " : "",
					t.seat[i].pci_switch,
					t.seat[i].host_bridge, t.seat[i].node);
	assert_string_equal(text, expected);
}

static void gpus_sit_as_they_are_built_in(void **state)
{
	(void)state;
	/* Modules: two at a switch, each switch at a bridge of its own. */
	make(profile("h100"), 8, GKF_LAYOUT_AUTO);
	assert_seats(8, "0.0.0 0.0.0 1.1.0 1.1.0 2.2.1 2.2.1 3.3.1 3.3.1");
	assert_int_equal(t.nodes, 2);
	make(profile("h100"), 3, GKF_LAYOUT_AUTO);
	assert_seats(3, "0.0.0 0.0.0 1.1.0");
	assert_int_equal(t.nodes, 1);
	make(profile("h100"), 5, GKF_LAYOUT_AUTO);
	assert_seats(5, "0.0.0 0.0.0 1.1.0 1.1.0 2.2.1");
	/* Cards of a server: two switches at a bridge. */
	make(profile("a100-pcie-40gb"), 8, GKF_LAYOUT_AUTO);
	assert_seats(8, "0.0.0 0.0.0 1.0.0 1.0.0 2.1.1 2.1.1 3.1.1 3.1.1");
	/* GPUs of a PC have a switch each, four at a bridge. */
	make(profile("rtx-4090"), 3, GKF_LAYOUT_AUTO);
	assert_seats(3, "0.0.0 1.0.0 2.0.0");
	make(profile("rtx-4090"), 12, GKF_LAYOUT_AUTO);
	assert_seats(12, "0.0.0 1.0.0 2.0.0 3.0.0 4.1.0 5.1.0 6.2.1 7.2.1 "
			 "8.2.1 9.2.1 10.3.1 11.3.1");
}

static void ports_of_switches_are_dealt_out(void **state)
{
	(void)state;
	/* 18 links to four switches: five ports a GPU on each of them. */
	make(profile("h100"), 8, GKF_LAYOUT_AUTO);
	for (unsigned i = 0; i < 8; i++)
		for (unsigned l = 0; l < 18; l++) {
			assert_int_equal(t.link[i][l].device, l % 4);
			assert_int_equal(t.link[i][l].link, i * 5 + l / 4);
		}
	/* 12 links to six switches. */
	make(profile("a100-sxm4-80gb"), 2, GKF_LAYOUT_AUTO);
	for (unsigned l = 0; l < 12; l++) {
		assert_int_equal(t.link[1][l].device, l % 6);
		assert_int_equal(t.link[1][l].link, 2 + l / 6);
	}
}

static void switches_have_places_and_ids(void **state)
{
	struct gkf_nvswitch s;

	(void)state;
	make(profile("h100"), 2, GKF_LAYOUT_AUTO);
	s = gkf_topology_nvswitch(&t, profile("h100"), 1, 2);
	assert_int_equal(s.domain, 0);
	assert_int_equal(s.bus, 19);
	assert_int_equal(s.pci_device_id, 0x22a310de);
	s = gkf_topology_nvswitch(&t, profile("a100-sxm4-80gb"), 0, 0);
	assert_int_equal(s.bus, 3);
	assert_int_equal(s.pci_device_id, 0x1af110de);
	s = gkf_topology_nvswitch(&t, profile("b200"), 0, 1);
	assert_int_equal(s.bus, 11);
	assert_int_equal(s.pci_device_id, 0);
}

static void layouts_are_found_by_name(void **state)
{
	(void)state;
	assert_int_equal(gkf_layout_find("auto"), GKF_LAYOUT_AUTO);
	assert_int_equal(gkf_layout_find("hgx"), GKF_LAYOUT_HGX);
	assert_int_equal(gkf_layout_find("pcie"), GKF_LAYOUT_PCIE);
	assert_int_equal(gkf_layout_find("nvl"), GKF_LAYOUT_NVL);
	assert_int_equal(gkf_layout_find("mesh"), GKF_LAYOUT_MESH);
	assert_int_equal(gkf_layout_find("HGX"), -1);
	assert_int_equal(gkf_layout_find(""), -1);
}

/* Every layout uses as many as there are links, and no more. */
static void a_mesh_of_more_links_is_the_same_mesh_twice(void **state)
{
	struct gkf_profile p = *profile("v100");

	(void)state;
	p.nvlinks = 12;
	make(&p, 8, GKF_LAYOUT_MESH);
	assert_int_equal(between(0, 1), 2);
	assert_int_equal(between(0, 3), 4);
	p.nvlinks = 3; /* the first that are free, until there are none */
	make(&p, 8, GKF_LAYOUT_MESH);
	assert_int_equal(between(0, 1), 1);
	assert_int_equal(between(0, 2), 1);
	assert_int_equal(between(0, 3), 1);
	assert_int_equal(between(0, 4), 0);
	p.nvlinks = 6;
	make(&p, 16, GKF_LAYOUT_MESH);
	assert_int_equal(between(8, 11), 2);
	assert_int_equal(between(0, 8), 0);
	make(&p, 2, GKF_LAYOUT_NVL);
	assert_int_equal(between(0, 1), 6);
	assert_int_equal(t.link[0][5].link, 5);
	assert_int_equal(t.link[0][6].kind, GKF_END_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_machine_is_consistent),
	    cmocka_unit_test(a_dgx_1_is_a_cube_mesh),
	    cmocka_unit_test(modules_hang_on_switches),
	    cmocka_unit_test(cards_are_bridged_in_pairs),
	    cmocka_unit_test(other_models_are_not_joined),
	    cmocka_unit_test(gpus_sit_as_they_are_built_in),
	    cmocka_unit_test(ports_of_switches_are_dealt_out),
	    cmocka_unit_test(switches_have_places_and_ids),
	    cmocka_unit_test(layouts_are_found_by_name),
	    cmocka_unit_test(a_mesh_of_more_links_is_the_same_mesh_twice),
	};

	return cmocka_run_group_tests(tests, load_all, NULL);
}
