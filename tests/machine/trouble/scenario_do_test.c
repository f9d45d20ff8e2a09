/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_do_test.c - checks steps of each kind: their effects on a machine,
 * and the GPUs that refuse them.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/array.h"
#include "base/err.h"
#include "base/units.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/slot.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/ecc.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/process/account.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/gate.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/store/scenario_table.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/rule.h"
#include "machine/trouble/scenario.h"

static struct fixture fx;

/* An A100 that can be split and a board of Volta's generation that cannot. */
static int setup(void **state)
{
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .seed = 7, .frozen = true};

	(void)state;
	profiles[1].mig = -1;
	profiles[1].compute_major = 7;
	profiles[1].compute_minor = 0;
	fixture_open_spec(&fx, &spec);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/*
 * Does a step as a scenario does: under the lock, in the thread that applies
 * it.
 */
static int do_step(enum gkf_step_kind kind, unsigned device, uint32_t number,
		   int64_t argument, const char *text)
{
	const struct gkf_step step = {.kind = kind,
				      .device = device,
				      .number = number,
				      .argument = argument};
	int r;

	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_apply_at(fx.m, gkf_machine_ns(fx.m));
	r = gkf_scenario_do(fx.m, &step, text);
	gkf_apply_end(fx.m);
	gkf_unlock(fx.m);
	return r;
}

static int64_t value(unsigned device, enum gkf_value which)
{
	int64_t value = -1;

	gkf_value_get(fx.m, device, which, &value);
	return value;
}

