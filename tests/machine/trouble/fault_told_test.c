/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_told_test.c - checks what a broken GPU reports: Xids, events, advice
 * and counts.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "machine/file/device.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/ecc.h"
#include "machine/model/link.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/machine.h"
#include "machine/trouble/fault.h"

static struct fixture fx;
static uint64_t heard; /* the last event that was looked at */

/*
 * Two GPUs, one with a fan; the clock is stopped; all events are of interest.
 */
static int setup(void **state)
{
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .seed = 7, .frozen = true};

	(void)state;
	profiles[0].fans = 1;
	fixture_open_spec(&fx, &spec);
	gkf_event_interest(fx.m, ~0ULL);
	heard = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static const struct {
	uint64_t type;
	const char *name;
} types[] = {
    {nvmlEventTypeXidCriticalError, "xid"},
    {nvmlEventTypeGpuRecoveryAction, "advice"},
    {nvmlEventTypeGpuUnavailableError, "unavailable"},
    {nvmlEventTypeDoubleBitEccError, "double-bit"},
    {nvmlEventTypeSingleBitEccError, "single-bit"},
    {nvmlEventTypeSingleBitEccErrorStorm, "storm"},
    {nvmlEventTypeDramRetirementEvent, "retirement"},
    {nvmlEventTypeDramRetirementFailure, "retirement-failure"},
    {nvmlEventTypeNonFatalPoisonError, "poison"},
    {nvmlEventTypeFatalPoisonError, "fatal-poison"},
};

/*
 * Checks the events of GPU 1 since the last look: "xid 79, unavailable,
 * advice".
 */
static void expect_told(const char *expected)
{
	struct gkf_event event;
	struct gk_buf told = {0};

	while (gkf_event_next(fx.m, &heard, &event)) {
		const char *name = "other";

		assert_int_equal(event.device, 1);
		for (size_t i = 0; i < COUNT(types); i++)
			if (types[i].type == event.type)
				name = types[i].name;
		gk_buf_printf(&told, "%s%s", told.len ? ", " : "", name);
		if (event.data)
			gk_buf_printf(&told, " %u", (unsigned)event.data);
		if (event.instance != GKF_NO_INSTANCE)
			gk_buf_printf(&told, " of %x", event.instance);
	}
	assert_string_equal(told.data ? told.data : "", expected);
	gk_buf_free(&told);
}

static uint64_t xids(void)
{
	return atomic_load(&fx.file->device[1].fault.xids);
}

