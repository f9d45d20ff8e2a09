/* SPDX-License-Identifier: Apache-2.0 */
/* rows_test.c - checks rows as CSV and JSON lines. */
#include "format/fixture.h"
#include "unit.h"

#include "record/rows.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct fixture fx;

static int setup(void **state)
{
	(void)state;
	fixture_init(&fx, 2);
	return 0;
}

/* The row of a process with a command; the caller frees it. */
static char *row(const char *command, bool json)
{
	struct gk_row_style style = {.json = json};
	struct gk_process *p = fixture_add_process(&fx, 1, 42, "x");
	struct gk_buf out = {0};

	p->m[GK_PM_GPU_MEM] = present(((int64_t)3 << 30) + 12345);
	p->m[GK_PM_SM_UTIL] = present(0);
	p->m[GK_PM_MEM_UTIL].why = GK_ABSENT_NOT_SUPPORTED;
	gk_row_process(&out, &style, "T", &fx.devices[1], p, command);
	assert_false(out.failed);
	return out.data;
}

/* Commands, and their form in a field. */
static const struct {
	const char *command, *field;
} quoted[] = {
    {"python train.py", "python train.py"},
    {"", ""},
    {"a,b", "\"a,b\""},
    {"say \"hi\"", "\"say \"\"hi\"\"\""},
    {"two\nlines", "\"two\nlines\""},
    {"carriage\rreturn", "carriage?return"},
    {"=1+1", "'=1+1"},
    {"+x", "'+x"},
    {"-x,y", "\"'-x,y\""},
    {"@SUM(A1)\nx", "\"'@SUM(A1)\nx\""},
    {"\t=x", "?=x"},
    {"'=x", "''=x"},
    {"'quoted'", "'quoted'"},
    {"＝1", "'＝1"},
    {"a\u202eb\u2066c", "a?b?c"},
    {" blank", "\" blank\""},
    {"back\\slash $HOME `x` 'y'", "back\\slash $HOME `x` 'y'"},
    {"caf\xc3\xa9", "caf\xc3\xa9"},
    {"bell\a \033[31m", "bell? ?[31m"},
    {"bad \xff byte", "bad \xef\xbf\xbd byte"},
};

static void commands_are_quoted_as_rfc_4180_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(quoted); i++) {
		char wanted[256], *text = row(quoted[i].command, false);

		snprintf(wanted, sizeof wanted, "T,1,42,%s,3072,0,\n",
			 quoted[i].field);
		assert_string_equal(text, wanted);
		free(text);
	}
}

static void json_rows_hold_the_same(void **state)
{
	char *text = row("=a \"b\"\n\\ \t\xff\u202e", true);
	json_t *object = json_loads(text, 0, NULL);

	(void)state;
	assert_non_null(object);
	assert_int_equal(strchr(text, '\n') - text, strlen(text) - 1);
	assert_string_equal(json_string_value(json_object_get(object, "cmd")),
			    "=a \"b\"\n\\ \t\xef\xbf\xbd\u202e");
	assert_null(strstr(text, "\u202e"));
	assert_int_equal(
	    json_integer_value(json_object_get(object, "gpu_index")), 1);
	assert_int_equal(
	    json_integer_value(json_object_get(object, "gpu_mem_mib")), 3072);
	assert_true(json_is_null(json_object_get(object, "mem_util_pct")));
	assert_int_equal(json_object_size(object), 7);
	json_decref(object);
	free(text);
}

static void a_header_names_as_many_fields_as_a_row_has(void **state)
{
	(void)state;
	for (int kind = 0; kind <= GK_RECORD_DEVICES; kind++) {
		struct gk_row_style style = {.kind = (enum gk_record_kind)kind,
					     .pid_column = true};
		struct gk_system_row system = {.cpus = "8/9"};
		struct gk_buf out = {0};
		size_t commas = 0, wanted;

		gk_row_header(&out, &style);
		for (const char *c = out.data; *c; c++)
			commas += *c == ',';
		wanted = commas;
		out.len = 0;
		if (kind == GK_RECORD_DEVICES)
			gk_row_device(&out, &style, "T", &fx.devices[0]);
		else if (kind == GK_RECORD_SYSTEM)
			gk_row_system(&out, &style, "T", &system);
		else
			gk_row_process(&out, &style, "T", &fx.devices[0],
				       fixture_add_process(&fx, 0, 1, ""), "");
		for (const char *c = out.data; *c; c++)
			wanted -= *c == ',';
		assert_true(commas > 3);
		assert_int_equal(wanted, 0);
		gk_buf_free(&out);
	}
}

static void a_mig_device_has_its_number_too(void **state)
{
	struct gk_row_style style = {0};
	struct gk_device *mig = fixture_add_mig(&fx, 1);
	struct gk_process *p =
	    fixture_add_process(&fx, (unsigned)(mig - fx.devices), 7, "x");
	struct gk_buf out = {0};

	(void)state;
	gk_row_process(&out, &style, "T", mig, p, "x");
	assert_memory_equal(out.data, "T,1:1,7,x,", 10);
	gk_buf_free(&out);
}

static void what_is_absent_is_empty(void **state)
{
	struct gk_row_style style = {.kind = GK_RECORD_SYSTEM};
	struct gk_system_row system = {
	    .pid = 5,
	    .used.why = GK_ABSENT_NONE,
	    .sys_used = present((int64_t)5 << 20),
	    .cpus = "",
	    .cpu = present(1234),
	};
	struct gk_buf out = {0};

	(void)state;
	gk_row_system(&out, &style, "T", &system);
	assert_string_equal(out.data, "T,,5,,123.4\n");
	system.cpu.why = GK_ABSENT_HIDDEN;
	system.used = present(1 << 20);
	system.cpus = "8/9/11";
	style.pid_column = true;
	out.len = 0;
	gk_row_system(&out, &style, "T", &system);
	assert_string_equal(out.data, "T,1,5,8/9/11,,5\n");
	gk_buf_free(&out);
}

static void time_is_local_and_iso(void **state)
{
	char text[GK_ROW_TIME_MAX];
	uint64_t ns = 1763719358UL * 1000000000UL + 7999999UL;

	(void)state;
	setenv("TZ", "XST-3", 1);
	tzset();
	assert_string_equal(gk_row_time(text, ns, false),
			    "2025-11-21T13:02:38");
	assert_string_equal(gk_row_time(text, ns, true),
			    "2025-11-21T13:02:38.007");
	setenv("TZ", "UTC", 1);
	tzset();
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
	    T(commands_are_quoted_as_rfc_4180_says),
	    T(json_rows_hold_the_same),
	    T(a_header_names_as_many_fields_as_a_row_has),
	    T(a_mig_device_has_its_number_too),
	    T(what_is_absent_is_empty),
	    T(time_is_local_and_iso),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
