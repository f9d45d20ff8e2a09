/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail_lists_test.c - checks accounts, retired pages, clocks and samples as a
 * driver reports them.
 */
#include "core/read/detail_lists.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define DEVICE         ((nvmlDevice_t)(void *)&nvml)
#define ABSENT(reason) ((struct gk_value){.why = GK_ABSENT_##reason})

static struct gk_nvml nvml;
static struct gk_detail *detail;

/* The driver's results; what has none is not supported. */
static struct {
	nvmlReturn_t pids, stats, pages, memory_clocks, clocks, samples;
	unsigned pid_count, page_count[2], memory_count, clock_count;
	unsigned sample_count,
	    odd_sample; /* the value of the first sample; 0: as all others */
	unsigned asked; /* calls for accounts and clocks */
} driver;

/* Processes 100, 101, ... */
static nvmlReturn_t list_pids(nvmlDevice_t dev, unsigned *count, unsigned *pids)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*count, 4000);
	for (unsigned i = 0; i < *count; i++)
		pids[i] = 100 + i;
	*count = driver.pid_count;
	return driver.pids;
}

/* The driver has no figures of 101, and has forgotten 102. */
static nvmlReturn_t tell_stats(nvmlDevice_t dev, unsigned pid,
			       nvmlAccountingStats_t *to)
{
	static const nvmlAccountingStats_t clean;

	assert_ptr_equal(dev, DEVICE);
	assert_memory_equal(to, &clean, sizeof clean);
	driver.asked++;
	if (driver.stats)
		return driver.stats;
	if (pid == 102)
		return NVML_ERROR_NOT_FOUND;
	to->gpuUtilization = 7;
	to->memoryUtilization = 8;
	to->maxMemoryUsage = 1ULL << 40;
	to->time = 5000;
	to->isRunning = pid == 100;
	if (pid == 101) {
		to->gpuUtilization = to->memoryUtilization = ~0U;
		to->maxMemoryUsage = ~0ULL;
	}
	return NVML_SUCCESS;
}

/* Pages at 0x1000, 0x2000, ... for each cause, a second apart. */
static nvmlReturn_t list_pages(nvmlDevice_t dev,
			       nvmlPageRetirementCause_t cause, unsigned *count,
			       unsigned long long *addresses,
			       unsigned long long *times_us)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*count, 64);
	driver.asked++;
	for (unsigned i = 0; i < *count; i++) {
		addresses[i] = 0x1000 * (i + 1);
		times_us[i] = 1000000 * (i + 1);
	}
	*count = driver.page_count[cause];
	return driver.pages;
}

/* 5001, 5000, ... */
static nvmlReturn_t list_memory_clocks(nvmlDevice_t dev, unsigned *count,
				       unsigned *mhz)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*count, 64);
	for (unsigned i = 0; i < *count; i++)
		mhz[i] = 5001 - i;
	*count = driver.memory_count;
	return driver.memory_clocks;
}

/* 6000, 5990, ...; none for memory at 5000. */
static nvmlReturn_t list_clocks(nvmlDevice_t dev, unsigned memory_mhz,
				unsigned *count, unsigned *mhz)
{
	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(*count, 512);
	driver.asked++;
	for (unsigned i = 0; i < *count; i++)
		mhz[i] = 6000 - 10 * i;
	*count = memory_mhz == 5000 ? 0 : driver.clock_count;
	return driver.clocks;
}

/* Samples of a kind: 10 * kind + 5, then 9, then 4, repeated, 20 us apart. */
static nvmlReturn_t tell_samples(nvmlDevice_t dev, nvmlSamplingType_t kind,
				 unsigned long long since,
				 nvmlValueType_t *type, unsigned *count,
				 nvmlSample_t *to)
{
	static const unsigned figures[] = {5, 9, 4};

	assert_ptr_equal(dev, DEVICE);
	assert_int_equal(since, 0);
	assert_int_equal(*count, 2048);
	*type = NVML_VALUE_TYPE_UNSIGNED_INT;
	for (unsigned i = 0; i < *count; i++) {
		to[i].timeStamp = 1000000 + 20 * i;
		to[i].sampleValue.ullVal = 0xeeeeeeee00000000;
		to[i].sampleValue.uiVal =
		    10 * (unsigned)kind + (i < 3 ? figures[i] : 4);
	}
	if (driver.odd_sample)
		to[0].sampleValue.uiVal = driver.odd_sample;
	*count = driver.sample_count;
	return driver.samples;
}

