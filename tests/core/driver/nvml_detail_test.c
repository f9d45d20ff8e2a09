/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_detail_test.c - checks values that are read only when asked for:
 * details, links, topology, few metrics.
 */
#include "base/array.h"
#include "base/clock.h"
#include "core/scripted.h"

#define PERIOD (10 * GK_NS_PER_MS)

/* ---- the DETAIL tier ---- */

/* The details of GPU 1. Fields contain their scope: a sum's ends in 95. */
static const struct {
	enum gk_metric metric;
	int64_t value;
} details[] = {
    {GK_M_POWER_INSTANT, 250123},  {GK_M_POWER_AVERAGE, 249321},
    {GK_M_TEMP_MARGIN, -2},        {GK_M_MARGIN_SHUTDOWN, -7},
    {GK_M_TEMP_GPU_MAX, 93},       {GK_M_CLOCK_MEM_APP, 1102000000},
    {GK_M_HELD_POWER, 5000000000}, {GK_M_BAR1_FREE, 60},
    {GK_M_ECC_PENDING, 1},         {GK_M_ECC_AGG_CORRECTED, 1LL << 40},
    {GK_M_ECC_VOL_U_DRAM, 102},    {GK_M_ECC_AGG_C_SRAM, 17},
    {GK_M_PCIE_REPLAY, 9},         {GK_M_ENC_SESSIONS, 2},
    {GK_M_ENC_LATENCY, 1500000},   {GK_M_REMAP_BANKS_MAX, 636},
    {GK_M_REMAP_BANKS_NONE, 0},    {GK_M_NVLINK_TX, 1024 * (3 + 95)},
    {GK_M_NUMA_NODE, 5},           {GK_M_CORES, 6912},
};

static void details_are_in_base_units(void **state)
{
	const struct gk_device *dev;

	(void)state;
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	dev = &scripted_take()->devices[1];
	for (size_t i = 0; i < COUNT(details); i++) {
		const struct gk_value *v = &dev->m[details[i].metric];

		if (v->why || v->v != details[i].value)
			fail_msg("%s: %d, %ld",
				 gk_metrics[details[i].metric].name,
				 (int)v->why, (long)v->v);
	}
	assert_absent(dev->m[GK_M_FBC_FPS], NO_FUNCTION);
	assert_absent(dev->m[GK_M_RETIRED_CORRECTED], NOT_SUPPORTED);
	assert_true(dev->read_ns[GK_TIER_DETAIL] > 0);
}

/* However many fields there are. */
static void field_values_cost_one_call(void **state)
{
	unsigned calls;

	(void)state;
	scripted_reset(1);
	t.options.with = GK_WITH_DETAIL | GK_WITHOUT_SLOW;
	t.options.with |= GK_WITHOUT_PROCESSES;
	scripted_open();
	scripted_take();
	calls = scripted_calls("nvmlDeviceGetFieldValues");
	scripted_take();
	calls = scripted_calls("nvmlDeviceGetFieldValues") - calls;
	/* The memory temperature and the driver's recovery action are everyday
	 * values with calls of their own. */
	assert_int_equal(calls, 3);
}

static void facts_have_their_reasons(void **state)
{
	const struct gk_text *facts;

	(void)state;
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	facts = scripted_take()->devices[1].detail->facts;
	assert_string_equal(facts[GK_T_BRAND].s, "GeForce RTX");
	assert_string_equal(facts[GK_T_BOARD_PART].s, "900-1");
	assert_string_equal(facts[GK_T_INFOROM_ECC].s, "1.0");
	assert_absent(facts[GK_T_INFOROM_POWER], PERMISSION);
	assert_absent(facts[GK_T_ARCHITECTURE], ERROR);
	assert_absent(facts[GK_T_GSP_VERSION], NO_FUNCTION);
	assert_string_equal(facts[GK_T_GSP_VERSION].s, "");
}

