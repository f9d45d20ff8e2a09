/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controls_test.c - checks who may set what, and what the functions that set
 * clocks, limits and modes refuse.
 */
#include "fronts/nvml/nvml_test.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

#include <stdatomic.h>

static void permit(struct fixture *fx, enum gkf_permission who)
{
	atomic_store(&fx->file->permission, who);
}

static void nobody_may_change_anything_when_the_machine_says_so(void **state)
{
	nvmlDevice_t d = device_at(0);
	unsigned mw;

	permit(*state, GKF_PERMIT_NONE);
	assert_nvml(NV(nvmlDeviceSetPowerManagementLimit)(d, 300000),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceSetPersistenceMode)(d, NVML_FEATURE_DISABLED),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, 900, 900),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceSetApplicationsClocks)(d, 1593, 1005),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceClearEccErrorCounts)(d, NVML_VOLATILE_ECC),
		    ERROR_NO_PERMISSION);
	assert_nvml(NV(nvmlDeviceGetEnforcedPowerLimit)(d, &mw), SUCCESS);
	assert_int_equal(mw, 400000);
}

static void anybody_may_when_the_machine_says_so(void **state)
{
	nvmlDevice_t d = device_at(0);
	unsigned mw;

	permit(*state, GKF_PERMIT_ALL);
	if (!geteuid())
		assert_int_equal(seteuid(65534), 0);
	assert_nvml(NV(nvmlDeviceSetPowerManagementLimit)(d, 300000), SUCCESS);
	if (!getuid())
		assert_int_equal(seteuid(0), 0);
	assert_nvml(NV(nvmlDeviceGetEnforcedPowerLimit)(d, &mw), SUCCESS);
	assert_int_equal(mw, 300000);
}

static void root_opens_applications_clocks_to_all(void **state)
{
	nvmlDevice_t d = device_at(0);
	nvmlRestrictedAPI_t api = NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS;
	unsigned mhz;

	permit(*state, GKF_PERMIT_ALL);
	assert_nvml(
	    NV(nvmlDeviceSetAPIRestriction)(d, api, NVML_FEATURE_DISABLED),
	    SUCCESS);
	permit(*state, GKF_PERMIT_NONE);
	assert_nvml(NV(nvmlDeviceSetApplicationsClocks)(d, 1593, 1005),
		    SUCCESS);
	assert_nvml(NV(nvmlDeviceGetApplicationsClock)(d, NVML_CLOCK_SM, &mhz),
		    SUCCESS);
	assert_int_equal(mhz, 1005);
	assert_nvml(
	    NV(nvmlDeviceSetAPIRestriction)(d, api, NVML_FEATURE_ENABLED),
	    ERROR_NO_PERMISSION);
}

static void limits_outside_the_range_change_nothing(void **state)
{
	nvmlDevice_t d = device_at(0);
	nvmlPowerValue_v2_t v2 = {.version = nvmlPowerValue_v2,
				  .powerScope = NVML_POWER_SCOPE_MODULE,
				  .powerValueMw = 300000};
	unsigned mw;

	permit(*state, GKF_PERMIT_ALL);
	assert_nvml(NV(nvmlDeviceSetPowerManagementLimit)(d, 99999),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetPowerManagementLimit)(d, 400001),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetPowerManagementLimit_v2)(d, &v2),
		    ERROR_NOT_SUPPORTED);
	v2.powerScope = NVML_POWER_SCOPE_COUNT;
	assert_nvml(NV(nvmlDeviceSetPowerManagementLimit_v2)(d, &v2),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetEnforcedPowerLimit)(d, &mw), SUCCESS);
	assert_int_equal(mw, 400000);
}

static void locks_take_numbers_or_symbols(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t d = device_at(0);
	unsigned tdp = NVML_CLOCK_LIMIT_ID_TDP;
	unsigned unlimited = NVML_CLOCK_LIMIT_ID_UNLIMITED;
	int64_t v;

	permit(fx, GKF_PERMIT_ALL);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, 900, tdp),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, 1000, 900),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, 5000, 6000),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, 600, 900), SUCCESS);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_LOCK_SM_MAX, &v));
	assert_int_equal(v, 900);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, tdp, unlimited),
		    SUCCESS);
	assert_true(gkf_value_get(fx->m, 0, GKF_V_LOCK_SM_MIN, &v));
	assert_int_equal(v, 1410);
	assert_nvml(NV(nvmlDeviceSetGpuLockedClocks)(d, unlimited, unlimited),
		    SUCCESS);
	assert_int_equal(
	    atomic_load(&fx->file->device[0].set[GKF_V_LOCK_SM_MIN]),
	    GKF_UNSET);
	assert_int_equal(
	    atomic_load(&fx->file->device[0].set[GKF_V_LOCK_SM_MAX]),
	    GKF_UNSET);
}

static void applications_clocks_must_be_in_the_list(void **state)
{
	nvmlDevice_t d = device_at(0);

	permit(*state, GKF_PERMIT_ALL);
	assert_nvml(NV(nvmlDeviceSetApplicationsClocks)(d, 1593, 1000),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetApplicationsClocks)(d, 1600, 1005),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceSetApplicationsClocks)(d, 1593, 1005),
		    SUCCESS);
}

