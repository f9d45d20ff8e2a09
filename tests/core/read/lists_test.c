/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists_test.c - checks the process lists of a GPU: versions, room, refusals,
 * joining.
 */
#include "abi/nvml/nvml_process.h"
#include "core/read/device.h"
#include "core/driver/stride.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define NO     GK_NO_INSTANCE
#define DEVICE ((nvmlDevice_t)(void *)&nvml)
#define MIG    ((nvmlDevice_t)(void *)&gpu)

enum which { COMPUTE, GRAPHICS, MPS, LISTS };

static struct gk_nvml nvml;
static struct gk_gpu gpu;

/* A list as the driver has it, and how it was called. */
static struct {
	nvmlReturn_t answer;
	nvmlProcessInfo_v2_t process[100];
	unsigned count;
	unsigned told;       /* the count that it reports; 0: count */
	unsigned too_little; /* the number of calls with too little room */
	unsigned calls, version, room;
} list[LISTS];
static nvmlReturn_t util_answer;
static unsigned util_calls;

static nvmlReturn_t tell(enum which which, unsigned version, size_t stride,
			 nvmlDevice_t dev, unsigned *count, void *to)
{
	unsigned room = *count;

	assert_true(dev == DEVICE || dev == MIG);
	list[which].calls++;
	list[which].version = version;
	list[which].room = room;
	*count = list[which].told ? list[which].told : list[which].count;
	if (list[which].too_little) {
		list[which].too_little--;
		return NVML_ERROR_INSUFFICIENT_SIZE;
	}
	for (unsigned i = 0; i < room && i < list[which].count; i++)
		memcpy((char *)to + i * stride, &list[which].process[i],
		       stride);
	return list[which].answer;
}

#define LIST(name, which, version, type)                                       \
	static nvmlReturn_t name(nvmlDevice_t dev, unsigned *count, type *to)  \
	{                                                                      \
		return tell(which, version, version == 1 ? 16 : 24, dev,       \
			    count, to);                                        \
	}
LIST(compute_3, COMPUTE, 3, nvmlProcessInfo_t)
LIST(compute_2, COMPUTE, 2, nvmlProcessInfo_v2_t)
LIST(compute_1, COMPUTE, 1, nvmlProcessInfo_v1_t)
LIST(graphics_3, GRAPHICS, 3, nvmlProcessInfo_t)
LIST(graphics_2, GRAPHICS, 2, nvmlProcessInfo_v2_t)
LIST(graphics_1, GRAPHICS, 1, nvmlProcessInfo_v1_t)
LIST(mps_3, MPS, 3, nvmlProcessInfo_t)
LIST(mps_2, MPS, 2, nvmlProcessInfo_v2_t)
LIST(mps_1, MPS, 1, nvmlProcessInfo_v1_t)

static nvmlReturn_t tell_util(nvmlDevice_t dev,
			      nvmlProcessUtilizationSample_t *to,
			      unsigned *count, unsigned long long since)
{
	(void)dev;
	(void)since;
	util_calls++;
	to[0] = (nvmlProcessUtilizationSample_t){
	    .pid = 50, .timeStamp = ~0ULL, .smUtil = 44};
	*count = 1;
	return util_answer;
}

static int setup(void **state)
{
	const struct gk_gpu_options options = {0};

	(void)state;
	memset(list, 0, sizeof list);
	memset(&nvml, 0, sizeof nvml);
	util_calls = 0;
	util_answer = NVML_SUCCESS;
	strcpy(nvml.driver_version, "580.65.06");
	nvml.nvmlDeviceGetComputeRunningProcesses_v3 = compute_3;
	nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 = graphics_3;
	nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3 = mps_3;
	nvml.nvmlDeviceGetProcessUtilization = tell_util;
	assert_int_equal(gk_gpu_init(&gpu, &nvml, 0, &options), 0);
	gpu.units[0].handle = DEVICE;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_gpu_fini(&gpu);
	assert_null(gpu.units);
	return 0;
}

static void put(enum which which, unsigned pid, unsigned long long bytes)
{
	list[which].process[list[which].count++] =
	    (nvmlProcessInfo_v2_t){pid, bytes, NO, NO};
}

