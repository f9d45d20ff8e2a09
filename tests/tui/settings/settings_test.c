/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_test.c - checks the settings screen: columns, keys, typed values,
 * and what is kept.
 */
#include "base/clock.h"
#include "tui/settings/bindings.h"
#include "tui/settings/config.h"
#include "tui/settings/items.h"
#include "tui/screen.h"
#include "tui/settings/settings.h"
#include "tui/settings/shell_words.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct screen s;
static char directory[] = "/tmp/gpukit-settings-XXXXXX";

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 80);
	screen_press(&s, "F2");
	return 0;
}

static int end(void **state)
{
	struct tui_options *o = &s.t.options;

	(void)state;
	while (tui_back(&s.t))
		;
	for (size_t i = 0; i < o->binding_count; i++) {
		free(o->bindings[i].action);
		free(o->bindings[i].keys);
	}
	free(o->bindings);
	tui_shell_free(o->alerts.command);
	o->path = NULL;
	screen_end(&s);
	return 0;
}

/* Selects the line with this name. */
static void go_to(const char *name)
{
	char other[TUI_ITEM_NAME];

	for (size_t i = 0; i < tui_item_count(); i++)
		if (!strcmp(tui_item_name(tui_item_at(&s.t, i), other), name)) {
			s.t.setting = (long)i;
			return;
		}
	fail_msg("no line %s", name);
}

static void assert_value(const char *name, const char *value)
{
	char text[TUI_ITEM_TEXT];

	go_to(name);
	tui_item_value(&s.t, tui_item_at(&s.t, (size_t)s.t.setting), text);
	assert_string_equal(text, value);
}

static void type(const char *name, const char *text)
{
	go_to(name);
	screen_press(&s, "Enter Ctrl-U");
	screen_type(&s, text);
	screen_press(&s, "Enter");
}

/* Every line has a unique name, a help text, and a place where it is found. */
static void lines_are_complete(void **state)
{
	char a[TUI_ITEM_NAME], b[TUI_ITEM_NAME];

	(void)state;
	for (size_t i = 0; i < tui_item_count(); i++) {
		struct tui_item item = tui_item_at(&s.t, i);

		assert_int_equal(tui_item_position(&s.t, item), i);
		assert_true(*tui_item_help(item));
		tui_item_name(item, a);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
			    tui_item_name(tui_item_at(&s.t, k), b), a);
	}
}

static void values_are_typed(void **state)
{
	(void)state;
	type("interval", "0.5");
	assert_int_equal(s.t.options.interval_ns, GK_NS_PER_S / 2);
	type("gpu-util-thresh", "20 60");
	assert_int_equal(s.t.options.boxed.gpu.moderate, 200);
	assert_int_equal(s.t.options.boxed.gpu.heavy, 600);
	type("alerts.temperature", "87");
	assert_int_equal(s.t.options.alerts.temperature, 87);
	type("interval", "never");
	assert_non_null(s.t.prompt.kind);
	assert_non_null(strstr(s.t.prompt.note, "seconds"));
	assert_int_equal(s.t.options.interval_ns, GK_NS_PER_S / 2);
	screen_press(&s, "Esc");
	assert_null(s.t.prompt.kind);
}

static void the_order_holds_at_once(void **state)
{
	(void)state;
	type("sort", "gpu-memory");
	assert_int_equal(s.t.order.first.column, GK_COLUMN_GPU_MEM);
	assert_false(s.t.order.first.reversed);
	go_to("reversed");
	screen_press(&s, "Space");
	assert_true(s.t.order.first.reversed);
	/* Conversely, what keys have set is shown and saved. */
	screen_press(&s, "Esc o p F2");
	assert_value("sort", "[pid, -gpu-memory]");
}

static void the_command_of_alerts_has_quotes(void **state)
{
	(void)state;
	type("alerts.command", "sh -c 'echo \"$1\"' x\\ y \"\"");
	assert_string_equal(s.t.options.alerts.command[0], "sh");
	assert_string_equal(s.t.options.alerts.command[2], "echo \"$1\"");
	assert_string_equal(s.t.options.alerts.command[3], "x y");
	assert_string_equal(s.t.options.alerts.command[4], "");
	assert_null(s.t.options.alerts.command[5]);
	assert_value("alerts.command",
		     "sh -c \"echo \\\"$1\\\"\" \"x y\" \"\"");
	screen_press(&s, "Enter Enter"); /* what is shown can be read */
	assert_string_equal(s.t.options.alerts.command[2], "echo \"$1\"");
	type("alerts.command", "sh 'x");
	assert_non_null(strstr(s.t.prompt.note, "quote"));
	screen_press(&s, "Esc");
	type("alerts.command", "");
	assert_null(s.t.options.alerts.command);
}

static void columns_come_go_and_move(void **state)
{
	struct gk_columns shown;

	(void)state;
	go_to("columns.parent");
	assert_value("columns.parent", "off");
	screen_press(&s, "Space");
	shown = tui_columns(&s.t);
	assert_true(gk_columns_have(&shown, GK_COLUMN_PPID));
	assert_int_equal(shown.count, gk_columns_default.count + 1);
	assert_int_equal(tui_item_at(&s.t, (size_t)s.t.setting).id,
			 GK_COLUMN_PPID);
	assert_value("columns.pid", "2");
	screen_press(&s, "<");
	assert_value("columns.pid", "1");
	assert_value("columns.gpu", "2");
	go_to("columns.pid");
	screen_press(&s, "< > > >");
	assert_value("columns.pid", "4");
	assert_value("columns.gpu", "1");
	go_to("columns.pid");
	screen_press(&s, "Space");
	assert_value("columns.pid", "off");
	screen_press(&s, "F2");
	screen_draw(&s);
	assert_true(screen_find(&s, "PPID", NULL) >= 0 ||
		    screen_find(&s, "PARENT", NULL) >= 0);
	screen_press(&s, "F2");
	go_to("columns.gpu");
	screen_press(&s, "Delete");
	assert_int_equal(s.t.options.columns.count, 0);
}

