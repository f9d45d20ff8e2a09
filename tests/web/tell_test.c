/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell_test.c - checks that events of a snapshot are always JSON of one line.
 */
#include "web/tell.h"

#include "base/units.h"
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

static double number(const json_t *of, const char *key)
{
	const json_t *value = json_object_get(of, key);

	if (!json_is_number(value))
		fail_msg("no number: %s", key);
	return json_number_value(value);
}

static const char *text(const json_t *of, const char *key)
{
	const char *value = json_string_value(json_object_get(of, key));

	return value ? value : "(none)";
}

/* An element of an array of an event. */
static const json_t *part(const json_t *event, const char *list, size_t at)
{
	return json_array_get(json_object_get(event, list), at);
}

static void a_hello_tells_who_they_are(void **state)
{
	const json_t *gpu, *mig;
	json_t *json;

	(void)state;
	begin();
	strcpy(f.devices[0].vbios, "92.00.45.00.05");
	gk_tell_hello(&out, &f.snap, 5 * SECOND_NS / 2);
	json = told();
	gpu = part(json, "devices", 2);
	mig = part(json, "devices", 4);
	assert_near(number(json, "schema"), 2, 0);
	assert_near(number(json, "interval_seconds"), 2.5, 0);
	assert_near(number(json, "cpu_count"), 64, 0);
	assert_string_equal(text(json, "hostname"), "node1");
	assert_string_equal(text(json, "driver_version"), "580.95.05");
	assert_string_equal(text(json, "cuda_version"), "13.0");
	assert_string_equal(text(part(json, "devices", 0), "vbios_version"),
			    "92.00.45.00.05");
	assert_string_equal(text(gpu, "vbios_version"), "(none)");
	assert_string_equal(text(gpu, "label"), "2");
	assert_string_equal(text(gpu, "name"), "NVIDIA A100-SXM4-80GB");
	assert_string_equal(text(gpu, "uuid"), f.devices[2].uuid);
	assert_string_equal(text(gpu, "bus_id"), "00000000:03:00.0");
	assert_string_equal(text(gpu, "compute_capability"), "8.0");
	assert_near(number(gpu, "index"), 2, 0);
	assert_near(number(gpu, "minor_number"), 2, 0);
	assert_null(json_object_get(gpu, "mig_index"));
	assert_near(number(mig, "index"), 2, 0);
	assert_near(number(mig, "mig_index"), 5, 0);
	assert_near(number(mig, "gpu_instance"), 12, 0);
	assert_near(number(mig, "compute_instance"), 0, 0);
	assert_null(json_object_get(mig, "minor_number"));
	json_decref(json);
	f.snap.cuda_version = 0;
	f.devices[0].compute_major = -1;
	gk_tell_hello(&out, &f.snap, SECOND_NS);
	json = told();
	assert_null(json_object_get(json, "cuda_version"));
	assert_null(
	    json_object_get(part(json, "devices", 0), "compute_capability"));
	json_decref(json);
}

