/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_detail_test.c - checks calls of the DETAIL tier that give several
 * numbers, and field values.
 */
#include "core/rows.h"

#include <math.h>

/* ---- structs ---- */

FILLS_VERSION(fill_margin, nvmlMarginTemperature_t, nvmlMarginTemperature_v1,
	      to->marginTemperature = -3)
FILLS(fill_bar1, nvmlBAR1Memory_t,
      (to->bar1Total = 9, to->bar1Free = 4, to->bar1Used = 5))
FILLS_VERSION(fill_addressing, nvmlDeviceAddressingMode_t,
	      nvmlDeviceAddressingMode_v1, to->value = 2)
FILLS(fill_pci, nvmlPciInfo_t,
      (to->pciDeviceId = 0x233010de, to->pciSubSystemId = 0x16c110de))
FILLS(fill_capture, nvmlFBCStats_t,
      (to->sessionsCount = 2, to->averageFPS = 30, to->averageLatency = 7))
FILLS(fill_banks, nvmlRowRemapperHistogramValues_t,
      (to->max = 1, to->high = 2, to->partial = 3, to->low = 4, to->none = 5))
FILLS_VERSION(fill_repairs, nvmlRepairStatus_t, nvmlRepairStatus_v1,
	      (to->bChannelRepairPending = 1, to->bTpcRepairPending = 2))
FILLS(fill_confidential, nvmlConfComputeMemSizeInfo_t,
      (to->protectedMemSizeKib = 3, to->unprotectedMemSizeKib = 5))

static void structs_become_numbers_in_base_units(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetMarginTemperature = fill_margin;
	GIVES({GK_M_TEMP_MARGIN, -3});
	nvml.nvmlDeviceGetBAR1MemoryInfo = fill_bar1;
	GIVES({GK_M_BAR1_FREE, 4});
	nvml.nvmlDeviceGetAddressingMode = fill_addressing;
	GIVES({GK_M_ADDRESSING_MODE, 2});
	nvml.nvmlDeviceGetPciInfo_v3 = fill_pci;
	GIVES({GK_M_PCI_DEVICE_ID, 0x233010de},
	      {GK_M_PCI_SUBSYSTEM_ID, 0x16c110de});
	nvml.nvmlDeviceGetFBCStats = fill_capture;
	GIVES({GK_M_FBC_SESSIONS, 2}, {GK_M_FBC_FPS, 30},
	      {GK_M_FBC_LATENCY, 7000});
	nvml.nvmlDeviceGetRowRemapperHistogram = fill_banks;
	GIVES({GK_M_REMAP_BANKS_MAX, 1}, {GK_M_REMAP_BANKS_HIGH, 2},
	      {GK_M_REMAP_BANKS_PARTIAL, 3}, {GK_M_REMAP_BANKS_LOW, 4},
	      {GK_M_REMAP_BANKS_NONE, 5});
	nvml.nvmlDeviceGetRepairStatus = fill_repairs;
	GIVES({GK_M_REPAIR_CHANNEL, 1}, {GK_M_REPAIR_TPC, 2});
	nvml.nvmlDeviceGetConfComputeMemSizeInfo = fill_confidential;
	GIVES({GK_M_CC_MEM_PROTECTED, 3072}, {GK_M_CC_MEM_UNPROTECTED, 5120});
}

/* ---- several numbers ---- */

static nvmlReturn_t tell_mig(nvmlDevice_t dev, unsigned *now, unsigned *then)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*then, 0);
	*now = 0;
	*then = 1;
	return answer;
}

static nvmlReturn_t tell_ecc(nvmlDevice_t dev, nvmlEnableState_t *now,
			     nvmlEnableState_t *then)
{
	assert_ptr_equal(dev, DEVICE);
	*now = NVML_FEATURE_DISABLED;
	*then = NVML_FEATURE_ENABLED;
	return answer;
}

static nvmlReturn_t tell_gsp(nvmlDevice_t dev, unsigned *mode, unsigned *normal)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*mode | *normal, 0);
	*mode = 1;
	*normal = 2;
	return answer;
}

static nvmlReturn_t tell_encoder(nvmlDevice_t dev, unsigned *sessions,
				 unsigned *fps, unsigned *latency_us)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*sessions | *fps | *latency_us, 0);
	*sessions = 3;
	*fps = 60;
	*latency_us = 4294967295;
	return answer;
}

static void several_numbers_keep_their_order(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetMigMode = tell_mig;
	GIVES({GK_M_MIG_PENDING, 1});
	nvml.nvmlDeviceGetEccMode = tell_ecc;
	GIVES({GK_M_ECC_PENDING, 1});
	nvml.nvmlDeviceGetGspFirmwareMode = tell_gsp;
	GIVES({GK_M_GSP_MODE, 1}, {GK_M_GSP_MODE_DEFAULT, 2});
	nvml.nvmlDeviceGetEncoderStats = tell_encoder;
	GIVES({GK_M_ENC_SESSIONS, 3}, {GK_M_ENC_FPS, 60},
	      {GK_M_ENC_LATENCY, 4294967295000});
}