/* Three links: to GPU 1, to a switch, and one that is down. */
static void make_links(void)
{
	SCRIPT(t.s->gpu[0].links = 3; t.s->gpu[0].active = 3;
	       t.s->gpu[0].leads_to[0] = 1;
	       t.s->gpu[0].leads_to[1] = SCRIPT_GPUS + 5);
}

static void links_are_listed(void **state)
{
	const struct gk_detail *detail;

	(void)state;
	make_links();
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	scripted_take();
	detail = t.snap->devices[0].detail;
	assert_int_equal(detail->link_count, 3);
	assert_int_equal(detail->links[0].end, GK_LINK_END_GPU);
	assert_string_equal(detail->links[0].remote_bus_id, "00000000:02:00.0");
	assert_int_equal(detail->links[1].end, GK_LINK_END_SWITCH);
	assert_value(detail->links[1].m[GK_L_ACTIVE], 1);
	assert_value(detail->links[2].m[GK_L_ACTIVE], 0);
	assert_value(detail->links[2].m[GK_L_CRC_FLIT], 22);
	assert_absent(detail->links[2].m[GK_L_ECC_DATA], NOT_SUPPORTED);
	assert_value(detail->links[2].m[GK_L_TX], 1024 * (3 + 2));
	assert_value(detail->links[2].m[GK_L_SPEED], 25000000000);
	assert_absent(detail->links[2].m[GK_L_RX], NOT_SUPPORTED);
	assert_int_equal(t.snap->devices[1].detail->link_count, 0);
}

/* Also in one call, which tells how many there are even if fewer fit. */
static void links_are_read_alone(void **state)
{
	struct gk_link links[GK_LINKS_MAX] = {{.index = 77}};
	size_t count = 99;

	(void)state;
	make_links();
	scripted_open();
	assert_int_equal(gk_read_links(t.gk, 0, links, &count, NULL), 0);
	assert_int_equal(count, 3);
	assert_int_equal(links[0].index, 0);
	assert_int_equal(links[2].index, 2);
	assert_value(links[2].m[GK_L_TX], 1024 * (3 + 2));
	links[2].index = 77;
	count = 99;
	assert_int_equal(gk_read_all_links(t.gk, 0, links, 2, &count, NULL), 0);
	assert_int_equal(count, 3);
	assert_int_equal(links[2].index, 77);
	assert_int_equal(gk_read_links(t.gk, 1, links, &count, NULL), 0);
	assert_int_equal(count, 0);
}

static void nothing_is_read_unasked(void **state)
{
	const struct gk_device *dev;

	(void)state;
	make_links();
	scripted_open();
	dev = &scripted_take()->devices[0];
	assert_null(dev->detail);
	assert_null(t.snap->topology);
	assert_absent(dev->m[GK_M_POWER_INSTANT], NOT_READ);
	assert_absent(dev->m[GK_M_XID_COUNT], NOT_READ);
	assert_int_equal(scripted_calls("nvmlDeviceGetNvLinkState"), 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetEncoderStats"), 0);
}

static void details_are_read_when_asked_for(void **state)
{
	struct gk_snapshot *snap = NULL;
	int frames = 0;

	(void)state;
	make_links();
	scripted_open();
	assert_int_equal(gk_watch_start(t.gk, PERIOD), 0);
	assert_int_equal(gk_watch_ask(t.gk, 0, 1U << GK_TIER_EVENT),
			 GK_ERR_INVALID);
	assert_int_equal(gk_watch_ask(t.gk, 0, 1U << GK_TIER_DETAIL), 0);
	do {
		gk_snapshot_free(snap);
		assert_int_equal(gk_watch_next(t.gk, &snap), 0);
	} while (!snap->devices[0].detail && frames++ < 500);
	assert_non_null(snap->devices[0].detail);
	assert_int_equal(snap->devices[0].detail->link_count, 3);
	assert_value(snap->devices[0].m[GK_M_POWER_INSTANT], 250123);
	assert_null(snap->devices[1].detail);
	gk_snapshot_free(snap);
}

/* A snapshot belongs to its reader: the next reading does not change it. */
static void snapshots_have_details_of_their_own(void **state)
{
	struct gk_snapshot *first;

	(void)state;
	make_links();
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	assert_int_equal(gk_snapshot_take(t.gk, &first), 0);
	SCRIPT(t.s->gpu[0].links = 2);
	scripted_take();
	assert_int_equal(first->devices[0].detail->link_count, 3);
	assert_int_equal(t.snap->devices[0].detail->link_count, 2);
	gk_snapshot_free(first);
}

static void a_lost_gpu_has_no_details(void **state)
{
	(void)state;
	make_links();
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	scripted_take();
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_ERROR_GPU_IS_LOST);
	scripted_take();
	assert_null(t.snap->devices[0].detail);
	assert_absent(t.snap->devices[0].m[GK_M_POWER_INSTANT], LOST);
	assert_non_null(t.snap->devices[1].detail);
	SCRIPT(t.s->gpu[0].all = t.s->gpu[0].handle = NVML_SUCCESS);
	scripted_take();
	assert_int_equal(t.snap->devices[0].detail->link_count, 3);
	assert_value(t.snap->devices[0].m[GK_M_POWER_INSTANT], 250123);
}