static void a_step_must_be_of_something_there(void **state)
{
	static const struct {
		unsigned kind, device, number;
		int err;
	} cases[] = {
	    {GKF_STEP_NOTE, GKF_STEP_NO_DEVICE, 0, 0},
	    {GKF_STEP_NOTE, 2, 0, 0},
	    {GKF_STEP_KINDS, 0, 0, GK_ERR_RANGE},
	    {UINT32_MAX, 0, 0, GK_ERR_RANGE},
	    {GKF_STEP_SET, 2, GKF_V_POWER, GK_ERR_RANGE},
	    {GKF_STEP_SET, GKF_STEP_NO_DEVICE, GKF_V_POWER, GK_ERR_RANGE},
	    {GKF_STEP_SET, 1, GKF_V_COUNT, GK_ERR_RANGE},
	    {GKF_STEP_FAULT, 2, GKF_FAULT_LOST, GK_ERR_RANGE},
	    {GKF_STEP_FAULT, 1, GKF_FAULT_COUNT, GK_ERR_RANGE},
	    {GKF_STEP_FAULT, 1, GKF_FAULT_INFOROM, 0},
	    {GKF_STEP_MEND, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_XID, 2, 31, GK_ERR_RANGE},
	    {GKF_STEP_XID, 1, 9, GK_ERR_RANGE},
	    {GKF_STEP_ECC, 2, 2, GK_ERR_RANGE},
	    {GKF_STEP_RESET, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_MACHINE_FAULT, 2, GKF_MACHINE_FAULT_COUNT, GK_ERR_RANGE},
	    {GKF_STEP_MACHINE_FAULT, 2, 0, 0},
	    {GKF_STEP_RULE, 2, 5, 0},
	    {GKF_STEP_RULE, 2, GKF_FUNCTIONS_MAX, GK_ERR_RANGE},
	    {GKF_STEP_RULE_DROP, 2, 5, 0},
	    {GKF_STEP_MIG_MODE, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_MIG_MODE, 1, 0, GK_ERR_NOT_SUPPORTED},
	    {GKF_STEP_MIG_CREATE, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_MIG_CREATE, 1, 0, GK_ERR_NOT_SUPPORTED},
	    {GKF_STEP_MIG_DESTROY, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_MIG_DESTROY, 0, 0, GK_ERR_NOT_FOUND},
	    {GKF_STEP_MIG_DESTROY, 0, UINT32_MAX, 0},
	    {GKF_STEP_PLACE, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_PLACE, 0, 0, GK_ERR_NOT_FOUND},
	    {GKF_STEP_MEMORY, 2, 0, GK_ERR_RANGE},
	    {GKF_STEP_MEMORY, 0, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(do_step(cases[i].kind, cases[i].device,
					 cases[i].number, 0, ""),
				 cases[i].err);
}

static void values_faults_and_errors(void **state)
{
	(void)state;
	assert_int_equal(do_step(GKF_STEP_SET, 1, GKF_V_POWER, 9000, ""), 0);
	assert_int_equal(value(1, GKF_V_POWER), 9000);
	assert_int_equal(do_step(GKF_STEP_SET, 1, GKF_V_PSTATE, 16, ""),
			 GK_ERR_RANGE);
	/* The last value of all. */
	assert_int_equal(do_step(GKF_STEP_SET, 1, GKF_V_COUNT - 1, 1, ""), 0);
	assert_int_equal(value(1, GKF_V_COUNT - 1), 1);
	assert_int_equal(do_step(GKF_STEP_FAULT, 1, GKF_FAULT_PCIE, 0x104, ""),
			 0);
	assert_int_equal(gkf_fault_argument(fx.m, 1, GKF_FAULT_PCIE), 0x104);
	assert_int_equal(do_step(GKF_STEP_XID, 1, 62, 0, ""), 0);
	assert_true(gkf_fault_active(fx.m, 1, GKF_FAULT_ENGINE));
	assert_int_equal(do_step(GKF_STEP_MEND, 1, 0,
				 (int64_t)GKF_FAULT_BIT(GKF_FAULT_PCIE), ""),
			 0);
	assert_false(gkf_fault_active(fx.m, 1, GKF_FAULT_PCIE));
	assert_true(gkf_fault_active(fx.m, 1, GKF_FAULT_ENGINE));
	assert_int_equal(do_step(GKF_STEP_MEND, 1, 0, -1, ""), 0);
	assert_false(gkf_fault_active(fx.m, 1, GKF_FAULT_ENGINE));
	assert_int_equal(
	    do_step(GKF_STEP_ECC, 0, GKF_ECC_SECDED << 16 | GKF_ECC_L2, 3, ""),
	    0);
	assert_int_equal(do_step(GKF_STEP_ECC, 0,
				 GKF_ECC_CORRECTED << 16 | GKF_ECC_DRAM, 5, ""),
			 0);
	assert_int_equal(gkf_ecc_sum(fx.m, 0, GKF_ECC_VOLATILE,
				     GKF_ECC_BIT(GKF_ECC_L2),
				     GKF_ECC_BIT(GKF_ECC_SECDED)),
			 3);
	assert_int_equal(gkf_ecc_sum(fx.m, 0, GKF_ECC_VOLATILE,
				     GKF_ECC_BIT(GKF_ECC_DRAM),
				     GKF_ECC_BIT(GKF_ECC_CORRECTED)),
			 5);
	assert_int_equal(
	    gkf_ecc_sum(fx.m, 0, GKF_ECC_VOLATILE, GKF_ECC_ALL_LOCATIONS, 7),
	    8);
}

static void faults_of_the_machine_and_rules(void **state)
{
	const int last = GKF_MACHINE_FAULT_COUNT - 1;
	struct gkf_rule_spec spec;
	uint64_t calls, failed;
	unsigned rules = 0;

	(void)state;
	assert_int_equal(do_step(GKF_STEP_MACHINE_FAULT, GKF_STEP_NO_DEVICE,
				 (uint32_t)last, 1, ""),
			 0);
	assert_int_equal(atomic_load(&fx.file->faults), 1U << last);
	assert_int_equal(do_step(GKF_STEP_MACHINE_FAULT, GKF_STEP_NO_DEVICE,
				 (uint32_t)last, 0, ""),
			 0);
	assert_int_equal(atomic_load(&fx.file->faults), 0);
	assert_int_equal(do_step(GKF_STEP_RULE, GKF_STEP_NO_DEVICE, 30, 999,
				 "1f 12 34 500000"),
			 0);
	assert_true(gkf_rule_read(fx.m, 0, &spec, &calls, &failed));
	assert_int_equal(spec.gpus, 0x1f);
	assert_int_equal(spec.function, 30);
	assert_int_equal(spec.answer, 999);
	assert_int_equal(spec.after, 12);
	assert_int_equal(spec.times, 34);
	assert_int_equal(spec.seed, 7);
	assert_int_equal(spec.per_million, 500000);
	do_step(GKF_STEP_RULE, GKF_STEP_NO_DEVICE, 31, -1, "3 0 0 1000000");
	assert_int_equal(
	    do_step(GKF_STEP_RULE_DROP, GKF_STEP_NO_DEVICE, 30, 0, "f 0 0 0"),
	    0);
	assert_true(gkf_rule_read(fx.m, 0, &spec, &calls, &failed));
	assert_int_equal(spec.gpus, 0x10);
	assert_int_equal(do_step(GKF_STEP_RULE_DROP, GKF_STEP_NO_DEVICE,
				 UINT32_MAX, 0, "ffffffffffffffff 0 0 0"),
			 0);
	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		rules += gkf_rule_read(fx.m, i, &spec, &calls, &failed);
	assert_int_equal(rules, 0);
}

/* The profiles of the MIG devices of GPU 0, by index; '-' is a hole. */
static void expect_mig(const char *expected)
{
	struct gkf_mig_ci ci;
	struct gkf_mig_gi gi;
	char text[64] = "";

	for (unsigned i = 0; i < GKF_MIG_MAX; i++) {
		unsigned slices = 0;

		if (!gkf_mig_by_index(fx.m, 0, i, &ci) &&
		    !gkf_mig_gi_read(fx.m, 0, ci.gi, &gi))
			slices = gi.profile->memory_slices;
		snprintf(text + i, sizeof text - i, "%u", slices);
	}
	assert_string_equal(text, expected);
}

static unsigned count_gis(void)
{
	struct gkf_mig_gi gi;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_MIG_GIS; i++)
		n += !gkf_mig_gi_read(fx.m, 0, i, &gi);
	return n;
}

static int create(const char *layout)
{
	return do_step(GKF_STEP_MIG_CREATE, 0, 0, 0, layout);
}

static int destroy(uint32_t index)
{
	return do_step(GKF_STEP_MIG_DESTROY, 0, index, 0, "");
}

static void gpus_are_split_and_merged(void **state)
{
	(void)state;
	assert_int_equal(do_step(GKF_STEP_MIG_MODE, 0, 0, 1, ""), 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	assert_int_equal(do_step(GKF_STEP_MIG_MODE, 0, 0, 0, ""), 0);
	assert_int_equal(gkf_mig_mode(fx.m, 0), 0);
	assert_int_equal(create("3g.40gb+2g.20gb+1g.10gb"), 0);
	expect_mig("4210000");
	assert_int_equal(destroy(1), 0);
	expect_mig("4010000");
	assert_int_equal(count_gis(), 2);
	assert_int_equal(destroy(1), GK_ERR_NOT_FOUND);
	assert_int_equal(create("1g.10gb"), 0);
	expect_mig("4110000");
	assert_int_equal(do_step(GKF_STEP_MIG_MODE, 0, 0, 0, ""),
			 GK_ERR_IN_USE);
	assert_int_equal(create("7g.80gb"), GK_ERR_NO_SPACE);
	assert_int_equal(destroy(UINT32_MAX), 0);
	expect_mig("0000000");
	assert_int_equal(count_gis(), 0);
	assert_int_equal(create("1g.10gb+1g.10gb+1g.10gb+1g.10gb+1g.10gb+"
				"1g.10gb+1g.10gb"),
			 0);
	expect_mig("1111111");
	assert_int_equal(destroy(6), 0);
	expect_mig("1111110");
	assert_int_equal(destroy(UINT32_MAX), 0);
	assert_int_equal(count_gis(), 0);
}

/* A GPU instance is removed with the last of its compute instances. */
static void instances_with_others_in_them_stay(void **state)
{
	(void)state;
	assert_int_equal(create("3g.40gb(2c+1c)"), 0);
	expect_mig("4400000");
	assert_int_equal(destroy(0), 0);
	assert_int_equal(count_gis(), 1);
	expect_mig("0400000");
	assert_int_equal(destroy(1), 0);
	assert_int_equal(count_gis(), 0);
	/* Empty ones are removed with all others. */
	assert_int_equal(create("3g.40gb()+1g.10gb"), 0);
	assert_int_equal(count_gis(), 2);
	assert_int_equal(destroy(UINT32_MAX), 0);
	assert_int_equal(count_gis(), 0);
}

/* A process of the load with this number. */
static unsigned attach(unsigned device, uint32_t load)
{
	const struct gkf_wave wave = {.kind = GKF_WAVE_IDLE,
				      .load = load,
				      .start_bin = 50,
				      .stop_bin = 100};
	unsigned slot;

	assert_int_equal(gkf_attach(fx.m, device, GKF_COMPUTE, &wave, &slot),
			 0);
	return slot;
}

static uint64_t bytes_of(unsigned slot)
{
	return atomic_load(&fx.file->slot[slot].bytes);
}

static bool note_peak(void *data, const struct gkf_account *account)
{
	uint64_t *peak = data;

	if (*peak < account->peak)
		*peak = account->peak;
	return true;
}

static void memory_is_that_of_all_processes_of_a_load(void **state)
{
	unsigned own = attach(0, 3), too = attach(0, 3), other = attach(0, 4),
		 away = attach(1, 3);
	uint64_t peak = 0;

	(void)state;
	gkf_value_set(fx.m, 0, GKF_V_ACCOUNTING, 1);
	assert_int_equal(do_step(GKF_STEP_MEMORY, 0, 3, 5 * GIB, ""), 0);
	assert_int_equal(bytes_of(own), 5 * GIB);
	assert_int_equal(bytes_of(too), 5 * GIB);
	assert_int_equal(bytes_of(other), 0);
	assert_int_equal(bytes_of(away), 0);
	assert_int_equal(do_step(GKF_STEP_MEMORY, 0, 3, 2 * GIB, ""), 0);
	assert_int_equal(bytes_of(own), 2 * GIB);
	gkf_machine_age(fx.m, 60 * GKF_BIN_NS);
	gkf_accounts_each(fx.m, 0, note_peak, &peak);
	assert_int_equal(peak, 5 * GIB);
}

static uint32_t place_of(unsigned slot)
{
	return fx.file->slot[slot].instance;
}

static int place(uint32_t load, int64_t index)
{
	return do_step(GKF_STEP_PLACE, 0, load, index, "");
}

static void a_load_comes_into_its_mig_device(void **state)
{
	unsigned own = attach(0, 3), other = attach(0, 4), away = attach(1, 3);
	struct gkf_mig_ci ci;

	(void)state;
	/* No process prevents splitting: their time has not come. */
	assert_int_equal(create("3g.40gb+1g.10gb"), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 1, &ci), 0);
	assert_int_equal(place(3, 1), 0);
	assert_int_equal(place_of(own), GKF_INSTANCE(ci.gi, ci.id));
	assert_int_equal(place_of(away), GKF_NO_INSTANCE);
	assert_int_equal(place_of(other), GKF_NO_INSTANCE);
	assert_int_equal(place(4, 0), 0);
	assert_int_equal(gkf_mig_by_index(fx.m, 0, 0, &ci), 0);
	assert_int_equal(place_of(other), GKF_INSTANCE(ci.gi, ci.id));
	/* Where there is no such instance, the process is in none. */
	assert_int_equal(place(3, 2), GK_ERR_NOT_FOUND);
	assert_int_equal(place_of(own), GKF_NO_INSTANCE);
	assert_int_equal(place(4, -1), GK_ERR_NOT_FOUND);
	assert_int_equal(place_of(other), GKF_NO_INSTANCE);
	assert_int_equal(place(3, GKF_MIG_MAX), GK_ERR_NOT_FOUND);
	assert_int_equal(place(3, 1LL << 32), GK_ERR_NOT_FOUND);
}

static void a_reset_mends_settles_and_forgets(void **state)
{
	static const enum gkf_value forgotten[] = {
	    GKF_V_LOCK_SM_MIN, GKF_V_LOCK_SM_MAX, GKF_V_LOCK_MEM_MIN,
	    GKF_V_APP_SM,      GKF_V_POWER_LIMIT, GKF_V_COMPUTE_MODE,
	    GKF_V_SM_OFFSET,   GKF_V_POWER_MIZER};
	struct gkf_device *dev = &fx.file->device[0];
	struct gkf_ecc_rows rows;

	(void)state;
	for (size_t i = 0; i < COUNT(forgotten); i++) {
		int64_t min, max;

		assert_true(gkf_value_range(fx.m, 0, forgotten[i], &min, &max));
		assert_int_equal(gkf_value_set(fx.m, 0, forgotten[i], max), 0);
	}
	gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 77);
	gkf_value_set(fx.m, 0, GKF_V_ECC_PENDING, 0);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 1);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_THERMAL, 0);
	assert_int_equal(value(0, GKF_V_ECC_MODE), 1);
	assert_int_equal(do_step(GKF_STEP_RESET, 0, 0, 0, ""), 0);
	for (size_t i = 0; i < COUNT(forgotten); i++)
		assert_true(atomic_load(&dev->set[forgotten[i]]) == GKF_UNSET);
	assert_int_equal(value(0, GKF_V_TEMPERATURE), 77);
	assert_int_equal(value(0, GKF_V_ECC_MODE), 0);
	assert_true(atomic_load(&dev->set[GKF_V_ECC_PENDING]) == GKF_UNSET);
	assert_false(gkf_fault_active(fx.m, 0, GKF_FAULT_ECC));
	assert_true(gkf_fault_active(fx.m, 0, GKF_FAULT_THERMAL));
	gkf_ecc_rows(fx.m, 0, &rows);
	assert_int_equal(rows.pending[GKF_ECC_BY_UNCORRECTED], 0);
	assert_int_equal(rows.active[GKF_ECC_BY_UNCORRECTED], 1);
	/* A mode without a pending change stays as it is. */
	gkf_value_set(fx.m, 0, GKF_V_ECC_MODE, 1);
	assert_int_equal(do_step(GKF_STEP_RESET, 0, 0, 0, ""), 0);
	assert_int_equal(value(0, GKF_V_ECC_MODE), 1);
}

