/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples_test.c - checks samples of the last bins: which are new, how many
 * fit, what is remembered.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"

#define BIN_NS (GK_NS_PER_S / 6)

/* The clock is stopped: the test sets the time. */
static int setup(void **state)
{
	struct fixture *fx;

	front_setup_init(state);
	fx = *state;
	assert_int_equal(gkf_clock_speed(fx->m, 0), 0);
	return 0;
}

static nvmlReturn_t samples_of(nvmlSamplingType_t type,
			       unsigned long long since, unsigned *count,
			       nvmlSample_t *samples)
{
	nvmlValueType_t kind = NVML_VALUE_TYPE_COUNT;
	nvmlReturn_t r = NV(nvmlDeviceGetSamples)(device_at(0), type, since,
						  &kind, count, samples);

	if (!r)
		assert_int_equal(kind, NVML_VALUE_TYPE_UNSIGNED_INT);
	return r;
}

static nvmlReturn_t power(unsigned long long since, unsigned *count,
			  nvmlSample_t *samples)
{
	return samples_of(NVML_TOTAL_POWER_SAMPLES, since, count, samples);
}

static void only_what_is_newer(void **state)
{
	struct fixture *fx = *state;
	nvmlSample_t s[200], again[200];
	unsigned n = 0, m = 200;

	assert_nvml(power(0, &n, NULL), SUCCESS);
	assert_in_range(n, 100, 200);
	gkf_machine_age(fx->m, 6 * BIN_NS);
	n = 200;
	assert_nvml(power(0, &n, s), SUCCESS);
	assert_in_range(n, 6, 7);
	for (unsigned i = 1; i < n; i++)
		assert_in_range(s[i].timeStamp - s[i - 1].timeStamp, 166000,
				167400);
	/* With a stopped clock the time stamps do not change. */
	usleep(50000);
	assert_nvml(power(s[n - 1].timeStamp, &m, again), ERROR_NOT_FOUND);
	assert_nvml(power(s[n - 3].timeStamp, &m, again), SUCCESS);
	assert_int_equal(m, 2);
	assert_int_equal(again[0].timeStamp, s[n - 2].timeStamp);
	gkf_machine_age(fx->m, 3 * BIN_NS);
	m = 200;
	assert_nvml(power(s[n - 1].timeStamp, &m, again), SUCCESS);
	assert_int_equal(m, 3);
}

/* The oldest come first, so that a caller who continues loses none. */
static void no_more_than_there_is_room_for(void **state)
{
	struct fixture *fx = *state;
	nvmlSample_t s[9], all[200];
	unsigned n = 4, m = 200;

	memset(s, 0xa5, sizeof s);
	gkf_machine_age(fx->m, 20 * BIN_NS);
	assert_nvml(power(0, &m, all), SUCCESS);
	assert_nvml(power(0, &n, s), SUCCESS);
	assert_int_equal(n, 4);
	assert_int_equal((unsigned char)s[4].sampleValue.uiVal, 0xa5);
	assert_int_equal(s[0].timeStamp, all[0].timeStamp);
	n = 9;
	assert_nvml(power(s[3].timeStamp, &n, s), SUCCESS);
	assert_int_equal(s[0].timeStamp, all[4].timeStamp);
	n = 0;
	assert_nvml(power(0, &n, s), ERROR_INVALID_ARGUMENT);
	assert_nvml(samples_of(NVML_SAMPLINGTYPE_COUNT, 0, &m, all),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(samples_of(NVML_MODULE_POWER_SAMPLES, 0, &m, all),
		    ERROR_NOT_SUPPORTED);
}

/* The past is remembered unchanged, bin by bin. */
static void history_is_not_changed_by_what_is_set_later(void **state)
{
	struct fixture *fx = *state;
	nvmlSample_t s[200];
	unsigned n = 200;

	gkf_value_set(fx->m, 0, GKF_V_JPG_UTIL, 10);
	gkf_machine_age(fx->m, 5 * BIN_NS);
	gkf_value_set(fx->m, 0, GKF_V_JPG_UTIL, 30);
	gkf_machine_age(fx->m, 5 * BIN_NS);
	assert_nvml(samples_of(NVML_JPG_UTILIZATION_SAMPLES, 0, &n, s),
		    SUCCESS);
	assert_int_equal(s[n - 1].sampleValue.uiVal, 30);
	assert_int_equal(s[n - 5].sampleValue.uiVal, 30);
	assert_int_equal(s[n - 6].sampleValue.uiVal, 10);
	assert_int_equal(s[n - 10].sampleValue.uiVal, 10);
	gkf_machine_age(fx->m, 3600 * GK_NS_PER_S);
	n = 200;
	assert_nvml(samples_of(NVML_JPG_UTILIZATION_SAMPLES, 0, &n, s),
		    SUCCESS);
	assert_in_range(n, 100, 200);
	assert_int_equal(s[0].sampleValue.uiVal, 30);
}

static nvmlReturn_t shares(unsigned long long since,
			   nvmlProcessUtilizationSample_t *ret_one)
{
	unsigned n = 1;

	return NV(nvmlDeviceGetProcessUtilization)(device_at(0), ret_one, &n,
						   since);
}

static const struct gkf_wave busy = {
    .kind = GKF_WAVE_TRAIN,
    .util_permille = 800,
    .mem_permille = 400,
    .period_ns = 60 * GK_NS_PER_S,
    .seed = 1,
};

/* A moment near the newest stamp is not that stamp. */
static void only_the_stamp_itself_was_seen(void **state)
{
	static const int near[] = {-1000000, -900, -2, 2, 900, 1000000};
	struct fixture *fx = *state;
	struct resident r = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &busy);
	nvmlProcessUtilizationSample_t first, s;

	gkf_machine_age(fx->m, 6 * BIN_NS);
	usleep(2200000); /* the wall clock is a second ahead */
	assert_nvml(shares(0, &first), SUCCESS);
	assert_int_equal(first.pid, r.pid);
	assert_nvml(shares(first.timeStamp, &s), ERROR_NOT_FOUND);
	for (unsigned i = 0; i < sizeof near / sizeof *near; i++) {
		assert_nvml(
		    shares(first.timeStamp + (unsigned long long)near[i], &s),
		    SUCCESS);
		assert_int_equal(s.timeStamp, first.timeStamp);
		assert_int_equal(s.smUtil, first.smUtil);
	}
	fixture_end(&r);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, front_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(only_what_is_newer),
	    TEST(only_the_stamp_itself_was_seen),
	    TEST(no_more_than_there_is_room_for),
	    TEST(history_is_not_changed_by_what_is_set_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