static void a_frame_tells_the_host_and_the_metrics(void **state)
{
	const json_t *host, *gpu, *lost;
	json_t *json;

	(void)state;
	begin();
	f.devices[2].processes_why = GK_ABSENT_PERMISSION;
	gk_tell_frame(&out, &teller, &f.snap);
	json = told();
	assert_near(number(json, "time"), 1795225358.123, 1e-6);
	host = json_object_get(json, "host");
	assert_near(number(host, "cpu_percent"), 12.34, 1e-9);
	assert_near(number(host, "load_average_1m"), 1.49, 1e-9);
	assert_near(number(host, "memory_total_bytes"), 64.0 * GIB, 0);
	assert_near(number(host, "memory_available_bytes"), 48.0 * GIB, 0);
	assert_near(number(host, "uptime_seconds"), 45296, 1e-9);
	gpu = part(json, "devices", 1);
	assert_string_equal(text(gpu, "uuid"), f.devices[1].uuid);
	assert_near(number(gpu, "gpu_utilization_percent"), 33, 0);
	assert_near(number(gpu, "memory_used_bytes"), 33 * 800.0 * MIB, 0);
	assert_near(number(gpu, "memory_total_bytes"), 80.0 * GIB, 0);
	assert_near(number(gpu, "power_watts"), 161.24, 1e-9);
	assert_near(number(gpu, "age_seconds"), 0.001, 1e-9);
	assert_near(number(gpu, "process_count"), 2, 0);
	assert_null(json_object_get(gpu, "temperature_memory_celsius"));
	assert_null(json_object_get(gpu, "xids"));
	assert_null(json_object_get(gpu, "why"));
	assert_null(json_object_get(part(json, "devices", 2), "process_count"));
	lost = part(json, "devices", 5);
	assert_null(json_object_get(lost, "gpu_utilization_percent"));
	assert_string_equal(text(lost, "state"), "lost");
	assert_string_not_equal(text(lost, "why"), "(none)");
	assert_near(number(part(json, "devices", 6), "age_seconds"), 3.2, 1e-9);
	json_decref(json);
}

/* The owners of memory on a GPU, largest first. */
static void a_frame_tells_whose_the_memory_is(void **state)
{
	const json_t *owner;
	json_t *json;

	(void)state;
	begin();
	f.processes[1].user = "bob";
	f.processes[1].uid = 1001;
	f.processes[1].m[GK_PM_GPU_MEM] = present(9 * GIB);
	gk_tell_take(&teller, &f.snap);
	gk_tell_frame(&out, &teller, &f.snap);
	json = told();
	owner = part(part(json, "devices", 0), "owners", 0);
	assert_near(number(owner, "bytes"), 9.0 * GIB, 0);
	owner = part(part(json, "devices", 0), "owners", 1);
	assert_near(number(owner, "bytes"), 1500.0 * MIB, 0);
	json_decref(json);
}

/* Not all that are remembered. */
static void the_last_xids_are_told(void **state)
{
	struct gk_xids xids = {.count = 20};
	json_t *json;
	const json_t *list;

	(void)state;
	begin();
	for (unsigned i = 0; i < 20; i++)
		xids.last[i] = (struct gk_xid){
		    .at = i + 1, .wall_ns = i * SECOND_NS, .number = 40 + i};
	f.devices[0].xids = &xids;
	gk_tell_frame(&out, &teller, &f.snap);
	json = told();
	list = json_object_get(part(json, "devices", 0), "xids");
	assert_int_equal(json_array_size(list), 16);
	for (unsigned i = 0; i < 16; i++) {
		assert_near(number(json_array_get(list, i), "number"), 44 + i,
			    0);
		assert_near(number(json_array_get(list, i), "time"), 4 + i, 0);
	}
	json_decref(json);
	xids.count = 3;
	gk_tell_frame(&out, &teller, &f.snap);
	json = told();
	list = json_object_get(part(json, "devices", 0), "xids");
	assert_int_equal(json_array_size(list), 3);
	json_decref(json);
}

static void details_tell_every_metric(void **state)
{
	json_t *json;

	(void)state;
	begin();
	gk_tell_details(&out, &f.snap);
	json = told();
	assert_near(number(json, "time"), 1795225358.123, 1e-6);
	for (size_t i = 0; i < f.snap.device_count; i++) {
		const json_t *gpu = part(json, "devices", i);

		assert_string_equal(text(gpu, "uuid"), f.devices[i].uuid);
		for (int m = 0; m < GK_M_COUNT; m++)
			if (f.devices[i].m[m].why)
				assert_null(
				    json_object_get(gpu, gk_metrics[m].name));
			else
				number(gpu, gk_metrics[m].name);
	}
	json_decref(json);
}