static const struct gk_listed *find(pid_t pid)
{
	for (size_t i = 0; i < gpu.listed_count; i++)
		if (gpu.listed[i].pid == pid)
			return &gpu.listed[i];
	fail_msg("no pid %d", (int)pid);
	return NULL;
}

static void check_memory(pid_t pid, int64_t bytes)
{
	assert_int_equal(find(pid)->m[GK_PM_GPU_MEM].why, GK_PRESENT);
	assert_int_equal(find(pid)->m[GK_PM_GPU_MEM].v, bytes);
}

static void the_newest_version_is_asked(void **state)
{
	(void)state;
	nvml.nvmlDeviceGetComputeRunningProcesses_v2 = compute_2;
	nvml.nvmlDeviceGetComputeRunningProcesses = compute_1;
	nvml.nvmlDeviceGetGraphicsRunningProcesses_v2 = graphics_2;
	nvml.nvmlDeviceGetGraphicsRunningProcesses = graphics_1;
	nvml.nvmlDeviceGetMPSComputeRunningProcesses_v2 = mps_2;
	nvml.nvmlDeviceGetMPSComputeRunningProcesses = mps_1;
	for (enum which w = 0; w < LISTS; w++)
		for (unsigned i = 0; i < 3; i++)
			put(w, 10 * w + i + 1, 1000 * w + i);
	for (unsigned version = 3; version >= 1; version--) {
		assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
		for (enum which w = 0; w < LISTS; w++)
			assert_int_equal(list[w].version, version);
		assert_int_equal(gpu.listed_count, 9);
		check_memory(1, 0);
		check_memory(3, 2);
		check_memory(12, 1001);
		check_memory(23, 2002);
		assert_int_equal(find(3)->types, GK_PROCESS_COMPUTE);
		assert_int_equal(find(12)->types, GK_PROCESS_GRAPHICS);
		assert_int_equal(find(23)->types, GK_PROCESS_MPS);
		if (version == 3) {
			nvml.nvmlDeviceGetComputeRunningProcesses_v3 = NULL;
			nvml.nvmlDeviceGetGraphicsRunningProcesses_v3 = NULL;
			nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3 = NULL;
		} else {
			nvml.nvmlDeviceGetComputeRunningProcesses_v2 = NULL;
			nvml.nvmlDeviceGetGraphicsRunningProcesses_v2 = NULL;
			nvml.nvmlDeviceGetMPSComputeRunningProcesses_v2 = NULL;
		}
	}
}

static void the_room_grows_with_the_list(void **state)
{
	(void)state;
	put(COMPUTE, 50, 5);
	list[COMPUTE].told = 500;
	list[COMPUTE].too_little = 1;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(list[COMPUTE].calls, 2);
	assert_int_equal(list[COMPUTE].room, 508);
	assert_int_equal(gpu.listed_count, 1);
	/*
	 * A driver that does not report the count gets twice the room each
	 * time.
	 */
	list[COMPUTE].told = 1;
	list[COMPUTE].too_little = 2;
	list[COMPUTE].calls = 0;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(list[COMPUTE].calls, 3);
	assert_int_equal(list[COMPUTE].room, 4 * 508);
	assert_int_equal(gpu.units[0].dev.processes_why, GK_PRESENT);
}

static void a_list_is_asked_eight_times_at_most(void **state)
{
	(void)state;
	list[COMPUTE].told = 1;
	list[COMPUTE].too_little = 100;
	list[GRAPHICS].answer = list[MPS].answer = NVML_ERROR_UNKNOWN;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(list[COMPUTE].calls, 8);
	assert_int_equal(gpu.units[0].dev.processes_why, GK_ABSENT_ERROR);
	list[COMPUTE].told = 100000;
	list[COMPUTE].calls = 0;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(list[COMPUTE].calls, 1);
	assert_int_equal(gpu.units[0].dev.processes_why, GK_ABSENT_ERROR);
}

