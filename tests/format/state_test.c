/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_test.c - checks format/state, owners and model: a GPU's state, and who
 * holds its memory.
 */
#include "format/fixture.h"
#include "unit.h"

#include "format/model.h"
#include "format/owners.h"
#include "format/state.h"
#include "format/sums.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define GIB       ((int64_t)1 << 30)

static struct fixture f;
static struct gk_seen seen;

static void begin(void)
{
	fixture_init(&f, 2);
	seen = (struct gk_seen){0};
	f.snap.mono_ns += 1000 * SECOND_NS;
	for (int i = 0; i < 2; i++)
		f.devices[i].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
	f.devices[0].m[GK_M_GPU_UTIL] = present(0);
	f.devices[0].m[GK_M_THROTTLE] = present(0);
	f.devices[0].m[GK_M_TEMP] = present(40);
	gk_seen_take(&seen, &f.snap);
}

static struct gk_state state_of(int hot, int width)
{
	return gk_state_of(&seen, &f.snap, &f.devices[0],
			   (struct gk_state_options){hot, width});
}

static void assert_state(const char *name, const char *words)
{
	struct gk_state s = state_of(90, 40);

	assert_string_equal(gk_state_name(s.kind), name);
	assert_string_equal(s.words, words);
}

static void see_after(uint64_t seconds)
{
	f.snap.mono_ns += seconds * SECOND_NS;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
	gk_seen_take(&seen, &f.snap);
}

static void what_is_held_but_idle_says_since_when(void **state)
{
	(void)state;
	begin();
	assert_state("idle", "idle");
	assert_false(state_of(90, 40).taken);
	fixture_add_process(&f, 0, 10, "python")->m[GK_PM_GPU_MEM] =
	    present(8 * GIB);
	f.devices[0].process_count = 1;
	f.devices[0].m[GK_M_MEM_USED] = present(8 * GIB);
	f.snap.mono_ns += 125 * SECOND_NS;
	for (int i = 0; i < 2; i++)
		f.devices[i].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
	gk_seen_take(&seen, &f.snap);
	/* It may have been idle for long before anybody looked. */
	assert_state("idle", "idle for at least 2m, 8 GiB held");
	assert_true(state_of(90, 12).taken);
	assert_string_equal(state_of(90, 12).words, "idle 2m+");
	f.devices[0].m[GK_M_GPU_UTIL] = present(50);
	see_after(1);
	f.devices[0].m[GK_M_GPU_UTIL] = present(0);
	see_after(1);
	see_after(125);
	assert_state("idle", "idle for 2m, 8 GiB held");
	assert_string_equal(state_of(90, 12).words, "idle 2m");
}

/*
 * Two GPUs without a known UUID are two; each is the same when its UUID is
 * known.
 */
static void who_has_told_no_uuid_is_remembered_alone(void **state)
{
	char uuid[GK_NAME_MAX];

	(void)state;
	begin();
	strcpy(uuid, f.devices[0].uuid);
	for (int i = 0; i < 2; i++)
		*f.devices[i].uuid = '\0';
	f.devices[1].m[GK_M_ECC_UNCORRECTED] = present(7);
	seen = (struct gk_seen){0};
	gk_seen_take(&seen, &f.snap);
	assert_int_equal(seen.count, 2);
	assert_state("idle", "idle");
	f.devices[0].m[GK_M_ECC_UNCORRECTED] = present(2);
	gk_seen_take(&seen, &f.snap);
	strcpy(f.devices[0].uuid, uuid);
	gk_seen_take(&seen, &f.snap);
	assert_state("alert", "ECC 2");
	assert_int_equal(seen.count, 2);
	/* There is nothing to remember of what was not read. */
	seen = (struct gk_seen){0};
	f.devices[0].read_ns[GK_TIER_MEDIUM] = 0;
	f.devices[1].health = GK_HEALTH_LOST;
	gk_seen_take(&seen, &f.snap);
	assert_int_equal(seen.count, 0);
}