FILLS(tell_reasons, unsigned long long, *to = 0x1ff)
FILLS(tell_throttle_reasons, unsigned long long, *to = 0xff)

static void reasons_have_an_older_name(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetSupportedClocksThrottleReasons =
	    tell_throttle_reasons;
	GIVES({GK_M_EVENT_REASONS_SUPPORTED, 0xff});
	nvml.nvmlDeviceGetSupportedClocksEventReasons = tell_reasons;
	GIVES({GK_M_EVENT_REASONS_SUPPORTED, 0x1ff});
}

/* Except for what only a MIG device has. */
static void without_its_function_a_row_says_so(void **state)
{
	size_t count;
	const struct gk_row *rows = gk_detail_rows(&count);

	(void)state;
	assert_in_range(count, 70, GK_ROWS_DETAIL);
	for (size_t i = 0; i < count; i++) {
		bool mig = rows[i].gives[0] == GK_M_MIG_SMS ||
			   rows[i].gives[0] == GK_M_GI_PROFILE;

		assert_int_equal(row_answer(rows[i].gives[0]),
				 mig ? NVML_ERROR_NOT_SUPPORTED
				     : NVML_ERROR_FUNCTION_NOT_FOUND);
	}
}

/* ---- field values ---- */

#define FIELD(kind, member, number)                                            \
	{                                                                      \
		.valueType = NVML_VALUE_TYPE_##kind, .value.member = (number)  \
	}

/* A field value times 10; why 0: present. */
static const struct {
	nvmlFieldValue_t field;
	int64_t value;
	enum gk_absence why;
} fields[] = {
    {FIELD(DOUBLE, dVal, 2.9), 20, 0},
    {FIELD(DOUBLE, dVal, -2.9), -20, 0},
    {FIELD(DOUBLE, dVal, (double)NAN), 0, GK_ABSENT_NOT_SUPPORTED},
    {FIELD(DOUBLE, dVal, 0x1p63), 0, GK_ABSENT_NOT_SUPPORTED},
    {FIELD(DOUBLE, dVal, -0x1p63), 0, GK_ABSENT_NOT_SUPPORTED},
    {FIELD(UNSIGNED_INT, ullVal, 0xeeeeeeeeffffffff), 42949672950, 0},
    {FIELD(SIGNED_INT, ullVal, 0xeeeeeeeeffffffff), -10, 0},
    {FIELD(UNSIGNED_SHORT, ullVal, 0xeeeeeeeeeeeeffff), 655350, 0},
    {FIELD(SIGNED_LONG_LONG, sllVal, -5), -50, 0},
    {FIELD(UNSIGNED_LONG, ullVal, 5), 50, 0},
    {FIELD(UNSIGNED_LONG_LONG, ullVal, 6), 60, 0},
    {FIELD(COUNT, ullVal, 7), 70, 0},
    /* Ten times this value overflows. */
    {FIELD(SIGNED_LONG_LONG, sllVal, INT64_MAX / 10), INT64_MAX / 10 * 10, 0},
    {FIELD(SIGNED_LONG_LONG, sllVal, INT64_MAX / 10 + 1), 0,
     GK_ABSENT_NOT_SUPPORTED},
    /* The driver's result takes precedence. */
    {{.nvmlReturn = NVML_ERROR_NO_PERMISSION}, 0, GK_ABSENT_PERMISSION},
    {{.nvmlReturn = NVML_ERROR_INVALID_ARGUMENT}, 0, GK_ABSENT_NOT_SUPPORTED},
    {{.nvmlReturn = NVML_ERROR_UNKNOWN}, 0, GK_ABSENT_ERROR},
};

static void fields_have_the_type_that_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fields); i++) {
		struct gk_value v =
		    gk_field_value(&fields[i].field, NVML_SUCCESS, 10);

		if (v.why != fields[i].why || v.v != fields[i].value)
			fail_msg("%zu: %d, %ld", i, (int)v.why, (long)v.v);
		v = gk_field_value(&fields[i].field, NVML_ERROR_TIMEOUT, 10);
		assert_int_equal(v.why, GK_ABSENT_TIMEOUT);
		assert_int_equal(v.v, 0);
	}
}

static void the_largest_numbers_are_no_values(void **state)
{
	nvmlFieldValue_t field = FIELD(UNSIGNED_LONG_LONG, ullVal, INT64_MAX);
	struct gk_value v = gk_field_value(&field, NVML_SUCCESS, 1);

	(void)state;
	assert_int_equal(v.why, GK_PRESENT);
	assert_int_equal(v.v, INT64_MAX);
	field.value.ullVal++;
	v = gk_field_value(&field, NVML_SUCCESS, 1);
	assert_int_equal(v.why, GK_ABSENT_NOT_SUPPORTED);
	/* A type newer than this code holds a number of that width. */
	field.valueType = 99;
	field.value.ullVal = 8;
	v = gk_field_value(&field, NVML_SUCCESS, 1);
	assert_int_equal(v.why, GK_PRESENT);
	assert_int_equal(v.v, 8);
}

