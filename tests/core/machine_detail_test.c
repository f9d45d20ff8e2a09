/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_detail_test.c - checks details, links, topology and Xids of the fake
 * machine.
 */
#include "base/array.h"
#include "base/clock.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/link_state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/trouble/fault.h"

#include <gpukit/gpukit.h>

#define FRONT FAKE_DIR "/libnvidia-ml.so.1"

static struct fixture fx;
static struct gk *gk;
static struct gk_snapshot *snap;

static void open_with(unsigned with)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;

	fixture_open(&fx, 3);
	options.nvml_path = FRONT;
	options.with = with;
	assert_int_equal(gk_open(&options, NULL, &gk), 0);
}

static int setup(void **state)
{
	(void)state;
	open_with(GK_WITH_DETAIL | GK_WITH_TOPOLOGY);
	return 0;
}

static int setup_events(void **state)
{
	(void)state;
	open_with(GK_WITH_EVENTS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_snapshot_free(snap);
	snap = NULL;
	assert_int_equal(gk_close(gk), 0);
	fixture_close(&fx);
	return 0;
}

static const struct gk_snapshot *take(void)
{
	gk_snapshot_free(snap);
	snap = NULL;
	assert_int_equal(gk_snapshot_take(gk, &snap), 0);
	return snap;
}

static const struct {
	enum gkf_value value;
	enum gk_metric metric;
	int64_t to;
} settable[] = {
    {GKF_V_ECC_PENDING, GK_M_ECC_PENDING, 0},
    {GKF_V_PCIE_REPLAY, GK_M_PCIE_REPLAY, 17},
    {GKF_V_PCIE_ROLLOVERS, GK_M_PCIE_REPLAY_ROLLOVER, 2},
    {GKF_V_POWER, GK_M_POWER_INSTANT, 201234},
};

static void a_detail_that_is_set_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(settable); i++) {
		const struct gk_value *v;

		assert_int_equal(
		    gkf_value_set(fx.m, 1, settable[i].value, settable[i].to),
		    0);
		v = &take()->devices[1].m[settable[i].metric];
		if (v->why || v->v != settable[i].to)
			fail_msg("%s: %d, %ld",
				 gk_metrics[settable[i].metric].name,
				 (int)v->why, (long)v->v);
	}
}

/* An unexpected answer would be an error. */
static void every_detail_has_a_value_or_a_reason(void **state)
{
	const struct gk_device *dev = &take()->devices[0];

	(void)state;
	for (int m = 0; m < GK_M_COUNT; m++) {
		enum gk_absence why = dev->m[m].why;

		if (gk_metrics[m].tier == GK_TIER_DETAIL && why &&
		    why != GK_ABSENT_NOT_SUPPORTED &&
		    why != GK_ABSENT_NO_FUNCTION && why != GK_ABSENT_NONE)
			fail_msg("%s: %s", gk_metrics[m].name,
				 gk_absence_text(why));
	}
	assert_string_equal(dev->detail->facts[GK_T_ARCHITECTURE].s, "Ampere");
	assert_string_equal(dev->detail->facts[GK_T_BRAND].s, "NVIDIA");
	assert_int_equal(dev->m[GK_M_BAR1_FREE].v + dev->m[GK_M_BAR1_USED].v,
			 dev->m[GK_M_BAR1_TOTAL].v);
}

static void links_are_those_of_the_machine(void **state)
{
	const struct gk_detail *detail;

	(void)state;
	assert_int_equal(gkf_link_set_state(fx.m, 1, 2, GKF_LINK_DOWN), 0);
	assert_int_equal(gkf_link_set_error(fx.m, 1, 3, GKF_LINK_CRC_DATA, 41),
			 0);
	detail = take()->devices[1].detail;
	assert_int_equal(detail->link_count, 12);
	for (unsigned i = 0; i < detail->link_count; i++) {
		const struct gk_link *link = &detail->links[i];

		assert_int_equal(link->index, i);
		assert_int_equal(link->m[GK_L_ACTIVE].v, i != 2);
		assert_int_equal(link->m[GK_L_CRC_DATA].v, i == 3 ? 41 : 0);
		assert_true(i == 2 || link->end != GK_LINK_END_UNKNOWN);
	}
	assert_int_equal(snap->devices[1].m[GK_M_NVLINK_CRC_DATA].v, 41);
}