static void mig_devices_have_no_details_of_their_own(void **state)
{
	(void)state;
	SCRIPT(t.s->gpu[0].mig_enabled = true; t.s->gpu[0].mig = 1);
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	scripted_take();
	assert_int_equal(t.snap->device_count, 3);
	assert_non_null(t.snap->devices[0].detail);
	assert_null(t.snap->devices[1].detail);
	assert_absent(t.snap->devices[1].m[GK_M_ENC_SESSIONS], NOT_SUPPORTED);
	assert_value(t.snap->devices[0].m[GK_M_MIG_PENDING], 1);
}

static void an_old_driver_lacks_details(void **state)
{
	const struct gk_device *dev;

	(void)state;
	scripted_load(OLD);
	scripted_reset(1);
	t.options.with = GK_WITH_DETAIL | GK_WITH_TOPOLOGY;
	scripted_open();
	dev = &scripted_take()->devices[0];
	assert_absent(dev->m[GK_M_TEMP_MARGIN], NO_FUNCTION);
	assert_value(dev->m[GK_M_PCIE_REPLAY], 9);
	assert_int_equal(dev->detail->link_count, 0);
	assert_absent(dev->detail->facts[GK_T_BRAND], NO_FUNCTION);
	assert_string_equal(t.snap->topology->places[0].cpus, "");
}

/* Every absent value has a reason and no number. */
static void check_refused(void)
{
	const struct gk_device *dev;

	t.options.with = GK_WITH_DETAIL | GK_WITH_PCIE;
	SCRIPT(t.s->gpu[0].all = NVML_ERROR_NO_PERMISSION);
	scripted_open();
	dev = &scripted_take()->devices[0];
	for (int m = 0; m < GK_M_COUNT; m++) {
		bool asked = gk_metrics[m].tier != GK_TIER_EVENT;
		enum gk_absence why = dev->m[m].why;

		if (dev->m[m].v || (asked ? why != GK_ABSENT_PERMISSION &&
						why != GK_ABSENT_NO_FUNCTION &&
						why != GK_ABSENT_NOT_SUPPORTED
					  : why != GK_ABSENT_NOT_READ))
			fail_msg("%s: %d", gk_metrics[m].name, (int)why);
	}
	assert_absent(dev->m[GK_M_TEMP], PERMISSION);
	assert_absent(dev->m[GK_M_THROTTLE], PERMISSION);
	assert_absent(dev->m[GK_M_MEM_USED], PERMISSION);
	assert_absent(dev->m[GK_M_TEMP_MEM], PERMISSION);
	assert_absent(dev->m[GK_M_ECC_PENDING], PERMISSION);
	assert_int_equal(dev->processes_why, GK_ABSENT_PERMISSION);
}

