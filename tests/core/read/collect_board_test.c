/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_board_test.c - checks the board, the fabric and MIG instances as a
 * driver reports them.
 */
#include "core/rows.h"

/* ---- the board ---- */

FILLS_VERSION(fill_pci, nvmlPciInfoExt_t, nvmlPciInfoExt_v1,
	      (to->baseClass = 3, to->subClass = 2))
FILLS_VERSION(fill_pdi, nvmlPdi_t, nvmlPdi_v1, to->value = 0x123456789abcULL)
FILLS_VERSION(fill_capabilities, nvmlDeviceCapabilities_t,
	      nvmlDeviceCapabilities_v1, to->capMask = 5)
FILLS(fill_c2c, nvmlC2cModeInfo_v1_t, to->isC2cEnabled = 1)
FILLS(fill_protected, nvmlMemory_t, (to->total = 9 * GIB, to->used = 4 * GIB))
FILLS_VERSION(fill_platform, nvmlPlatformInfo_t, nvmlPlatformInfo_v2,
	      (to->slotNumber = 11, to->trayIndex = 12, to->hostId = 13,
	       to->peerType = 14))
FILLS(fill_unrepairable, nvmlUnrepairableMemoryStatus_v1_t,
      to->bUnrepairableMemory = 1)
FILLS_VERSION(fill_sram, nvmlEccSramErrorStatus_t, nvmlEccSramErrorStatus_v1,
	      (to->aggregateUncParity = 1, to->aggregateUncSecDed = 2,
	       to->aggregateCor = 98, to->volatileUncParity = 3,
	       to->volatileUncSecDed = 4, to->volatileCor = 99,
	       to->aggregateUncBucketL2 = 5, to->aggregateUncBucketSm = 6,
	       to->aggregateUncBucketPcie = 7, to->aggregateUncBucketMcu = 8,
	       to->aggregateUncBucketOther = 9, to->bThresholdExceeded = 1))

static void the_board_is_told(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetPciInfoExt = fill_pci;
	GIVES({GK_M_PCI_CLASS, 0x302});
	nvml.nvmlDeviceGetPdi = fill_pdi;
	GIVES({GK_M_PDI, 0x123456789abc});
	nvml.nvmlDeviceGetCapabilities = fill_capabilities;
	GIVES({GK_M_CAPABILITIES, 5});
	nvml.nvmlDeviceGetC2cModeInfoV = fill_c2c;
	GIVES({GK_M_C2C_MODE, 1});
	nvml.nvmlDeviceGetPlatformInfo = fill_platform;
	GIVES({GK_M_PLATFORM_SLOT, 11}, {GK_M_PLATFORM_TRAY, 12},
	      {GK_M_PLATFORM_HOST, 13}, {GK_M_PLATFORM_PEER, 14});
}

static void its_memory_is_told(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetConfComputeProtectedMemoryUsage = fill_protected;
	GIVES({GK_M_PROTECTED_TOTAL, 9 * GIB}, {GK_M_PROTECTED_USED, 4 * GIB});
	nvml.nvmlDeviceGetUnrepairableMemoryFlag_v1 = fill_unrepairable;
	GIVES({GK_M_UNREPAIRABLE, 1});
	nvml.nvmlDeviceGetSramEccErrorStatus = fill_sram;
	GIVES({GK_M_SRAM_PARITY_AGG, 1}, {GK_M_SRAM_SECDED_AGG, 2},
	      {GK_M_SRAM_PARITY, 3}, {GK_M_SRAM_SECDED, 4}, {GK_M_SRAM_L2, 5},
	      {GK_M_SRAM_SM, 6}, {GK_M_SRAM_PCIE, 7}, {GK_M_SRAM_MCU, 8},
	      {GK_M_SRAM_OTHER, 9}, {GK_M_SRAM_THRESHOLD, 1});
}

static nvmlReturn_t fill_encryption(nvmlDevice_t dev,
				    nvmlDramEncryptionInfo_t *now,
				    nvmlDramEncryptionInfo_t *then)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(now->version, nvmlDramEncryptionInfo_v1);
	assert_int_equal(then->version, nvmlDramEncryptionInfo_v1);
	now->encryptionState = NVML_FEATURE_DISABLED;
	then->encryptionState = NVML_FEATURE_ENABLED;
	return answer;
}

