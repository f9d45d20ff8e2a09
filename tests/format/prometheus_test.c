/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus_test.c - checks metrics for Prometheus under all names. */
#include "fixture.h"
#include "format/prometheus/exposition.h"
#include "format/prometheus/prometheus.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct fixture fixture;

static struct gk_host_flow interfaces[] = {{"eth0", 1 << 20, 3 << 20, 7, 9}};
static struct gk_host_flow disks[] = {{"sda", 512, 1 << 21, 0, 0}};
static struct gk_host_mount mounts[] = {
    {"/a \"b\"", 4 << 20, 1 << 20, 2 << 20}};
static const struct gk_host_flows flows = {interfaces, disks, mounts, 1, 1, 1};

static void golden(const struct gk_prometheus *options, const char *name)
{
	struct gk_buf out = {0};

	gk_format_prometheus(&out, &fixture.snap, options);
	assert_false(out.failed);
	assert_golden(&out, name);
}

static void every_name_in_every_format(void **state)
{
	struct gk_prometheus options = {
	    .all = true, .processes = true, .commands = true, .frames = 3};

	(void)state;
	fixture_everything(&fixture);
	fixture.devices[0].m[GK_M_THROTTLE] = present(0x24);
	golden(&options, "prometheus-text");
	options.openmetrics = true;
	golden(&options, "prometheus-openmetrics");
	options.names = GK_NAMES_DCGM;
	golden(&options, "prometheus-dcgm");
	options.names = GK_NAMES_NVITOP;
	options.flows = &flows;
	options.hostname = "node";
	golden(&options, "prometheus-nvitop");
	options.names = GK_NAMES_NVIDIA_SMI;
	golden(&options, "prometheus-nvidia_smi");
	options.names = GK_NAMES_OTEL;
	golden(&options, "prometheus-otel");
}

static bool has(const struct gk_prometheus *options, const char *line)
{
	struct gk_buf out = {0};
	bool found;

	gk_format_prometheus(&out, &fixture.snap, options);
	found = strstr(out.data, line);
	gk_buf_free(&out);
	return found;
}

static void foreign_text_is_escaped(void **state)
{
	struct gk_prometheus options = {.processes = true, .commands = true};
	struct gk_process *p;

	(void)state;
	fixture_init(&fixture, 1);
	p = fixture_add_process(&fixture, 0, 7, "x");
	p->name = "a\"b\\c\nd\xff";
	p->command = "\\\"";
	assert_true(has(&options, "process=\"a\\\"b\\\\c?d\xef\xbf\xbd\""));
	assert_true(has(&options, "command=\"\\\\\\\"\""));
}

static void too_many_processes_are_left_out(void **state)
{
	struct gk_prometheus options = {.processes = true, .most_processes = 2};
	struct gk_process *p;

	(void)state;
	fixture_init(&fixture, 1);
	for (int i = 0; i < 4; i++) {
		p = fixture_add_process(&fixture, 0, 10 + i, "x");
		p->m[GK_PM_GPU_MEM] = present(i == 1 ? 900 : 100);
	}
	p->m[GK_PM_GPU_MEM].why = GK_ABSENT_NOT_SUPPORTED;
	/* The largest, and of equal ones the first. */
	assert_true(has(&options, "pid=\"11\""));
	assert_true(has(&options, "pid=\"10\""));
	assert_false(has(&options, "pid=\"12\""));
	assert_false(has(&options, "pid=\"13\""));
	assert_true(has(&options, "gpukit_processes_left_out 2\n"));
	options.most_processes = 0;
	assert_true(has(&options, "pid=\"13\""));
	assert_true(has(&options, "gpukit_processes_left_out 0\n"));
}

static void numbers_are_in_base_units(void **state)
{
	char text[64];

	(void)state;
	assert_string_equal(gk_base_number(text, 7, GK_UNIT_PERCENT), "0.07");
	assert_string_equal(gk_base_number(text, 100, GK_UNIT_PERCENT), "1.00");
	assert_string_equal(gk_base_number(text, 12345, GK_UNIT_CENTIPERCENT),
			    "1.2345");
	assert_string_equal(gk_base_number(text, -5, GK_UNIT_PERCENT), "-0.05");
	assert_string_equal(gk_base_number(text, 68123, GK_UNIT_MILLIWATT),
			    "68.123");
	assert_string_equal(gk_base_number(text, INT64_MAX, GK_UNIT_BYTES),
			    "9223372036854775807");
}

static void only_what_is_shown_is_read(void **state)
{
	struct gk_prometheus options = {.names = GK_NAMES_DCGM};
	struct gk_metric_set set;
	bool detail;

	(void)state;
	gk_prometheus_metrics(&options, &set, &detail);
	assert_true(gk_metric_set_has(&set, GK_M_MEM_USED));
	assert_false(gk_metric_set_has(&set, GK_M_PSTATE));
	assert_true(detail); /* PCIe replays */
	options.names = GK_NAMES_GPUKIT;
	gk_prometheus_metrics(&options, &set, &detail);
	assert_true(gk_metric_set_has(&set, GK_M_PSTATE));
	assert_false(gk_metric_set_has(&set, GK_M_CORES));
	options.all = true;
	gk_prometheus_metrics(&options, &set, &detail);
	assert_true(gk_metric_set_has(&set, GK_M_CORES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_name_in_every_format),
	    cmocka_unit_test(foreign_text_is_escaped),
	    cmocka_unit_test(too_many_processes_are_left_out),
	    cmocka_unit_test(numbers_are_in_base_units),
	    cmocka_unit_test(only_what_is_shown_is_read),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