/* The results of the three lists, and why processes are not known. */
static const struct {
	nvmlReturn_t answer[LISTS];
	enum gk_absence why;
} refusals[] = {
    {{0, 0, 0}, GK_PRESENT},
    {{NVML_ERROR_NO_PERMISSION, 0, 0}, GK_PRESENT},
    {{0, NVML_ERROR_NO_PERMISSION, NVML_ERROR_UNKNOWN}, GK_PRESENT},
    {{NVML_ERROR_UNKNOWN, NVML_ERROR_UNKNOWN, 0}, GK_PRESENT},
    {{NVML_ERROR_NO_PERMISSION, NVML_ERROR_UNKNOWN, NVML_ERROR_UNKNOWN},
     GK_ABSENT_PERMISSION},
    {{NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_UNKNOWN, NVML_ERROR_NO_PERMISSION},
     GK_ABSENT_NOT_SUPPORTED},
};

static void one_list_that_answers_is_enough(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++) {
		for (enum which w = 0; w < LISTS; w++)
			list[w].answer = refusals[i].answer[w];
		gpu.units[0].unsupported_lists = 0;
		assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
		assert_int_equal(gpu.units[0].dev.processes_why,
				 refusals[i].why);
	}
}

static void what_is_not_supported_is_asked_once(void **state)
{
	(void)state;
	list[GRAPHICS].answer = NVML_ERROR_NOT_SUPPORTED;
	list[MPS].answer = NVML_ERROR_FUNCTION_NOT_FOUND;
	list[COMPUTE].answer = NVML_ERROR_UNKNOWN;
	put(GRAPHICS, 60, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(list[COMPUTE].calls, 3);
	assert_int_equal(list[GRAPHICS].calls, 1);
	assert_int_equal(list[MPS].calls, 1);
	/* Rows that come with a refusal are ignored. */
	assert_int_equal(gpu.listed_count, 0);
}

static void a_lost_gpu_is_asked_no_further(void **state)
{
	(void)state;
	put(COMPUTE, 50, 5);
	for (enum which w = 0; w < LISTS; w++) {
		list[w].answer = NVML_ERROR_GPU_IS_LOST;
		list[MPS].calls = 0;
		gpu.units[0].dev.processes_why = GK_ABSENT_HIDDEN;
		assert_int_equal(gk_gpu_list(&gpu), NVML_ERROR_GPU_IS_LOST);
		assert_int_equal(list[MPS].calls, w == MPS);
		assert_int_equal(gpu.units[0].dev.processes_why,
				 GK_ABSENT_HIDDEN);
		gpu.with = GK_WITHOUT_PROCESS_UTIL;
		assert_int_equal(gk_gpu_list(&gpu), NVML_ERROR_GPU_IS_LOST);
		gpu.with = 0;
		list[w].answer = NVML_SUCCESS;
	}
	assert_int_equal(util_calls, 0);
	util_answer = NVML_ERROR_GPU_IS_LOST;
	assert_int_equal(gk_gpu_list(&gpu), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(util_calls, 1);
	util_answer = NVML_ERROR_NO_PERMISSION;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(find(50)->m[GK_PM_SM_UTIL].why, GK_ABSENT_PERMISSION);
}

static void utilisation_is_of_those_that_are_listed(void **state)
{
	(void)state;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(util_calls, 0);
	put(GRAPHICS, 50, 5);
	put(GRAPHICS, 51, 5);
	gpu.with = GK_WITHOUT_PROCESS_UTIL;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(util_calls, 0);
	assert_int_equal(find(50)->m[GK_PM_SM_UTIL].why, GK_ABSENT_NOT_READ);
	assert_int_equal(find(50)->m[GK_PM_DEC_UTIL].why, GK_ABSENT_NOT_READ);
	gpu.with = 0;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(util_calls, 1);
	assert_int_equal(find(50)->m[GK_PM_SM_UTIL].v, 44);
	assert_int_equal(find(51)->m[GK_PM_SM_UTIL].v, 0);
	assert_int_equal(find(51)->m[GK_PM_SM_UTIL].why, GK_PRESENT);
}

static void memory_is_the_largest_figure_that_can_be(void **state)
{
	int64_t most = gk_process_metric_range(GK_PM_GPU_MEM)->most;

	(void)state;
	gpu.units[0].dev.m[GK_M_MEM_TOTAL] = (struct gk_value){.v = 1000};
	put(COMPUTE, 1, 400);
	put(GRAPHICS, 1, 700);
	put(MPS, 1, 600);
	put(COMPUTE, 2, 1000);
	put(COMPUTE, 3, 1001);
	put(COMPUTE, 4, ~0ULL);
	put(GRAPHICS, 4, 0);
	put(COMPUTE, 5, ~0ULL);
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	assert_int_equal(gpu.listed_count, 5);
	check_memory(1, 700);
	assert_int_equal(find(1)->types, GK_PROCESS_COMPUTE |
					     GK_PROCESS_GRAPHICS |
					     GK_PROCESS_MPS);
	check_memory(2, 1000);
	assert_int_equal(find(3)->m[GK_PM_GPU_MEM].why,
			 GK_ABSENT_NOT_SUPPORTED);
	check_memory(4, 0);
	assert_int_equal(find(5)->m[GK_PM_GPU_MEM].why,
			 GK_ABSENT_NOT_SUPPORTED);
	/* Where the total is unknown, any possible number is accepted. */
	gpu.units[0].dev.m[GK_M_MEM_TOTAL].why = GK_ABSENT_ERROR;
	put(COMPUTE, 6, (uint64_t)most);
	put(COMPUTE, 8, (uint64_t)most + 1);
	put(COMPUTE, 7, (unsigned long long)INT64_MAX + 1);
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	check_memory(3, 1001);
	check_memory(6, most);
	assert_int_equal(find(8)->m[GK_PM_GPU_MEM].why, GK_ABSENT_NONSENSE);
	assert_int_equal(find(8)->m[GK_PM_GPU_MEM].v, most + 1);
	assert_int_equal(find(7)->m[GK_PM_GPU_MEM].why,
			 GK_ABSENT_NOT_SUPPORTED);
}

static void as_many_as_there_are_are_listed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		put(COMPUTE, 1000 + i, i);
	list[COMPUTE].too_little = 1;
	for (unsigned i = 50; i < 100; i++)
		put(MPS, 1000 + i, 2 * i);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
		assert_int_equal(gpu.listed_count, 100);
		for (int i = 0; i < 100; i++)
			check_memory(1000 + i, i < 50 ? i : 2 * i);
	}
}

