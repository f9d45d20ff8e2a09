/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_ecc_test.c - checks memory errors of split GPUs, and what is not reported
 * for them.
 */
#include "fronts/nvml/nvml_test.h"
#include "machine/file/ecc_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/model/ecc.h"
#include "machine/model/mig/mig.h"

/* All slices of the first GPU are used: GPU instances 2, 3, 9 and 10. */
static int setup(void **state)
{
	struct fixture *fx;
	const char *part;

	front_setup_init(state);
	fx = *state;
	atomic_store(&fx->file->permission, GKF_PERMIT_ALL);
	assert_int_equal(
	    gkf_mig_layout(fx->m, 0, "3g.40gb+2g.20gb+1g.10gb+1g.10gb", &part),
	    0);
	return 0;
}

static nvmlReturn_t count_at(unsigned index, nvmlMemoryErrorType_t type,
			     nvmlEccCounterType_t counter,
			     nvmlMemoryLocation_t location,
			     unsigned long long *ret_count)
{
	nvmlDevice_t mig;

	assert_nvml(
	    NV(nvmlDeviceGetMigDeviceHandleByIndex)(device_at(0), index, &mig),
	    SUCCESS);
	return NV(nvmlDeviceGetMemoryErrorCounter)(mig, type, counter, location,
						   ret_count);
}

static unsigned long long sram(unsigned index)
{
	unsigned long long n = 77;

	assert_nvml(count_at(index, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			     NVML_VOLATILE_ECC, NVML_MEMORY_LOCATION_SRAM, &n),
		    SUCCESS);
	return n;
}

static unsigned long long all_sram(void)
{
	return sram(0) + sram(1) + sram(2) + sram(3);
}

static void strike(struct fixture *fx, enum gkf_ecc_kind kind,
		   enum gkf_ecc_location place, unsigned count)
{
	assert_int_equal(gkf_ecc_error(fx->m, 0, kind, place, count), 0);
}

static void errors_are_of_one_instance(void **state)
{
	struct fixture *fx = *state;
	unsigned hit = 0;

	assert_int_equal(all_sram(), 0);
	for (int i = 0; i < 20; i++) {
		strike(fx, GKF_ECC_SECDED, GKF_ECC_L2, 3);
		strike(fx, GKF_ECC_PARITY, GKF_ECC_REGISTERS, 1);
	}
	assert_int_equal(all_sram(), 80);
	for (unsigned i = 0; i < 4; i++)
		hit += sram(i) > 0;
	assert_true(hit > 1);
	/* These belong to no instance, or not to this counter. */
	strike(fx, GKF_ECC_SECDED, GKF_ECC_PCIE, 1);
	strike(fx, GKF_ECC_CORRECTED, GKF_ECC_L2, 1);
	strike(fx, GKF_ECC_SECDED, GKF_ECC_DRAM, 1);
	assert_int_equal(all_sram(), 80);
	assert_nvml(
	    NV(nvmlDeviceClearEccErrorCounts)(device_at(0), NVML_VOLATILE_ECC),
	    SUCCESS);
	assert_int_equal(all_sram(), 0);
}

static void a_new_instance_has_met_no_errors(void **state)
{
	struct fixture *fx = *state;
	const char *part;
	unsigned long long before;

	for (int i = 0; i < 20; i++)
		strike(fx, GKF_ECC_SECDED, GKF_ECC_L1, 1);
	before = sram(0);
	assert_int_equal(all_sram(), 20);
	assert_true(before > 0);
	assert_int_equal(gkf_mig_ci_destroy(fx->m, 0, 2, 0, GKF_MIG_ANY_LIFE),
			 0);
	assert_int_equal(gkf_mig_gi_destroy(fx->m, 0, 2, GKF_MIG_ANY_LIFE), 0);
	assert_int_equal(gkf_mig_layout(fx->m, 0, "3g.40gb", &part), 0);
	assert_int_equal(sram(0), 0);
	assert_int_equal(all_sram(), 20 - before);
}

static void other_counters_are_refused(void **state)
{
	unsigned long long n = 77;

	(void)state;
	assert_nvml(count_at(0, NVML_MEMORY_ERROR_TYPE_CORRECTED,
			     NVML_VOLATILE_ECC, NVML_MEMORY_LOCATION_SRAM, &n),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(count_at(0, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			     NVML_AGGREGATE_ECC, NVML_MEMORY_LOCATION_SRAM, &n),
		    ERROR_NOT_SUPPORTED);
	assert_nvml(count_at(0, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			     NVML_VOLATILE_ECC, NVML_MEMORY_LOCATION_DRAM, &n),
		    ERROR_NOT_SUPPORTED);
	assert_int_equal(n, 77);
}

/* By the function and as a field. */
static nvmlReturn_t remapped(void)
{
	nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_REMAPPED_COR};
	unsigned n[4];
	nvmlReturn_t r = NV(nvmlDeviceGetRemappedRows)(device_at(0), &n[0],
						       &n[1], &n[2], &n[3]);

	assert_nvml(NV(nvmlDeviceGetFieldValues)(device_at(0), 1, &field),
		    SUCCESS);
	assert_int_equal(field.nvmlReturn, r);
	return r;
}

static void rows_are_told_without_instances(void **state)
{
	struct fixture *fx = *state;
	nvmlRowRemapperHistogramValues_t rows;
	static const unsigned ids[] = {2, 3, 9, 10};

	assert_nvml(NV(nvmlDeviceGetRowRemapperHistogram)(device_at(0), &rows),
		    SUCCESS);
	assert_nvml(remapped(), ERROR_NOT_SUPPORTED);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(
		    gkf_mig_ci_destroy(fx->m, 0, ids[i], 0, GKF_MIG_ANY_LIFE),
		    0);
		assert_int_equal(
		    gkf_mig_gi_destroy(fx->m, 0, ids[i], GKF_MIG_ANY_LIFE), 0);
	}
	assert_nvml(remapped(), SUCCESS);
}

static void links_are_told_without_mig(void **state)
{
	nvmlFieldValue_t link = {.fieldId = NVML_FI_DEV_NVLINK_GET_STATE};

	(void)state;
	assert_nvml(NV(nvmlDeviceGetFieldValues)(device_at(0), 1, &link),
		    SUCCESS);
	assert_nvml(link.nvmlReturn, ERROR_NOT_SUPPORTED);
	assert_nvml(NV(nvmlDeviceGetFieldValues)(device_at(1), 1, &link),
		    SUCCESS);
	assert_nvml(link.nvmlReturn, SUCCESS);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, front_teardown)
	const struct CMUnitTest tests[] = {
	    T(errors_are_of_one_instance), T(a_new_instance_has_met_no_errors),
	    T(other_counters_are_refused), T(rows_are_told_without_instances),
	    T(links_are_told_without_mig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