static void processes_are_told_with_or_without_commands(void **state)
{
	json_t *json;
	const json_t *p;

	(void)state;
	begin();
	f.processes[0].cwd = "/srv";
	for (int commands = 0; commands < 2; commands++) {
		gk_tell_processes(&out, &teller, &f.snap, commands);
		json = told();
		p = part(json, "processes", 0);
		assert_near(number(p, "pid"), 15699, 0);
		assert_string_equal(text(p, "label"), "0");
		assert_string_equal(text(p, "user"), "alice");
		assert_string_equal(text(p, "name"), "python3");
		assert_string_equal(text(p, "command"),
				    commands ? "/usr/bin/python3 train.py"
					     : "(none)");
		assert_string_equal(text(p, "cwd"),
				    commands ? "/srv" : "(none)");
		assert_string_equal(text(p, "container"), "0123456789abcdef");
		assert_string_equal(text(p, "stat"), "S");
		assert_string_equal(text(p, "type"), "C");
		assert_string_equal(text(p, "state"), "(none)");
		assert_near(number(p, gk_process_metrics[GK_PM_CPU].name),
			    312.5, 1e-9);
		assert_string_equal(text(json, "none"), "(none)");
		p = part(json, "processes", 2);
		assert_string_not_equal(text(p, "state"), "(none)");
		json_decref(json);
	}
	f.snap.process_count = 0;
	gk_tell_processes(&out, &teller, &f.snap, true);
	json = told();
	assert_string_not_equal(text(json, "none"), "(none)");
	json_decref(json);
}

/* The lost GPU, since before the first snapshot; another one from now on. */
static void alerts_tell_how_bad_and_since_when(void **state)
{
	json_t *json;
	const json_t *alert;
	uint64_t wall_ns;

	(void)state;
	begin();
	wall_ns = f.snap.wall_ns;
	gk_tell_alerts(&out, &teller, &f.snap);
	json = told();
	assert_int_equal(json_array_size(json_object_get(json, "alerts")), 1);
	alert = part(json, "alerts", 0);
	assert_string_equal(text(alert, "label"), "3");
	assert_string_equal(text(alert, "uuid"), f.devices[5].uuid);
	assert_string_equal(text(alert, "state"), "lost");
	assert_string_equal(text(alert, "level"), "fail");
	assert_string_not_equal(text(alert, "why"), "(none)");
	assert_near(number(alert, "since_before"), 1, 0);
	assert_near(number(alert, "since"), 1795225358.123, 1e-6);
	json_decref(json);
	f.snap.wall_ns += 7 * SECOND_NS;
	f.snap.mono_ns += 7 * SECOND_NS;
	f.devices[0].health = GK_HEALTH_LOST;
	gk_tell_take(&teller, &f.snap);
	gk_tell_alerts(&out, &teller, &f.snap);
	json = told();
	for (size_t i = 0; i < json_array_size(json_object_get(json, "alerts"));
	     i++) {
		alert = part(json, "alerts", i);
		if (!strcmp(text(alert, "label"), "0")) {
			assert_null(json_object_get(alert, "since_before"));
			assert_near(number(alert, "since"), 1795225365.123,
				    1e-6);
		}
		if (!strcmp(text(alert, "label"), "3"))
			assert_near(number(alert, "since"),
				    (double)(wall_ns / 1000000) / 1e3, 1e-6);
	}
	assert_string_equal(text(part(json, "alerts", 0), "label"), "0");
	json_decref(json);
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
	    cmocka_unit_test(a_hello_tells_who_they_are),
	    cmocka_unit_test(a_frame_tells_the_host_and_the_metrics),
	    cmocka_unit_test(a_frame_tells_whose_the_memory_is),
	    cmocka_unit_test(the_last_xids_are_told),
	    cmocka_unit_test(details_tell_every_metric),
	    cmocka_unit_test(processes_are_told_with_or_without_commands),
	    cmocka_unit_test(alerts_tell_how_bad_and_since_when),
	    cmocka_unit_test(held_back_is_an_alert_after_half_a_minute),
	};

	return cmocka_run_group_tests(tests, fixture_setup, end);
}