static int setup(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof driver);
	memset(&nvml, 0, sizeof nvml);
	nvml.nvmlDeviceGetAccountingPids = list_pids;
	nvml.nvmlDeviceGetAccountingStats = tell_stats;
	nvml.nvmlDeviceGetRetiredPages_v2 = list_pages;
	nvml.nvmlDeviceGetSupportedMemoryClocks = list_memory_clocks;
	nvml.nvmlDeviceGetSupportedGraphicsClocks = list_clocks;
	nvml.nvmlDeviceGetSamples = tell_samples;
	detail = calloc(1, sizeof *detail);
	assert_non_null(detail);
	detail->link_count = 3;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(detail);
	return 0;
}

static nvmlReturn_t read_lists(void)
{
	return gk_detail_lists_read(&nvml, DEVICE, &detail);
}

static void check_counts(size_t accounts, size_t pages, size_t clocks)
{
	assert_int_equal(detail->account_count, accounts);
	assert_int_equal(detail->page_count, pages);
	assert_int_equal(detail->clock_count, clocks);
	assert_int_equal(detail->link_count, 3);
	assert_int_equal(gk_detail_size(detail),
			 sizeof *detail + accounts * sizeof(struct gk_account) +
			     pages * sizeof(struct gk_page) +
			     clocks * sizeof(struct gk_clock));
}

static void check_value(struct gk_value got, struct gk_value want)
{
	assert_int_equal(got.why, want.why);
	if (!want.why)
		assert_int_equal(got.v, want.v);
}

static void check_account(size_t i, unsigned pid, bool running,
			  struct gk_value gpu, struct gk_value mem,
			  struct gk_value most)
{
	const struct gk_account *a = &detail->accounts[i];

	assert_int_equal(a->pid, pid);
	assert_int_equal(a->running, running);
	check_value(a->gpu_util, gpu);
	check_value(a->mem_util, mem);
	check_value(a->max_memory, most);
	check_value(a->time, (struct gk_value){.v = 5000000000});
}

static void accounts_tell_what_is_known_of_a_process(void **state)
{
	struct gk_value seven = {.v = 7}, eight = {.v = 8};
	struct gk_value most = {.v = 1LL << 40}, none = ABSENT(NOT_SUPPORTED);

	(void)state;
	driver.pid_count = 4;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(3, 0, 0);
	check_account(0, 100, true, seven, eight, most);
	check_account(1, 101, false, none, none, none);
	check_account(2, 103, false, seven, eight, most);
}

static void pages_are_of_two_causes(void **state)
{
	static const struct gk_page want[] = {
	    {0x1000, 1000000000, GK_PAGE_CORRECTED},
	    {0x2000, 2000000000, GK_PAGE_CORRECTED},
	    {0x1000, 1000000000, GK_PAGE_UNCORRECTED},
	};

	(void)state;
	driver.page_count[0] = 2;
	driver.page_count[1] = 1;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(0, 3, 0);
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(detail->pages[i].address, want[i].address);
		assert_int_equal(detail->pages[i].wall_ns, want[i].wall_ns);
		assert_int_equal(detail->pages[i].cause, want[i].cause);
	}
}

static void clocks_are_pairs(void **state)
{
	static const struct gk_clock want[] = {
	    {5001, 6000}, {5001, 5990}, {4999, 6000}, {4999, 5990}};

	(void)state;
	driver.memory_count = 3;
	driver.clock_count = 2;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(0, 0, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(detail->clocks[i].memory_mhz,
				 want[i].memory_mhz);
		assert_int_equal(detail->clocks[i].graphics_mhz,
				 want[i].graphics_mhz);
	}
}

