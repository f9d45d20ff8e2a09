/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus_test.c - checks metrics for Prometheus under all names. */
#include "fixture.h"
#include "format/prometheus/exposition.h"
#include "format/prometheus/prometheus.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
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

/* ---- lost GPUs ---- */

/* As a GPU is after it was lost; before: nobody had asked it who it is. */
static void lose(struct gk_device *d, bool before)
{
	d->health = GK_HEALTH_LOST;
	for (int m = 0; m < GK_M_COUNT; m++)
		d->m[m] = (struct gk_value){.why = GK_ABSENT_LOST};
	if (!before)
		return;
	d->uuid[0] = d->name[0] = d->serial[0] = d->bus_id[0] = '\0';
	memset(d->read_ns, 0, sizeof d->read_ns);
}

/* Three GPUs, one of them split, of which the first `count` are lost. */
static void make_lost(size_t count, bool before)
{
	fixture_init(&fixture, 3);
	if (count < 3 || !before) {
		fixture_add_mig(&fixture, 0);
		fixture_add_mig(&fixture, 1);
	}
	fixture_add_process(&fixture, 2, 7, "x");
	for (size_t i = 0; i < fixture.snap.device_count; i++)
		if (fixture.devices[i].index < count)
			lose(&fixture.devices[i], before);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void assert_no_series_twice(struct gk_buf *out)
{
	static char *lines[1 << 14];
	char *rest = out->data, *line;
	size_t count = 0;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (!*line || *line == '#')
			continue;
		*strrchr(line, ' ') = '\0';
		assert_true(count < sizeof lines / sizeof *lines);
		lines[count++] = line;
	}
	qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(lines[i - 1], lines[i]))
			fail_msg("twice: %s", lines[i]);
}

static void no_series_comes_twice(void **state)
{
	static const size_t lost[] = {0, 1, 2, 3};
	struct gk_prometheus options = {.processes = true, .flows = &flows};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof lost / sizeof *lost; i++)
		for (int n = 0; n < GK_NAMES_COUNT; n++) {
			struct gk_buf out = {0};

			make_lost(lost[i / 2], i % 2);
			options.names = (enum gk_metric_names)n;
			options.all = n == GK_NAMES_GPUKIT;
			gk_format_prometheus(&out, &fixture.snap, &options);
			assert_no_series_twice(&out);
			gk_buf_free(&out);
		}
}

static void a_collection_fails_with_any_gpu(void **state)
{
	static const char at[] = "collect_success_timestamp_seconds";
	struct gk_prometheus options = {.names = GK_NAMES_NVIDIA_SMI,
					.processes = true};
	const char *const ok = "nvidia_smi_last_collect_success 1\n";
	const char *const failed = "nvidia_smi_last_collect_success 0\n";
	const char *const no_apps =
	    "nvidia_smi_compute_apps_last_collect_success 0\n";

	(void)state;
	make_lost(0, false);
	assert_true(has(&options, ok));
	assert_false(has(&options, no_apps));
	make_lost(1, false);
	assert_true(has(&options, failed));
	assert_true(has(&options, at)); /* of the last answer */
	make_lost(1, true);
	assert_true(has(&options, failed));
	assert_false(has(&options, at)); /* it never answered */
	make_lost(0, false);
	fixture.devices[1].health = GK_HEALTH_STALE;
	assert_true(has(&options, failed));
	assert_true(has(&options, no_apps));
	fixture_init(&fixture, 0);
	assert_true(has(&options, failed));
}

/* One whose last occurrence is not remembered has no time. */
static void nvidia_smi_counts_xids(void **state)
{
	static const char times[] = "nvidia_smi_xid_last_timestamp_seconds{";
	static const struct gk_xids xids = {
	    .count = 1,
	    .kind_count = 3,
	    .last = {{2, 1500000000, 94, 0}},
	    .kinds = {{0, 0, 9}, {48, 0, 2}, {94, 0, 5}}};
	struct gk_prometheus options = {.names = GK_NAMES_NVIDIA_SMI};

	(void)state;
	fixture_init(&fixture, 1);
	assert_false(has(&options, times));
	fixture.devices[0].xids = &xids;
	assert_true(has(&options, "xid=\"48\"} 2\n"));
	assert_true(has(&options, "xid=\"94\"} 5\n"));
	assert_false(has(&options, "xid=\"0\""));
	assert_true(has(&options, times));
	assert_true(has(&options, "xid=\"94\"} 1.5"));
	assert_false(has(&options, "xid=\"48\"} 0"));
}

/* Labels as on dcgm-exporter's pages of 2025. */
static void dcgm_names_the_last_xid(void **state)
{
	struct gk_prometheus options = {.names = GK_NAMES_DCGM};

	(void)state;
	make_lost(0, false);
	fixture.devices[0].m[GK_M_XID_LAST] = present(0);
	assert_true(has(&options, "DCGM_FI_DRIVER_VERSION=\"580.95.05\","
				  "err_code=\"0\",err_msg=\"No Error\"} 0\n"));
	fixture.devices[0].m[GK_M_XID_LAST] = present(79);
	assert_true(has(&options,
			"err_code=\"79\","
			"err_msg=\"GPU has fallen off the bus\"} 79\n"));
}

/* A split GPU has its board's, once. */
static void dcgm_has_nvlinks_in_its_unit(void **state)
{
	struct gk_value rates[FIXTURE_DEVICES] = {
	    [1] = {.v = 7 * 1024000}, [2] = {.v = 5 * 1024000}};
	struct gk_prometheus options = {.names = GK_NAMES_DCGM};

	(void)state;
	make_lost(0, false);
	assert_false(has(&options, "NVLINK_BANDWIDTH_TOTAL"));
	rates[0].why = GK_ABSENT_ONE_SNAPSHOT;
	options.nvlink_rates = rates;
	assert_false(has(&options, "NVLINK_BANDWIDTH_TOTAL{gpu=\"0\""));
	assert_true(has(&options, "NVLINK_BANDWIDTH_TOTAL{gpu=\"1\""));
	assert_true(has(&options, "NVLINK_BANDWIDTH_TOTAL{gpu=\"2\""));
	assert_true(has(&options, "\"580.95.05\"} 7\nDCGM_FI_DEV_NVLINK_B"));
	assert_true(has(&options, "\"580.95.05\"} 5\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_name_in_every_format),
	    cmocka_unit_test(foreign_text_is_escaped),
	    cmocka_unit_test(too_many_processes_are_left_out),
	    cmocka_unit_test(numbers_are_in_base_units),
	    cmocka_unit_test(only_what_is_shown_is_read),
	    cmocka_unit_test(no_series_comes_twice),
	    cmocka_unit_test(a_collection_fails_with_any_gpu),
	    cmocka_unit_test(nvidia_smi_counts_xids),
	    cmocka_unit_test(dcgm_names_the_last_xid),
	    cmocka_unit_test(dcgm_has_nvlinks_in_its_unit),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
