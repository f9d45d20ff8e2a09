/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_test.c - checks that the JSON of `gpukit stat --json` becomes the same
 * snapshot again.
 */
#include "format/fixture.h"
#include "unit.h"

#include "format/json.h"
#include "hosts/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct fixture fx;

static struct gk_snapshot *come_back(unsigned flags)
{
	struct gk_buf text = {0};
	struct gk_snapshot *snap;

	gk_format_json(&text, &fx.snap, flags);
	assert_int_equal(
	    gk_decode_text(text.data, text.len, fx.snap.mono_ns, &snap), 0);
	gk_buf_free(&text);
	return snap;
}

/* Seconds have nine digits, which are too many for a double. */
static void assert_same_wall(struct gk_snapshot *snap)
{
	assert_near(snap->wall_ns, fx.snap.wall_ns, 1000);
	snap->wall_ns = fx.snap.wall_ns;
}

/* Including those of its MIG devices. */
static unsigned processes_of(const struct gk_snapshot *snap, size_t device)
{
	unsigned count = 0;

	for (size_t i = 0; i < snap->process_count; i++) {
		unsigned on = snap->processes[i].device;

		count +=
		    on == device || snap->devices[on].parent == (int)device;
	}
	return count;
}

static void everything_comes_back(void **state)
{
	struct gk_buf before = {0}, after = {0};
	struct gk_snapshot *snap;

	(void)state;
	fixture_everything(&fx);
	snap = come_back(GK_JSON_WHY);
	assert_same_wall(snap);
	gk_format_json(&before, &fx.snap, GK_JSON_WHY);
	gk_format_json(&after, snap, GK_JSON_WHY);
	assert_true(before.len > 5000);
	assert_same_text(&before, &after);
	assert_int_equal(snap->process_count, fx.snap.process_count);
	for (size_t i = 0; i < snap->device_count; i++) {
		assert_int_equal(snap->devices[i].parent, fx.devices[i].parent);
		assert_int_equal(snap->devices[i].process_count,
				 processes_of(&fx.snap, i));
		assert_memory_equal(snap->devices[i].read_ns,
				    fx.devices[i].read_ns,
				    GK_TIER_COUNT * sizeof(uint64_t));
	}
	gk_snapshot_free(snap);
}

/* A different number for each metric within its range, with all the digits of
 * its unit: seconds have three. */
static int64_t number_of(int metric, enum gk_unit unit,
			 const struct gk_range *range)
{
	int64_t n = 1000003 * (metric + 1);
	uint64_t span = (uint64_t)range->most - (uint64_t)range->least;

	n = unit == GK_UNIT_NANOSECOND ? n * 1000000 : n;
	return span < (uint64_t)n ? range->most : range->least + n;
}

static void xids_come_back_in_order(void **state)
{
	struct gk_xids xids = {.count = 3,
			       .kind_count = 3,
			       .last = {{1, 1000000000, 48, 0},
					{2, 1500000000, 94, 0},
					{7, 2000000000, 48, 0}},
			       .kinds = {{0, 0, 9}, {48, 0, 2}, {94, 0, 5}}};
	struct gk_snapshot *snap;

	(void)state;
	fixture_init(&fx, 2);
	for (int i = 0; i < 2; i++)
		fx.devices[i].m[GK_M_XID_COUNT] = present(i ? 0 : 16);
	fx.devices[0].xids = &xids;
	snap = come_back(0);
	assert_non_null(snap->devices[0].xids);
	assert_memory_equal(snap->devices[0].xids, &xids, sizeof xids);
	assert_null(snap->devices[1].xids);
	gk_snapshot_free(snap);
}

static void xids_of_a_stranger_are_bounded(void **state)
{
	struct gk_buf text = {0};
	struct gk_snapshot *snap;
	const struct gk_xids *xids;

	(void)state;
	gk_buf_puts(&text,
		    "{\"schema\":1,\"devices\":[{\"index\":0,\"xids\":[7");
	for (int i = 0; i < 1000; i++)
		gk_buf_printf(&text,
			      ",{\"at\":%d,\"number\":%d,\"unix_seconds\":-1}",
			      i, i * 1000);
	gk_buf_puts(&text, "],\"xid_counts\":{\"x\":1e300");
	for (int i = 0; i < 1000; i++)
		gk_buf_printf(&text, ",\"%d\":%d", i * 100 + 1, i);
	gk_buf_puts(&text, "}}]}");
	assert_int_equal(gk_decode_text(text.data, text.len, 1, &snap), 0);
	xids = snap->devices[0].xids;
	assert_non_null(xids);
	assert_int_equal(xids->count, GK_XIDS_MAX);
	assert_int_equal(xids->last[GK_XIDS_MAX - 1].at, 999);
	for (size_t i = 0; i < xids->count; i++)
		assert_true(xids->last[i].number <= UINT16_MAX);
	assert_true(xids->kind_count <= GK_XID_KINDS_MAX);
	gk_snapshot_free(snap);
	gk_buf_free(&text);
}

