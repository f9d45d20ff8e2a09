/* SPDX-License-Identifier: Apache-2.0 */
/* selection_test.c - checks how chosen devices and refusals are told. */
#include "fixture.h"
#include "format/selection.h"
#include "unit.h"

#include <jansson.h>
#include <string.h>

static struct fixture f;
static struct gk_buf out;

/* Two chosen GPUs, one that was not needed, and refused MIG devices. */
static struct gk_selectable all[] = {
    {.device = 1, .free = {.v = 7000}, .used = {.v = 13}},
    {.device = 0, .missed = 1, .free = {.v = 5}, .used = {.v = 2}},
    {.device = 2, .free = {.why = GK_ABSENT_NOT_SUPPORTED}},
    {.device = 3, .why = GK_REFUSAL_GPU_UTIL},
    {.device = 4, .why = GK_REFUSAL_GPU_UTIL},
    {.device = 5, .why = GK_REFUSAL_HEALTH},
};
static struct gk_selection selection;

static int set_up(void **state)
{
	(void)state;
	fixture_everything(&f);
	selection = (struct gk_selection){all, COUNT(all), 3, 2};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	gk_buf_free(&out);
	return 0;
}

static void the_chosen_ones_come_in_their_order(void **state)
{
	(void)state;
	gk_format_selection(&out, &f.snap, &selection, GK_SELECT_INDEX, " + ",
			    3);
	assert_string_equal(out.data, "1 + 0");
	gk_buf_free(&out);
	selection.chosen = 1;
	gk_format_selection(&out, &f.snap, &selection, GK_SELECT_UUID, ",", 1);
	assert_string_equal(out.data, f.devices[1].uuid);
}

static void a_mig_device_needs_uuids(void **state)
{
	(void)state;
	assert_int_equal(gk_selection_ids(&f.snap, &selection, GK_SELECT_INDEX),
			 GK_SELECT_INDEX);
	assert_int_equal(gk_selection_ids(&f.snap, &selection, GK_SELECT_UUID),
			 GK_SELECT_UUID);
	selection.chosen = 4;
	assert_int_equal(gk_selection_ids(&f.snap, &selection, GK_SELECT_INDEX),
			 GK_SELECT_UUID);
}

static void refusals_are_counted(void **state)
{
	(void)state;
	gk_format_refusals(&out, &f.snap, &selection);
	assert_non_null(strstr(out.data, "2 MIG devices too busy"));
	assert_non_null(strstr(out.data, ", "));
	selection.count = 4;
	gk_buf_free(&out);
	gk_format_refusals(&out, &f.snap, &selection);
	assert_string_equal(out.data, "1 MIG device too busy");
	selection.count = 3;
	gk_buf_free(&out);
	gk_format_refusals(&out, &f.snap, &selection);
	assert_int_equal(out.len, 0);
}

static json_int_t number(const json_t *of, const char *key)
{
	const json_t *value = json_object_get(of, key);

	if (!json_is_integer(value))
		fail_msg("no integer: %s", key);
	return json_integer_value(value);
}

static const char *text(const json_t *of, const char *key)
{
	const char *value = json_string_value(json_object_get(of, key));

	return value ? value : "(none)";
}

static json_t *told(void)
{
	json_t *json;

	gk_buf_free(&out);
	gk_format_selection_json(&out, &f.snap, &selection, GK_SELECT_INDEX);
	json = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(json);
	return json;
}

static void json_has_all_about_each(void **state)
{
	const json_t *devices, *others, *one;
	json_t *json;

	(void)state;
	json = told();
	assert_int_equal(number(json, "schema"), 1);
	assert_string_equal(text(json, "cuda_visible_devices"), "1,0");
	devices = json_object_get(json, "devices");
	others = json_object_get(json, "others");
	assert_int_equal(json_array_size(devices), 2);
	assert_int_equal(json_array_size(others), 4);
	one = json_array_get(devices, 0);
	assert_int_equal(number(one, "index"), 1);
	assert_true(json_is_null(json_object_get(one, "mig_index")));
	assert_string_equal(text(one, "label"), "1");
	assert_string_equal(text(one, "name"), f.devices[1].name);
	assert_string_equal(text(one, "uuid"), f.devices[1].uuid);
	assert_int_equal(number(one, "memory_free_bytes"), 7000);
	assert_int_equal(number(one, "memory_used_bytes"), 13);
	assert_int_equal(number(one, "memory_total_bytes"), 80LL << 30);
	assert_int_equal(number(one, "gpu_utilization_percent"), 33);
	assert_int_equal(number(one, "memory_utilization_percent"), 16);
	assert_int_equal(number(one, "constraints_loosened"), 0);
	assert_string_equal(text(one, "refused"), "(none)");
	one = json_array_get(devices, 1);
	assert_int_equal(number(one, "constraints_loosened"), 1);
	one = json_array_get(others, 0);
	assert_true(json_is_null(json_object_get(one, "memory_free_bytes")));
	assert_string_equal(text(one, "refused"), "(none)");
	one = json_array_get(others, 2);
	assert_int_equal(number(one, "mig_index"), 5);
	assert_string_equal(text(one, "refused"), "max_gpu_utilization");
	json_decref(json);
}

static void json_has_both_lists_even_if_one_is_empty(void **state)
{
	json_t *json;

	(void)state;
	selection.count = selection.chosen;
	json = told();
	assert_int_equal(json_array_size(json_object_get(json, "devices")), 2);
	assert_true(json_is_array(json_object_get(json, "others")));
	json_decref(json);
	selection.chosen = 0;
	json = told();
	assert_int_equal(json_array_size(json_object_get(json, "devices")), 0);
	assert_int_equal(json_array_size(json_object_get(json, "others")), 2);
	json_decref(json);
	selection.count = 0;
	json = told();
	assert_true(json_is_array(json_object_get(json, "devices")));
	assert_true(json_is_array(json_object_get(json, "others")));
	json_decref(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(the_chosen_ones_come_in_their_order),
	    TEST(a_mig_device_needs_uuids),
	    TEST(refusals_are_counted),
	    TEST(json_has_all_about_each),
	    TEST(json_has_both_lists_even_if_one_is_empty),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
