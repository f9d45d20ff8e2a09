/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell_test.c - checks that events of a snapshot are always JSON of one line.
 */
#include "web/tell.h"

#include "format/fixture.h"
#include "unit.h"

#include <jansson.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

static struct fixture f;
static struct gk_teller teller;
static struct gk_buf out;

static void begin(void)
{
	fixture_everything(&f);
	teller = (struct gk_teller){0};
	gk_tell_take(&teller, &f.snap);
}

/* The event, parsed again; the caller frees it. */
static json_t *told(void)
{
	json_t *json = json_loadb(out.data, out.len, 0, NULL);

	assert_non_null(json);
	assert_null(memchr(out.data, '\n', out.len));
	out.len = 0;
	return json;
}

static void everything_is_json_of_one_line(void **state)
{
	json_t *json;

	(void)state;
	begin();
	f.processes[0].name = "a\n\"b\\\x01";
	f.processes[0].command = "x\ny";
	gk_tell_hello(&out, &f.snap, SECOND_NS);
	json = told();
	assert_int_equal(json_array_size(json_object_get(json, "devices")),
			 f.snap.device_count);
	json_decref(json);
	gk_tell_frame(&out, &teller, &f.snap);
	json_decref(told());
	gk_tell_details(&out, &f.snap);
	json_decref(told());
	gk_tell_processes(&out, &teller, &f.snap, true);
	json = told();
	assert_int_equal(json_array_size(json_object_get(json, "processes")),
			 f.snap.process_count);
	json_decref(json);
	gk_tell_alerts(&out, &teller, &f.snap);
	json_decref(told());
}

static size_t alert_count(void)
{
	json_t *json;
	size_t count;

	gk_tell_take(&teller, &f.snap);
	gk_tell_alerts(&out, &teller, &f.snap);
	json = told();
	count = json_array_size(json_object_get(json, "alerts"));
	json_decref(json);
	return count;
}

static void pass_seconds(unsigned seconds)
{
	f.snap.mono_ns += seconds * SECOND_NS;
	for (size_t i = 0; i < f.snap.device_count; i++)
		f.devices[i].read_ns[GK_TIER_FAST] = f.snap.mono_ns;
}

static void held_back_is_an_alert_after_half_a_minute(void **state)
{
	(void)state;
	fixture_init(&f, 1);
	teller = (struct gk_teller){0};
	pass_seconds(1000);
	f.devices[0].m[GK_M_TEMP] = present(40);
	f.devices[0].m[GK_M_THROTTLE] = present(4);
	f.devices[0].m[GK_M_SM_CLOCK] = present(500000000);
	f.devices[0].m[GK_M_SM_CLOCK_MAX] = present(1000000000);
	assert_int_equal(alert_count(), 0);
	pass_seconds(29);
	assert_int_equal(alert_count(), 0);
	pass_seconds(1);
	assert_int_equal(alert_count(), 1);
	f.devices[0].m[GK_M_THROTTLE] = present(0);
	assert_int_equal(alert_count(), 0);
	f.devices[0].health = GK_HEALTH_LOST;
	assert_int_equal(alert_count(), 1);
}

static int end(void **state)
{
	(void)state;
	gk_buf_free(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_is_json_of_one_line),
	    cmocka_unit_test(held_back_is_an_alert_after_half_a_minute),
	};

	return cmocka_run_group_tests(tests, fixture_setup, end);
}