static void every_metric_has_its_value(void **state)
{
	struct gk_snapshot *snap;
	struct gk_process *p;

	(void)state;
	fixture_init(&fx, 1);
	p = fixture_add_process(&fx, 0, 7, "a");
	for (int i = 0; i < GK_M_COUNT; i++)
		fx.devices[0].m[i] = present(number_of(
		    i, gk_metrics[i].unit, gk_metric_range((enum gk_metric)i)));
	for (int i = 0; i < GK_PM_COUNT; i++)
		p->m[i] = present(number_of(
		    i, gk_process_metrics[i].unit,
		    gk_process_metric_range((enum gk_process_metric)i)));
	snap = come_back(0);
	for (int i = 0; i < GK_M_COUNT; i++) {
		assert_int_equal(snap->devices[0].m[i].why, GK_PRESENT);
		assert_int_equal(snap->devices[0].m[i].v, fx.devices[0].m[i].v);
	}
	for (int i = 0; i < GK_PM_COUNT; i++)
		assert_int_equal(snap->processes[0].m[i].v, p->m[i].v);
	gk_snapshot_free(snap);
}

/*
 * Checks the last value that fits and the first that does not, at either end.
 */
static void check_ends(struct gk_value *value, const struct gk_value *back,
		       const struct gk_range *range, bool is_least)
{
	int64_t end = is_least ? range->least : range->most;
	int64_t beyond = is_least ? end - 1 : end + 1;
	struct gk_snapshot *snap;
	size_t at = (size_t)((const char *)back - (const char *)&fx.devices[0]);

	*value = present(end);
	snap = come_back(GK_JSON_WHY);
	back = (const void *)((const char *)&snap->devices[0] + at);
	assert_int_equal(back->why, GK_PRESENT);
	gk_snapshot_free(snap);
	*value = present(beyond);
	snap = come_back(GK_JSON_WHY);
	back = (const void *)((const char *)&snap->devices[0] + at);
	assert_int_equal(back->why, GK_ABSENT_NONSENSE);
	assert_int_equal(back->v, beyond);
	/* It says the same when it is passed on. */
	*value = *back;
	gk_snapshot_free(snap);
	snap = come_back(GK_JSON_WHY);
	back = (const void *)((const char *)&snap->devices[0] + at);
	assert_int_equal(back->why, GK_ABSENT_NONSENSE);
	assert_int_equal(back->v, beyond);
	gk_snapshot_free(snap);
}

/* Except those whose ends have more digits than JSON's numbers. */
static void no_metric_passes_out_of_its_range(void **state)
{
	(void)state;
	fixture_init(&fx, 1);
	for (int i = 0; i < GK_M_COUNT; i++) {
		const struct gk_range *range =
		    gk_metric_range((enum gk_metric)i);
		struct gk_value *value = &fx.devices[0].m[i];

		if (gk_metrics[i].unit == GK_UNIT_NANOSECOND ||
		    i == GK_M_ENERGY || i == GK_M_PDI)
			continue;
		check_ends(value, value, range, true);
		check_ends(value, value, range, false);
		*value = (struct gk_value){.why = GK_ABSENT_NOT_READ};
	}
}

static void every_reason_has_its_word(void **state)
{
	struct gk_snapshot *snap;

	(void)state;
	fixture_init(&fx, 1);
	for (int i = GK_ABSENT_NOT_READ; i < GK_ABSENCE_COUNT; i++)
		fx.devices[0].m[i] =
		    (struct gk_value){.why = (enum gk_absence)i};
	snap = come_back(GK_JSON_WHY);
	for (int i = GK_ABSENT_NOT_READ; i < GK_ABSENCE_COUNT; i++)
		assert_int_equal(snap->devices[0].m[i].why, i);
	gk_snapshot_free(snap);
	snap = come_back(0);
	for (int i = GK_ABSENT_NOT_READ; i < GK_ABSENCE_COUNT; i++)
		assert_int_equal(snap->devices[0].m[i].why, GK_ABSENT_NOT_READ);
	gk_snapshot_free(snap);
}

