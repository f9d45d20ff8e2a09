/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_words_test.c - checks what words of the filter mean, by
 * tests/data/filters.json, with which the page of `gpukit web` is tested too.
 */
#include "tui/model/filter.h"

#include "unit.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

static struct gk_device devices[MOST];
static struct gk_process processes[MOST];
static struct gk_snapshot snap = {.devices = devices, .processes = processes};
static json_t *table;

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static unsigned types_of(const char *letter)
{
	return *letter == 'C'   ? GK_PROCESS_COMPUTE
	       : *letter == 'G' ? GK_PROCESS_GRAPHICS
				: GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS;
}

static struct gk_value value_of(const json_t *json, enum gk_unit unit)
{
	double scale = unit == GK_UNIT_CENTIPERCENT ? 100
		       : unit == GK_UNIT_NANOSECOND ? 1e9
						    : 1;

	if (!json)
		return (struct gk_value){.why = GK_ABSENT_NOT_READ};
	return (struct gk_value){
	    .v = (int64_t)round(json_number_value(json) * scale)};
}

static void add_process(const json_t *json)
{
	size_t at = snap.process_count++;
	struct gk_process *p = &processes[at];

	assert_true(at < MOST);
	devices[at].index = (unsigned)atoi(text_of(json, "label"));
	*p = (struct gk_process){
	    .pid = (pid_t)json_integer_value(json_object_get(json, "pid")),
	    .device = (unsigned)at,
	    .types = types_of(text_of(json, "type")),
	    .user = text_of(json, "user"),
	    .name = text_of(json, "name"),
	    .command = text_of(json, "command"),
	    .container = text_of(json, "container"),
	    .pod = text_of(json, "pod"),
	    .cwd = text_of(json, "cwd"),
	    .stat = *text_of(json, "stat"),
	};
	for (int m = 0; m < GK_PM_COUNT; m++)
		p->m[m] =
		    value_of(json_object_get(json, gk_process_metrics[m].name),
			     gk_process_metrics[m].unit);
}

static int read_table(void **state)
{
	const json_t *list;

	(void)state;
	setlocale(LC_ALL, "C.UTF-8");
	table = json_load_file(TEST_DATA "/filters.json", 0, NULL);
	list = json_object_get(table, "processes");
	assert_true(json_array_size(list) > 4);
	for (size_t i = 0; i < json_array_size(list); i++)
		add_process(json_array_get(list, i));
	return 0;
}

static int drop_table(void **state)
{
	(void)state;
	json_decref(table);
	return 0;
}

/* Whether words mean what the table says. */
static bool is_right(const json_t *wanted)
{
	const char *typed = text_of(wanted, "words");
	const json_t *pids = json_object_get(wanted, "pids");
	struct tui_words words = {0};
	char error[100] = "", found[200] = "", list[200] = "";
	bool right;

	if (!tui_words_parse(&words, typed, error, sizeof error)) {
		right = !strcmp(error, text_of(wanted, "wrong"));
		if (!right)
			print_error("%s: '%s'\n", typed, error);
		return right;
	}
	for (size_t i = 0; i < snap.process_count; i++)
		if (tui_words_hold(&words, &snap, &processes[i]))
			snprintf(found + strlen(found), 20, "%d ",
				 (int)processes[i].pid);
	for (size_t i = 0; i < json_array_size(pids); i++)
		snprintf(list + strlen(list), 20, "%d ",
			 (int)json_integer_value(json_array_get(pids, i)));
	right = json_is_array(pids) && !strcmp(found, list);
	if (!right)
		print_error("%s: %s, not %s\n", typed, found, list);
	tui_words_free(&words);
	return right;
}

static void words_mean_what_the_table_says(void **state)
{
	const json_t *cases = json_object_get(table, "cases");
	int wrong = 0;

	(void)state;
	assert_true(json_array_size(cases) > 100);
	for (size_t i = 0; i < json_array_size(cases); i++)
		wrong += !is_right(json_array_get(cases, i));
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_mean_what_the_table_says),
	};

	return cmocka_run_group_tests(tests, read_table, drop_table);
}
