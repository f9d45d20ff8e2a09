/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_test.c - checks the screen of a GPU: its facts in words, its graphs,
 * choosing another.
 */
#include "base/clock.h"
#include "tui/model/facts.h"
#include "tui/screen.h"
#include "tui/views/view.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct screen s;

static void live(int seconds)
{
	for (int i = 0; i < seconds; i++) {
		struct gk_device *d = &s.f.devices[1];

		s.f.snap.mono_ns += GK_NS_PER_S;
		d->read_ns[GK_TIER_FAST] = s.f.snap.mono_ns;
		d->m[GK_M_GPU_UTIL] = present(i % 50 * 2);
		d->m[GK_M_POWER] = present(100000 + i * 2000);
		d->m[GK_M_TEMP] = present(40 + i / 4);
		gk_history_add(s.t.history, &s.f.snap);
	}
}

/* ---- what only this screen needs ---- */

#define LINKS 18

static struct gk_detail detail;
static struct gk_place places[5];
static struct gk_peer peers[5 * 5];
static const struct gk_topology topology = {5, places, peers};

static void make_link(struct gk_link *link, unsigned i)
{
	*link = (struct gk_link){.index = i, .end = GK_LINK_END_SWITCH};
	strcpy(link->remote_bus_id, "00000000:C5:00.0");
	link->m[GK_L_ACTIVE] = present(i != 7);
	link->m[GK_L_VERSION] = present(6);
	link->m[GK_L_SPEED] = present(26562000000);
	link->m[GK_L_RX] = present((int64_t)i << 30);
	link->m[GK_L_TX] = present((int64_t)i << 31);
	link->m[GK_L_REPLAY] = present(i == 3 ? 5 : 0);
	link->m[GK_L_CRC_FLIT] = present(i == 3 ? 2 : 0);
	if (i != 7)
		return;
	link->end = GK_LINK_END_UNKNOWN;
	for (int m = GK_L_VERSION; m < GK_L_COUNT; m++)
		link->m[m].why = GK_ABSENT_ERROR;
}

/* Lets a second pass in which every link carries 256 MiB in, 1 GiB out. */
static void carry(void)
{
	struct gk_device *d = &s.f.devices[1];

	for (unsigned i = 0; i < LINKS; i++) {
		detail.links[i].m[GK_L_RX].v += 256 << 20;
		detail.links[i].m[GK_L_TX].v += 1 << 30;
	}
	s.f.snap.mono_ns += GK_NS_PER_S;
	s.f.snap.wall_ns += GK_NS_PER_S;
	d->read_ns[GK_TIER_FAST] = d->read_ns[GK_TIER_DETAIL] =
	    s.f.snap.mono_ns;
	gk_history_add(s.t.history, &s.f.snap);
	tui_frame(&s.t);
}

static void make_topology(void)
{
	for (int i = 0; i < 5; i++) {
		strcpy(places[i].cpus, "0-47,96-143");
		strcpy(places[i].numa_nodes, "0");
		places[i].numa_node = -1;
		for (int k = 0; k < 5; k++)
			peers[i * 5 + k].path =
			    i == k ? GK_PATH_SELF : GK_PATH_SYSTEM;
	}
	peers[5].nvlinks = 18;
	peers[7].nvlinks = 4;
	peers[8].path = GK_PATH_SINGLE;
	s.f.snap.topology = &topology;
}

static void know_details(void)
{
	static const struct {
		enum gk_metric metric;
		int64_t value;
	} more[] = {
	    {GK_M_NVLINK_CRC_FLIT, 2},
	    {GK_M_NVLINK_CRC_DATA, 0},
	    {GK_M_NVLINK_REPLAY, 5},
	    {GK_M_NVLINK_RECOVERY, 0},
	    {GK_M_GSP_MODE, 1},
	    {GK_M_TEMP_MARGIN, 23},
	    {GK_M_HELD_POWER, 75000000000},
	    {GK_M_XID_COUNT, 3},
	    {GK_M_XID_LAST, 79},
	};
	struct gk_device *d = &s.f.devices[1];

	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		d->m[more[i].metric] = present(more[i].value);
	d->m[GK_M_XID_TIME] =
	    present((int64_t)s.f.snap.wall_ns - 62 * 1000000000LL);
	detail = (struct gk_detail){.link_count = LINKS};
	for (int i = 0; i < GK_T_COUNT; i++)
		detail.facts[i].why = GK_ABSENT_NO_FUNCTION;
	detail.facts[GK_T_ARCHITECTURE] = (struct gk_text){"Hopper", 0};
	for (unsigned i = 0; i < LINKS; i++)
		make_link(&detail.links[i], i);
	d->detail = &detail;
	make_topology();
}