static void check_samples(enum gk_sampled which, unsigned kind, int64_t scale)
{
	const struct gk_samples *s = &detail->samples[which];

	assert_int_equal(s->why, GK_PRESENT);
	assert_int_equal(s->count, 4);
	assert_int_equal(s->duration_ns, 60000);
	assert_int_equal(s->max, (10 * kind + 9) * scale);
	assert_int_equal(s->min, (10 * kind + 4) * scale);
	/* 22 / 4, rounded to whole units where the scale has no fractions. */
	assert_int_equal(s->avg, 10 * kind * scale + 22 * scale / 4);
}

static void samples_are_summed_up(void **state)
{
	(void)state;
	driver.sample_count = 4;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_samples(GK_SAMPLED_POWER, 0, 1);
	check_samples(GK_SAMPLED_GPU, 1, 1);
	check_samples(GK_SAMPLED_MEMORY, 2, 1);
	check_samples(GK_SAMPLED_ENCODER, 3, 1);
	check_samples(GK_SAMPLED_DECODER, 4, 1);
	check_samples(GK_SAMPLED_SM_CLOCK, 5, 1000000);
	check_samples(GK_SAMPLED_MEMORY_CLOCK, 6, 1000000);
	/* The mean of one sample is the sample. */
	driver.sample_count = 1;
	memset(detail->samples, 0, sizeof detail->samples);
	assert_int_equal(read_lists(), NVML_SUCCESS);
	assert_int_equal(detail->samples[1].count, 1);
	assert_int_equal(detail->samples[1].duration_ns, 0);
	assert_int_equal(detail->samples[1].min, 15);
	assert_int_equal(detail->samples[1].max, 15);
	assert_int_equal(detail->samples[1].avg, 15);
}

/* Samples outside the range of their metric. */
static void samples_that_cannot_be_do_not_count(void **state)
{
	(void)state;
	driver.sample_count = 4;
	driver.odd_sample = 4000000000;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	assert_int_equal(detail->samples[GK_SAMPLED_GPU].count, 3);
	assert_int_equal(detail->samples[GK_SAMPLED_GPU].max, 19);
	assert_int_equal(detail->samples[GK_SAMPLED_GPU].avg, 47 / 3);
	driver.sample_count = 1;
	memset(detail->samples, 0, sizeof detail->samples);
	assert_int_equal(read_lists(), NVML_SUCCESS);
	assert_int_equal(detail->samples[GK_SAMPLED_GPU].why,
			 GK_ABSENT_NONSENSE);
	assert_int_equal(detail->samples[GK_SAMPLED_GPU].count, 0);
}

static void check_no_samples(nvmlReturn_t told, enum gk_absence why)
{
	driver.samples = told;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	for (int i = 0; i < GK_SAMPLED_COUNT; i++) {
		assert_int_equal(detail->samples[i].why, why);
		assert_int_equal(detail->samples[i].count, 0);
		assert_int_equal(detail->samples[i].max, 0);
	}
}

static void samples_that_are_not_there_have_a_reason(void **state)
{
	(void)state;
	check_no_samples(NVML_SUCCESS, GK_ABSENT_NONE);
	check_no_samples(NVML_ERROR_NOT_FOUND, GK_ABSENT_NONE);
	driver.sample_count = 4;
	check_no_samples(NVML_ERROR_NOT_FOUND, GK_ABSENT_NONE);
	check_no_samples(NVML_ERROR_NOT_SUPPORTED, GK_ABSENT_NOT_SUPPORTED);
	check_no_samples(NVML_ERROR_NO_PERMISSION, GK_ABSENT_PERMISSION);
}

/* A driver whose count exceeds the room has filled the room. */
static void a_count_above_the_room_is_the_room(void **state)
{
	(void)state;
	driver.pid_count = 4001;
	driver.page_count[0] = 65;
	driver.page_count[1] = 1000;
	driver.memory_count = 65;
	driver.clock_count = 513;
	driver.sample_count = 2049;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(3999, 128, 63 * 512);
	assert_int_equal(detail->accounts[3998].pid, 4099);
	assert_int_equal(detail->pages[63].address, 64 * 0x1000);
	assert_int_equal(detail->pages[64].address, 0x1000);
	assert_int_equal(detail->pages[127].cause, GK_PAGE_UNCORRECTED);
	assert_int_equal(detail->clocks[63 * 512 - 1].memory_mhz, 4938);
	assert_int_equal(detail->clocks[63 * 512 - 1].graphics_mhz, 890);
	assert_int_equal(detail->samples[0].count, 2048);
	assert_int_equal(detail->samples[0].duration_ns, 2047 * 20000);
}

