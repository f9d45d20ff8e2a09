/* Tests of format/state, owners and model: what a GPU is, whose its memory. */
#include "format/fixture.h"
#include "unit.h"

#include "format/model.h"
#include "format/owners.h"
#include "format/state.h"

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
	assert_state("idle", "idle for 2m, 8 GiB held");
	assert_true(state_of(90, 12).taken);
	assert_string_equal(state_of(90, 12).words, "idle 2m");
}

/* Two GPUs that have told no UUID are two; each is the same when it does. */
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
	/* Of what was not read there is nothing to remember. */
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

static void see_after(uint64_t seconds)
{
	f.snap.mono_ns += seconds * SECOND_NS;
	f.devices[0].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
	gk_seen_take(&seen, &f.snap);
}

/* From the snapshot on in which the driver first said so, until it ends. */
static void what_is_held_back_says_since_when(void **state)
{
	(void)state;
	begin();
	f.devices[0].m[GK_M_THROTTLE] = present(4);
	see_after(1);
	assert_state("held", "power cap");
	see_after(70);
	assert_state("held", "power cap for 1m");
	f.snap.mono_ns -= 100 * SECOND_NS; /* a frame of before */
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

/* With one user it is the processes that are told apart, with more the users.
 */
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
	    cmocka_unit_test(what_is_not_told_is_not_idle),
	    cmocka_unit_test(an_alert_ends_after_ten_minutes),
	    cmocka_unit_test(why_names_the_xid),
	    cmocka_unit_test(owners_are_processes_or_users),
	    cmocka_unit_test(models_stay_different),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