static void a_fault_is_told_when_it_begins(void **state)
{
	static const struct {
		enum gkf_fault fault;
		uint64_t argument;
		int xids;
		const char *told, *told_at_end;
	} cases[] = {
	    {GKF_FAULT_FALLEN, 0, 1, "xid 79, unavailable, advice", "advice"},
	    {GKF_FAULT_LOST, 0, 1, "xid 79, unavailable, advice", "advice"},
	    {GKF_FAULT_HANG, 0, 0, "advice", "advice"},
	    {GKF_FAULT_TIMEOUT, 5, 1, "xid 119, advice", "advice"},
	    {GKF_FAULT_NO_PERMISSION, 0, 0, "", ""},
	    {GKF_FAULT_ECC, 1, 2,
	     "double-bit, advice, xid 48, xid 63, retirement", "advice"},
	    {GKF_FAULT_REMAP_PENDING, 0, 1,
	     "single-bit, xid 63, retirement, advice", "advice"},
	    {GKF_FAULT_REMAP_FAILURE, 0, 1,
	     "xid 64, retirement-failure, advice", "advice"},
	    {GKF_FAULT_NVLINK, 3, 1, "xid 74, advice", "advice"},
	    {GKF_FAULT_PCIE, 0x101, 0, "", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t before = xids();

		assert_int_equal(
		    gkf_fault_begin(fx.m, 1, cases[i].fault, cases[i].argument),
		    0);
		expect_told(cases[i].told);
		assert_int_equal(xids() - before, cases[i].xids);
		assert_int_equal(gkf_fault_end(fx.m, 1, ~0ULL), 0);
		expect_told(cases[i].told_at_end);
		assert_int_equal(gkf_fault_recovery(fx.m, 1),
				 NVML_GPU_RECOVERY_ACTION_NONE);
	}
	assert_int_equal(atomic_load(&fx.file->device[0].fault.xids), 0);
}

static void an_xid_is_told_of_its_program_or_its_fault(void **state)
{
	static const struct {
		unsigned number;
		int fault; /* -1: none */
		const char *told;
	} cases[] = {
	    {13, -1, "xid 13"},
	    {92, -1, "xid 92, storm"},
	    {46, GKF_FAULT_ENGINE, "xid 46, advice"},
	    {48, GKF_FAULT_ECC,
	     "double-bit, advice, xid 48, xid 63, "
	     "retirement"},
	    {94, GKF_FAULT_ECC,
	     "double-bit, advice, xid 48, xid 94, poison, "
	     "xid 63, retirement"},
	    {95, GKF_FAULT_ECC,
	     "double-bit, advice, xid 48, xid 95, "
	     "fatal-poison, xid 63, retirement"},
	    {119, GKF_FAULT_ENGINE, "xid 119, advice"},
	    {79, GKF_FAULT_FALLEN, "xid 79, unavailable, advice"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t broken;

		assert_int_equal(gkf_xid(fx.m, 1, cases[i].number), 0);
		expect_told(cases[i].told);
		broken = atomic_load(&fx.file->device[1].fault.active);
		if (cases[i].fault < 0)
			assert_int_equal(broken, 0);
		else
			assert_true(broken >> cases[i].fault & 1);
		gkf_fault_end(fx.m, 1, ~0ULL);
		expect_told(cases[i].fault < 0 ? "" : "advice");
	}
	assert_int_equal(atomic_load(&fx.file->device[1].fault.last_xid), 79);
	assert_int_equal(gkf_xid(fx.m, 1, 9), GK_ERR_RANGE);
	assert_int_equal(gkf_xid(fx.m, 2, 13), GK_ERR_RANGE);
	assert_int_equal(gkf_xid(fx.m, 2, 48), GK_ERR_RANGE);
}

/* Without a spare row the next error is a failure again. */
static void errors_without_a_spare_row_are_failures(void **state)
{
	(void)state;
	assert_int_equal(gkf_fault_begin(fx.m, 1, GKF_FAULT_REMAP_FAILURE, 0),
			 0);
	expect_told("xid 64, retirement-failure, advice");
	assert_int_equal(gkf_fault_begin(fx.m, 1, GKF_FAULT_ECC, 1), 0);
	expect_told("double-bit, xid 48, xid 64, retirement-failure");
	assert_false(gkf_fault_active(fx.m, 1, GKF_FAULT_REMAP_PENDING));
}

static void xids_of_instances(void **state)
{
	const uint32_t instance = GKF_INSTANCE(0, 0);
	const char *part;

	(void)state;
	assert_int_equal(gkf_xid_in(fx.m, 1, 31, instance), GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_mig_layout(fx.m, 1, "7g.80gb", &part), 0);
	while (gkf_event_next(fx.m, &heard, &(struct gkf_event){0}))
		;
	assert_int_equal(gkf_xid_in(fx.m, 1, 31, instance), 0);
	expect_told("xid 31 of 0");
	assert_int_equal(gkf_xid_in(fx.m, 1, 31, GKF_NO_INSTANCE), 0);
	expect_told("xid 31");
	assert_int_equal(xids(), 2);
	assert_int_equal(gkf_xid_in(fx.m, 1, 31, GKF_INSTANCE(1, 0)),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_xid_in(fx.m, 1, 31, GKF_INSTANCE(0, 1)),
			 GK_ERR_NOT_FOUND);
	assert_int_equal(gkf_xid_in(fx.m, 1, 48, instance), GK_ERR_INVALID);
	assert_int_equal(gkf_xid_in(fx.m, 1, 79, instance), GK_ERR_INVALID);
	assert_int_equal(gkf_xid_in(fx.m, 1, 9, instance), GK_ERR_RANGE);
	assert_int_equal(gkf_xid_in(fx.m, 2, 31, instance), GK_ERR_RANGE);
	expect_told("");
}

static void a_fault_lasts_since_it_began(void **state)
{
	const _Atomic uint64_t *since = fx.file->device[1].fault.since_ns;

	(void)state;
	gkf_machine_age(fx.m, GK_NS_PER_S);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_NVLINK, 2);
	gkf_machine_age(fx.m, GK_NS_PER_S);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_NVLINK, 5);
	assert_int_equal(gkf_fault_argument(fx.m, 1, GKF_FAULT_NVLINK), 0x24);
	assert_int_equal(atomic_load(&since[GKF_FAULT_NVLINK]), GK_NS_PER_S);
	gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_NVLINK));
	assert_int_equal(gkf_fault_argument(fx.m, 1, GKF_FAULT_NVLINK), 0);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_NVLINK, 1);
	assert_int_equal(gkf_fault_argument(fx.m, 1, GKF_FAULT_NVLINK), 2);
	assert_int_equal(atomic_load(&since[GKF_FAULT_NVLINK]),
			 2 * GK_NS_PER_S);
}