static int asked; /* fields in one call; 0: not called */

/* The value of a field is its id plus its scope times a thousand. */
static nvmlReturn_t tell_fields(nvmlDevice_t dev, int count,
				nvmlFieldValue_t *to)
{
	assert_ptr_equal(dev, DEVICE);
	asked = count;
	for (int i = 0; i < count; i++) {
		to[i].valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
		to[i].value.ullVal = 1000ULL * to[i].scopeId + to[i].fieldId;
	}
	return answer;
}

static int setup_fields(void **state)
{
	rows_setup(state);
	nvml.nvmlDeviceGetFieldValues = tell_fields;
	asked = 0;
	return 0;
}

#define UNTOUCHED ((struct gk_value){4711, GK_ABSENT_HIDDEN})

static struct gk_value values[GK_M_COUNT];

static nvmlReturn_t collect(const struct gk_metric_set *only)
{
	for (size_t i = 0; i < GK_M_COUNT; i++)
		values[i] = UNTOUCHED;
	return gk_collect_fields(&nvml, DEVICE, only, values, NULL);
}

static void check_value(enum gk_metric metric, struct gk_value want)
{
	assert_int_equal(values[metric].why, want.why);
	assert_int_equal(values[metric].v, want.v);
}

static void fields_are_asked_for_at_once(void **state)
{
	int touched = 0;

	(void)state;
	assert_int_equal(collect(NULL), NVML_SUCCESS);
	for (size_t i = 0; i < GK_M_COUNT; i++)
		touched += values[i].why != GK_ABSENT_HIDDEN;
	assert_int_equal(touched, asked);
	assert_in_range(asked, 45, 60);
	check_value(GK_M_POWER_INSTANT,
		    (struct gk_value){.v = NVML_FI_DEV_POWER_INSTANT});
	check_value(GK_M_MODULE_INSTANT,
		    (struct gk_value){.v = 1000 * NVML_POWER_SCOPE_MODULE +
					   NVML_FI_DEV_POWER_INSTANT});
	check_value(GK_M_EDPP,
		    (struct gk_value){.v = 100 * NVML_FI_DEV_EDPP_MULTIPLIER});
	check_value(GK_M_POWER, UNTOUCHED);
}

static void only_wanted_fields_are_asked_for(void **state)
{
	struct gk_metric_set only = {0};

	(void)state;
	assert_int_equal(collect(&only), NVML_SUCCESS);
	assert_int_equal(asked, 0);
	gk_metric_set_add(&only, GK_M_PCIE_REPLAY);
	gk_metric_set_add(&only, GK_M_MEM_POWER_AVERAGE);
	gk_metric_set_add(&only, GK_M_TEMP_MARGIN); /* it is not a field */
	assert_int_equal(collect(&only), NVML_SUCCESS);
	assert_int_equal(asked, 2);
	check_value(GK_M_PCIE_REPLAY,
		    (struct gk_value){.v = NVML_FI_DEV_PCIE_REPLAY_COUNTER});
	check_value(GK_M_MEM_POWER_AVERAGE,
		    (struct gk_value){.v = 1000 * NVML_POWER_SCOPE_MEMORY +
					   NVML_FI_DEV_POWER_AVERAGE});
	check_value(GK_M_POWER_INSTANT, UNTOUCHED);
}

static void refused_fields_are_absent_unless_the_gpu_is_lost(void **state)
{
	(void)state;
	answer = NVML_ERROR_NO_PERMISSION;
	assert_int_equal(collect(NULL), NVML_SUCCESS);
	check_value(GK_M_PCIE_REPLAY,
		    (struct gk_value){.why = GK_ABSENT_PERMISSION});
	answer = NVML_ERROR_GPU_IS_LOST;
	assert_int_equal(collect(NULL), NVML_ERROR_GPU_IS_LOST);
	check_value(GK_M_PCIE_REPLAY, UNTOUCHED);
}

#define FIELD_TEST(name) cmocka_unit_test_setup(name, setup_fields)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ROWS_TEST(structs_become_numbers_in_base_units),
	    ROWS_TEST(several_numbers_keep_their_order),
	    ROWS_TEST(reasons_have_an_older_name),
	    ROWS_TEST(without_its_function_a_row_says_so),
	    ROWS_TEST(fields_have_the_type_that_they_say),
	    ROWS_TEST(the_largest_numbers_are_no_values),
	    FIELD_TEST(fields_are_asked_for_at_once),
	    FIELD_TEST(only_wanted_fields_are_asked_for),
	    FIELD_TEST(refused_fields_are_absent_unless_the_gpu_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
