/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_test.c - checks the results of functions for one device: from its
 * profile, from its values, and when it is lost.
 */
#include "base/clock.h"
#include "fronts/nvml/nvml_test.h"
#include "machine/file/board.h"
#include "machine/file/boards.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/trouble/fault.h"

#define GUARD 0xa5

static void handles_by_name(void **state)
{
	struct fixture *fx = *state;
	char uuid[96], text[64];
	nvmlDevice_t found;
	nvmlPciInfo_t pci;

	assert_nvml(NV(nvmlDeviceGetUUID)(device_at(1), uuid, 96), SUCCESS);
	assert_string_equal(uuid, gkf_board(fx->m, 1)->uuid);
	assert_nvml(NV(nvmlDeviceGetHandleByUUID)(uuid, &found), SUCCESS);
	assert_ptr_equal(found, device_at(1));
	assert_nvml(NV(nvmlDeviceGetHandleByUUID)("GPU-0", &found),
		    ERROR_NOT_FOUND);
	assert_nvml(NV(nvmlDeviceGetPciInfo_v3)(device_at(1), &pci), SUCCESS);
	const char *const forms[] = {pci.busId, pci.busIdLegacy,
				     pci.busIdLegacy + 5};
	for (int i = 0; i < 3; i++) {
		found = NULL;
		strcpy(text, forms[i]);
		assert_nvml(NV(nvmlDeviceGetHandleByPciBusId_v2)(text, &found),
			    SUCCESS);
		assert_ptr_equal(found, device_at(1));
		for (char *c = text; *c; c++) /* any case */
			*c = (char)(*c >= 'A' && *c <= 'F' ? *c + 32 : *c);
		assert_nvml(NV(nvmlDeviceGetHandleByPciBusId)(text, &found),
			    SUCCESS);
	}
	assert_nvml(
	    NV(nvmlDeviceGetHandleByPciBusId_v2)("0000:FE:00.0", &found),
	    ERROR_NOT_FOUND);
	assert_nvml(NV(nvmlDeviceGetHandleByPciBusId_v2)("GPU 0", &found),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetHandleByPciBusId_v2)("", &found),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetHandleByIndex_v2)(2, &found),
		    ERROR_INVALID_ARGUMENT);
}

/* The sizes that overran viewers when they were wrong: 68 and 52 bytes. */
static void pci_info_stays_inside(void **state)
{
	unsigned char room[128];
	nvmlPciInfo_t *pci = (nvmlPciInfo_t *)room;

	(void)state;
	memset(room, GUARD, sizeof(room));
	assert_nvml(NV(nvmlDeviceGetPciInfo_v3)(device_at(0), pci), SUCCESS);
	assert_int_equal(strlen(pci->busIdLegacy), 12);
	assert_int_equal(strlen(pci->busId), 16);
	assert_int_equal(pci->pciDeviceId, 0x20b210de);
	assert_int_equal(pci->pciSubSystemId, 0x147f10de);
	for (int i = 68; i < 128; i++)
		assert_int_equal(room[i], GUARD);
	memset(room, GUARD, sizeof(room));
	assert_nvml(NV(nvmlDeviceGetPciInfo_v2)(device_at(0), pci), SUCCESS);
	assert_int_equal(strlen(pci->busIdLegacy), 12);
	assert_int_equal(pci->pciSubSystemId, 0x147f10de);
	for (int i = 52; i < 128; i++)
		assert_int_equal(room[i], GUARD);
}

static void strings_whole_or_not_at_all(void **state)
{
	static const char name[] = "NVIDIA A100-SXM4-80GB";
	char room[96];

	(void)state;
	memset(room, GUARD, sizeof(room));
	assert_nvml(NV(nvmlDeviceGetName)(device_at(0), room, sizeof(name) - 1),
		    ERROR_INSUFFICIENT_SIZE);
	assert_int_equal((unsigned char)room[0], GUARD);
	assert_nvml(NV(nvmlDeviceGetName)(device_at(0), room, sizeof(name)),
		    SUCCESS);
	assert_string_equal(room, name);
	assert_int_equal((unsigned char)room[sizeof(name)], GUARD);
	assert_nvml(NV(nvmlSystemGetDriverVersion)(room, 3),
		    ERROR_INSUFFICIENT_SIZE);
	assert_nvml(NV(nvmlDeviceGetUUID)(device_at(0), room, 40),
		    ERROR_INSUFFICIENT_SIZE);
}