/* ---- the screen ---- */

static int begin(void **state)
{
	static const struct {
		enum gk_metric metric;
		int64_t value;
	} more[] = {
	    {GK_M_SM_CLOCK_MAX, 1410000000}, {GK_M_MEM_CLOCK_MAX, 1593000000},
	    {GK_M_THROTTLE, 0x24},           {GK_M_POWER_MIN, 100000},
	    {GK_M_POWER_MAX, 400000},        {GK_M_TEMP_SLOWDOWN, 92},
	    {GK_M_TEMP_SHUTDOWN, 95},        {GK_M_PCIE_GEN, 4},
	    {GK_M_PCIE_GEN_MAX, 4},          {GK_M_PCIE_WIDTH, 8},
	    {GK_M_PCIE_WIDTH_MAX, 16},       {GK_M_ECC_MODE, 1},
	    {GK_M_BAR1_USED, 1 << 20},       {GK_M_BAR1_TOTAL, 1LL << 37},
	};

	(void)state;
	screen_begin(&s, 24, 80);
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		s.f.devices[1].m[more[i].metric] = present(more[i].value);
	live(120);
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

static const char *fact(const char *title)
{
	static struct gk_buf text;

	gk_buf_free(&text);
	for (int i = 0; i < tui_fact_count(); i++)
		if (!tui_fact_is_section(i) &&
		    !strcmp(tui_fact_title(i), title))
			tui_fact_add(&text, i, &s.f.snap, &s.f.devices[1]);
	assert_non_null(text.data);
	return text.data;
}

static void all_of_a_gpu_is_drawn(void **state)
{
	(void)state;
	screen_press(&s, "d Right");
	assert_int_equal(s.t.screen, SCREEN_DEVICE);
	assert_screen(&s, "tui/device-80x24");
	screen_press(&s, "PageDown");
	assert_screen(&s, "tui/device-80x24-below");
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/device-120x40");
	screen_resize(&s, 10, 40);
	assert_screen(&s, "tui/device-40x10");
}

static struct gk_value nonsense(int64_t told)
{
	return (struct gk_value){.v = told, .why = GK_ABSENT_NONSENSE};
}

static void facts_are_in_words(void **state)
{
	(void)state;
	assert_string_equal(fact("Throttle reasons"), "power limit, too warm");
	assert_string_equal(fact("Power range"), "100W to 400W");
	assert_string_equal(fact("SM clock"), "1410MHz of 1410MHz");
	assert_string_equal(fact("PCIe width"), "x8 of x16");
	assert_string_equal(fact("ECC"), "on");
	assert_string_equal(fact("Performance state"), "P0");
	assert_string_equal(fact("BAR1"), "1.00MiB / 128.0GiB (0.0%)");
	assert_string_equal(fact("Compute mode"), "default");
	assert_string_equal(fact("Fan"), "100%");
	assert_string_equal(fact("Remapped rows"), "not supported");
	s.f.devices[1].m[GK_M_ROWS_CORRECTED] = present(2);
	s.f.devices[1].m[GK_M_ROWS_UNCORRECTED] = present(1);
	s.f.devices[1].m[GK_M_ROWS_PENDING] = present(1);
	assert_string_equal(fact("  corrected"), "2");
	assert_string_equal(fact("  uncorrected"), "1");
	assert_string_equal(fact("Remapped rows"), "pending a reset");
	s.f.devices[1].m[GK_M_ROWS_FAILED] = present(1);
	assert_string_equal(fact("Remapped rows"), "failed");
	s.f.devices[1].m[GK_M_COMPUTE_MODE] = present(3);
	assert_string_equal(fact("Compute mode"), "exclusive process");
	s.f.devices[1].m[GK_M_THROTTLE] = present(0);
	assert_string_equal(fact("Throttle reasons"), "none");
	s.f.devices[1].m[GK_M_THROTTLE] = present(0x8000);
	assert_string_equal(fact("Throttle reasons"), "0x8000");
	s.f.devices[1].m[GK_M_FAN] = nonsense(250);
	assert_string_equal(fact("Fan"), "nonsense: 250");
	s.f.devices[1].m[GK_M_POWER_MAX] = nonsense(4294967295000);
	assert_string_equal(fact("Power range"), "nonsense: 4294967295");
	s.f.devices[1].m[GK_M_COMPUTE_MODE] = nonsense(INT64_MAX);
	assert_string_equal(fact("Compute mode"), "nonsense: beyond 9.2e18");
}

static void old_traffic_is_no_traffic(void **state)
{
	struct gk_device *d = &s.f.devices[1];

	(void)state;
	assert_string_equal(fact("PCIe RX"), "not supported");
	d->m[GK_M_PCIE_RX] = present(3 << 20);
	d->read_ns[GK_TIER_ASKED] = s.f.snap.mono_ns - GK_NS_PER_S;
	assert_string_equal(fact("PCIe RX"), "3.00MiB/s");
	d->read_ns[GK_TIER_ASKED] = s.f.snap.mono_ns - 9 * GK_NS_PER_S;
	assert_string_equal(fact("PCIe RX"), "not read yet");
}

/* MIG devices are lines of their GPU and are skipped. */
static void left_and_right_go_round_the_gpus(void **state)
{
	static const int order[] = {1, 2, 3, 4, 0};

	(void)state;
	assert_int_equal(view_device_index(&s.t), -1);
	screen_press(&s, "d");
	assert_int_equal(view_device_index(&s.t), 0);
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		screen_press(&s, "Right");
		assert_int_equal(view_device_index(&s.t), order[i]);
	}
	screen_press(&s, "Left Left Left");
	assert_int_equal(view_device_index(&s.t), 2);
	screen_resize(&s, 60, 120);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "1g.10gb      7/0", NULL), -1);
	assert_int_not_equal(screen_find(&s, "MIG 5", NULL), -1);
	screen_press(&s, "d");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
}

