/* SPDX-License-Identifier: Apache-2.0 */
/*
 * smi_test.c - checks nvidia-smi's formats for values that are rare on real
 * machines.
 */
#include "format/smi/dtd.h"
#include "format/smi/log.h"
#include "format/smi/mon.h"
#include "format/smi/query.h"
#include "format/smi/table.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gk_device device;
static struct gk_process process;
static struct gk_snapshot snap;
static struct gk_buf out;

static int start(void **state)
{
	(void)state;
	memset(&device, 0, sizeof device);
	device.mig_index = device.parent = -1;
	device.gpu_instance = device.compute_instance = -1;
	for (int i = 0; i < GK_M_COUNT; i++)
		device.m[i].why = GK_ABSENT_NOT_SUPPORTED;
	process = (struct gk_process){.pid = 7, .name = "", .types = 1};
	for (int i = 0; i < GK_PM_COUNT; i++)
		process.m[i].why = GK_ABSENT_NOT_SUPPORTED;
	snap = (struct gk_snapshot){.driver_version = "590.48.01",
				    .devices = &device,
				    .device_count = 1,
				    .processes = &process};
	return 0;
}

static int end(void **state)
{
	(void)state;
	gk_buf_free(&out);
	out = (struct gk_buf){0};
	return 0;
}

static void put(enum gk_metric metric, int64_t v)
{
	device.m[metric] = (struct gk_value){.v = v};
}

/* The row of one field. */
static const char *row(const char *field)
{
	struct gk_smi_chosen *chosen = calloc(1, sizeof *chosen);
	char unknown[128];

	assert_int_equal(gk_smi_choose(gk_smi_queries, field, chosen, unknown),
			 0);
	end(NULL);
	gk_smi_csv_rows(&out, &snap, chosen, true, 1);
	free(chosen);
	return out.data;
}