static void the_worst_is_told_first(void **state)
{
	(void)state;
	begin();
	f.devices[0].m[GK_M_GPU_UTIL] = present(5);
	assert_state("busy", "busy");
	f.devices[0].m[GK_M_THROTTLE] = present(4);
	f.devices[0].m[GK_M_SM_CLOCK] = present(900000000);
	f.devices[0].m[GK_M_SM_CLOCK_MAX] = present(1000000000);
	assert_state("held", "power cap · clocks −10%");
	assert_false(state_of(90, 40).slight);
	f.devices[0].m[GK_M_SM_CLOCK] = present(910000000);
	assert_true(state_of(90, 40).slight);
	f.devices[0].m[GK_M_TEMP] = present(90);
	assert_state("hot", "hot 90 °C · clocks −9%");
	assert_int_equal(state_of(0, 40).kind, GK_STATE_HELD);
	f.devices[0].m[GK_M_ECC_UNCORRECTED] = present(3);
	gk_seen_take(&seen, &f.snap);
	assert_state("alert", "ECC 3");
	f.devices[0].m[GK_M_XID_LAST] = present(63);
	f.devices[0].m[GK_M_XID_TIME] = present((int64_t)f.snap.wall_ns);
	assert_state("alert", "Xid 63");
	f.devices[0].health = GK_HEALTH_STALE;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns - 6 * SECOND_NS;
	assert_state("stale", "stale for 6s");
	assert_string_equal(state_of(90, 23).words, "stale 6s");
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns - 10 * SECOND_NS;
	assert_state("hung", "hung for 10s");
	f.devices[0].health = GK_HEALTH_LOST;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns - 190 * SECOND_NS;
	assert_state("lost", "lost for 3m");
}

/* From the snapshot in which the driver first reported it, until it ends. */
static void what_is_held_back_says_since_when(void **state)
{
	(void)state;
	begin();
	f.devices[0].m[GK_M_THROTTLE] = present(4);
	see_after(1);
	assert_state("held", "power cap");
	see_after(70);
	assert_state("held", "power cap for 1m");
	f.snap.mono_ns -= 100 * SECOND_NS; /* an earlier frame */
	assert_state("held", "power cap");
	f.snap.mono_ns += 100 * SECOND_NS;
	f.devices[0].m[GK_M_THROTTLE] = present(0x80 | 4);
	see_after(1);
	see_after(2);
	assert_state("held", "power brake for 2s");
	f.devices[0].m[GK_M_THROTTLE] = present(0x20 | 4);
	f.devices[0].m[GK_M_TEMP] = present(91);
	f.devices[0].m[GK_M_SM_CLOCK] = present(500000000);
	f.devices[0].m[GK_M_SM_CLOCK_MAX] = present(1000000000);
	see_after(1);
	assert_state("hot", "hot 91 °C · clocks −50%");
	see_after(50);
	assert_state("hot", "hot 91 °C for 50s · clocks −50%");
	assert_string_equal(state_of(0, 33).words, "hot 91 °C · clocks −50%");
	assert_string_equal(state_of(0, 12).words, "hot 91°");
	f.devices[0].m[GK_M_THROTTLE] = present(0);
	see_after(1);
	f.devices[0].m[GK_M_THROTTLE] = present(0x20);
	see_after(1);
	assert_state("hot", "hot 91 °C · clocks −50%");
}

/* What was so in the first snapshot may have begun long before. */
static void what_was_so_at_first_has_lasted_at_least(void **state)
{
	(void)state;
	begin();
	seen = (struct gk_seen){0};
	f.devices[0].m[GK_M_THROTTLE] = present(0x20);
	f.devices[0].m[GK_M_TEMP] = present(91);
	see_after(1);
	see_after(14);
	assert_state("hot", "hot 91 °C for at least 14s");
	f.devices[0].m[GK_M_THROTTLE] = present(0x80);
	f.devices[0].m[GK_M_TEMP] = present(40);
	see_after(1);
	see_after(3);
	assert_state("held", "power brake for 3s");
}

/* Each fault of a GPU that answers, whatever else it does. */
static const struct {
	enum gk_metric metric;
	int64_t value;
	enum gk_metric also; /* 0: none */
	int64_t also_value;
	const char *name, *words, *brief;
} wrongs[] = {
    {GK_M_RECOVERY_ACTION, 2, 0, 0, "fault", "node must be rebooted",
     "reboot due"},
    {GK_M_ROWS_FAILED, 1, 0, 0, "fault", "memory row not replaced",
     "bad memory"},
    {GK_M_INFOROM_VALID, 0, 0, 0, "fault", "infoROM is corrupted", "bad ROM"},
    {GK_M_RECOVERY_ACTION, 4, 0, 0, "fault", "must drain, then reset",
     "reset due"},
    {GK_M_ROWS_PENDING, 1, 0, 0, "fault", "reset due: memory row", "reset due"},
    {GK_M_RETIRED_PENDING, 1, 0, 0, "fault", "reset due: memory pages",
     "reset due"},
    {GK_M_REPAIR_CHANNEL, 1, 0, 0, "fault", "reset due: repair", "reset due"},
    {GK_M_REPAIR_TPC, 1, 0, 0, "fault", "reset due: repair", "reset due"},
    {GK_M_RECOVERY_ACTION, 1, 0, 0, "fault", "must be reset", "reset due"},
    {GK_M_RECOVERY_ACTION, 3, 0, 0, "fault", "peer-to-peer must end",
     "drain P2P"},
    {GK_M_RECOVERY_ACTION, 5, 0, 0, "fault", "IMEX domain is down",
     "IMEX down"},
    {GK_M_FAN, 0, GK_M_TEMP, 80, "fault", "fans stand still", "fan stuck"},
    {GK_M_PCIE_WIDTH, 4, GK_M_PCIE_WIDTH_MAX, 16, "degraded",
     "PCIe lanes 4 of 16", "PCIe slow"},
    {GK_M_PCIE_GEN, 1, GK_M_PCIE_GEN_MAX, 5, "degraded",
     "PCIe generation 1 of 5", "PCIe slow"},
};

