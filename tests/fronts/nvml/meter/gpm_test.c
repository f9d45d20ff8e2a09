/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpm_test.c - checks performance monitoring: metrics are over the interval
 * between two samples, whatever it is; invalid samples are refused.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/wave_state.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"

static const struct gkf_wave steady = {
    .kind = GKF_WAVE_TRAIN,
    .util_permille = 800,
    .mem_permille = 500,
    .decoder_permille = 100,
    .period_ns = 3600 * GK_NS_PER_S,
    .seed = 1,
    .gpus = 2,
};

/* A board that supports GPM, with links and engines; its clock is stopped. */
static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .frozen = true, .seed = 7};

	profiles[0].compute_major = 9;
	profiles[0].compute_minor = 0;
	profiles[0].decoders = 7;
	profiles[0].sm_count = 132;
	fixture_open_spec(fx, &spec);
	front_load();
	*state = fx;
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	return 0;
}

static nvmlGpmSample_t sample_now(void)
{
	nvmlGpmSample_t sample = NULL;

	assert_nvml(NV(nvmlGpmSampleAlloc)(&sample), SUCCESS);
	assert_nvml(NV(nvmlGpmSampleGet)(device_at(0), sample), SUCCESS);
	return sample;
}

static nvmlGpmMetric_t metric(nvmlGpmSample_t from, nvmlGpmSample_t to,
			      unsigned id)
{
	static nvmlGpmMetricsGet_t get;

	get.version = NVML_GPM_METRICS_GET_VERSION;
	get.numMetrics = 1;
	get.sample1 = from;
	get.sample2 = to;
	get.metrics[0] = (nvmlGpmMetric_t){.metricId = id};
	assert_nvml(NV(nvmlGpmMetricsGet)(&get), SUCCESS);
	return get.metrics[0];
}

static double figure(nvmlGpmSample_t from, nvmlGpmSample_t to, unsigned id)
{
	nvmlGpmMetric_t m = metric(from, to, id);

	assert_int_equal(m.nvmlReturn, NVML_SUCCESS);
	assert_non_null(m.metricInfo.shortName);
	assert_non_null(m.metricInfo.unit);
	return m.value;
}

static void assert_between(double value, double low, double high)
{
	if (value < low || value > high)
		fail_msg("%f is not within %f and %f", value, low, high);
}

/* Idle, then busy: each interval is right, and so is the one over both. */
static void every_interval_is_right(void **state)
{
	struct fixture *fx = *state;
	nvmlGpmSample_t begin, middle, end;
	struct resident r;
	double both;

	begin = sample_now();
	gkf_machine_age(fx->m, 30 * GK_NS_PER_S);
	middle = sample_now();
	r = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &steady);
	gkf_machine_age(fx->m, 90 * GK_NS_PER_S);
	end = sample_now();
	assert_between(figure(begin, middle, NVML_GPM_METRIC_GRAPHICS_UTIL), 0,
		       0);
	assert_between(figure(middle, end, NVML_GPM_METRIC_GRAPHICS_UTIL), 75,
		       81);
	both = figure(begin, end, NVML_GPM_METRIC_GRAPHICS_UTIL);
	assert_between(both, 75 * .75, 81 * .75);
	assert_between(figure(middle, end, NVML_GPM_METRIC_DRAM_BW_UTIL), 5,
		       60);
	assert_between(figure(middle, end, NVML_GPM_METRIC_SM_UTIL), 10, 81);
	assert_between(figure(middle, end, NVML_GPM_METRIC_NVDEC_6_UTIL), 6, 9);
	assert_true(figure(middle, end, NVML_GPM_METRIC_PCIE_RX_PER_SEC) > 1);
	assert_true(figure(begin, middle, NVML_GPM_METRIC_HMMA_TENSOR_UTIL) <
		    figure(middle, end, NVML_GPM_METRIC_HMMA_TENSOR_UTIL));
	end_resident(&r);
}