static void it_opens_at_the_gpu_of_the_selected_process(void **state)
{
	(void)state;
	while (!tui_process(&s.t) || tui_process(&s.t)->pid != 4242)
		screen_press(&s, "Down"); /* on a MIG device of GPU 2 */
	screen_press(&s, "d");
	assert_int_equal(view_device_index(&s.t), 2);
}

static void what_is_lost_says_so(void **state)
{
	(void)state;
	screen_press(&s, "d Left Left");
	assert_int_equal(view_device_index(&s.t), 3);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "GPU is lost", NULL), -1);
}

static void graphs_are_chosen(void **state)
{
	/*
	 * Thirteen graphs may have values, and six fit: the last page is also
	 * full.
	 */
	static const char *const titles[][2] = {
	    {"GPU utilisation: 0% (max 98%)", "SM clock: 1410MHz"},
	    {"memory clock: 1593MHz", "JPEG: 3%"},
	    {"NVLink to GPU: not read yet", "fan: 100% (max 100%)"},
	};

	(void)state;
	s.f.devices[1].m[GK_M_JPG_UTIL] = present(3);
	live(1);
	screen_resize(&s, 40, 120);
	screen_press(&s, "d Right");
	for (size_t i = 0; i < 4; i++) {
		screen_draw(&s);
		for (size_t k = 0; k < 2; k++)
			assert_int_not_equal(
			    screen_find(&s, titles[i % 3][k], NULL), -1);
		screen_press(&s, "g");
	}
}