static void name_bears_the_mark(void **state)
{
	struct fixture *fx = *state;
	char name[96];

	strcpy(gkf_file_board(fx->file, 0)->profile.mark, "Fake ");
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetName)(device_at(0), name, 96), SUCCESS);
	assert_string_equal(name, "Fake NVIDIA A100-SXM4-80GB");
}

/* Structs with a version field are refused with any other version. */
static void versions_are_checked(void **state)
{
	nvmlMemory_v2_t memory = {.version = 2, .total = 1};
	nvmlTemperature_t temperature = {.version = 1};
	nvmlGpmSupport_t gpm = {.version = 9};

	(void)state;
	assert_nvml(NV(nvmlDeviceGetMemoryInfo_v2)(device_at(0), &memory),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
	assert_int_equal(memory.total, 1);
	memory.version = 0x02000028;
	assert_nvml(NV(nvmlDeviceGetMemoryInfo_v2)(device_at(0), &memory),
		    SUCCESS);
	assert_int_equal(memory.version, 0x02000028);
	assert_nvml(NV(nvmlDeviceGetTemperatureV)(device_at(0), &temperature),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
	temperature.version = 0x0100000c;
	assert_nvml(NV(nvmlDeviceGetTemperatureV)(device_at(0), &temperature),
		    SUCCESS);
	assert_in_range(temperature.temperature, 20, 100);
	assert_nvml(NV(nvmlGpmQueryDeviceSupport)(device_at(0), &gpm),
		    ERROR_ARGUMENT_VERSION_MISMATCH);
}

static void memory_adds_up(void **state)
{
	struct gkf_wave none = {.kind = GKF_WAVE_NONE};
	struct resident r =
	    fixture_resident(*state, 0, GKF_COMPUTE, 5 * GIB, &none);
	nvmlMemory_t v1;
	nvmlMemory_v2_t v2 = {.version = nvmlMemory_v2};

	assert_nvml(NV(nvmlDeviceGetMemoryInfo)(device_at(0), &v1), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetMemoryInfo_v2)(device_at(0), &v2), SUCCESS);
	assert_int_equal(v2.total, 81920ULL << 20);
	assert_int_equal(v2.used, 5 * GIB);
	assert_int_equal(v2.reserved, 615ULL << 20);
	assert_int_equal(v2.total, v2.reserved + v2.used + v2.free);
	assert_int_equal(v1.total, v2.total);
	assert_int_equal(v1.free, v2.free);
	assert_int_equal(v1.used, v2.used + v2.reserved);
	end_resident(&r);
}

/* The next call returns the values that ctl sets. */
static void set_values_are_seen(void **state)
{
	struct fixture *fx = *state;
	nvmlUtilization_t u;
	unsigned v;

	gkf_value_set(fx->m, 1, GKF_V_TEMPERATURE, 95);
	assert_nvml(NV(nvmlDeviceGetTemperature)(device_at(1),
						 NVML_TEMPERATURE_GPU, &v),
		    SUCCESS);
	assert_int_equal(v, 95);
	gkf_value_set(fx->m, 1, GKF_V_GPU_UTIL, 37);
	assert_nvml(NV(nvmlDeviceGetUtilizationRates)(device_at(1), &u),
		    SUCCESS);
	assert_int_equal(u.gpu, 37);
	gkf_value_set(fx->m, 1, GKF_V_POWER, 123456);
	assert_nvml(NV(nvmlDeviceGetPowerUsage)(device_at(1), &v), SUCCESS);
	assert_int_equal(v, 123456);
	gkf_value_set(fx->m, 1, GKF_V_SM_CLOCK, 777);
	assert_nvml(NV(nvmlDeviceGetClockInfo)(device_at(1), NVML_CLOCK_SM, &v),
		    SUCCESS);
	assert_int_equal(v, 777);
	gkf_value_set(fx->m, 1, GKF_V_PCIE_RX, 4321);
	assert_nvml(NV(nvmlDeviceGetPcieThroughput)(
			device_at(1), NVML_PCIE_UTIL_RX_BYTES, &v),
		    SUCCESS);
	assert_int_equal(v, 4321);
}

/* A board that lacks something returns not supported, not 0. */
static void what_a_board_lacks(void **state)
{
	struct fixture *fx = *state;
	struct gkf_profile *p = &gkf_file_board(fx->file, 1)->profile;
	nvmlEnableState_t on, pending;
	unsigned long long n;
	unsigned v = 9, w;
	char text[32];

	p->fans = 2;
	p->ecc = p->mig = -1;
	gkf_file_board(fx->file, 1)->serial[0] = '\0';
	assert_nvml(NV(nvmlInit_v2)(), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetFanSpeed)(device_at(0), &v),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetNumFans)(device_at(0), &v),
		    ERROR_NOT_SUPPORTED);
	assert_int_equal(v, 9);
	assert_nvml(NV(nvmlDeviceGetFanSpeed_v2)(device_at(1), 1, &v), SUCCESS);
	assert_nvml(NV(nvmlDeviceGetFanSpeed_v2)(device_at(1), 2, &v),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetEccMode)(device_at(1), &on, &pending),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetTotalEccErrors)(
			device_at(1), NVML_MEMORY_ERROR_TYPE_CORRECTED,
			NVML_VOLATILE_ECC, &n),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetMigMode)(device_at(1), &v, &w),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetSerial)(device_at(1), text, 32),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetDriverModel_v2)(device_at(0), NULL, NULL),
		    ERROR_INVALID_ARGUMENT);
}