static void ways_are_the_same_to_and_fro(void **state)
{
	const struct gk_topology *t = take()->topology;

	(void)state;
	assert_int_equal(t->count, 3);
	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++) {
			const struct gk_peer *to = &t->peers[a * 3 + b];
			const struct gk_peer *fro = &t->peers[b * 3 + a];

			assert_int_equal(to->path, fro->path);
			assert_int_equal(to->path == GK_PATH_SELF, a == b);
			assert_true(to->path != GK_PATH_UNKNOWN);
			assert_int_equal(to->nvlinks, a == b ? 0 : 12);
			assert_int_equal(to->nvlinks, fro->nvlinks);
		}
	assert_true(strlen(t->places[0].cpus) > 0);
	assert_true(strlen(t->places[0].numa_nodes) > 0);
}

/* A handle that was lost is not used. */
static void a_lost_gpu_has_its_place_still(void **state)
{
	(void)state;
	take();
	assert_int_equal(gkf_fault_begin(fx.m, 1, GKF_FAULT_LOST, 0), 0);
	take();
	assert_null(snap->devices[1].detail);
	assert_int_equal(snap->topology->peers[1].nvlinks, 12);
	assert_int_equal(gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_LOST)),
			 0);
	take();
	assert_non_null(snap->devices[1].detail);
	assert_int_equal(snap->topology->peers[1].nvlinks, 12);
	assert_true(snap->topology->peers[1].path != GK_PATH_UNKNOWN);
}

static void await_xids(unsigned gpu, int64_t count)
{
	for (int i = 0; i < 2000; i++) {
		const struct gk_value *v =
		    &take()->devices[gpu].m[GK_M_XID_COUNT];

		if (!v->why && v->v == count)
			return;
		gk_sleep_until(gk_mono_ns() + 2 * GK_NS_PER_MS);
	}
	fail_msg("never %ld Xids", (long)count);
}

/* In a frame while watching, with the time at which it came. */
static void check_watched_xid(unsigned gpu, unsigned xid)
{
	int64_t before = snap->devices[gpu].m[GK_M_XID_COUNT].v;
	int64_t begin = (int64_t)gk_wall_ns();
	const struct gk_value *m = NULL;

	assert_int_equal(gk_watch_start(gk, 10 * GK_NS_PER_MS), 0);
	assert_int_equal(gkf_xid(fx.m, gpu, xid), 0);
	for (int i = 0; i < 1000; i++) {
		gk_snapshot_free(snap);
		snap = NULL;
		assert_int_equal(gk_watch_next(gk, &snap), 0);
		m = snap->devices[gpu].m;
		if (m[GK_M_XID_COUNT].v > before)
			break;
	}
	assert_int_equal(m[GK_M_XID_COUNT].v, before + 1);
	assert_int_equal(m[GK_M_XID_LAST].v, xid);
	assert_int_equal(m[GK_M_XID_TIME].why, GK_PRESENT);
	assert_true(m[GK_M_XID_TIME].v >= begin);
	assert_true(m[GK_M_XID_TIME].v <= (int64_t)gk_wall_ns());
}

/* The last test, because the listener ends up to a second after it. */
static void xids_come_by_themselves(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		await_xids(i, 0);
	assert_int_equal(gkf_xid(fx.m, 2, 13), 0);
	await_xids(2, 1);
	assert_int_equal(snap->devices[2].m[GK_M_XID_LAST].v, 13);
	assert_int_equal(snap->devices[1].m[GK_M_XID_COUNT].v, 0);
	/* Lost and back again. */
	assert_int_equal(gkf_fault_begin(fx.m, 2, GKF_FAULT_LOST, 0), 0);
	while (take()->devices[2].health != GK_HEALTH_LOST)
		;
	assert_int_equal(gkf_xid(fx.m, 1, 13), 0);
	await_xids(1, 1);
	assert_int_equal(gkf_fault_end(fx.m, 2, GKF_FAULT_BIT(GKF_FAULT_LOST)),
			 0);
	while (take()->devices[2].health != GK_HEALTH_OK)
		;
	for (int64_t n = snap->devices[2].m[GK_M_XID_COUNT].v, i = 0;
	     snap->devices[2].m[GK_M_XID_COUNT].v == n; i++) {
		assert_true(i < 20);
		assert_int_equal(gkf_xid(fx.m, 2, 13), 0);
		gk_sleep_until(gk_mono_ns() + 200 * GK_NS_PER_MS);
		take();
	}
	check_watched_xid(1, 31);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(a_detail_that_is_set_is_read),
	    T(every_detail_has_a_value_or_a_reason),
	    T(links_are_those_of_the_machine),
	    T(ways_are_the_same_to_and_fro),
	    T(a_lost_gpu_has_its_place_still),
	    cmocka_unit_test_setup_teardown(xids_come_by_themselves,
					    setup_events, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