static void every_reason_of_absence_has_its_word(void **state)
{
	static const struct {
		enum gk_absence why;
		const char *bracketed, *bare;
	} words[] = {
	    {GK_ABSENT_NOT_SUPPORTED, "[N/A]\n", "N/A\n"},
	    {GK_ABSENT_NO_FUNCTION, "[Function Not Found]\n", "N/A\n"},
	    {GK_ABSENT_PERMISSION, "[Insufficient Permissions]\n",
	     "Insufficient Permissions\n"},
	    {GK_ABSENT_LOST, "[GPU is lost]\n", "GPU is lost\n"},
	    {GK_ABSENT_TIMEOUT, "[Unknown Error]\n", "Unknown Error\n"},
	    {GK_ABSENT_ERROR, "[Unknown Error]\n", "Unknown Error\n"},
	    {GK_ABSENT_RESET, "[GPU requires reset]\n", "GPU requires reset\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		device.m[GK_M_POWER].why = words[i].why;
		device.m[GK_M_TEMP_MEM].why = words[i].why;
		assert_string_equal(row("power.draw"), words[i].bracketed);
		assert_string_equal(row("temperature.memory"), words[i].bare);
	}
}

static void numbers_are_scaled_and_rounded(void **state)
{
	(void)state;
	put(GK_M_MEM_USED, (1LL << 20) * 3 + 1);
	assert_string_equal(row("memory.used"), "4 MiB\n");
	put(GK_M_MEM_USED, 0);
	assert_string_equal(row("memory.used"), "0 MiB\n");
	put(GK_M_POWER, 69859);
	assert_string_equal(row("power.draw"), "69.86 W\n");
	put(GK_M_POWER, 4);
	assert_string_equal(row("power.draw"), "0.00 W\n");
	put(GK_M_SM_CLOCK, 1980000000);
	assert_string_equal(row("clocks.sm"), "1980 MHz\n");
	put(GK_M_HELD_POWER, 15820333506999);
	assert_string_equal(row("clocks_event_reasons_counters.sw_power_cap"),
			    "15820333506 us\n");
	put(GK_M_THROTTLE, 0x1ff);
	assert_string_equal(row("clocks_event_reasons.active"),
			    "0x00000000000001FF\n");
	put(GK_M_PCI_CLASS, 0x302);
	assert_string_equal(row("pci.baseClass,pci.subClass"), "0x3, 0x2\n");
	put(GK_M_TEMP_MARGIN, -3);
	assert_string_equal(row("temperature.gpu.tlimit"), "-3\n");
}

static void states_without_a_word_are_absent(void **state)
{
	(void)state;
	put(GK_M_COMPUTE_MODE, 2);
	assert_string_equal(row("compute_mode"), "Prohibited\n");
	put(GK_M_COMPUTE_MODE, 9);
	assert_string_equal(row("compute_mode"), "[N/A]\n");
	put(GK_M_COMPUTE_MODE, -1);
	assert_string_equal(row("compute_mode"), "[N/A]\n");
	put(GK_M_PSTATE, 32);
	assert_string_equal(row("pstate"), "[N/A]\n");
	put(GK_M_FABRIC_STATE, 0);
	put(GK_M_FABRIC_CLIQUE, 4);
	assert_string_equal(row("fabric.state,fabric.cliqueId"), "N/A, N/A\n");
	put(GK_M_FABRIC_STATE, 3);
	assert_string_equal(row("fabric.state,fabric.cliqueId"),
			    "Completed, 4\n");
}

static void places_on_the_bus(void **state)
{
	(void)state;
	assert_string_equal(row("pci.bus"), "[N/A]\n");
	strcpy(device.bus_id, "00010000:C4:1F.0");
	assert_string_equal(row("pci.domain,pci.bus,pci.device"),
			    "0x10000, 0xC4, 0x1F\n");
}

static void what_is_deprecated_depends_on_the_driver(void **state)
{
	(void)state;
	put(GK_M_CLOCK_GR_APP, 1410000000);
	assert_string_equal(row("clocks.applications.graphics"),
			    "[Requested functionality has been deprecated]\n");
	strcpy(snap.driver_version, "535.261.03");
	assert_string_equal(row("clocks.applications.graphics"), "1410 MHz\n");
	strcpy(snap.driver_version, "");
	assert_string_equal(row("driver_version"), "[N/A]\n");
}

static void names_of_processes(void **state)
{
	static const char args[] = "/usr/bin/a\tb\0--secret";

	(void)state;
	snap.process_count = 1;
	gk_smi_process_name(&out, &process);
	assert_string_equal(out.data, "[Insufficient Permissions]");
	process.state = GK_PROCESS_GONE;
	end(NULL);
	gk_smi_process_name(&out, &process);
	assert_string_equal(out.data, "[Not Found]");
	process.name = "short";
	end(NULL);
	gk_smi_process_name(&out, &process);
	assert_string_equal(out.data, "short");
	process.args = args;
	process.args_len = sizeof args;
	end(NULL);
	gk_smi_process_name(&out, &process);
	assert_string_equal(out.data, "/usr/bin/a?b");
}

static void long_names_lose_an_end(void **state)
{
	(void)state;
	snap.process_count = 1;
	strcpy(device.name, "NVIDIA GeForce RTX 4080 SUPER");
	process.name = "/a/very/long/way/to/a/program/that/is/here";
	gk_smi_table(&out, &snap);
	assert_non_null(strstr(out.data, "NVIDIA GeForce RTX 4080 ...    "));
	assert_non_null(
	    strstr(out.data, "   ...way/to/a/program/that/is/here      "));
	for (const char *at = strchr(out.data, '\n') + 1; *at;) {
		const char *next = strchr(at, '\n');

		assert_true(next == at || next - at == 91);
		at = next + 1;
	}
}

/* Checks that all lines of a table are as wide as its driver's. */
static void assert_width(const char *driver, long width)
{
	strcpy(snap.driver_version, driver);
	end(NULL);
	gk_smi_table(&out, &snap);
	for (const char *at = strchr(out.data, '\n') + 1; *at;) {
		const char *next = strchr(at, '\n');

		/* 550 to 575 kept the line of blanks of 535 */
		if (next - at != width && strspn(at, " ") + at != next)
			fail_msg("%s: %ld columns: %s", driver,
				 (long)(next - at), at);
		at = next + 1;
	}
}

static void the_table_is_as_wide_as_the_driver_has_it(void **state)
{
	struct gk_device devices[2];

	(void)state;
	strcpy(device.name, "NVIDIA GeForce RTX 4080 SUPER");
	strcpy(device.bus_id, "00000000:C4:1F.0");
	put(GK_M_MIG_MODE, 1);
	put(GK_M_POWER, 55000);
	devices[0] = devices[1] = device;
	devices[1].mig_index = 0;
	devices[1].gpu_instance = devices[1].compute_instance = 3;
	snap.devices = devices;
	snap.device_count = 2;
	process.name = "/a/very/long/way/to/a/program/that/is/here";
	process.device = 1;
	snap.process_count = 1;
	assert_width("470.256.02", 79);
	assert_non_null(strstr(out.data, "|   0  NVIDIA GeForce ...  N/A  |"));
	assert_non_null(
	    strstr(out.data, "   ...to/a/program/that/is/here         N/A |"));
	assert_width("525.147.05", 79);
	assert_width("530.30.02", 89);
	assert_width("535.261.03", 89);
	assert_non_null(strstr(out.data, "NVIDIA GeForce RTX 4080 ..."));
	assert_width("550.163.01", 91);
	assert_width("570.195.03", 91);
	assert_width("580.95.05", 91);
	assert_width("610.57.04", 91);
}

static void fields_depend_on_the_driver(void **state)
{
	static const struct {
		const char *driver, *fields, *refused;
	} asked[] = {
	    {"470.256.02", "memory.used,clocks_throttle_reasons.active", NULL},
	    {"470.256.02", "name,memory.reserved", "memory.reserved"},
	    {"525.147.05", "clocks_event_reasons.active",
	     "clocks_event_reasons.active"},
	    {"535.261.03", "clocks_event_reasons.active", NULL},
	    {"535.129.03", "ecc.errors.uncorrected.volatile.sram.parity",
	     "ecc.errors.uncorrected.volatile.sram.parity"},
	    {"570.195.03", "reset_status.reset_required", NULL},
	    {"580.95.05", "reset_status.reset_required",
	     "reset_status.reset_required"},
	    {"590.48.01", "power_smoothing.primary_power_floor", NULL},
	    {"595.71.05", "power_smoothing.primary_power_floor",
	     "power_smoothing.primary_power_floor"},
	    {"610.57.04", "power_smoothing.primary_power_floor", NULL},
	};
	struct gk_smi_chosen *chosen = calloc(1, sizeof *chosen);
	char unknown[128];

	(void)state;
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		const char *refused;

		strcpy(snap.driver_version, asked[i].driver);
		assert_int_equal(gk_smi_choose(gk_smi_queries, asked[i].fields,
					       chosen, unknown),
				 0);
		refused = gk_smi_not_there(chosen, &snap);
		if (asked[i].refused)
			assert_string_equal(refused, asked[i].refused);
		else
			assert_null(refused);
	}
	free(chosen);
}