static void the_last_column_stays(void **state)
{
	(void)state;
	for (int i = 0; i < gk_columns_default.count; i++) {
		struct gk_columns shown = tui_columns(&s.t);
		char name[TUI_ITEM_NAME];

		snprintf(name, sizeof name, "columns.%s",
			 gk_column_infos[shown.id[0]].name);
		go_to(name);
		screen_press(&s, "Space");
	}
	assert_int_equal(tui_columns(&s.t).count, 1);
	assert_non_null(strstr(s.t.message, "must stay"));
}

static void keys_are_given_and_taken(void **state)
{
	(void)state;
	go_to("keys.pause");
	screen_press(&s, "Enter Ctrl-U");
	screen_type(&s, "F5 z+x");
	assert_non_null(strstr(s.t.prompt.note, "F5 is taken from refresh"));
	screen_press(&s, "Enter");
	assert_non_null(strstr(s.t.message, "F5 is taken from refresh"));
	screen_press(&s, "Esc F5");
	assert_true(s.t.paused);
	screen_press(&s, "p F5");
	assert_false(s.t.paused);
	screen_press(&s, "F2");
	assert_value("keys.pause", "F5 z+x");
	go_to("keys.pause");
	screen_press(&s, "Delete");
	assert_value("keys.pause", "p");
	assert_int_equal(s.t.options.binding_count, 0);
	screen_press(&s, "Esc p");
	assert_true(s.t.paused);
}

static void a_sequence_that_is_never_reached_is_told(void **state)
{
	(void)state;
	go_to("keys.pause");
	screen_press(&s, "Enter Ctrl-U");
	screen_type(&s, "u+x");
	assert_non_null(strstr(s.t.prompt.note, "ux stays bound to users"));
	screen_press(&s, "Esc");
}

static void what_is_no_key_is_refused(void **state)
{
	(void)state;
	type("keys.pause", "F99");
	assert_non_null(s.t.prompt.kind);
	assert_non_null(strstr(s.t.prompt.note, "keys such as"));
	screen_press(&s, "Esc");
	assert_value("keys.pause", "p");
}

static void the_way_out_stays(void **state)
{
	(void)state;
	type("keys.quit", "");
	assert_non_null(strstr(s.t.prompt.note, "quit"));
	screen_press(&s, "Esc");
	type("keys.refresh", "q Q");
	assert_non_null(strstr(s.t.prompt.note, "quit"));
	screen_press(&s, "Esc");
	type("keys.quit", "F10");
	screen_press(&s, "Esc F10");
	assert_true(s.t.quit);
}

static void another_set_of_keys_keeps_those_of_the_user(void **state)
{
	(void)state;
	type("keys.pause", "F9");
	go_to("key-set");
	screen_press(&s, "Space");
	assert_int_equal(s.t.options.key_set, KEYS_VI);
	screen_press(&s, "Esc F9");
	assert_true(s.t.paused);
	screen_press(&s, "j j");
	assert_int_equal(tui_selected(&s.t), 1);
}

static void lines_are_searched(void **state)
{
	char name[TUI_ITEM_NAME];

	(void)state;
	screen_press(&s, "Ctrl-F");
	screen_type(&s, "power");
	screen_press(&s, "Enter");
	assert_string_equal(
	    tui_item_name(tui_item_at(&s.t, (size_t)s.t.setting), name),
	    "alerts.power");
}

/* ---- the file ---- */

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_file(const char *path, const char *begin)
{
	char text[256] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(fread(text, 1, sizeof text - 1, f) > 0);
	fclose(f);
	assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
}

static void comments_are_kept_beside(void **state)
{
	char path[128], beside[128], real[128];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/top.yaml", directory);
	snprintf(real, sizeof real, "%s/dotfile", directory);
	snprintf(beside, sizeof beside, "%s/dotfile.bak", directory);
	write_file(real, "mode: full # as I like it\n");
	assert_int_equal(symlink(real, path), 0);
	s.t.options.path = path;
	screen_press(&s, "s");
	assert_non_null(strstr(s.t.message, ".bak"));
	assert_file(beside, "mode: full # as I like it\n");
	assert_file(path, "# Settings of");
	assert_file(real, "# Settings of"); /* it is still a link */
	unlink(beside);
	screen_press(&s, "s");
	assert_null(strstr(s.t.message, ".bak"));
	assert_int_equal(access(beside, F_OK), -1);
	unlink(path);
	unlink(real);
	rmdir(directory);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(lines_are_complete),
	    T(values_are_typed),
	    T(the_order_holds_at_once),
	    T(the_command_of_alerts_has_quotes),
	    T(columns_come_go_and_move),
	    T(the_last_column_stays),
	    T(keys_are_given_and_taken),
	    T(a_sequence_that_is_never_reached_is_told),
	    T(what_is_no_key_is_refused),
	    T(the_way_out_stays),
	    T(another_set_of_keys_keeps_those_of_the_user),
	    T(lines_are_searched),
	    T(comments_are_kept_beside),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}