static void what_is_refused_has_no_number(void **state)
{
	(void)state;
	check_refused();
}

static void what_an_old_driver_refuses_has_no_number(void **state)
{
	(void)state;
	scripted_load(OLD);
	scripted_reset(1);
	check_refused();
}

/* ---- topology ---- */

static const struct gk_peer *peer(size_t a, size_t b)
{
	const struct gk_topology *top = t.snap->topology;

	return &top->peers[a * top->count + b];
}

static void the_topology_tells_ways_and_places(void **state)
{
	const struct gk_topology *top;

	(void)state;
	scripted_reset(6);
	t.options.with = GK_WITH_TOPOLOGY;
	scripted_open();
	top = scripted_take()->topology;
	assert_int_equal(top->count, 6);
	for (size_t a = 0; a < 6; a++)
		for (size_t b = 0; b < 6; b++)
			assert_int_equal(peer(a, b)->path,
					 a == b           ? GK_PATH_SELF
					 : a / 2 == b / 2 ? GK_PATH_SINGLE
					 : a / 4 == b / 4 ? GK_PATH_NODE
							  : GK_PATH_SYSTEM);
	assert_string_equal(top->places[3].cpus, "0,56-67,72");
	assert_string_equal(top->places[3].numa_nodes, "3");
	assert_int_equal(top->places[3].numa_node, 7);
	scripted_take();
	/* Called once for each pair. */
	assert_int_equal(scripted_calls("nvmlDeviceGetTopologyCommonAncestor"),
			 15);
}

/* GPUs 0 and 1 have two links; 2 and 3 share two switches, by 3 + 1 links. */
static void check_nvlinks(unsigned with)
{
	t.options.with = with;
	scripted_open();
	scripted_take();
	assert_int_equal(peer(0, 1)->nvlinks, 2);
	assert_int_equal(peer(1, 0)->nvlinks, 2);
	assert_int_equal(peer(2, 3)->nvlinks, 4);
	assert_int_equal(peer(3, 2)->nvlinks, 4);
	assert_int_equal(peer(0, 2)->nvlinks, 0);
}

static void nvlinks_lead_straight_and_by_switches(void **state)
{
	struct script_gpu *g = t.s->gpu;

	(void)state;
	scripted_reset(4);
	SCRIPT(g[0].links = g[1].links = 3; g[0].active = g[1].active = 3;
	       g[0].leads_to[0] = g[0].leads_to[1] = 1;
	       g[1].leads_to[0] = g[1].leads_to[1] = 0;
	       g[2].links = g[3].links = 6; g[2].active = g[3].active = 0x3f;
	       for (int i = 0; i < 6; i++) {
		       g[2].leads_to[i] = SCRIPT_GPUS + (i < 3 ? 1 : 2);
		       g[3].leads_to[i] = SCRIPT_GPUS + (i < 5 ? 1 : 2);
	       });
	check_nvlinks(GK_WITH_TOPOLOGY);
	assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
	check_nvlinks(GK_WITH_TOPOLOGY | GK_WITHOUT_BOARD);
	assert_string_equal(t.snap->devices[0].bus_id, "");
}

static void a_hanging_gpu_leaves_its_ways_unknown(void **state)
{
	(void)state;
	scripted_reset(3);
	t.options.with = GK_WITH_TOPOLOGY;
	t.options.timeout_ns = GK_NS_PER_S; /* for the healthy GPUs */
	SCRIPT(t.s->gpu[1].hang = true);
	scripted_open();
	scripted_take();
	assert_int_equal(peer(0, 1)->path, GK_PATH_UNKNOWN);
	assert_int_equal(peer(0, 2)->path, GK_PATH_NODE);
	assert_string_equal(t.snap->topology->places[1].cpus, "");
	SCRIPT(t.s->gpu[1].hang = false);
	t.snap->devices[1].health = GK_HEALTH_STALE;
	for (int i = 0; i < 100 && t.snap->devices[1].health; i++)
		scripted_take();
	assert_int_equal(peer(0, 1)->path, GK_PATH_SINGLE);
	assert_int_equal(peer(1, 0)->path, GK_PATH_SINGLE);
}