static void ecc_counts(void **state)
{
	struct fixture *fx = *state;
	unsigned long long n;

	gkf_value_set(fx->m, 0, GKF_V_ECC_UNCORRECTED, 3);
	assert_nvml(NV(nvmlDeviceGetTotalEccErrors)(
			device_at(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			NVML_VOLATILE_ECC, &n),
		    SUCCESS);
	assert_int_equal(n, 3);
	gkf_value_set(fx->m, 0, GKF_V_ECC_MODE, 0);
	assert_nvml(NV(nvmlDeviceGetTotalEccErrors)(
			device_at(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			NVML_VOLATILE_ECC, &n),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetTotalEccErrors)(
			device_at(0), NVML_MEMORY_ERROR_TYPE_COUNT,
			NVML_VOLATILE_ECC, &n),
		    ERROR_INVALID_ARGUMENT);
}

static void mig_is_off(void **state)
{
	unsigned v = 9, w = 9;
	nvmlDevice_t mig;

	(void)state;
	assert_nvml(NV(nvmlDeviceGetMigMode)(device_at(0), &v, &w), SUCCESS);
	assert_int_equal(v, 0);
	assert_int_equal(w, 0);
	assert_nvml(NV(nvmlDeviceIsMigDeviceHandle)(device_at(0), &v), SUCCESS);
	assert_int_equal(v, 0);
	assert_nvml(NV(nvmlDeviceGetMaxMigDeviceCount)(device_at(0), &v),
		    SUCCESS);
	assert_int_equal(v, 0);
	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(0), 6, &mig),
	    ERROR_NOT_FOUND);
	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(0), 7, &mig),
	    ERROR_INVALID_ARGUMENT);
}

static void fields_one_by_one(void **state)
{
	struct fixture *fx = *state;
	nvmlFieldValue_t f[5] = {
	    {.fieldId = NVML_FI_DEV_POWER_INSTANT},
	    {.fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT},
	    {.fieldId = NVML_FI_DEV_RETIRED_DBE},
	    {.fieldId = 0},
	    {.fieldId = NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION},
	};
	long long before, now;

	gkf_value_set(fx->m, 0, GKF_V_POWER, 200000);
	gkf_value_set(fx->m, 0, GKF_V_ENERGY, 1LL << 40);
	before = (long long)(gk_wall_ns() / GK_NS_PER_US);
	assert_nvml(NV(nvmlDeviceGetFieldValues)(device_at(0), 5, f), SUCCESS);
	now = (long long)(gk_wall_ns() / GK_NS_PER_US);
	assert_int_equal(f[0].nvmlReturn, NVML_SUCCESS);
	assert_int_equal(f[0].valueType, NVML_VALUE_TYPE_UNSIGNED_INT);
	assert_int_equal(f[0].value.uiVal, 200000);
	assert_in_range(f[0].timestamp, before - 1000000, now);
	assert_int_equal(f[1].value.uiVal, 12);
	assert_int_equal(f[2].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(f[3].nvmlReturn, NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(f[4].valueType, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
	assert_int_equal(f[4].value.ullVal, 1LL << 40);
	assert_nvml(NV(nvmlDeviceGetFieldValues)(device_at(0), 0, f),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetFieldValues)(device_at(0), -1, f),
		    ERROR_INVALID_ARGUMENT);
}

static void out_of_range_selectors(void **state)
{
	unsigned v;

	(void)state;
	assert_nvml(
	    NV(nvmlDeviceGetClockInfo)(device_at(0), NVML_CLOCK_COUNT, &v),
	    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetTemperature)(device_at(0),
						 NVML_TEMPERATURE_COUNT, &v),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetTemperatureThreshold)(
			device_at(0), NVML_TEMPERATURE_THRESHOLD_COUNT, &v),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetPcieThroughput)(device_at(0),
						    NVML_PCIE_UTIL_COUNT, &v),
		    ERROR_INVALID_ARGUMENT);
	assert_nvml(NV(nvmlDeviceGetTemperatureThreshold)(
			device_at(0), NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, &v),
		    SUCCESS);
	assert_int_equal(v, 89);
}