static void an_argument_of_a_vandal_is_the_usual_one(void **state)
{
	static const struct {
		enum gkf_fault fault;
		uint64_t written, read;
	} cases[] = {
	    {GKF_FAULT_PCIE, 0x610, 0x610},
	    {GKF_FAULT_PCIE, 0x101, 0x101},
	    {GKF_FAULT_PCIE, 0x611, 0x101},
	    {GKF_FAULT_PCIE, 0x701, 0x101},
	    {GKF_FAULT_PCIE, 0x311, 0x101},
	    {GKF_FAULT_PCIE, 0x300, 0x101},
	    {GKF_FAULT_PCIE, 0x010, 0x101},
	    {GKF_FAULT_ECC, 1000000, 1000000},
	    {GKF_FAULT_ECC, 1000001, 1},
	    {GKF_FAULT_ECC, 0, 1},
	    {GKF_FAULT_LOST, 1, 0},
	    {GKF_FAULT_TIMEOUT, 3600000000000, 3600000000000},
	    {GKF_FAULT_TIMEOUT, 3600000000001, 1000000000},
	    {GKF_FAULT_NVLINK, ~0ULL, ~0ULL},
	};
	struct gkf_fault_state *s = &fx.file->device[1].fault;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		enum gkf_fault fault = cases[i].fault;

		atomic_store(&s->argument[fault], cases[i].written);
		atomic_store(&s->active, 0);
		assert_int_equal(gkf_fault_argument(fx.m, 1, fault), 0);
		atomic_store(&s->active, GKF_FAULT_BIT(fault));
		assert_true(gkf_fault_argument(fx.m, 1, fault) ==
			    cases[i].read);
	}
}

/*
 * Only parts that a board has can break: tries the bounds of its links, and one
 * beyond.
 */
