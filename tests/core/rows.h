/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - a driver library within the test, for the rows of the DETAIL tier:
 * the test puts its functions into nvml.
 */
#ifndef TESTS_CORE_ROWS_H
#define TESTS_CORE_ROWS_H

#include "core/read/collect_row.h"
#include "unit.h"

#include <string.h>

static struct gk_nvml nvml;
static nvmlReturn_t answer; /* of all functions */

#define DEVICE ((nvmlDevice_t)(void *)&nvml)

static inline int rows_setup(void **state)
{
	(void)state;
	memset(&nvml, 0, sizeof nvml);
	answer = NVML_SUCCESS;
	return 0;
}

struct row_value {
	enum gk_metric metric;
	int64_t value;
};

static inline const struct gk_row *row_of(enum gk_metric metric)
{
	size_t counts[2];
	const struct gk_row *rows[2] = {gk_plain_rows(&counts[0]),
					gk_detail_rows(&counts[1])};

	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < counts[t]; i++)
			for (unsigned k = 0; k < rows[t][i].count; k++)
				if (rows[t][i].gives[k] == metric)
					return &rows[t][i];
	fail_msg("no row gives %s", gk_metrics[metric].name);
	return NULL;
}

/* The driver's result for a metric. */
static inline nvmlReturn_t row_answer(enum gk_metric metric)
{
	int64_t out[GK_ROW_VALUES];

	return row_of(metric)->read(&nvml, DEVICE, out);
}

/*
 * Checks that one row gives exactly these values, and that it passes on a
 * refusal by the driver.
 */
static inline void check_row(const struct row_value *want, size_t count)
{
	const struct gk_row *row = row_of(want[0].metric);
	int64_t out[GK_ROW_VALUES];

	memset(out, 0xee, sizeof out);
	assert_int_equal(row->read(&nvml, DEVICE, out), NVML_SUCCESS);
	assert_int_equal(row->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(row->gives[i], want[i].metric);
		if (out[i] != want[i].value)
			fail_msg("%s: %ld", gk_metrics[want[i].metric].name,
				 (long)out[i]);
	}
	answer = NVML_ERROR_TIMEOUT;
	assert_int_equal(row_answer(want[0].metric), NVML_ERROR_TIMEOUT);
	answer = NVML_SUCCESS;
}

#define GIVES(...)                                                             \
	check_row((struct row_value[]){__VA_ARGS__},                           \
		  COUNT(((struct row_value[]){__VA_ARGS__})))

/* Defines a function of the device that fills a struct, which must be zeroed.
 * The body sets the members of *to. */
#define FILLS(name, type, body)                                                \
	static nvmlReturn_t name(nvmlDevice_t dev, type *to)                   \
	{                                                                      \
		static const type clean;                                       \
                                                                               \
		assert_ptr_equal(dev, DEVICE);                                 \
		assert_memory_equal(to, &clean, sizeof clean);                 \
		body;                                                          \
		return answer;                                                 \
	}

/* The same with a version that the caller must have set. */
#define FILLS_VERSION(name, type, wanted, body)                                \
	static nvmlReturn_t name(nvmlDevice_t dev, type *to)                   \
	{                                                                      \
		assert_ptr_equal(dev, DEVICE);                                 \
		if (to->version != (wanted))                                   \
			return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;           \
		body;                                                          \
		return answer;                                                 \
	}

#define ROWS_TEST(name) cmocka_unit_test_setup(name, rows_setup)

#endif