static void a_refused_list_is_empty(void **state)
{
	(void)state;
	driver.pid_count = driver.page_count[0] = 2;
	driver.memory_count = driver.clock_count = 2;
	driver.pids = driver.pages = driver.memory_clocks =
	    NVML_ERROR_NOT_SUPPORTED;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(0, 0, 0);
	assert_int_equal(driver.asked, 2);
	driver.memory_clocks = NVML_SUCCESS;
	driver.clocks = NVML_ERROR_NOT_SUPPORTED;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(0, 0, 0);
	assert_int_equal(driver.asked, 6);
}

static void an_old_driver_has_none_of_it(void **state)
{
	(void)state;
	memset(&nvml, 0, sizeof nvml);
	assert_int_equal(read_lists(), NVML_SUCCESS);
	check_counts(0, 0, 0);
	assert_int_equal(detail->samples[0].why, GK_ABSENT_NO_FUNCTION);
}

/* A lost GPU is not asked further, and its details stay as they were. */
static void the_end_of_the_gpu_ends_the_questions(void **state)
{
	static const struct {
		nvmlReturn_t *answer;
		unsigned asked;
	} steps[] = {
	    {&driver.samples, 6},       {&driver.clocks, 5},
	    {&driver.memory_clocks, 4}, {&driver.pages, 3},
	    {&driver.stats, 1},         {&driver.pids, 0},
	};

	(void)state;
	driver.pid_count = driver.page_count[0] = 2;
	driver.memory_count = driver.clock_count = 2;
	for (size_t i = 0; i < COUNT(steps); i++) {
		*steps[i].answer = NVML_ERROR_GPU_IS_LOST;
		driver.asked = 0;
		assert_int_equal(read_lists(), NVML_ERROR_GPU_IS_LOST);
		assert_int_equal(driver.asked, steps[i].asked);
		check_counts(0, 0, 0);
		assert_null(detail->accounts);
	}
}

static void a_copy_has_lists_of_its_own(void **state)
{
	struct gk_detail *copy;

	(void)state;
	driver.pid_count = 2;
	driver.page_count[1] = 1;
	driver.memory_count = driver.clock_count = 1;
	assert_int_equal(read_lists(), NVML_SUCCESS);
	copy = malloc(gk_detail_size(detail));
	assert_non_null(copy);
	gk_detail_copy(copy, detail);
	memset(detail, 0xee, gk_detail_size(detail));
	free(detail);
	detail = copy;
	check_counts(2, 1, 1);
	assert_int_equal(detail->accounts[0].pid, 100);
	assert_int_equal(detail->accounts[1].pid, 101);
	assert_int_equal(detail->pages[0].address, 0x1000);
	assert_int_equal(detail->pages[0].cause, GK_PAGE_UNCORRECTED);
	assert_int_equal(detail->clocks[0].memory_mhz, 5001);
	assert_int_equal(detail->clocks[0].graphics_mhz, 6000);
	assert_ptr_equal(detail->accounts, detail + 1);
}

static void a_copy_of_none_has_none(void **state)
{
	struct gk_detail copy;

	(void)state;
	gk_detail_copy(&copy, detail);
	assert_int_equal(copy.link_count, 3);
	assert_null(copy.accounts);
	assert_null(copy.pages);
	assert_null(copy.clocks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(accounts_tell_what_is_known_of_a_process),
	    TEST(pages_are_of_two_causes),
	    TEST(clocks_are_pairs),
	    TEST(samples_are_summed_up),
	    TEST(samples_that_cannot_be_do_not_count),
	    TEST(samples_that_are_not_there_have_a_reason),
	    TEST(a_count_above_the_room_is_the_room),
	    TEST(a_refused_list_is_empty),
	    TEST(an_old_driver_has_none_of_it),
	    TEST(the_end_of_the_gpu_ends_the_questions),
	    TEST(a_copy_has_lists_of_its_own),
	    TEST(a_copy_of_none_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