static void lists_say_how_much_room_they_need(void **state)
{
	nvmlDevice_t d = device_at(0);
	unsigned count = 0, mhz[128];
	nvmlPstates_t none;

	(void)state;
	assert_nvml(
	    NV(nvmlDeviceGetSupportedGraphicsClocks)(d, 1593, &count, NULL),
	    ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(count, (1410 - 210) / 15 + 1);
	mhz[80] = 7;
	count = 80;
	assert_nvml(
	    NV(nvmlDeviceGetSupportedGraphicsClocks)(d, 1593, &count, mhz),
	    ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(mhz[80], 7);
	count = 128;
	assert_nvml(
	    NV(nvmlDeviceGetSupportedGraphicsClocks)(d, 1593, &count, mhz),
	    SUCCESS);
	assert_int_equal(mhz[0], 1410);
	assert_int_equal(mhz[80], 210);
	assert_nvml(
	    NV(nvmlDeviceGetSupportedGraphicsClocks)(d, 1594, &count, mhz),
	    ERROR_NOT_FOUND);
	assert_nvml(NV(nvmlDeviceGetSupportedPerformanceStates)(d, &none, 3),
		    ERROR_INSUFFICIENT_SIZE);
}

static void unknown_versions_are_refused(void **state)
{
	nvmlDevice_t d = device_at(0);
	struct {
		unsigned version;
		char room[40000];
	} *any = calloc(1, sizeof(*any));

	permit(*state, GKF_PERMIT_ALL);
#define REFUSES(function)                                                      \
	assert_nvml(NV(function)(d, (void *)any),                              \
		    ERROR_ARGUMENT_VERSION_MISMATCH)
	REFUSES(nvmlDeviceGetSramEccErrorStatus);
	REFUSES(nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts);
	REFUSES(nvmlDeviceGetRepairStatus);
	REFUSES(nvmlDeviceGetClockOffsets);
	REFUSES(nvmlDeviceSetClockOffsets);
	REFUSES(nvmlDeviceGetPerformanceModes);
	REFUSES(nvmlDeviceGetCurrentClockFreqs);
	REFUSES(nvmlDeviceGetFanSpeedRPM);
	REFUSES(nvmlDeviceGetCoolerInfo);
	REFUSES(nvmlDeviceGetMarginTemperature);
	REFUSES(nvmlDeviceSetPowerManagementLimit_v2);
	REFUSES(nvmlDeviceSetDramEncryptionMode);
	REFUSES(nvmlDeviceWorkloadPowerProfileGetProfilesInfo);
	REFUSES(nvmlDeviceWorkloadPowerProfileGetCurrentProfiles);
	REFUSES(nvmlDeviceWorkloadPowerProfileSetRequestedProfiles);
	REFUSES(nvmlDeviceWorkloadPowerProfileClearRequestedProfiles);
	REFUSES(nvmlDevicePowerSmoothingSetState);
	REFUSES(nvmlDevicePowerSmoothingActivatePresetProfile);
	REFUSES(nvmlDevicePowerSmoothingUpdatePresetProfileParam);
#undef REFUSES
	free(any);
}

static void an_a100_has_no_fan_to_turn_and_no_page_to_retire(void **state)
{
	nvmlDevice_t d = device_at(0);
	unsigned n = 0;
	nvmlEnableState_t pending;

	permit(*state, GKF_PERMIT_ALL);
	assert_nvml(NV(nvmlDeviceGetTargetFanSpeed)(d, 0, &n),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceSetFanSpeed_v2)(d, 0, 50),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceSetDefaultFanSpeed_v2)(d, 0),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(
	    NV(nvmlDeviceGetRetiredPages)(
		d, NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR, &n, NULL),
	    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetRetiredPagesPendingStatus)(d, &pending),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceSetDriverModel)(d, NVML_DRIVER_WDDM, 0),
		    ERROR_NOT_SUPPORTED);
}

static void without_ecc_there_is_nothing_to_tell(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t d = device_at(0);
	nvmlEccErrorCounts_t counts;
	nvmlEccSramErrorStatus_t status = {.version =
					       nvmlEccSramErrorStatus_v1};
	unsigned long long n;

	permit(fx, GKF_PERMIT_ALL);
	assert_nvml(NV(nvmlDeviceGetMemoryErrorCounter)(
			d, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC,
			NVML_MEMORY_LOCATION_L1_CACHE, &n),
		    ERROR_NOT_SUPPORTED);
	assert_int_equal(gkf_value_set(fx->m, 0, GKF_V_ECC_MODE, 0), 0);
	assert_nvml(NV(nvmlDeviceGetDetailedEccErrors)(
			d, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC,
			&counts),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetSramEccErrorStatus)(d, &status),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceClearEccErrorCounts)(d, NVML_AGGREGATE_ECC),
		    ERROR_NOT_SUPPORTED);
}

int main(void)
{
#define ROW(test)                                                              \
	cmocka_unit_test_setup_teardown(test, front_setup_init, front_teardown)
	const struct CMUnitTest tests[] = {
	    ROW(nobody_may_change_anything_when_the_machine_says_so),
	    ROW(anybody_may_when_the_machine_says_so),
	    ROW(root_opens_applications_clocks_to_all),
	    ROW(limits_outside_the_range_change_nothing),
	    ROW(locks_take_numbers_or_symbols),
	    ROW(applications_clocks_must_be_in_the_list),
	    ROW(lists_say_how_much_room_they_need),
	    ROW(unknown_versions_are_refused),
	    ROW(an_a100_has_no_fan_to_turn_and_no_page_to_retire),
	    ROW(without_ecc_there_is_nothing_to_tell),
	};
#undef ROW

	return cmocka_run_group_tests(tests, NULL, NULL);
}