static void encryption_is_now_and_to_come(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetDramEncryptionMode = fill_encryption;
	GIVES({GK_M_DRAM_ENCRYPTION, 0}, {GK_M_DRAM_ENCRYPTION_PENDING, 1});
}

static nvmlReturn_t validate(nvmlDevice_t dev)
{
	assert_ptr_equal(dev, DEVICE);
	return answer;
}

static void a_corrupted_inforom_is_a_value(void **state)
{
	int64_t valid = -1;

	(void)state;
	nvml.nvmlDeviceValidateInforom = validate;
	GIVES({GK_M_INFOROM_VALID, 1});
	answer = NVML_ERROR_CORRUPTED_INFOROM;
	assert_int_equal(
	    row_of(GK_M_INFOROM_VALID)->read(&nvml, DEVICE, &valid),
	    NVML_SUCCESS);
	assert_int_equal(valid, 0);
}

/* ---- the fabric ---- */

static unsigned fabric_newest; /* the version that the driver supports */

static nvmlReturn_t fill_fabric(nvmlDevice_t dev, nvmlGpuFabricInfoV_t *to)
{
	assert_ptr_equal(dev, DEVICE);
	if (to->version != fabric_newest)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	to->state = 3;
	to->status = NVML_ERROR_IN_USE;
	to->cliqueId = 77;
	to->healthMask = 0x55;
	if (to->version == nvmlGpuFabricInfo_v3)
		to->healthSummary = 2;
	return answer;
}

static void the_fabric_has_a_summary_since_its_third_version(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetGpuFabricInfoV = fill_fabric;
	fabric_newest = nvmlGpuFabricInfo_v3;
	GIVES({GK_M_FABRIC_STATE, 3}, {GK_M_FABRIC_STATUS, NVML_ERROR_IN_USE},
	      {GK_M_FABRIC_CLIQUE, 77}, {GK_M_FABRIC_HEALTH, 0x55},
	      {GK_M_FABRIC_SUMMARY, 2});
	fabric_newest = nvmlGpuFabricInfo_v2;
	GIVES({GK_M_FABRIC_STATE, 3}, {GK_M_FABRIC_STATUS, NVML_ERROR_IN_USE},
	      {GK_M_FABRIC_CLIQUE, 77}, {GK_M_FABRIC_HEALTH, 0x55},
	      {GK_M_FABRIC_SUMMARY, GK_ROW_MISSING});
	fabric_newest = 0;
	assert_int_equal(row_answer(GK_M_FABRIC_STATE),
			 NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

/* ---- MIG devices ---- */

static char the_gpu, the_instance, the_compute;
#define GPU      ((nvmlDevice_t)(void *)&the_gpu)
#define INSTANCE ((nvmlGpuInstance_t)(void *)&the_instance)
#define COMPUTE  ((nvmlComputeInstance_t)(void *)&the_compute)

static unsigned mig;          /* whether the device is a MIG device */
static nvmlReturn_t mig_told; /* the result of that call */
static unsigned failing;      /* the call that is refused; 0: none */
static unsigned calls;

static nvmlReturn_t tell_mig(nvmlDevice_t dev, unsigned *to)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*to, 0);
	*to = mig;
	return mig_told;
}

static nvmlReturn_t next_answer(void)
{
	return ++calls == failing ? NVML_ERROR_NO_PERMISSION : answer;
}

FILLS(fill_parts, nvmlDeviceAttributes_t,
      (to->multiprocessorCount = 1, to->sharedCopyEngineCount = 2,
       to->sharedDecoderCount = 3, to->sharedEncoderCount = 4,
       to->sharedJpegCount = 5, to->sharedOfaCount = 6,
       to->gpuInstanceSliceCount = 7))

static nvmlReturn_t tell_gpu(nvmlDevice_t dev, nvmlDevice_t *gpu)
{
	assert_ptr_equal(dev, DEVICE);
	*gpu = GPU;
	return next_answer();
}

static nvmlReturn_t tell_gi(nvmlDevice_t dev, unsigned *id)
{
	assert_ptr_equal(dev, DEVICE);
	*id = 21;
	return next_answer();
}

static nvmlReturn_t tell_ci(nvmlDevice_t dev, unsigned *id)
{
	assert_ptr_equal(dev, DEVICE);
	*id = 22;
	return next_answer();
}

