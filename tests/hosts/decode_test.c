/* What `gpukit stat --json` says is the snapshot that it was made of. */
#include "format/fixture.h"
#include "unit.h"

#include "format/json.h"
#include "hosts/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Seconds come with nine digits, of which a double has no room for all. */
static void assert_same_wall(struct gk_snapshot *snap)
{
	assert_near(snap->wall_ns, fx.snap.wall_ns, 1000);
	snap->wall_ns = fx.snap.wall_ns;
}

/* Those of its MIG devices, too. */
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

/* A number of its own for each, with all the digits that its unit has. */
static int64_t number_of(int metric, enum gk_unit unit)
{
	int64_t n = 1000003 * (metric + 1);

	return unit == GK_UNIT_NANOSECOND ? n * 1000000 : n;
}

static void every_metric_has_its_value(void **state)
{
	struct gk_snapshot *snap;
	struct gk_process *p;

	(void)state;
	fixture_init(&fx, 1);
	p = fixture_add_process(&fx, 0, 7, "a");
	for (int i = 0; i < GK_M_COUNT; i++)
		fx.devices[0].m[i] = present(number_of(i, gk_metrics[i].unit));
	for (int i = 0; i < GK_PM_COUNT; i++)
		p->m[i] = present(-number_of(i, gk_process_metrics[i].unit));
	snap = come_back(0);
	for (int i = 0; i < GK_M_COUNT; i++) {
		assert_int_equal(snap->devices[0].m[i].why, GK_PRESENT);
		assert_int_equal(snap->devices[0].m[i].v, fx.devices[0].m[i].v);
	}
	for (int i = 0; i < GK_PM_COUNT; i++)
		assert_int_equal(snap->processes[0].m[i].v, p->m[i].v);
	gk_snapshot_free(snap);
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

/* What the filter asks for. */
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

/* What has the wrong type or size is absent, what is foreign unprintable. */
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
	assert_int_equal(d->m[GK_M_POWER].why, GK_ABSENT_ERROR);
	assert_int_equal(d->m[GK_M_TEMP].why, GK_ABSENT_ERROR);
	assert_int_equal(snap->process_count, 2);
	assert_int_equal(snap->processes[0].pid, 0);
	assert_string_equal(snap->processes[0].user, "?]0;x?");
	assert_int_equal(snap->processes[0].stat, '\0');
	assert_string_equal(snap->processes[0].pod, "");
	assert_string_equal(snap->processes[0].cwd, "/?");
	assert_int_equal(snap->wall_ns, 0);
	gk_snapshot_free(snap);
}

/* Any beginning of a line, and any byte of it changed. */
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
	    cmocka_unit_test(every_metric_has_its_value),
	    cmocka_unit_test(every_reason_has_its_word),
	    cmocka_unit_test(a_process_has_its_place),
	    cmocka_unit_test(ages_are_counted_from_now),
	    cmocka_unit_test(nonsense_is_refused),
	    cmocka_unit_test(lies_do_no_harm),
	    cmocka_unit_test(damage_does_no_harm),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
