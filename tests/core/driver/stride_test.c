/* SPDX-License-Identifier: Apache-2.0 */
/* stride_test.c - checks the length of the records of a process list. */
#include "abi/nvml/nvml_process.h"
#include "base/units.h"
#include "core/driver/stride.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* conf and detail: which of the two functions the library has. */
static const struct {
	const char *driver;
	int list;
	bool conf, detail;
	size_t stride;
} drivers[] = {
    /* The list without a suffix, and _v2, have always had one length. */
    {"450.80.02", 1, false, false, 16},
    {"535.54.03", 1, true, false, 16},
    {"470.57.02", 2, false, false, 24},
    {"535.54.03", 2, true, false, 24},
    {"", 1, false, false, 16},
    {"", 2, true, false, 24},
    /* For _v3 the version decides, whatever functions there are. */
    {"510.39.01", 3, false, false, 24},
    {"525.105.17", 3, false, false, 24},
    {"530.30.02", 3, false, false, 24},
    {"535.42", 3, true, false, 24},
    {"535.43.02", 3, true, false, 32},
    {"535.54.03", 3, true, false, 32},
    {"535.54.03", 3, true, true, 32},
    {"535.54.03", 3, false, false, 32},
    {"535.86.10", 3, true, false, 32},
    {"535.98", 3, true, true, 24},
    {"535.104.05", 3, true, true, 24},
    {"535.104.05", 3, true, false, 24},
    {"550.54.15", 3, true, true, 24},
    {"580.65.06", 3, true, true, 24},
    {"580.65.06", 3, true, false, 24},
    /* Without a version the set of functions decides. */
    {"", 3, false, false, 24},
    {"", 3, true, false, 32},
    {"", 3, true, true, 24},
    {"", 3, false, true, 24},
    {"unknown", 3, true, false, 32},
    {"535", 3, true, true, 24},
};

static void the_version_then_the_functions_tell(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(drivers); i++) {
		struct gk_stride_clues clues = {
		    drivers[i].driver, drivers[i].list, drivers[i].conf,
		    drivers[i].detail};

		if (gk_stride_expect(&clues) != drivers[i].stride)
			fail_msg("row %zu: %s, list %d: %zu", i,
				 drivers[i].driver, drivers[i].list,
				 gk_stride_expect(&clues));
	}
}

/* Writes a list as a driver does: count records, and zeros in the rest. */
static void *list(size_t stride, size_t count)
{
	char *bytes = calloc(count, GK_STRIDE_MAX);

	for (size_t i = 0; i < count; i++) {
		nvmlProcessDetail_v1_t record = {
		    .pid = 1000 + (unsigned)i,
		    .usedGpuMemory = (i + 1) * GIB,
		    .gpuInstanceId = UINT32_MAX,
		    .computeInstanceId = UINT32_MAX,
		};

		memcpy(bytes + i * stride, &record, stride);
	}
	return bytes;
}

static void records_are_read_at_their_stride(void **state)
{
	static const size_t strides[] = {16, 24, 32};

	(void)state;
	for (size_t k = 0; k < COUNT(strides); k++) {
		void *bytes = list(strides[k], 5);

		for (size_t i = 0; i < 5; i++) {
			struct gk_record r = gk_record_at(bytes, strides[k], i);

			assert_int_equal(r.pid, 1000 + i);
			assert_int_equal(r.used, (i + 1) * GIB);
			assert_true(r.gpu_instance == GK_NO_INSTANCE);
			assert_true(r.compute_instance == GK_NO_INSTANCE);
			assert_true(gk_record_plausible(&r, 80 * GIB));
		}
		free(bytes);
	}
}

static void a_wrong_expectation_is_overruled(void **state)
{
	static const struct {
		size_t expected, written;
	} rows[] = {{24, 24}, {24, 32}, {32, 32}, {32, 24}};

	(void)state;
	for (size_t k = 0; k < COUNT(rows); k++)
		for (size_t count = 2; count < 40; count++) {
			void *bytes = list(rows[k].written, count);

			assert_int_equal(gk_stride_check(rows[k].expected,
							 bytes, count,
							 80 * GIB),
					 rows[k].written);
			assert_int_equal(
			    gk_stride_check(rows[k].expected, bytes, count, 0),
			    rows[k].written);
			free(bytes);
		}
}

/* One record or none proves nothing: both lengths fit. */
static void without_evidence_the_expectation_stands(void **state)
{
	void *one = list(24, 1), *junk = malloc(64);

	(void)state;
	assert_int_equal(gk_stride_check(24, one, 1, 80 * GIB), 24);
	assert_int_equal(gk_stride_check(32, one, 1, 80 * GIB), 32);
	assert_int_equal(gk_stride_check(24, one, 0, 80 * GIB), 24);
	memset(junk, 0xee, 64);
	assert_int_equal(gk_stride_check(24, junk, 2, 80 * GIB), 24);
	assert_int_equal(gk_stride_check(32, junk, 2, 80 * GIB), 32);
	free(one);
	free(junk);
}

static void short_records_are_never_overruled(void **state)
{
	void *bytes = list(24, 8);

	(void)state;
	assert_int_equal(gk_stride_check(16, bytes, 8, 80 * GIB), 16);
	free(bytes);
}

static const struct {
	struct gk_record record;
	uint64_t total;
	bool plausible;
} records[] = {
    {{1, 0, GK_NO_INSTANCE, GK_NO_INSTANCE}, GIB, true},
    {{4194304, GIB, GK_NO_INSTANCE, GK_NO_INSTANCE}, GIB, true},
    {{1, UINT64_MAX, GK_NO_INSTANCE, GK_NO_INSTANCE}, GIB, true},
    {{1, 5 * GIB, 0, 0}, 0, true},
    {{1, GIB, 13, 6}, GIB, true},
    {{0, GIB, GK_NO_INSTANCE, GK_NO_INSTANCE}, GIB, false},
    {{4194305, 0, GK_NO_INSTANCE, GK_NO_INSTANCE}, GIB, false},
    {{1, GIB + 1, GK_NO_INSTANCE, GK_NO_INSTANCE}, GIB, false},
    {{1, GIB, 256, 0}, GIB, false},
    {{1, GIB, 0, 0x40000000}, GIB, false},
};

static void what_cannot_be_is_told_from_what_can(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(records); i++)
		if (gk_record_plausible(&records[i].record, records[i].total) !=
		    records[i].plausible)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_version_then_the_functions_tell),
	    cmocka_unit_test(records_are_read_at_their_stride),
	    cmocka_unit_test(a_wrong_expectation_is_overruled),
	    cmocka_unit_test(without_evidence_the_expectation_stands),
	    cmocka_unit_test(short_records_are_never_overruled),
	    cmocka_unit_test(what_cannot_be_is_told_from_what_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