/* ---- only some metrics ---- */

static void only_what_is_wanted_is_read(void **state)
{
	struct gk_metric_set only = {0};
	const struct gk_device *dev;

	(void)state;
	gk_metric_set_add(&only, GK_M_TEMP);
	gk_metric_set_add(&only, GK_M_POWER_MAX);
	t.options.only = &only;
	scripted_open();
	only = (struct gk_metric_set){0}; /* the library has copied it */
	dev = &scripted_take()->devices[0];
	assert_value(dev->m[GK_M_TEMP], 70);
	assert_value(dev->m[GK_M_POWER_MAX], 450000);
	/* The second value of a call that is made anyway. */
	assert_value(dev->m[GK_M_POWER_MIN], 100000);
	assert_absent(dev->m[GK_M_GPU_UTIL], NOT_READ);
	assert_int_equal(scripted_calls("nvmlDeviceGetUtilizationRates"), 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetClockInfo"), 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetFieldValues"), 0);
}

static void few_details_are_few_fields(void **state)
{
	struct gk_metric_set only = {0};

	(void)state;
	gk_metric_set_add(&only, GK_M_PCIE_REPLAY);
	t.options.only = &only;
	t.options.with = GK_WITH_DETAIL;
	scripted_open();
	scripted_take();
	assert_value(t.snap->devices[0].m[GK_M_PCIE_REPLAY], 9);
	assert_absent(t.snap->devices[0].m[GK_M_POWER_INSTANT], NOT_READ);
	assert_int_equal(scripted_calls("nvmlDeviceGetEncoderStats"), 0);
}

/* A metric that was not asked for stays so, whatever happens to the GPU. */
static void what_is_not_wanted_is_not_lost(void **state)
{
	struct gk_metric_set only = {0};

	(void)state;
	gk_metric_set_add(&only, GK_M_TEMP);
	t.options.only = &only;
	t.options.with = GK_WITHOUT_PROCESSES;
	t.options.timeout_ns = GK_NS_PER_S; /* for the healthy GPUs */
	scripted_open();
	SCRIPT(t.s->gpu[0].handle = NVML_ERROR_GPU_IS_LOST);
	SCRIPT(t.s->gpu[1].hang = true);
	scripted_take();
	SCRIPT(t.s->gpu[1].hang = false);
	assert_absent(t.snap->devices[0].m[GK_M_TEMP], LOST);
	assert_absent(t.snap->devices[1].m[GK_M_TEMP], TIMEOUT);
	for (int i = 0; i < 2; i++) {
		assert_absent(t.snap->devices[i].m[GK_M_POWER], NOT_READ);
		assert_int_equal(t.snap->devices[i].processes_why,
				 GK_ABSENT_NOT_READ);
	}
}

static void the_board_and_samples_can_be_left_out(void **state)
{
	const struct gk_device *dev;

	(void)state;
	t.options.with = GK_WITHOUT_BOARD | GK_WITHOUT_PROCESS_UTIL;
	scripted_process(0, SCRIPT_COMPUTE,
			 (struct script_process){4711, GIB, SCRIPT_WITHOUT_GI,
						 SCRIPT_WITHOUT_GI});
	scripted_open();
	dev = &scripted_take()->devices[0];
	assert_string_equal(dev->name, "Scripted GPU 0");
	assert_string_equal(dev->uuid, "GPU-0");
	assert_string_equal(dev->bus_id, "");
	assert_int_equal(dev->minor, -1);
	assert_int_equal(t.snap->process_count, 1);
	assert_absent(t.snap->processes[0].m[GK_PM_SM_UTIL], NOT_READ);
	assert_value(t.snap->processes[0].m[GK_PM_GPU_MEM], (int64_t)GIB);
	assert_int_equal(scripted_calls("nvmlDeviceGetProcessUtilization"), 0);
	assert_int_equal(scripted_calls("nvmlDeviceGetVbiosVersion"), 0);
}