static nvmlReturn_t find_instance(nvmlDevice_t gpu, unsigned id,
				  nvmlGpuInstance_t *to)
{
	assert_ptr_equal(gpu, GPU);
	assert_int_equal(id, 21);
	*to = INSTANCE;
	return next_answer();
}

static nvmlReturn_t tell_instance(nvmlGpuInstance_t instance,
				  nvmlGpuInstanceInfo_t *to)
{
	assert_ptr_equal(instance, INSTANCE);
	assert_null(to->device);
	to->profileId = 31;
	to->placement = (nvmlGpuInstancePlacement_t){32, 33};
	return next_answer();
}

static nvmlReturn_t find_compute(nvmlGpuInstance_t instance, unsigned id,
				 nvmlComputeInstance_t *to)
{
	assert_ptr_equal(instance, INSTANCE);
	assert_int_equal(id, 22);
	*to = COMPUTE;
	return next_answer();
}

static nvmlReturn_t tell_compute(nvmlComputeInstance_t compute,
				 nvmlComputeInstanceInfo_t *to)
{
	assert_ptr_equal(compute, COMPUTE);
	assert_null(to->device);
	to->profileId = 41;
	to->placement = (nvmlComputeInstancePlacement_t){42, 43};
	return next_answer();
}

static int setup_mig(void **state)
{
	rows_setup(state);
	mig = 1;
	mig_told = NVML_SUCCESS;
	failing = 0;
	nvml.nvmlDeviceIsMigDeviceHandle = tell_mig;
	nvml.nvmlDeviceGetAttributes_v2 = fill_parts;
	nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle = tell_gpu;
	nvml.nvmlDeviceGetGpuInstanceId = tell_gi;
	nvml.nvmlDeviceGetComputeInstanceId = tell_ci;
	nvml.nvmlDeviceGetGpuInstanceById = find_instance;
	nvml.nvmlGpuInstanceGetInfo = tell_instance;
	nvml.nvmlGpuInstanceGetComputeInstanceById = find_compute;
	nvml.nvmlComputeInstanceGetInfo_v2 = tell_compute;
	return 0;
}

static void a_mig_device_has_parts_and_instances(void **state)
{
	(void)state;
	GIVES({GK_M_MIG_SMS, 1}, {GK_M_MIG_COPIES, 2}, {GK_M_MIG_DECODERS, 3},
	      {GK_M_MIG_ENCODERS, 4}, {GK_M_MIG_JPEGS, 5}, {GK_M_MIG_OFAS, 6});
	GIVES({GK_M_GI_PROFILE, 31}, {GK_M_GI_START, 32}, {GK_M_GI_SIZE, 33},
	      {GK_M_CI_PROFILE, 41}, {GK_M_CI_START, 42}, {GK_M_CI_SIZE, 43});
}

static void not_supported_by_both(void)
{
	assert_int_equal(row_answer(GK_M_MIG_SMS), NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(row_answer(GK_M_GI_PROFILE), NVML_ERROR_NOT_SUPPORTED);
}

static void a_gpu_has_neither(void **state)
{
	(void)state;
	mig = 0;
	not_supported_by_both();
	mig = 1;
	mig_told = NVML_ERROR_UNKNOWN;
	not_supported_by_both();
	nvml.nvmlDeviceIsMigDeviceHandle = NULL;
	not_supported_by_both();
}

/* Nothing is called with a value that another call did not give. */
static void the_first_refusal_ends_the_questions(void **state)
{
	(void)state;
	for (failing = 1; failing <= 7; failing++) {
		calls = 0;
		assert_int_equal(row_answer(GK_M_GI_PROFILE),
				 NVML_ERROR_NO_PERMISSION);
		assert_int_equal(calls, failing);
	}
	calls = 0;
	assert_int_equal(row_answer(GK_M_GI_PROFILE), NVML_SUCCESS);
	assert_int_equal(calls, 7);
}

#define MIG_TEST(name) cmocka_unit_test_setup(name, setup_mig)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ROWS_TEST(the_board_is_told),
	    ROWS_TEST(its_memory_is_told),
	    ROWS_TEST(encryption_is_now_and_to_come),
	    ROWS_TEST(a_corrupted_inforom_is_a_value),
	    ROWS_TEST(the_fabric_has_a_summary_since_its_third_version),
	    MIG_TEST(a_mig_device_has_parts_and_instances),
	    MIG_TEST(a_gpu_has_neither),
	    MIG_TEST(the_first_refusal_ends_the_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