static void a_gpu_keeps_who_it_is(void **state)
{
	struct gk_device *d = fx.devices;
	struct gk_snapshot *snap;

	(void)state;
	fixture_init(&fx, 1);
	strcpy(d->serial, "1322621087401");
	strcpy(d->vbios, "92.00.45.00.05");
	d->compute_major = 9;
	d->compute_minor = 10;
	snap = come_back(0);
	d = snap->devices;
	assert_string_equal(d->name, fx.devices[0].name);
	assert_string_equal(d->uuid, fx.devices[0].uuid);
	assert_string_equal(d->bus_id, fx.devices[0].bus_id);
	assert_string_equal(d->serial, "1322621087401");
	assert_string_equal(d->vbios, "92.00.45.00.05");
	assert_int_equal(d->compute_major, 9);
	assert_int_equal(d->compute_minor, 10);
	gk_snapshot_free(snap);
}

static void a_missing_list_of_processes_has_a_reason(void **state)
{
	struct gk_snapshot *snap;

	(void)state;
	fixture_init(&fx, 2);
	fx.devices[0].processes_why = GK_ABSENT_PERMISSION;
	snap = come_back(GK_JSON_WHY);
	assert_int_equal(snap->devices[0].processes_why, GK_ABSENT_PERMISSION);
	assert_int_equal(snap->devices[1].processes_why, GK_PRESENT);
	gk_snapshot_free(snap);
}

/* What the filter needs. */
static void a_process_has_its_place(void **state)
{
	struct gk_process *p = fx.processes;
	struct gk_snapshot *snap;

	(void)state;
	fixture_init(&fx, 1);
	for (int i = 0; i < 3; i++)
		fixture_add_process(&fx, 0, 7 + i, "a");
	p->pod = "8dc9e1a4-5c0b";
	p->cwd = "/srv/\"data\"";
	p->cwd_why = GK_PRESENT;
	p->stat = 'D';
	p[1].cwd_why = GK_ABSENT_PERMISSION;
	p[1].stat = '\0';
	snap = come_back(GK_JSON_WHY);
	p = snap->processes;
	assert_string_equal(p[0].pod, "8dc9e1a4-5c0b");
	assert_string_equal(p[0].cwd, "/srv/\"data\"");
	assert_int_equal(p[0].cwd_why, GK_PRESENT);
	assert_int_equal(p[0].stat, 'D');
	assert_string_equal(p[1].pod, "");
	assert_string_equal(p[1].cwd, "");
	assert_int_equal(p[1].cwd_why, GK_ABSENT_PERMISSION);
	assert_int_equal(p[1].stat, '\0');
	assert_int_equal(p[2].cwd_why, GK_ABSENT_NOT_READ);
	gk_snapshot_free(snap);
}

static void ages_are_counted_from_now(void **state)
{
	static const char text[] =
	    "{\"schema\":1,\"devices\":[{\"index\":0,\"health\":\"ok\","
	    "\"age_seconds\":{\"fast\":0.25,\"medium\":1e9,\"slow\":null}}]}";
	struct gk_snapshot *snap;

	(void)state;
	assert_int_equal(gk_decode_text(text, strlen(text), 9000000000, &snap),
			 0);
	assert_int_equal(snap->mono_ns, 9000000000);
	assert_int_equal(snap->devices[0].read_ns[GK_TIER_FAST], 8750000000);
	assert_int_equal(snap->devices[0].read_ns[GK_TIER_MEDIUM], 1);
	assert_int_equal(snap->devices[0].read_ns[GK_TIER_SLOW], 0);
	gk_snapshot_free(snap);
}