static void break_gpu(size_t i)
{
	begin();
	f.devices[0].m[GK_M_GPU_UTIL] = present(90);
	f.devices[0].m[GK_M_PSTATE] = present(0);
	f.devices[0].m[wrongs[i].metric] = present(wrongs[i].value);
	if (wrongs[i].also)
		f.devices[0].m[wrongs[i].also] = present(wrongs[i].also_value);
}

/* However long ago it began, and both for earlier and for new observers. */
static void what_must_be_mended_is_never_busy(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
		break_gpu(i);
		seen = (struct gk_seen){0};
		assert_state(wrongs[i].name, wrongs[i].words);
		assert_string_equal(state_of(90, 12).words, wrongs[i].brief);
		assert_true(strlen(wrongs[i].brief) <= 10);
		assert_true(strlen(wrongs[i].words) <= 24);
		see_after(1);
		see_after(7200);
		assert_string_equal(gk_state_name(state_of(90, 40).kind),
				    wrongs[i].name);
		assert_string_equal(state_of(90, 24).words, wrongs[i].words);
		assert_int_equal(strcmp(wrongs[i].name, "fault") == 0,
				 gk_state_fails(state_of(90, 40).kind));
	}
}

/* The fans of a cool GPU may stop, and the link of an idle one may rest. */
static void what_saves_power_is_well(void **state)
{
	(void)state;
	begin();
	f.devices[0].m[GK_M_FAN] = present(0);
	f.devices[0].m[GK_M_PSTATE] = present(8);
	f.devices[0].m[GK_M_PCIE_GEN] = present(1);
	f.devices[0].m[GK_M_PCIE_GEN_MAX] = present(5);
	f.devices[0].m[GK_M_PCIE_WIDTH] = present(4);
	f.devices[0].m[GK_M_PCIE_WIDTH_MAX] = present(16);
	f.devices[0].m[GK_M_RECOVERY_ACTION] = present(0);
	f.devices[0].m[GK_M_ROWS_PENDING] = present(0);
	f.devices[0].m[GK_M_INFOROM_VALID] = present(1);
	assert_state("idle", "idle");
	f.devices[0].m[GK_M_PSTATE] = present(0);
	f.devices[0].m[GK_M_PCIE_GEN] = present(0);
	f.devices[0].m[GK_M_PCIE_WIDTH] = present(0);
	assert_state("idle", "idle");
}

/*
 * Otherwise a GPU that begins to work would seem to have its idle link for a
 * while.
 */
static void
links_are_read_with_the_p_state_that_they_are_judged_by(void **state)
{
	(void)state;
	assert_int_equal(gk_metrics[GK_M_PCIE_GEN].tier,
			 gk_metrics[GK_M_PSTATE].tier);
	assert_int_equal(gk_metrics[GK_M_PCIE_WIDTH].tier,
			 gk_metrics[GK_M_PSTATE].tier);
}

/*
 * The Xid that reported it is named beside it and goes away; the state stays.
 */
static void a_reset_outlasts_the_xid_that_asked_for_it(void **state)
{
	char why[GK_WHY_MAX];

	(void)state;
	begin();
	f.devices[0].m[GK_M_ROWS_PENDING] = present(1);
	f.devices[0].m[GK_M_XID_LAST] = present(63);
	f.devices[0].m[GK_M_XID_TIME] = present((int64_t)f.snap.wall_ns);
	see_after(1);
	assert_state("fault", "reset due: memory row · Xid 63");
	assert_non_null(strstr(gk_state_why(why, &f.snap, &f.devices[0]),
			       "at the next reset · Xid 63: "));
	f.snap.wall_ns += 601 * SECOND_NS;
	see_after(601);
	assert_state("fault", "reset due: memory row for 10m");
	f.devices[0].m[GK_M_ROWS_PENDING] = present(0);
	see_after(1);
	assert_state("idle", "idle");
}

static void an_error_is_no_loss(void **state)
{
	static const int answers[] = {4, 10, 16, 999};
	struct gk_sums sums;

	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		begin();
		f.devices[0].health = GK_HEALTH_ERROR;
		f.devices[0].nvml_error = answers[i];
		f.devices[1].health = GK_HEALTH_LOST;
		sums = gk_sums_of(&f.snap);
		assert_int_equal(sums.error, 1);
		assert_int_equal(sums.lost, 1);
		assert_string_equal(gk_state_name(state_of(90, 40).kind),
				    "error");
		assert_string_equal(state_of(90, 40).words, "in error");
	}
}