static void a_board_breaks_in_what_it_has(void **state)
{
	static const struct {
		enum gkf_fault fault;
		uint64_t argument;
		int err;
	} cases[] = {
	    {GKF_FAULT_PCIE, 0x410, 0},
	    {GKF_FAULT_PCIE, 0x510, GK_ERR_NOT_SUPPORTED},
	    {GKF_FAULT_PCIE, 0x501, GK_ERR_NOT_SUPPORTED},
	    {GKF_FAULT_PCIE, 0x411, GK_ERR_RANGE},
	    {GKF_FAULT_NVLINK, 11, 0},
	    {GKF_FAULT_NVLINK, 12, GK_ERR_NOT_SUPPORTED},
	    {GKF_FAULT_NVLINK, 64, GK_ERR_RANGE},
	    {GKF_FAULT_FAN, 0, GK_ERR_NOT_SUPPORTED},
	    {GKF_FAULT_INFOROM, 0, 0},
	    {GKF_FAULT_ECC, 0, GK_ERR_RANGE},
	    {GKF_FAULT_ECC, 1000001, GK_ERR_RANGE},
	    {GKF_FAULT_LOST, 1, GK_ERR_RANGE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(
		    gkf_fault_begin(fx.m, 1, cases[i].fault, cases[i].argument),
		    cases[i].err);
		assert_int_equal(gkf_fault_active(fx.m, 1, cases[i].fault),
				 !cases[i].err);
		gkf_fault_end(fx.m, 1, ~0ULL);
	}
	gkf_value_set(fx.m, 1, GKF_V_ECC_MODE, 0);
	for (unsigned fault = GKF_FAULT_ECC; fault <= GKF_FAULT_REMAP_FAILURE;
	     fault++)
		assert_int_equal(gkf_fault_begin(fx.m, 1, (enum gkf_fault)fault,
						 gkf_faults[fault].usual),
				 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_fault_end(fx.m, 2, ~0ULL), GK_ERR_RANGE);
}

static int64_t value(enum gkf_value which)
{
	int64_t value = -1;

	gkf_value_get(fx.m, 1, which, &value);
	return value;
}

static void a_fault_dictates_values(void **state)
{
	static const struct {
		enum gkf_fault fault;
		uint64_t argument;
		enum gkf_value value;
		int64_t before, broken;
	} cases[] = {
	    {GKF_FAULT_THERMAL, 0, GKF_V_THERMAL_SLOWDOWN, 0, 1},
	    {GKF_FAULT_POWER_BRAKE, 0, GKF_V_POWER_BRAKE, 0, 1},
	    {GKF_FAULT_SLOWDOWN, 0, GKF_V_SLOWDOWN, 0, 1},
	    {GKF_FAULT_PCIE, 0x302, GKF_V_PCIE_GEN, 4, 3},
	    {GKF_FAULT_PCIE, 0x302, GKF_V_PCIE_WIDTH, 16, 2},
	};

	(void)state;
	gkf_value_set(fx.m, 1, GKF_V_PCIE_GEN, 4);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(value(cases[i].value), cases[i].before);
		gkf_fault_begin(fx.m, 1, cases[i].fault, cases[i].argument);
		assert_int_equal(value(cases[i].value), cases[i].broken);
		gkf_fault_end(fx.m, 1, ~0ULL);
		assert_int_equal(value(cases[i].value), cases[i].before);
	}
}

static void a_broken_fan_stands_still(void **state)
{
	int64_t speed = -1;

	(void)state;
	gkf_value_set(fx.m, 0, GKF_V_FAN, 60);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_FAN, 0), 0);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_FAN, &speed));
	assert_int_equal(speed, 0);
	assert_int_equal(gkf_fault_end(fx.m, 0, GKF_FAULT_BIT(GKF_FAULT_FAN)),
			 0);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_FAN, &speed));
	assert_int_equal(speed, 60);
}

/* A bad link counts each kind of error at its own rate. */
static void a_bad_link_counts_its_errors(void **state)
{
	static const struct {
		enum gkf_value value;
		int64_t in_a_minute;
	} cases[] = {
	    {GKF_V_PCIE_REPLAY, 360},    {GKF_V_PCIE_RECEIVER_ERRORS, 180},
	    {GKF_V_PCIE_BAD_TLP, 180},   {GKF_V_PCIE_LCRC, 180},
	    {GKF_V_PCIE_NAKS_SENT, 180}, {GKF_V_PCIE_RECOVERIES, 12},
	    {GKF_V_PCIE_BAD_DLLP, 0},
	};

	(void)state;
	gkf_fault_begin(fx.m, 1, GKF_FAULT_PCIE, 0x101);
	gkf_machine_age(fx.m, 60 * GK_NS_PER_S);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(value(cases[i].value), cases[i].in_a_minute);
	/* Counted bin by bin, the sums are the same. */
	for (unsigned i = 0; i < 360; i++) {
		gkf_machine_age(fx.m, GKF_BIN_NS + 1);
		value(GKF_V_PCIE_REPLAY);
	}
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(value(cases[i].value),
				 2 * cases[i].in_a_minute);
}