/* A MIG device of GPU instance 3 and compute instance 1. */
static void processes_are_where_their_instances_are(void **state)
{
	struct gk_gpu_unit *units = calloc(3, sizeof *units);

	(void)state;
	assert_non_null(units);
	units[0] = gpu.units[0];
	units[1] = units[2] = gpu.units[0];
	units[1].handle = units[2].handle = MIG;
	units[1].dev.gpu_instance = 3;
	units[1].dev.compute_instance = 1;
	free(gpu.units);
	gpu.units = units;
	gpu.unit_count = 3;
	list[COMPUTE].process[0] = (nvmlProcessInfo_v2_t){1, 5, 3, 1};
	list[COMPUTE].process[1] = (nvmlProcessInfo_v2_t){2, 5, 3, 0};
	list[COMPUTE].process[2] = (nvmlProcessInfo_v2_t){3, 5, 2, 1};
	list[COMPUTE].process[3] = (nvmlProcessInfo_v2_t){4, 5, NO, NO};
	list[COMPUTE].count = 4;
	assert_int_equal(gk_gpu_list(&gpu), NVML_SUCCESS);
	/*
	 * The GPU lists all processes, and so does each MIG device; 1 is on its
	 * own.
	 */
	assert_int_equal(gpu.listed_count, 1 + 3 * 3);
	assert_int_equal(find(1)->unit, 1);
	for (size_t i = 0; i < gpu.listed_count; i++)
		if (gpu.listed[i].pid != 1)
			assert_int_equal(gpu.listed[i].unit,
					 i < 4 ? 0 : (i - 4) / 3 + 1);
	assert_int_equal(util_calls, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_newest_version_is_asked),
	    TEST(the_room_grows_with_the_list),
	    TEST(a_list_is_asked_eight_times_at_most),
	    TEST(one_list_that_answers_is_enough),
	    TEST(what_is_not_supported_is_asked_once),
	    TEST(a_lost_gpu_is_asked_no_further),
	    TEST(utilisation_is_of_those_that_are_listed),
	    TEST(memory_is_the_largest_figure_that_can_be),
	    TEST(as_many_as_there_are_are_listed),
	    TEST(processes_are_where_their_instances_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
