/* SPDX-License-Identifier: Apache-2.0 */
/*
 * util_test.c - checks the newest utilization of each process, from samples as
 * drivers give them.
 */
#include "core/driver/stride.h"
#include "core/read/util.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define DEVICE ((nvmlDevice_t)(void *)&nvml)
#define NOW    50000000ULL /* microseconds */
#define SECOND 1000000ULL

static struct gk_nvml nvml;
static struct gk_util util;
static struct gk_records scratch;

/* The driver's samples, and how it was called. */
static struct {
	nvmlReturn_t answer;
	nvmlProcessUtilizationSample_t sample[200];
	unsigned count;      /* of the samples */
	unsigned told;       /* the count that it reports; 0: count */
	unsigned too_little; /* the number of calls with too little room */
	unsigned calls, room;
	unsigned long long since;
} driver;

static nvmlReturn_t tell(nvmlDevice_t dev, nvmlProcessUtilizationSample_t *to,
			 unsigned *count, unsigned long long since)
{
	unsigned room = *count;

	assert_ptr_equal(dev, DEVICE);
	driver.calls++;
	driver.since = since;
	driver.room = room;
	*count = driver.told ? driver.told : driver.count;
	if (driver.too_little) {
		driver.too_little--;
		return NVML_ERROR_INSUFFICIENT_SIZE;
	}
	if (driver.answer)
		return driver.answer;
	for (unsigned i = 0; i < room && i < driver.count; i++)
		to[i] = driver.sample[i];
	return NVML_SUCCESS;
}

static int setup(void **state)
{
	(void)state;
	memset(&driver, 0, sizeof driver);
	nvml.nvmlDeviceGetProcessUtilization = tell;
	assert_int_equal(gk_records_reserve(&scratch, 1), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gk_util_free(&util);
	assert_null(util.samples);
	free(scratch.bytes);
	scratch = (struct gk_records){0};
	return 0;
}

static void add_sample(unsigned pid, unsigned long long at_us, unsigned sm)
{
	driver.sample[driver.count++] = (nvmlProcessUtilizationSample_t){
	    .pid = pid,
	    .timeStamp = at_us,
	    .smUtil = sm,
	    .memUtil = sm / 2,
	    .encUtil = sm / 3,
	    .decUtil = sm / 4,
	};
}

static nvmlReturn_t read_at(unsigned long long now_us)
{
	return gk_util_read(&util, &nvml, DEVICE, &scratch, now_us);
}

/* Checks all four values of a process; the others follow from the first. */
static void check_busy(pid_t pid, int64_t sm)
{
	struct gk_value m[GK_PM_COUNT] = {0};

	gk_util_apply(&util, pid, m);
	assert_int_equal(m[GK_PM_SM_UTIL].v, sm);
	assert_int_equal(m[GK_PM_MEM_UTIL].v, sm / 2);
	assert_int_equal(m[GK_PM_ENC_UTIL].v, sm / 3);
	assert_int_equal(m[GK_PM_DEC_UTIL].v, sm / 4);
	assert_int_equal(m[GK_PM_SM_UTIL].why, GK_PRESENT);
}

static void check_why(enum gk_absence why)
{
	struct gk_value m[GK_PM_COUNT] = {0};

	gk_util_apply(&util, 10, m);
	assert_int_equal(m[GK_PM_SM_UTIL].why, why);
	assert_int_equal(m[GK_PM_MEM_UTIL].why, why);
	assert_int_equal(m[GK_PM_ENC_UTIL].why, why);
	assert_int_equal(m[GK_PM_DEC_UTIL].why, why);
}

static void the_newest_sample_of_each_counts(void **state)
{
	(void)state;
	add_sample(10, NOW - 30, 12);
	add_sample(11, NOW - 20, 48);
	add_sample(10, NOW - 10, 96);
	add_sample(10, NOW - 20, 24);
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	check_busy(10, 96);
	check_busy(11, 48);
	check_busy(12, 0);
	/* Of two with the same time the later one counts. */
	add_sample(11, NOW - 20, 60);
	gk_util_free(&util);
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	check_busy(11, 60);
}

static void the_first_question_goes_a_second_back(void **state)
{
	(void)state;
	assert_int_equal(read_at(SECOND), NVML_SUCCESS);
	assert_int_equal(driver.since, 0);
	assert_int_equal(read_at(SECOND + 1), NVML_SUCCESS);
	assert_int_equal(driver.since, 1);
	add_sample(10, NOW - 7, 12);
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	assert_int_equal(driver.since, NOW - SECOND);
	/* Later calls begin at the newest sample. */
	add_sample(11, NOW - 9, 12);
	assert_int_equal(read_at(NOW + SECOND), NVML_SUCCESS);
	assert_int_equal(driver.since, NOW - 7);
	assert_int_equal(read_at(NOW + SECOND), NVML_SUCCESS);
	assert_int_equal(driver.since, NOW - 7);
}

/* A sample from an earlier call is valid for a second. */
static void a_sample_holds_for_a_second(void **state)
{
	(void)state;
	add_sample(10, NOW - 5, 48);
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	driver.count = 0;
	assert_int_equal(read_at(NOW - 5 + SECOND - 1), NVML_SUCCESS);
	check_busy(10, 48);
	assert_int_equal(read_at(NOW - 5 + SECOND), NVML_SUCCESS);
	check_busy(10, 0);
}

/* Each row is left out; the last is the largest possible value. */
static const nvmlProcessUtilizationSample_t leftovers[] = {
    {.pid = 0, .timeStamp = NOW - 1, .smUtil = 12},
    {.pid = 10, .timeStamp = NOW - 2 * SECOND, .smUtil = 12},
    {.pid = 10, .timeStamp = NOW - SECOND, .smUtil = 12},
    {.pid = 10, .timeStamp = NOW - 1, .smUtil = 101},
    {.pid = 10, .timeStamp = NOW - 1, .smUtil = 12, .memUtil = 101},
    {.pid = 10, .timeStamp = NOW - 1, .smUtil = 12, .encUtil = 101},
    {.pid = 10, .timeStamp = NOW - 1, .smUtil = 12, .decUtil = 101},
    {.pid = 10,
     .timeStamp = NOW - SECOND + 1,
     .smUtil = 100,
     .memUtil = 100,
     .encUtil = 100,
     .decUtil = 100},
};

static void leftovers_are_left_out(void **state)
{
	struct gk_value m[GK_PM_COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(leftovers); i++) {
		bool last = i == COUNT(leftovers) - 1;

		gk_util_free(&util);
		driver.sample[0] = leftovers[i];
		driver.count = 1;
		assert_int_equal(read_at(NOW), NVML_SUCCESS);
		assert_int_equal(util.count, last ? 1 : 0);
		gk_util_apply(&util, 10, m);
		assert_int_equal(m[GK_PM_SM_UTIL].v, last ? 100 : 0);
	}
	assert_int_equal(m[GK_PM_DEC_UTIL].v, 100);
}

static void many_processes_are_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 150; i++)
		add_sample(1000 + i, NOW - 1, i % 101);
	driver.too_little = 1;
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	for (unsigned i = 0; i < 150; i++)
		check_busy((pid_t)(1000 + i), i % 101);
	assert_int_equal(util.count, 150);
}