/* The level of a driver's version. */
static unsigned level(const char *driver)
{
	strcpy(snap.driver_version, driver);
	return gk_smi_level(&snap);
}

static void a_row_has_a_span_of_drivers(void **state)
{
	(void)state;
	assert_int_equal(level("535.54.03"), 535054);
	assert_int_equal(level(""), 590000);
	assert_true(gk_smi_fits(0, level("470.256.02")));
	assert_false(gk_smi_fits(SINCE(535161), level("535.129.03")));
	assert_true(gk_smi_fits(SINCE(535161), level("535.161.08")));
	assert_true(gk_smi_fits(UNTIL(535), level("535.309.01")));
	assert_false(gk_smi_fits(UNTIL(535), level("545.23.08")));
	assert_true(
	    gk_smi_fits(SINCE(595) | ALSO(580173), level("580.173.02")));
	assert_false(
	    gk_smi_fits(SINCE(595) | ALSO(580173), level("590.48.01")));
	assert_false(
	    gk_smi_fits(SINCE(595) | ALSO(580173), level("580.95.05")));
}

static void growth_is_seen_between_two_lines(void **state)
{
	static const struct gk_smi_mon mon = {.groups = "v"};
	struct gk_device old;
	struct gk_snapshot before;

	(void)state;
	put(GK_M_HELD_POWER, 0);
	put(GK_M_HELD_THERMAL, 0);
	old = device;
	before = snap;
	before.devices = &old;
	gk_smi_dmon(&out, &snap, NULL, NULL, &mon);
	assert_string_equal(out.data, "    0      0      0 \n");
	put(GK_M_HELD_POWER, 250000000);
	put(GK_M_HELD_THERMAL, 1);
	snap.mono_ns = 1000000000;
	end(NULL);
	gk_smi_dmon(&out, &snap, &before, NULL, &mon);
	assert_string_equal(out.data, "    0     25      1 \n");
	old = device;
	put(GK_M_HELD_POWER, 100000000);
	end(NULL);
	gk_smi_dmon(&out, &snap, &before, NULL, &mon);
	assert_string_equal(out.data, "    0      0      0 \n");
}