/* The sum over links is the total, and the rate times the time is the bytes. */
static void rates_are_of_bytes(void **state)
{
	struct fixture *fx = *state;
	struct gkf_state before, after;
	nvmlGpmSample_t from, to;
	struct resident r;
	double sum = 0, total;

	r = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &steady);
	gkf_state_now(fx->m, 0, &before);
	from = sample_now();
	gkf_machine_age(fx->m, 10 * GK_NS_PER_S);
	to = sample_now();
	gkf_state_now(fx->m, 0, &after);
	total = figure(from, to, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
	assert_between(total * 10 * 1048576 /
			   (double)(after.pcie_tx_bytes - before.pcie_tx_bytes),
		       .999, 1.001);
	total = figure(from, to, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);
	assert_true(total > 0);
	for (unsigned i = 0; i < 12; i++)
		sum += figure(from, to,
			      NVML_GPM_METRIC_NVLINK_L0_TX_PER_SEC + 2 * i);
	assert_between(sum - total, -.001, .001);
	assert_int_equal(
	    metric(from, to, NVML_GPM_METRIC_NVLINK_L12_TX_PER_SEC).nvmlReturn,
	    NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(
	    metric(from, to, NVML_GPM_METRIC_NVENC_0_UTIL).nvmlReturn,
	    NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(metric(from, to, 14).nvmlReturn,
			 NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(metric(from, to, 4000).nvmlReturn,
			 NVML_ERROR_INVALID_ARGUMENT);
	end_resident(&r);
}

static void garbage_is_no_sample(void **state)
{
	struct fixture *fx = *state;
	nvmlGpmSample_t sample = sample_now(), empty, gone;
	static nvmlGpmMetricsGet_t get;
	char own[64] = {0};
	const uintptr_t bad[] = {0,
				 1,
				 (uintptr_t)sample + 1,
				 (uintptr_t)sample + 8,
				 (uintptr_t)-1,
				 (uintptr_t)own};

	assert_nvml(NV(nvmlGpmSampleAlloc)(&empty), SUCCESS);
	assert_nvml(NV(nvmlGpmSampleAlloc)(&gone), SUCCESS);
	assert_nvml(NV(nvmlGpmSampleFree)(gone), SUCCESS);
	assert_nvml(NV(nvmlGpmSampleFree)(gone), ERROR_INVALID_ARGUMENT);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		nvmlGpmSample_t s;

		memcpy(&s, &bad[i], sizeof s);
		assert_nvml(NV(nvmlGpmSampleFree)(s), ERROR_INVALID_ARGUMENT);
		assert_nvml(NV(nvmlGpmSampleGet)(device_at(0), s),
			    ERROR_INVALID_ARGUMENT);
	}
	gkf_machine_age(fx->m, GK_NS_PER_S);
	get = (nvmlGpmMetricsGet_t){
	    .version = 1, .numMetrics = 1, .sample1 = sample, .sample2 = empty};
	get.metrics[0].metricId = 1;
	assert_nvml(NV(nvmlGpmMetricsGet)(&get), ERROR_INVALID_ARGUMENT);
	get.sample2 = gone;
	assert_nvml(NV(nvmlGpmMetricsGet)(&get), ERROR_INVALID_ARGUMENT);
	get.sample2 = get.sample1;
	get.sample1 = sample_now(); /* later than the second */
	assert_nvml(NV(nvmlGpmMetricsGet)(&get), ERROR_INVALID_ARGUMENT);
	get.sample1 = sample;
	assert_nvml(NV(nvmlGpmMetricsGet)(&get), SUCCESS);
	assert_int_equal(get.metrics[0].nvmlReturn, NVML_ERROR_NO_DATA);
	get.numMetrics = NVML_GPM_METRIC_MAX + 1;
	assert_nvml(NV(nvmlGpmMetricsGet)(&get), ERROR_INVALID_ARGUMENT);
	get.numMetrics = 1;
	get.version = 2;
	assert_nvml(NV(nvmlGpmMetricsGet)(&get),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
}

/* By the handle of a MIG device and by the id of its GPU instance. */
static void instances_are_told_apart(void **state)
{
	struct fixture *fx = *state;
	nvmlGpmSample_t from[2], to[2], by_id;
	nvmlDevice_t mig[2];
	struct resident r;
	const char *part;
	unsigned gi;

	assert_int_equal(gkf_mig_layout(fx->m, 0, "3g.40gb+2g.20gb", &part), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_nvml(NV(nvmlDeviceGetMigDeviceHandleByIndex)(
				device_at(0), i, &mig[i]),
			    SUCCESS);
		assert_nvml(NV(nvmlGpmSampleAlloc)(&from[i]), SUCCESS);
		assert_nvml(NV(nvmlGpmSampleAlloc)(&to[i]), SUCCESS);
		assert_nvml(NV(nvmlGpmSampleGet)(mig[i], from[i]), SUCCESS);
	}
	r = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &steady); /* the first */
	gkf_machine_age(fx->m, 60 * GK_NS_PER_S);
	for (unsigned i = 0; i < 2; i++)
		assert_nvml(NV(nvmlGpmSampleGet)(mig[i], to[i]), SUCCESS);
	assert_between(figure(from[0], to[0], NVML_GPM_METRIC_GRAPHICS_UTIL),
		       74, 81);
	assert_between(figure(from[1], to[1], NVML_GPM_METRIC_GRAPHICS_UTIL), 0,
		       0);
	assert_nvml(NV(nvmlDeviceGetGpuInstanceId)(mig[0], &gi), SUCCESS);
	assert_nvml(NV(nvmlGpmSampleAlloc)(&by_id), SUCCESS);
	assert_nvml(NV(nvmlGpmMigSampleGet)(device_at(0), gi, by_id), SUCCESS);
	assert_between(figure(from[0], by_id, NVML_GPM_METRIC_GRAPHICS_UTIL),
		       74, 81);
	assert_nvml(NV(nvmlGpmMigSampleGet)(device_at(0), 99, by_id),
		    ERROR_INVALID_ARGUMENT);
	end_resident(&r);
}

static void boards_before_hopper_have_none(void **state)
{
	nvmlGpmSample_t sample = sample_now();
	nvmlGpmSupport_t support = {.version = NVML_GPM_SUPPORT_VERSION};
	unsigned on;

	(void)state;
	assert_nvml(NV(nvmlGpmSampleGet)(device_at(1), sample),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlGpmQueryDeviceSupport)(device_at(1), &support),
		    SUCCESS);
	assert_int_equal(support.isSupportedDevice, 0);
	assert_nvml(NV(nvmlGpmQueryDeviceSupport)(device_at(0), &support),
		    SUCCESS);
	assert_int_equal(support.isSupportedDevice, 1);
	assert_nvml(NV(nvmlGpmQueryIfStreamingEnabled)(device_at(1), &on),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlGpmSetStreamingEnabled)(device_at(0), 1), SUCCESS);
	assert_nvml(NV(nvmlGpmQueryIfStreamingEnabled)(device_at(0), &on),
		    SUCCESS);
	assert_int_equal(on, 1);
}

/* A full table says so, and works again when it is emptied. */
static void samples_run_out(void **state)
{
	enum { MANY = 10000 };
	static nvmlGpmSample_t kept[MANY];
	unsigned n = 0;

	(void)state;
	while (n < MANY && NV(nvmlGpmSampleAlloc)(&kept[n]) == NVML_SUCCESS)
		n++;
	assert_in_range(n, 1000, MANY - 1);
	assert_nvml(NV(nvmlGpmSampleAlloc)(&kept[n]), ERROR_MEMORY);
	while (n)
		assert_nvml(NV(nvmlGpmSampleFree)(kept[--n]), SUCCESS);
	sample_now();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, front_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(every_interval_is_right),
	    TEST(rates_are_of_bytes),
	    TEST(garbage_is_no_sample),
	    TEST(instances_are_told_apart),
	    TEST(boards_before_hopper_have_none),
	    TEST(samples_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
