/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deprecated_test.c - checks what drivers since 590 report as deprecated.
 */
#define FRONT_DRIVER "610.57.04"
#define FRONT        FAKE_DIR "/610/libnvidia-ml.so.1"
#include "fronts/nvml/nvml_test.h"

static void applications_clocks_are_deprecated(void **state)
{
	nvmlDevice_t d = device_at(0);
	unsigned mhz = 7;

	(void)state;
	assert_nvml(NV(nvmlDeviceGetApplicationsClock)(d, NVML_CLOCK_SM, &mhz),
		    ERROR_DEPRECATED);
	assert_nvml(
	    NV(nvmlDeviceGetDefaultApplicationsClock)(d, NVML_CLOCK_SM, &mhz),
	    ERROR_DEPRECATED);
	assert_nvml(NV(nvmlDeviceSetApplicationsClocks)(d, 1593, 1005),
		    ERROR_DEPRECATED);
	assert_nvml(NV(nvmlDeviceResetApplicationsClocks)(d), ERROR_DEPRECATED);
	assert_nvml(NV(nvmlDeviceGetClock)(
			d, NVML_CLOCK_SM, NVML_CLOCK_ID_APP_CLOCK_TARGET, &mhz),
		    ERROR_DEPRECATED);
	assert_int_equal(mhz, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(applications_clocks_are_deprecated,
					    front_setup_init, front_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