static void cpus_of_this_host(void **state)
{
	unsigned long set[16] = {0};
	unsigned cpus = 0;

	(void)state;
	assert_nvml(NV(nvmlDeviceGetCpuAffinity)(device_at(0), 16, set),
		    SUCCESS);
	for (int i = 0; i < 16; i++)
		cpus += (unsigned)__builtin_popcountl(set[i]);
	assert_in_range(cpus, 1, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	assert_nvml(NV(nvmlDeviceGetCpuAffinity)(device_at(0), 0, set),
		    ERROR_INVALID_ARGUMENT);
}

static void name_of_a_process(void **state)
{
	char name[512];

	(void)state;
	assert_nvml(NV(nvmlSystemGetProcessName)((unsigned)getpid(), name, 512),
		    SUCCESS);
	assert_non_null(strstr(name, "nvml"));
	assert_nvml(NV(nvmlSystemGetProcessName)((unsigned)getpid(), name, 3),
		    SUCCESS);
	assert_int_equal(strlen(name), 2);
	assert_nvml(NV(nvmlSystemGetProcessName)(0x7fffffff, name, 512),
		    ERROR_NOT_FOUND);
}

static void lost_gpu(void **state)
{
	struct fixture *fx = *state;
	nvmlDevice_t device = device_at(1), found;
	nvmlMemory_t memory;
	unsigned n;

	gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0);
	assert_nvml(NV(nvmlDeviceGetMemoryInfo)(device, &memory),
		    ERROR_GPU_IS_LOST);
	assert_nvml(NV(nvmlDeviceGetPowerUsage)(device, &n), ERROR_GPU_IS_LOST);
	n = 0;
	assert_nvml(
	    NV(nvmlDeviceGetComputeRunningProcesses_v3)(device, &n, NULL),
	    ERROR_GPU_IS_LOST);
	assert_nvml(NV(nvmlDeviceGetHandleByIndex_v2)(1, &found),
		    ERROR_GPU_IS_LOST);
	assert_nvml(
	    NV(nvmlDeviceGetHandleByUUID)(gkf_board(fx->m, 1)->uuid, &found),
	    ERROR_GPU_IS_LOST);
	assert_nvml(NV(nvmlDeviceGetCount_v2)(&n), SUCCESS);
	assert_int_equal(n, 2);
	assert_nvml(NV(nvmlDeviceGetPowerUsage)(device_at(0), &n), SUCCESS);
	gkf_fault_end(fx->m, 1, GKF_FAULT_BIT(GKF_FAULT_LOST));
	assert_nvml(NV(nvmlDeviceGetPowerUsage)(device, &n), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    FRONT_TEST(handles_by_name),
	    FRONT_TEST(pci_info_stays_inside),
	    FRONT_TEST(strings_whole_or_not_at_all),
	    FRONT_TEST_BEFORE_INIT(name_bears_the_mark),
	    FRONT_TEST(versions_are_checked),
	    FRONT_TEST(memory_adds_up),
	    FRONT_TEST(set_values_are_seen),
	    FRONT_TEST_BEFORE_INIT(what_a_board_lacks),
	    FRONT_TEST(ecc_counts),
	    FRONT_TEST(mig_is_off),
	    FRONT_TEST(fields_one_by_one),
	    FRONT_TEST(out_of_range_selectors),
	    FRONT_TEST(cpus_of_this_host),
	    FRONT_TEST(name_of_a_process),
	    FRONT_TEST(lost_gpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
