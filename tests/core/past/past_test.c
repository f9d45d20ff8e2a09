/* SPDX-License-Identifier: Apache-2.0 */
/*
 * past_test.c - checks what the driver remembers of a GPU in its buffers of
 * samples.
 */
#include "core/past/past.h"
#include "unit.h"

#include <stdlib.h>

#define DEVICE ((nvmlDevice_t)0x1234)

static struct gk_nvml nvml;

/* The script: the number of samples of each kind, the result, the type. */
static unsigned counts[NVML_SAMPLINGTYPE_COUNT];
static nvmlReturn_t answers[NVML_SAMPLINGTYPE_COUNT];
static nvmlValueType_t types[NVML_SAMPLINGTYPE_COUNT];
static unsigned most_digits;

/* Sample i is 10 * kind + i % most_digits, at second i. */
static nvmlReturn_t tell(nvmlDevice_t device, nvmlSamplingType_t type,
			 unsigned long long last_seen,
			 nvmlValueType_t *value_type, unsigned *count,
			 nvmlSample_t *samples)
{
	unsigned room = *count;

	assert_ptr_equal(device, DEVICE);
	assert_int_equal(last_seen, 0); /* all samples */
	if (answers[type])
		return answers[type];
	*value_type = types[type];
	*count = counts[type];
	for (unsigned i = 0; i < counts[type] && i < room; i++)
		samples[i] = (nvmlSample_t){
		    .timeStamp = i * 1000000ULL,
		    .sampleValue.uiVal = 10 * (unsigned)type + i % most_digits};
	return NVML_SUCCESS;
}

static int setup(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetSamples = tell;
	most_digits = 10;
	for (int i = 0; i < NVML_SAMPLINGTYPE_COUNT; i++) {
		counts[i] = 0;
		answers[i] = NVML_ERROR_NOT_SUPPORTED;
		types[i] = NVML_VALUE_TYPE_UNSIGNED_INT;
	}
	return 0;
}

static void samples_have_the_units_of_metrics(void **state)
{
	struct gk_past *past;

	(void)state;
	answers[NVML_TOTAL_POWER_SAMPLES] = NVML_SUCCESS;
	counts[NVML_TOTAL_POWER_SAMPLES] = 2;
	answers[NVML_PROCESSOR_CLK_SAMPLES] = NVML_SUCCESS;
	counts[NVML_PROCESSOR_CLK_SAMPLES] = 1;
	past = gk_past_read(&nvml, DEVICE);
	assert_non_null(past);
	assert_int_equal(past->count, 3);
	assert_int_equal(past->samples[1].metric, GK_M_POWER);
	assert_int_equal(past->samples[1].value, 1); /* milliwatts */
	assert_int_equal(past->samples[1].wall_ns, 1000000000);
	assert_int_equal(past->samples[2].metric, GK_M_SM_CLOCK);
	assert_int_equal(past->samples[2].value,
			 10LL * NVML_PROCESSOR_CLK_SAMPLES * 1000000);
	free(past);
}

static void what_is_not_told_is_not_there(void **state)
{
	(void)state;
	assert_null(gk_past_read(&nvml, DEVICE));
	/* An empty buffer, and values of an unexpected type. */
	answers[NVML_GPU_UTILIZATION_SAMPLES] = NVML_SUCCESS;
	answers[NVML_MEMORY_UTILIZATION_SAMPLES] = NVML_SUCCESS;
	counts[NVML_MEMORY_UTILIZATION_SAMPLES] = 5;
	types[NVML_MEMORY_UTILIZATION_SAMPLES] = NVML_VALUE_TYPE_DOUBLE;
	assert_null(gk_past_read(&nvml, DEVICE));
	nvml.nvmlDeviceGetSamples = NULL; /* an old driver */
	assert_null(gk_past_read(&nvml, DEVICE));
}

static void a_count_of_more_than_was_asked_for(void **state)
{
	struct gk_past *past;

	(void)state;
	for (int i = 0; i < NVML_SAMPLINGTYPE_COUNT; i++) {
		answers[i] = NVML_SUCCESS;
		counts[i] = 100000;
	}
	past = gk_past_read(&nvml, DEVICE);
	assert_non_null(past);
	assert_int_equal(past->count, 7 * 256);
	free(past);
}

static void samples_that_cannot_be_are_left_out(void **state)
{
	struct gk_past *past;

	(void)state;
	/* 40, 41 ... up to the highest percentage. */
	most_digits = 1000;
	answers[NVML_DEC_UTILIZATION_SAMPLES] = NVML_SUCCESS;
	counts[NVML_DEC_UTILIZATION_SAMPLES] = 200;
	past = gk_past_read(&nvml, DEVICE);
	assert_non_null(past);
	assert_int_equal(past->count, 101 - 10 * NVML_DEC_UTILIZATION_SAMPLES);
	assert_int_equal(past->samples[past->count - 1].value, 100);
	free(past);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(samples_have_the_units_of_metrics),
	    TEST(what_is_not_told_is_not_there),
	    TEST(a_count_of_more_than_was_asked_for),
	    TEST(samples_that_cannot_be_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