/* Goes to the end of what is drawn. */
static void go_to_end(void)
{
	screen_draw(&s);
	screen_press(&s, "End");
}

/* Links fold into columns: all 18 are visible at once in 80x24. */
static void links_are_folded(void **state)
{
	(void)state;
	know_details();
	screen_press(&s, "d Right");
	carry();
	carry();
	go_to_end();
	assert_screen(&s, "tui/device-links-80x24");
	assert_true(screen_find(&s, " 17 4.0  switch", NULL) >= 0);
	assert_true(screen_find(&s, "  0 4.0  switch", NULL) >= 0);
	assert_true(screen_find(&s, "17/18 up, 24.74GiB/s; CRC 2", NULL) >= 0);
	assert_true(screen_find(&s, "GPU 0 NV18", NULL) >= 0);
	assert_true(screen_find(&s, "GPU 3 one PCIe switch", NULL) >= 0);
	screen_resize(&s, 60, 200);
	assert_screen(&s, "tui/device-links-200x60");
	screen_resize(&s, 40, 120);
	go_to_end();
	assert_screen(&s, "tui/device-links-120x40");
	screen_resize(&s, 10, 40);
	go_to_end();
	assert_screen(&s, "tui/device-links-40x10");
}

static void links_tell_rates_and_errors(void **state)
{
	int column, row;

	(void)state;
	know_details();
	screen_press(&s, "d Right");
	carry();
	go_to_end();
	screen_draw(&s);
	assert_true(screen_find(&s, "switch        -        -    7", NULL) >=
		    0);
	carry();
	screen_draw(&s);
	row = screen_find(&s, "3 4.0  switch 256.0MiB  1024MiB    7", &column);
	assert_true(row >= 0);
	assert_int_equal(grid_at(&s.g, row, column)->style.color, 1);
	row = screen_find(&s, "7 down", &column);
	assert_int_equal(grid_at(&s.g, row, column)->style.color, 1);
	row = screen_find(&s, "5 4.0", &column);
	assert_int_equal(grid_at(&s.g, row, column)->style.color,
			 GRID_COLOR_NONE);
	/*
	 * Nothing was read for a while: the mean over that time is not shown as
	 * a rate.
	 */
	s.f.snap.mono_ns += 60 * GK_NS_PER_S;
	carry();
	screen_draw(&s);
	assert_true(screen_find(&s, "3 4.0  switch        -        -", NULL) >=
		    0);
}

static void details_say_why_they_are_absent(void **state)
{
	(void)state;
	screen_resize(&s, 80, 120);
	screen_press(&s, "d Right");
	screen_draw(&s);
	assert_true(screen_find(&s, "CPUs near          not read yet", NULL) >=
		    0);
	assert_true(screen_find(&s, "NVLink             not read yet", NULL) >=
		    0);
	assert_true(screen_find(&s, "Architecture       not read yet", NULL) >=
		    0);
	know_details();
	screen_draw(&s);
	assert_true(screen_find(&s, "Architecture       Hopper", NULL) >= 0);
	assert_true(
	    screen_find(&s, "Brand              unknown to driver", NULL) >= 0);
	assert_true(screen_find(&s,
				"79, 1:02 ago: GPU has fallen off the bus (3 "
				"in all)",
				NULL) >= 0);
	s.f.devices[1].m[GK_M_XID_COUNT] = present(0);
	screen_draw(&s);
	assert_true(screen_find(&s, "none since start", NULL) >= 0);
}