/* Checks pmon's columns jpg, ofa and ccpm. */
static void assert_untold(const char *jpg, const char *ofa, const char *ccpm)
{
	static const struct gk_smi_mon mon = {.groups = "um"};
	char shown[3][16];

	snap.process_count = 1;
	end(NULL);
	gk_smi_pmon(&out, &snap, &mon);
	assert_int_equal(sscanf(out.data,
				"%*s %*s %*s %*s %*s %*s %*s %15s %15s %*s "
				"%15s",
				shown[0], shown[1], shown[2]),
			 3);
	assert_string_equal(shown[0], jpg);
	assert_string_equal(shown[1], ofa);
	assert_string_equal(shown[2], ccpm);
}

static void a_process_has_no_protected_memory_where_there_is_none(void **state)
{
	(void)state;
	assert_untold("-", "-", "-");
	put(GK_M_PROTECTED_TOTAL, 0);
	assert_untold("-", "-", "0");
	put(GK_M_PROTECTED_TOTAL, 1 << 30);
	assert_untold("-", "-", "-");
}

static void a_gpu_without_processes_has_a_line(void **state)
{
	static const struct gk_smi_mon mon = {.groups = "m"};

	(void)state;
	gk_smi_pmon(&out, &snap, &mon);
	assert_string_equal(
	    out.data, "    0          -     -      -      -    -              "
		      "\n");
}

/* As captures of 590.48.01 and 610.57.04 have it. */
static void the_version_is_of_all_parts(void **state)
{
	(void)state;
	strcpy(snap.nvml_version, "13.590.48.01");
	snap.cuda_version = 13010;
	gk_smi_version(&out, &snap);
	assert_string_equal(out.data, "NVIDIA-SMI version  : 590.48.01\n"
				      "NVML version        : 590.48\n"
				      "DRIVER version      : 590.48.01\n"
				      "CUDA Version        : 13.1\n");
	end(NULL);
	strcpy(snap.driver_version, "610.57.04");
	strcpy(snap.nvml_version, "13.610.57.04");
	snap.cuda_version = 13030;
	gk_smi_version(&out, &snap);
	assert_string_equal(
	    out.data,
	    "NVIDIA-SMI version  : 610.57.04\n"
	    "NVML version        : 610.57\n"
	    "DRIVER version      : Deprecated, see \"KMD version\" instead\n"
	    "CUDA version        : Deprecated, see \"CUDA UMD version\" "
	    "instead\n"
	    "KMD version         : 610.57.04\n"
	    "CUDA UMD version    : 13.3\n");
}

static void a_declaration_has_a_text_or_children_or_both(void **state)
{
	static const char *const lines[] = {
	    "<!ELEMENT uuid (#PCDATA)>\n",
	    "<!ELEMENT mig_devices (#PCDATA | mig_device)*>\n",
	    "<!ELEMENT supported_clocks (#PCDATA | supported_mem_clock)*>\n",
	    ("<!ELEMENT supported_mem_clock (value, "
	     "supported_graphics_clock*)>\n"),
	    "<!ELEMENT processes (process_info*)>\n",
	};

	(void)state;
	gk_smi_dtd(&out, &snap);
	for (size_t i = 0; i < COUNT(lines); i++)
		if (!strstr(out.data, lines[i]))
			fail_msg("no %s in %s", lines[i], out.data);
}

/* A list that is left out does not end the report. */
static void the_report_goes_on_behind_a_long_list(void **state)
{
	const struct gk_smi_absent absent = {0};

	(void)state;
	gk_smi_log_text(&out, &snap, 0, 1, &absent);
	assert_null(strstr(out.data, "Supported Clocks"));
	assert_non_null(strstr(out.data, "\n    Processes"));
	end(NULL);
	gk_smi_log_text(&out, &snap, GK_SMI_SUPPORTED_CLOCKS, 1, &absent);
	assert_non_null(strstr(out.data, "\n    Supported Clocks"));
	assert_null(strstr(out.data, "\n    Processes"));
}

/* As spreadsheets need it; a number stays one. */
static void a_text_is_no_formula(void **state)
{
	(void)state;
	strcpy(device.name, "=1+2");
	assert_string_equal(row("name"), "'=1+2\n");
	assert_string_equal(row("index,name"), "0, '=1+2\n");
	strcpy(device.name, "-12");
	assert_string_equal(row("name"), "-12\n");
}