/* Processes come and go, and the places of old ones are reused. */
static void old_samples_make_room(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++)
		add_sample(100 + i, NOW - 10, 12);
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	assert_int_equal(util.count, 16);
	driver.count = 0;
	for (unsigned i = 0; i < 16; i++)
		add_sample(200 + i, NOW + 3 * SECOND, 48);
	assert_int_equal(read_at(NOW + 3 * SECOND), NVML_SUCCESS);
	assert_int_equal(util.count, 16);
	check_busy(100, 0);
	check_busy(200, 48);
	check_busy(215, 48);
}

static void the_room_grows_with_what_is_there(void **state)
{
	(void)state;
	add_sample(10, NOW - 1, 12);
	driver.told = 500;
	driver.too_little = 1;
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	assert_int_equal(driver.calls, 2);
	assert_int_equal(driver.room, 508);
	/* A driver that does not report the count gets twice the room. */
	driver.told = 1;
	driver.too_little = 1;
	driver.calls = 0;
	assert_int_equal(read_at(NOW + 1), NVML_SUCCESS);
	assert_int_equal(driver.calls, 2);
	assert_int_equal(driver.room, 1016);
	/* With more samples than room, no more than the room is read. */
	driver.told = 4000000000;
	assert_int_equal(read_at(NOW + 2), NVML_SUCCESS);
	check_busy(10, 12);
}

static void growing_has_an_end(void **state)
{
	(void)state;
	driver.told = 1;
	driver.too_little = 100;
	assert_int_equal(read_at(NOW), NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(driver.calls, 8);
	check_why(GK_ABSENT_ERROR);
	driver.told = 70000;
	driver.calls = 0;
	assert_int_equal(read_at(NOW), NVML_ERROR_MEMORY);
	assert_int_equal(driver.calls, 1);
}

static void refusals_have_their_reason(void **state)
{
	(void)state;
	add_sample(10, NOW - 1, 12);
	driver.answer = NVML_ERROR_NO_PERMISSION;
	assert_int_equal(read_at(NOW), NVML_ERROR_NO_PERMISSION);
	check_why(GK_ABSENT_PERMISSION);
	assert_int_equal(util.count, 0);
	/* NOT_FOUND is no refusal, and rows that come with it are ignored. */
	driver.answer = NVML_ERROR_NOT_FOUND;
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	check_busy(10, 0);
	assert_int_equal(util.count, 0);
	driver.answer = NVML_SUCCESS;
	assert_int_equal(read_at(NOW), NVML_SUCCESS);
	check_busy(10, 12);
}

static void room_is_clean_and_has_bounds(void **state)
{
	struct gk_records r = {0};

	(void)state;
	assert_int_equal(gk_records_reserve(&r, 1), 0);
	assert_int_equal(r.cap, 64);
	memset(r.bytes, 0xee, (size_t)64 * GK_STRIDE_MAX);
	assert_int_equal(gk_records_reserve(&r, 65536), 0);
	assert_int_equal(r.cap, 65536);
	for (size_t i = 0; i < (size_t)65536 * GK_STRIDE_MAX; i += 31)
		assert_int_equal(((unsigned char *)r.bytes)[i], 0);
	/* The buffer never shrinks, and is cleared each time. */
	memset(r.bytes, 0xee, (size_t)65536 * GK_STRIDE_MAX);
	assert_int_equal(gk_records_reserve(&r, 64), 0);
	assert_int_equal(r.cap, 65536);
	for (size_t i = 0; i < (size_t)65536 * GK_STRIDE_MAX; i += 31)
		assert_int_equal(((unsigned char *)r.bytes)[i], 0);
	assert_int_equal(gk_records_reserve(&r, 65537), GK_ERR_TOO_MANY);
	assert_int_equal(r.cap, 65536);
	free(r.bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_newest_sample_of_each_counts),
	    TEST(the_first_question_goes_a_second_back),
	    TEST(a_sample_holds_for_a_second),
	    TEST(leftovers_are_left_out),
	    TEST(many_processes_are_kept),
	    TEST(old_samples_make_room),
	    TEST(the_room_grows_with_what_is_there),
	    TEST(growing_has_an_end),
	    TEST(refusals_have_their_reason),
	    TEST(room_is_clean_and_has_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
