/* SPDX-License-Identifier: Apache-2.0 */
/* gpustat_test.c - compares the default text with golden files. */
#include "format/fixture.h"
#include "format/gpustat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct fixture fixture;
static const struct gk_gpustat_options plain = {
    .header = true, .processes = true, .name_width = -1};

static void golden(const struct gk_gpustat_options *options, const char *name)
{
	struct gk_buf out = {0};

	gk_format_gpustat(&out, &fixture.snap, options);
	assert_golden(&out, name);
}

static struct gk_gpustat_options everything(void)
{
	struct gk_gpustat_options options = plain;

	options.show_cmd = options.show_user = options.show_pid = true;
	options.show_fan = options.show_full_cmd = true;
	options.codec = GK_CODEC_ENC | GK_CODEC_DEC;
	options.power = GK_POWER_DRAW | GK_POWER_LIMIT;
	return options;
}

static void default_text(void **state)
{
	(void)state;
	fixture_everything(&fixture);
	golden(&plain, "gpustat-default");
}

static void all_switches(void **state)
{
	struct gk_gpustat_options options = everything();

	(void)state;
	fixture_everything(&fixture);
	golden(&options, "gpustat-all");
	options.color = true;
	golden(&options, "gpustat-all-color");
}

/* A metric that the text does not show need not be read. */
static void it_says_what_it_shows(void **state)
{
	struct gk_gpustat_options options[] = {plain, everything(), plain,
					       plain};

	(void)state;
	options[2].codec = GK_CODEC_DEC;
	options[3].power = GK_POWER_DRAW | GK_POWER_LIMIT;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct gk_metric_set set = {0};
		struct gk_buf whole = {0}, part = {0};

		options[i].color = true;
		fixture_everything(&fixture);
		gk_format_gpustat(&whole, &fixture.snap, &options[i]);
		gk_gpustat_metrics(&options[i], &set);
		fixture_read_only(&fixture, &set);
		gk_format_gpustat(&part, &fixture.snap, &options[i]);
		assert_same_text(&whole, &part);
	}
}

static void parts_can_be_left_out(void **state)
{
	struct gk_gpustat_options options = plain;

	(void)state;
	fixture_everything(&fixture);
	options.header = options.processes = false;
	options.name_width = 10;
	options.power = GK_POWER_DRAW;
	options.codec = GK_CODEC_DEC;
	golden(&options, "gpustat-narrow");
	options.name_width = 0;
	golden(&options, "gpustat-nameless");
}

static void nothing_is_said_in_words(void **state)
{
	(void)state;
	fixture_init(&fixture, 0);
	golden(&plain, "gpustat-no-gpus");
	fixture_init(&fixture, 2);
	golden(&plain, "gpustat-no-processes");
}

/* Checks the last line of two GPUs without processes. */
static void last_line(enum gk_health first, enum gk_health second,
		      const char *wanted)
{
	struct gk_buf out = {0};

	fixture_init(&fixture, 2);
	fixture.devices[0].health = first;
	fixture.devices[1].health = second;
	gk_format_gpustat(&out, &fixture.snap, &plain);
	out.data[out.len - 1] = '\0';
	assert_string_equal(strrchr(out.data, '\n') + 1, wanted);
	gk_buf_free(&out);
}

static void gpus_that_do_not_answer_may_have_processes(void **state)
{
	(void)state;
	last_line(GK_HEALTH_LOST, GK_HEALTH_OK, "No running processes found");
	last_line(GK_HEALTH_LOST, GK_HEALTH_STALE,
		  "Processes unknown: no GPU answers");
}

static void many_gpus_stay_aligned(void **state)
{
	(void)state;
	fixture_init(&fixture, 64);
	golden(&plain, "gpustat-64");
}

static void a_foreign_driver_version_is_cleaned(void **state)
{
	struct gk_buf out = {0};

	(void)state;
	fixture_init(&fixture, 1);
	strcpy(fixture.snap.driver_version, "580\x1b[2J\xff");
	gk_format_gpustat(&out, &fixture.snap, &plain);
	assert_null(strchr(out.data, '\x1b'));
	assert_non_null(strstr(out.data, "580?[2J\xef\xbf\xbd  CUDA"));
	gk_buf_free(&out);
}

static void foreign_bytes_are_cleaned(void **state)
{
	struct gk_gpustat_options options = everything();
	struct gk_process *p;

	(void)state;
	fixture_init(&fixture, 1);
	p = fixture_add_process(&fixture, 0, 7, "x");
	p->command = "/bin/\x1b[2J\xff \n\x7f\xc2\x9b";
	SET_ARGS(p, "/bin/\x1b[2J\xff\0\n\x7f\xc2\x9b");
	golden(&options, "gpustat-foreign-bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(default_text),
	    cmocka_unit_test(all_switches),
	    cmocka_unit_test(it_says_what_it_shows),
	    cmocka_unit_test(parts_can_be_left_out),
	    cmocka_unit_test(nothing_is_said_in_words),
	    cmocka_unit_test(gpus_that_do_not_answer_may_have_processes),
	    cmocka_unit_test(many_gpus_stay_aligned),
	    cmocka_unit_test(a_foreign_driver_version_is_cleaned),
	    cmocka_unit_test(foreign_bytes_are_cleaned),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