static void samples_have_a_block_each(void **state)
{
	static const char *const labels[] = {
	    "GPU Utilization Samples", "Memory Utilization Samples",
	    "ENC Utilization Samples", "DEC Utilization Samples"};
	const struct gk_smi_absent absent = {0};
	struct gk_detail *detail = calloc(1, sizeof *detail);

	(void)state;
	assert_non_null(detail);
	for (int i = 0; i < 4; i++)
		detail->samples[GK_SAMPLED_GPU + i] =
		    (struct gk_samples){.count = 7,
					.duration_ns = 1250000000,
					.max = 90 + i,
					.min = 10 + i,
					.avg = 50 + i};
	device.detail = detail;
	gk_smi_log_text(&out, &snap, GK_SMI_UTILIZATION, 1, &absent);
	for (int i = 0; i < 4; i++) {
		const char *at = strstr(out.data, labels[i]);
		unsigned max, min, avg;

		assert_non_null(at);
		assert_int_equal(sscanf(at,
					"%*[^\n] Duration : 1.25 sec Number of "
					"Samples : 7 Max : %u %% Min : %u %% "
					"Avg : %u %%",
					&max, &min, &avg),
				 3);
		assert_int_equal(max, 90 + i);
		assert_int_equal(min, 10 + i);
		assert_int_equal(avg, 50 + i);
	}
	free(detail);
}

static void dmon_has_a_line_for_each_whole_gpu(void **state)
{
	static const struct gk_smi_mon mon = {.groups = "v"};
	struct gk_device devices[3];

	(void)state;
	put(GK_M_HELD_POWER, 0);
	put(GK_M_HELD_THERMAL, 0);
	devices[0] = devices[1] = devices[2] = device;
	devices[1].mig_index = devices[1].parent = 0;
	devices[2].index = 1;
	snap.devices = devices;
	snap.device_count = 3;
	gk_smi_dmon(&out, &snap, NULL, NULL, &mon);
	assert_string_equal(out.data, "    0      0      0 \n"
				      "    1      0      0 \n");
}

static void markup_is_escaped(void **state)
{
	(void)state;
	gk_smi_escape(&out, "<a href=\"x\">&");
	assert_string_equal(out.data, "&lt;a href=\"x\"&gt;&amp;");
}

static void fields_are_found_by_both_names(void **state)
{
	struct gk_smi_chosen *chosen = calloc(1, sizeof *chosen);
	char unknown[128];

	(void)state;
	for (const struct gk_smi_query *q = gk_smi_queries; q->option; q++) {
		for (size_t i = 0; i < q->count; i++) {
			const struct gk_smi_field *f = &q->fields[i];

			assert_int_equal(
			    gk_smi_choose(q, f->name, chosen, unknown), 0);
			assert_ptr_equal(chosen->fields[0], f);
			if (!f->other)
				continue;
			assert_int_equal(
			    gk_smi_choose(q, f->other, chosen, unknown), 0);
			assert_ptr_equal(chosen->fields[0], f);
		}
	}
	assert_int_equal(gk_smi_choose(gk_smi_queries, "index, nonsense ,x",
				       chosen, unknown),
			 GK_ERR_NOT_FOUND);
	assert_string_equal(unknown, "nonsense");
	free(chosen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(every_reason_of_absence_has_its_word),
	    TEST(numbers_are_scaled_and_rounded),
	    TEST(states_without_a_word_are_absent),
	    TEST(places_on_the_bus),
	    TEST(what_is_deprecated_depends_on_the_driver),
	    TEST(names_of_processes),
	    TEST(long_names_lose_an_end),
	    TEST(the_table_is_as_wide_as_the_driver_has_it),
	    TEST(fields_depend_on_the_driver),
	    TEST(a_row_has_a_span_of_drivers),
	    TEST(growth_is_seen_between_two_lines),
	    TEST(a_process_has_no_protected_memory_where_there_is_none),
	    TEST(a_gpu_without_processes_has_a_line),
	    TEST(the_version_is_of_all_parts),
	    TEST(a_declaration_has_a_text_or_children_or_both),
	    TEST(the_report_goes_on_behind_a_long_list),
	    TEST(a_text_is_no_formula),
	    TEST(samples_have_a_block_each),
	    TEST(dmon_has_a_line_for_each_whole_gpu),
	    TEST(markup_is_escaped),
	    TEST(fields_are_found_by_both_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
