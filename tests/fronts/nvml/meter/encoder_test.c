/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoder_test.c - checks encoder sessions: the calls that list them, how a
 * load affects frames, boards without an encoder.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/wave_state.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"

#define GUARD 0xa5

static const struct gkf_wave encodes = {
    .kind = GKF_WAVE_TRAIN,
    .util_permille = 900,
    .encoder_permille = 300,
    .period_ns = 3600 * GK_NS_PER_S,
    .seed = 1,
};
static const struct gkf_wave computes = {.kind = GKF_WAVE_TRAIN,
					 .util_permille = 100,
					 .period_ns = 3600 * GK_NS_PER_S};

/* Device 0 has two encoders, device 1 none; the clock is stopped. */
static int setup(void **state)
{
	struct fixture *fx = calloc(1, sizeof *fx);
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_machine_spec spec = {
	    .device_count = 2, .profiles = profiles, .frozen = true, .seed = 7};

	profiles[0].encoders = 2;
	profiles[1].encoders = 0;
	fixture_open_spec(fx, &spec);
	front_load();
	*state = fx;
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	return 0;
}

static void sessions_of_those_who_encode(void **state)
{
	struct fixture *fx = *state;
	unsigned n = 0, fps, latency;
	nvmlEncoderSessionInfo_t s[4];
	struct resident r[3];

	r[0] = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &encodes);
	r[1] = fixture_resident(fx, 0, GKF_COMPUTE, GIB, &computes);
	r[2] = fixture_resident(fx, 0, GKF_GRAPHICS, GIB, &encodes);
	gkf_machine_age(fx->m, 10 * GK_NS_PER_S);
	assert_nvml(NV(nvmlDeviceGetEncoderSessions)(device_at(0), &n, NULL),
		    SUCCESS);
	assert_int_equal(n, 2);
	memset(s, GUARD, sizeof s);
	n = 1;
	assert_nvml(NV(nvmlDeviceGetEncoderSessions)(device_at(0), &n, s),
		    ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(n, 2);
	assert_int_equal(*(unsigned char *)s, GUARD);
	n = 4;
	assert_nvml(NV(nvmlDeviceGetEncoderSessions)(device_at(0), &n, s),
		    SUCCESS);
	assert_int_equal(n, 2);
	assert_int_equal(*(unsigned char *)&s[2], GUARD);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(s[i].pid == (unsigned)r[0].pid ||
			    s[i].pid == (unsigned)r[2].pid);
		assert_in_range(s[i].averageFps, 60, 400);
		assert_in_range(s[i].averageLatency, 1000, 5000);
	}
	assert_int_not_equal(s[0].sessionId, s[1].sessionId);
	assert_nvml(
	    NV(nvmlDeviceGetEncoderStats)(device_at(0), &n, &fps, &latency),
	    SUCCESS);
	assert_int_equal(n, 2);
	assert_int_equal(fps, (s[0].averageFps + s[1].averageFps) / 2);
	for (int i = 0; i < 3; i++)
		end_resident(&r[i]);
}

static void a_board_without_an_encoder(void **state)
{
	struct fixture *fx = *state;
	unsigned n = 1, fps = 1, latency = 1, left;
	nvmlFBCStats_t capture;
	struct resident r;

	r = fixture_resident(fx, 1, GKF_GRAPHICS, GIB, &encodes);
	gkf_machine_age(fx->m, 10 * GK_NS_PER_S);
	assert_nvml(
	    NV(nvmlDeviceGetEncoderStats)(device_at(1), &n, &fps, &latency),
	    SUCCESS);
	assert_int_equal(n + fps + latency, 0);
	assert_nvml(NV(nvmlDeviceGetFBCStats)(device_at(1), &capture), SUCCESS);
	assert_int_equal(capture.sessionsCount, 0);
	assert_nvml(NV(nvmlDeviceGetEncoderCapacity)(
			device_at(1), NVML_ENCODER_QUERY_H264, &left),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetEncoderCapacity)(
			device_at(0), NVML_ENCODER_QUERY_AV1, &left),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetEncoderCapacity)(
			device_at(0), NVML_ENCODER_QUERY_UNKNOWN, &left),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetEncoderCapacity)(
			device_at(0), NVML_ENCODER_QUERY_HEVC, &left),
		    SUCCESS);
	assert_int_equal(left, 100);
	end_resident(&r);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, front_teardown)
	const struct CMUnitTest tests[] = {
	    TEST(sessions_of_those_who_encode),
	    TEST(a_board_without_an_encoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