/* Numbers other than metrics, and values that are not numbers. */
static void numbers_have_bounds(void **state)
{
	static const char text[] =
	    "{\"schema\":1,\"host\":{\"cpu_count\":9e9,\"cpu_percent\":101,"
	    "\"load_average_1m\":-1,\"memory_total_bytes\":-"
	    "9223372036854775808,"
	    "\"uptime_seconds\":1e300},\"devices\":[{\"index\":65536,"
	    "\"minor_number\":-3,\"gpu_utilization_percent\":2000000000,"
	    "\"memory_used_bytes\":3e38,\"temperature_celsius\":true,"
	    "\"power_watts\":\"12\",\"why\":{\"fan_speed_percent\":"
	    "\"nonsense: 250\",\"sm_clock_hertz\":\"nonsense\"},"
	    "\"processes\":[{\"pid\":99999999999,\"uid\":-7,"
	    "\"sm_utilization_percent\":101,\"start_ticks\":-1}]}]}";
	struct gk_snapshot *snap;
	const struct gk_device *d;
	char reason[GK_REASON_MAX];

	(void)state;
	assert_int_equal(gk_decode_text(text, strlen(text), 1000, &snap), 0);
	d = &snap->devices[0];
	assert_int_equal(snap->host.cpus, 0);
	assert_int_equal(snap->host.boot_ns, 0);
	assert_int_equal(snap->host.cpu_centipercent.why, GK_ABSENT_NONSENSE);
	assert_int_equal(snap->host.load_centi[0].why, GK_ABSENT_NONSENSE);
	assert_int_equal(snap->host.mem_total.why, GK_ABSENT_NONSENSE);
	assert_int_equal(d->index, 0);
	assert_int_equal(d->minor, -1);
	assert_string_equal(
	    gk_reason(reason, d->m[GK_M_GPU_UTIL], GK_UNIT_PERCENT),
	    "nonsense: 2000000000");
	assert_string_equal(
	    gk_reason(reason, d->m[GK_M_MEM_USED], GK_UNIT_BYTES),
	    "nonsense: beyond 9.2e18");
	assert_string_equal(gk_reason(reason, d->m[GK_M_TEMP], GK_UNIT_CELSIUS),
			    "nonsense: no number");
	assert_int_equal(d->m[GK_M_POWER].why, GK_ABSENT_NONSENSE);
	assert_int_equal(d->m[GK_M_FAN].why, GK_ABSENT_NONSENSE);
	assert_int_equal(d->m[GK_M_FAN].v, 250);
	assert_int_equal(d->m[GK_M_SM_CLOCK].why, GK_ABSENT_NONSENSE);
	assert_int_equal(snap->processes[0].pid, 0);
	assert_int_equal(snap->processes[0].uid, (uid_t)-1);
	assert_int_equal(snap->processes[0].start_ticks, 0);
	assert_int_equal(snap->processes[0].m[GK_PM_SM_UTIL].why,
			 GK_ABSENT_NONSENSE);
	gk_snapshot_free(snap);
}

/* Nobody needs a command of megabytes. */
static void texts_have_lengths(void **state)
{
	static const size_t longest = 65536;
	struct gk_process *p;
	struct gk_snapshot *snap;
	char *text = malloc(1 << 20);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 1 << 20);
	text[(1 << 20) - 1] = '\0';
	fixture_init(&fx, 1);
	p = fixture_add_process(&fx, 0, 7, text);
	p->command = p->user = text;
	p->args = text;
	p->args_len = 1 << 20;
	snap = come_back(0);
	p = snap->processes;
	assert_int_equal(strlen(p->command), longest);
	assert_int_equal(strlen(p->user), 4096);
	assert_true(p->args_len <= longest + 1);
	gk_snapshot_free(snap);
	free(text);
}

/*
 * A text of megabytes that would become gigabytes is refused before it is read.
 */
static void a_bomb_is_not_read(void **state)
{
	static const char head[] = "{\"schema\":1,\"devices\":[],\"x\":[";
	struct gk_snapshot *snap = NULL;
	struct gk_buf text = {0};
	struct rusage before, after;

	(void)state;
	gk_buf_puts(&text, head);
	for (size_t i = 0; i < 1000000; i++)
		gk_buf_puts(&text, "[],");
	gk_buf_puts(&text, "[]]}");
	assert_false(text.failed);
	getrusage(RUSAGE_SELF, &before);
	assert_int_equal(gk_decode_text(text.data, text.len, 1000, &snap),
			 GK_ERR_TOO_MANY);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 8 << 10);
	gk_buf_free(&text);
}

static int decode(const char *text)
{
	struct gk_snapshot *snap = NULL;
	int r = gk_decode_text(text, strlen(text), 1000, &snap);

	gk_snapshot_free(snap);
	return r;
}