/* The last values stay, with their age, and lines about the GPU continue. */
static void a_lost_gpu_keeps_its_last_values(void **state)
{
	struct gk_device *d = &s.f.devices[1];

	(void)state;
	know_details();
	screen_press(&s, "d Right");
	carry();
	d->health = GK_HEALTH_LOST;
	d->detail = NULL;
	for (int m = 0; m < GK_M_XID_COUNT; m++)
		d->m[m].why = GK_ABSENT_LOST;
	d->m[GK_M_XID_LAST] = present(48);
	s.f.snap.mono_ns += 75 * GK_NS_PER_S;
	gk_history_add(s.t.history, &s.f.snap);
	tui_frame(&s.t);
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/device-lost-120x40");
	assert_int_equal(
	    screen_find(&s, "GPU is lost: values are 1:15 old", NULL), 1);
	assert_true(screen_find(&s, "48, ", NULL) >= 0);
	assert_true(screen_find(&s, "Compute mode       default", NULL) >= 0);
	/* The others are unaffected, and one that was never read says so. */
	screen_press(&s, "Left");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "GPU is lost", NULL), -1);
	screen_press(&s, "Right Right Right");
	screen_draw(&s);
	assert_int_equal(
	    screen_find(&s, "GPU is lost: nothing is known about it", NULL), 1);
}

static void a_gpu_that_hangs_says_how_long(void **state)
{
	(void)state;
	screen_resize(&s, 24, 80);
	s.f.devices[6].health = GK_HEALTH_STALE;
	s.f.snap.mono_ns += 10 * GK_NS_PER_S;
	screen_press(&s, "d Left");
	assert_int_equal(view_device_index(&s.t), 4);
	assert_screen(&s, "tui/device-hung-80x24");
	assert_int_equal(screen_find(&s, ": values are out of date", NULL), 1);
}

static void mig_devices_are_slices(void **state)
{
	struct gk_device *first = &s.f.devices[3], *second = first + 1;

	(void)state;
	first->m[GK_M_MEM_TOTAL] = second->m[GK_M_MEM_TOTAL] =
	    present(9728LL << 20);
	screen_press(&s, "d Right Right");
	go_to_end();
	screen_draw(&s);
	assert_true(screen_find(&s, "Memory slices      not read yet", NULL) >=
		    0);
	first->m[GK_M_GI_START] = present(6);
	second->m[GK_M_GI_START] = present(2);
	first->m[GK_M_GI_SIZE] = second->m[GK_M_GI_SIZE] = present(1);
	first->m[GK_M_CI_START] = present(0);
	first->m[GK_M_CI_SIZE] = present(2);
	strcpy(second->name, "NVIDIA A100-SXM4-80GB MIG 1c.1g.10gb");
	assert_screen(&s, "tui/device-mig-80x24");
	assert_true(screen_find(&s,
				"▏free  ▏free  ▏1g.10g▏free  ▏free  ▏free  "
				"▏1g.10g▏free",
				NULL) >= 0);
	assert_true(screen_find(&s, "6     0-1     1", NULL) >= 0);
	screen_resize(&s, 40, 120);
	go_to_end();
	assert_screen(&s, "tui/device-mig-120x40");
}

/* Traffic that is no longer read is a gap, not its last value. */
static void graphs_have_no_old_traffic(void **state)
{
	struct gk_device *d = &s.f.devices[1];

	(void)state;
	d->m[GK_M_PCIE_RX] = present(300 << 20);
	d->m[GK_M_PCIE_TX] = present(20LL << 30);
	d->read_ns[GK_TIER_ASKED] = s.f.snap.mono_ns + GK_NS_PER_S;
	live(1);
	screen_resize(&s, 80, 120);
	screen_press(&s, "d Right g");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "PCIe to GPU: 300.0MiB/s", NULL),
			     -1);
	assert_int_not_equal(screen_find(&s, "╴20GiB/s", NULL), -1);
	live(5);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "PCIe to GPU: not read", NULL),
			     -1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(all_of_a_gpu_is_drawn),
	    T(facts_are_in_words),
	    T(old_traffic_is_no_traffic),
	    T(left_and_right_go_round_the_gpus),
	    T(it_opens_at_the_gpu_of_the_selected_process),
	    T(what_is_lost_says_so),
	    T(graphs_are_chosen),
	    T(graphs_have_no_old_traffic),
	    T(links_are_folded),
	    T(links_tell_rates_and_errors),
	    T(details_say_why_they_are_absent),
	    T(a_lost_gpu_keeps_its_last_values),
	    T(a_gpu_that_hangs_says_how_long),
	    T(mig_devices_are_slices),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