static void what_is_not_told_is_not_idle(void **state)
{
	(void)state;
	begin();
	f.devices[0].m[GK_M_GPU_UTIL].why = GK_ABSENT_NOT_SUPPORTED;
	assert_state("unknown", "load unknown");
}

static void an_alert_ends_after_ten_minutes(void **state)
{
	(void)state;
	begin();
	f.devices[0].m[GK_M_ECC_UNCORRECTED] = present(1);
	gk_seen_take(&seen, &f.snap);
	f.snap.mono_ns += 599 * SECOND_NS;
	assert_int_equal(state_of(0, 40).kind, GK_STATE_ALERT);
	f.snap.mono_ns += SECOND_NS;
	assert_int_not_equal(state_of(0, 40).kind, GK_STATE_ALERT);
}

static void why_names_the_xid(void **state)
{
	char why[GK_WHY_MAX];

	(void)state;
	begin();
	assert_string_equal(gk_state_why(why, &f.snap, &f.devices[0]), "");
	f.devices[0].health = GK_HEALTH_LOST;
	assert_string_equal(gk_state_why(why, &f.snap, &f.devices[0]),
			    "GPU is lost");
	f.devices[0].m[GK_M_XID_LAST] = present(79);
	assert_non_null(
	    strstr(gk_state_why(why, &f.snap, &f.devices[0]), "Xid 79: "));
}

/* With one user, processes are distinguished; with more, users. */
static void owners_are_processes_or_users(void **state)
{
	struct gk_owners owners = {0};
	struct gk_share shares[GK_SHARES];

	(void)state;
	begin();
	for (int i = 0; i < 2; i++) {
		struct gk_process *p =
		    fixture_add_process(&f, 0, 10 + i, "python");

		p->user = "ana";
		p->uid = 1000;
		p->name = i ? "late" : "early";
		p->start_ticks = (uint64_t)(5 + i);
		p->m[GK_PM_GPU_MEM] = present((1 + i) * GIB);
	}
	f.devices[0].m[GK_M_MEM_USED] = present(4 * GIB);
	gk_owners_take(&owners, &f.snap);
	assert_int_equal(gk_shares_of(&owners, &f.snap, 0, shares), 3);
	assert_string_equal(shares[0].name, "late");
	assert_int_equal(shares[0].owner, 1);
	assert_string_equal(shares[2].name, "driver");
	f.processes[1].user = "bob";
	f.processes[1].uid = 1001;
	gk_owners_take(&owners, &f.snap);
	assert_int_equal(gk_shares_of(&owners, &f.snap, 0, shares), 3);
	assert_string_equal(shares[0].name, "bob");
	assert_string_equal(shares[1].name, "ana");
	assert_int_equal(shares[1].bytes, GIB);
}

static void models_stay_different(void **state)
{
	char name[GK_NAME_MAX];

	(void)state;
	begin();
	assert_true(gk_one_model(&f.snap));
	strcpy(f.devices[0].name, "NVIDIA A100-SXM4-80GB");
	strcpy(f.devices[1].name, "NVIDIA A100-SXM4-40GB");
	assert_false(gk_one_model(&f.snap));
	assert_string_equal(gk_short_model(&f.snap, &f.devices[0], 5, name),
			    "A100-80GB");
	strcpy(f.devices[1].name, "Tesla T4");
	assert_string_equal(gk_short_model(&f.snap, &f.devices[0], 5, name),
			    "A100");
	assert_string_equal(gk_short_model(&f.snap, &f.devices[1], 5, name),
			    "T4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_held_but_idle_says_since_when),
	    cmocka_unit_test(who_has_told_no_uuid_is_remembered_alone),
	    cmocka_unit_test(the_worst_is_told_first),
	    cmocka_unit_test(what_is_held_back_says_since_when),
	    cmocka_unit_test(what_was_so_at_first_has_lasted_at_least),
	    cmocka_unit_test(what_must_be_mended_is_never_busy),
	    cmocka_unit_test(what_saves_power_is_well),
	    cmocka_unit_test(
		links_are_read_with_the_p_state_that_they_are_judged_by),
	    cmocka_unit_test(a_reset_outlasts_the_xid_that_asked_for_it),
	    cmocka_unit_test(an_error_is_no_loss),
	    cmocka_unit_test(what_is_not_told_is_not_idle),
	    cmocka_unit_test(an_alert_ends_after_ten_minutes),
	    cmocka_unit_test(why_names_the_xid),
	    cmocka_unit_test(owners_are_processes_or_users),
	    cmocka_unit_test(models_stay_different),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