static void nonsense_is_refused(void **state)
{
	static const char *const texts[] = {
	    "",
	    "{",
	    "[]",
	    "null",
	    "hello",
	    "{\"schema\":1}",
	    "{\"schema\":\"1\",\"devices\":[]}",
	    "{\"schema\":1,\"devices\":{}}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(decode(texts[i]), GK_ERR_CORRUPT);
	assert_int_equal(decode("{\"schema\":2,\"devices\":[]}"),
			 GK_ERR_VERSION);
	assert_int_equal(decode("{\"schema\":1,\"devices\":[]}"), 0);
}

/* Values of a wrong type or size are absent, foreign text is cleaned. */
static void lies_do_no_harm(void **state)
{
	static const char text[] =
	    "{\"schema\":1,\"host\":3,\"driver_version\":[],"
	    "\"unix_seconds\":1e300,\"devices\":[7,"
	    "{\"index\":-4,\"mig_index\":0},"
	    "{\"index\":9e99,\"name\":\"\\u001b[2J\",\"health\":\"odd\","
	    "\"power_watts\":1e300,\"temperature_celsius\":\"hot\",\"why\":3,"
	    "\"processes\":[{\"pid\":-1,\"user\":\"\\u001b]0;x\\u0007\","
	    "\"args\":[3,null],\"stat\":\"\\u001bD\",\"pod\":7,\"cwd\":\"/"
	    "\\u001b\"},4]}]}";
	struct gk_snapshot *snap;
	const struct gk_device *d;

	(void)state;
	assert_int_equal(gk_decode_text(text, strlen(text), 1000, &snap), 0);
	assert_int_equal(snap->device_count, 3);
	d = &snap->devices[2];
	assert_string_equal(d->name, "?[2J");
	assert_int_equal(d->index, 0);
	assert_int_equal(d->health, GK_HEALTH_ERROR);
	assert_int_equal(d->m[GK_M_POWER].why, GK_ABSENT_NONSENSE);
	assert_int_equal(d->m[GK_M_TEMP].why, GK_ABSENT_NONSENSE);
	assert_int_equal(snap->process_count, 2);
	assert_int_equal(snap->processes[0].pid, 0);
	assert_string_equal(snap->processes[0].user, "?]0;x?");
	assert_int_equal(snap->processes[0].stat, '\0');
	assert_string_equal(snap->processes[0].pod, "");
	assert_string_equal(snap->processes[0].cwd, "/?");
	assert_int_equal(snap->wall_ns, 0);
	gk_snapshot_free(snap);
}

/* Any beginning of a line, and any changed byte in it. */
static void damage_does_no_harm(void **state)
{
	struct gk_buf text = {0};
	struct gk_snapshot *snap;

	(void)state;
	fixture_everything(&fx);
	gk_format_json(&text, &fx.snap, GK_JSON_WHY);
	for (size_t len = 0; len + 2 < text.len; len += 97)
		assert_int_equal(gk_decode_text(text.data, len, 1000, &snap),
				 GK_ERR_CORRUPT);
	for (size_t at = 0; at < text.len; at += 61) {
		char was = text.data[at];

		snap = NULL;
		text.data[at] = '1';
		gk_decode_text(text.data, text.len, 1000, &snap);
		gk_snapshot_free(snap);
		text.data[at] = was;
	}
	gk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(everything_comes_back),
	    cmocka_unit_test(xids_come_back_in_order),
	    cmocka_unit_test(xids_of_a_stranger_are_bounded),
	    cmocka_unit_test(every_metric_has_its_value),
	    cmocka_unit_test(no_metric_passes_out_of_its_range),
	    cmocka_unit_test(every_reason_has_its_word),
	    cmocka_unit_test(a_gpu_keeps_who_it_is),
	    cmocka_unit_test(a_missing_list_of_processes_has_a_reason),
	    cmocka_unit_test(a_process_has_its_place),
	    cmocka_unit_test(ages_are_counted_from_now),
	    cmocka_unit_test(numbers_have_bounds),
	    cmocka_unit_test(texts_have_lengths),
	    cmocka_unit_test(a_bomb_is_not_read),
	    cmocka_unit_test(nonsense_is_refused),
	    cmocka_unit_test(lies_do_no_harm),
	    cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