static void a_reset_ends_what_it_advised(void **state)
{
	uint64_t number;
	struct gkf_event event;

	(void)state;
	gkf_event_interest(fx.m, nvmlEventTypeGpuRecoveryAction);
	gkf_ecc_error(fx.m, 0, GKF_ECC_SECDED, GKF_ECC_DRAM, 1);
	number = gkf_event_last(fx.m);
	assert_int_equal(do_step(GKF_STEP_RESET, 0, 0, 0, ""), 0);
	assert_true(gkf_event_next(fx.m, &number, &event));
	assert_int_equal(event.type, nvmlEventTypeGpuRecoveryAction);
	assert_int_equal(event.device, 0);
	assert_false(gkf_event_next(fx.m, &number, &event));
	assert_int_equal(do_step(GKF_STEP_RESET, 0, 0, 0, ""), 0);
	assert_false(gkf_event_next(fx.m, &number, &event));
}

/* After a reset GPU 0 is split only if its pending mode says so. */
static void a_reset_merges_what_was_split(void **state)
{
	(void)state;
	assert_int_equal(create("3g.40gb+1g.10gb"), 0);
	assert_int_equal(do_step(GKF_STEP_RESET, 0, 0, 0, ""), 0);
	assert_int_equal(count_gis(), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    T(a_step_must_be_of_something_there),
	    T(values_faults_and_errors),
	    T(faults_of_the_machine_and_rules),
	    T(gpus_are_split_and_merged),
	    T(instances_with_others_in_them_stay),
	    T(memory_is_that_of_all_processes_of_a_load),
	    T(a_load_comes_into_its_mig_device),
	    T(a_reset_mends_settles_and_forgets),
	    T(a_reset_ends_what_it_advised),
	    T(a_reset_merges_what_was_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