static void a_count_ends_at_its_greatest(void **state)
{
	(void)state;
	gkf_value_set(fx.m, 1, GKF_V_PCIE_REPLAY, UINT32_MAX - 3);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_PCIE, 0x101);
	gkf_machine_age(fx.m, 60 * GK_NS_PER_S);
	assert_int_equal(value(GKF_V_PCIE_REPLAY), UINT32_MAX);
	/* Another fault counts nothing. */
	gkf_fault_end(fx.m, 1, ~0ULL);
	gkf_value_set(fx.m, 1, GKF_V_PCIE_REPLAY, 5);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_THERMAL, 0);
	gkf_machine_age(fx.m, 60 * GK_NS_PER_S);
	assert_int_equal(value(GKF_V_PCIE_REPLAY), 5);
}

/* A fault damages memory, and its end repairs some of that. */
static void memory_is_damaged_and_repaired(void **state)
{
	struct gkf_ecc_rows rows;
	struct gkf_ecc *ecc = &fx.file->device[1].ecc;

	(void)state;
	gkf_fault_begin(fx.m, 1, GKF_FAULT_ECC, 3);
	assert_true(gkf_ecc_rows(fx.m, 1, &rows));
	assert_int_equal(rows.pending[GKF_ECC_BY_UNCORRECTED], 3);
	assert_int_equal(rows.pending[GKF_ECC_BY_CORRECTED], 0);
	assert_int_equal(value(GKF_V_ECC_UNCORRECTED), 3);
	gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_ECC));
	gkf_ecc_rows(fx.m, 1, &rows);
	assert_int_equal(rows.pending[GKF_ECC_BY_UNCORRECTED], 0);
	assert_int_equal(rows.active[GKF_ECC_BY_UNCORRECTED], 3);
	assert_int_equal(value(GKF_V_ECC_UNCORRECTED), 0);
	gkf_fault_end(fx.m, 1, ~0ULL);

	gkf_fault_begin(fx.m, 1, GKF_FAULT_REMAP_PENDING, 0);
	gkf_ecc_rows(fx.m, 1, &rows);
	assert_int_equal(rows.pending[GKF_ECC_BY_CORRECTED], 1);
	assert_int_equal(value(GKF_V_ECC_CORRECTED), 2);
	gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_REMAP_PENDING));
	gkf_ecc_rows(fx.m, 1, &rows);
	assert_int_equal(rows.pending[GKF_ECC_BY_CORRECTED], 0);
	assert_int_equal(rows.active[GKF_ECC_BY_CORRECTED], 1);

	gkf_fault_begin(fx.m, 1, GKF_FAULT_REMAP_FAILURE, 0);
	assert_int_equal(atomic_load(&ecc->failures), 1);
	assert_int_equal(atomic_load(&ecc->channel), 1);
	gkf_ecc_rows(fx.m, 1, &rows);
	assert_true(rows.failed);
	/* The end of another fault repairs nothing of that. */
	gkf_fault_begin(fx.m, 1, GKF_FAULT_THERMAL, 0);
	gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_THERMAL));
	assert_int_equal(atomic_load(&ecc->failures), 1);
	assert_true(gkf_fault_active(fx.m, 1, GKF_FAULT_REMAP_FAILURE));
	gkf_fault_end(fx.m, 1, GKF_FAULT_BIT(GKF_FAULT_REMAP_FAILURE));
	assert_int_equal(atomic_load(&ecc->failures), 0);
	assert_int_equal(atomic_load(&ecc->channel), 0);
}