static const struct gk_snapshot *next_frame(void)
{
	gk_snapshot_free(t.snap);
	t.snap = NULL;
	assert_int_equal(gk_watch_next(t.gk, &t.snap), 0);
	return t.snap;
}

/* What a device is stays valid; what it did when it was read may not. */
static void what_is_asked_for_no_more_is_not_told_as_new(void **state)
{
	const struct gk_device *d;
	uint64_t end;

	(void)state;
	scripted_reset(1);
	scripted_open();
	assert_int_equal(gk_watch_start(t.gk, 10 * GK_NS_PER_MS), 0);
	assert_int_equal(
	    gk_watch_ask(t.gk, 0, 1U << GK_TIER_ASKED | 1U << GK_TIER_DETAIL),
	    0);
	do
		d = &next_frame()->devices[0];
	while (!d->read_ns[GK_TIER_DETAIL]);
	assert_int_equal(d->m[GK_M_PCIE_RX].why, GK_PRESENT);
	assert_int_equal(d->m[GK_M_POWER_INSTANT].why, GK_PRESENT);
	assert_int_equal(d->m[GK_M_NUMA_NODE].why, GK_PRESENT);
	end = gk_mono_ns() + 60 * GK_NS_PER_S;
	while (d->m[GK_M_PCIE_RX].why == GK_PRESENT ||
	       d->m[GK_M_POWER_INSTANT].why == GK_PRESENT) {
		assert_true(gk_mono_ns() < end);
		d = &next_frame()->devices[0];
	}
	assert_int_equal(d->m[GK_M_PCIE_RX].why, GK_ABSENT_NOT_READ);
	assert_int_equal(d->m[GK_M_PCIE_TX].why, GK_ABSENT_NOT_READ);
	assert_int_equal(d->m[GK_M_NUMA_NODE].why, GK_PRESENT);
	assert_int_equal(d->m[GK_M_POWER].why, GK_PRESENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRIPTED_TEST(what_is_asked_for_no_more_is_not_told_as_new),
	    SCRIPTED_TEST(details_are_in_base_units),
	    SCRIPTED_TEST(field_values_cost_one_call),
	    SCRIPTED_TEST(facts_have_their_reasons),
	    SCRIPTED_TEST(links_are_listed),
	    SCRIPTED_TEST(links_are_read_alone),
	    SCRIPTED_TEST(nothing_is_read_unasked),
	    SCRIPTED_TEST(details_are_read_when_asked_for),
	    SCRIPTED_TEST(snapshots_have_details_of_their_own),
	    SCRIPTED_TEST(a_lost_gpu_has_no_details),
	    SCRIPTED_TEST(mig_devices_have_no_details_of_their_own),
	    SCRIPTED_TEST(an_old_driver_lacks_details),
	    SCRIPTED_TEST(what_is_refused_has_no_number),
	    SCRIPTED_TEST(what_an_old_driver_refuses_has_no_number),
	    SCRIPTED_TEST(the_topology_tells_ways_and_places),
	    SCRIPTED_TEST(nvlinks_lead_straight_and_by_switches),
	    SCRIPTED_TEST(a_hanging_gpu_leaves_its_ways_unknown),
	    SCRIPTED_TEST(only_what_is_wanted_is_read),
	    SCRIPTED_TEST(few_details_are_few_fields),
	    SCRIPTED_TEST(what_is_not_wanted_is_not_lost),
	    SCRIPTED_TEST(the_board_and_samples_can_be_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