/* Ending a fault that is not active repairs nothing either. */
static void only_what_is_broken_is_mended(void **state)
{
	struct gkf_ecc_rows rows;

	(void)state;
	gkf_ecc_error(fx.m, 1, GKF_ECC_SECDED, GKF_ECC_DRAM, 1);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_THERMAL, 0);
	assert_int_equal(gkf_fault_end(fx.m, 1, ~0ULL), 0);
	gkf_ecc_rows(fx.m, 1, &rows);
	assert_int_equal(rows.pending[GKF_ECC_BY_UNCORRECTED], 1);
}

static void a_cut_link_counts_its_recoveries(void **state)
{
	(void)state;
	gkf_fault_begin(fx.m, 1, GKF_FAULT_NVLINK, 3);
	assert_int_equal(gkf_link_error(fx.m, 1, 3, GKF_LINK_RECOVERY), 1);
	gkf_fault_begin(fx.m, 1, GKF_FAULT_NVLINK, 3);
	assert_int_equal(gkf_link_error(fx.m, 1, 3, GKF_LINK_RECOVERY), 2);
	assert_int_equal(gkf_link_error(fx.m, 1, 2, GKF_LINK_RECOVERY), 0);
}

/* Sleepers wake whenever a fault begins or ends. */
static void changes_wake_who_sleeps(void **state)
{
	uint32_t word = gkf_event_word(fx.m);

	(void)state;
	gkf_fault_begin(fx.m, 1, GKF_FAULT_THERMAL, 0);
	assert_int_not_equal(gkf_event_word(fx.m), word);
	word = gkf_event_word(fx.m);
	gkf_fault_end(fx.m, 1, ~0ULL);
	assert_int_not_equal(gkf_event_word(fx.m), word);
	word = gkf_event_word(fx.m);
	gkf_machine_fault_set(fx.m, GKF_MACHINE_FAULT_IRQ_ISSUE, true);
	assert_int_not_equal(gkf_event_word(fx.m), word);
}

static void faults_of_the_machine_come_and_go(void **state)
{
	(void)state;
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++) {
		enum gkf_machine_fault f = (enum gkf_machine_fault)i;

		assert_int_equal(gkf_machine_fault_set(fx.m, f, true), 0);
		assert_int_equal(atomic_load(&fx.file->faults),
				 (2ULL << i) - 1);
		assert_true(gkf_machine_fault_active(fx.m, f));
	}
	assert_int_equal(gkf_machine_fault_set(
			     fx.m, GKF_MACHINE_FAULT_DRIVER_NOT_LOADED, false),
			 0);
	assert_false(gkf_machine_fault_active(
	    fx.m, GKF_MACHINE_FAULT_DRIVER_NOT_LOADED));
	assert_true(
	    gkf_machine_fault_active(fx.m, GKF_MACHINE_FAULT_DRIVER_MISMATCH));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    T(a_fault_is_told_when_it_begins),
	    T(an_xid_is_told_of_its_program_or_its_fault),
	    T(errors_without_a_spare_row_are_failures),
	    T(xids_of_instances),
	    T(a_fault_lasts_since_it_began),
	    T(an_argument_of_a_vandal_is_the_usual_one),
	    T(a_board_breaks_in_what_it_has),
	    T(a_fault_dictates_values),
	    T(a_broken_fan_stands_still),
	    T(a_bad_link_counts_its_errors),
	    T(a_count_ends_at_its_greatest),
	    T(memory_is_damaged_and_repaired),
	    T(only_what_is_broken_is_mended),
	    T(a_cut_link_counts_its_recoveries),
	    T(changes_wake_who_sleeps),
	    T(faults_of_the_machine_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
