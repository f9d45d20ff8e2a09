/* SPDX-License-Identifier: Apache-2.0 */
/* config_test.c - checks the config file, the settings screen, and alerts. */
#include "unit.h"

#include "base/clock.h"
#include "base/err.h"
#include "tui/settings/config.h"
#include "tui/screen.h"
#include "tui/settings/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64], path[128];

static int make_directory(void **state)
{
	(void)state;
	umask(022); /* files that others can write to have tests of their own */
	strcpy(directory, "/tmp/gpukit-config-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof path, "%s/top.yaml", directory);
	return 0;
}

static int remove_directory(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", directory);
	return system(command);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int read_text(const char *text, struct tui_options *o, char *message)
{
	*o = TUI_OPTIONS_DEFAULT;
	*message = '\0';
	write_file(text);
	return tui_config_read(path, o, message, 256);
}

static void all_of_it_is_read(void **state)
{
	struct tui_options o;
	char message[256];

	(void)state;
	assert_int_equal(read_text("mode: compact\n"
				   "theme: light\n"
				   "colorful: true\n"
				   "mouse: false\n"
				   "key-set: vi\n"
				   "interval: 0.5\n"
				   "sort: [cpu, -user]\n"
				   "gpu-util-thresh: [20, 60]\n"
				   "panels:\n  host: false\n"
				   "alerts:\n"
				   "  temperature: 85\n"
				   "  idle: off\n"
				   "  ecc: true\n"
				   "  every: 10\n"
				   "  command: [logger, \"a b\"]\n"
				   "columns: [gpu, pid]\n"
				   "keys:\n  pause: F6 o+x\n",
				   &o, message),
			 0);
	assert_string_equal(message, "");
	assert_int_equal(o.mode, MODE_COMPACT);
	assert_int_equal(o.term.theme, TUI_LIGHT);
	assert_true(o.boxed.colorful);
	assert_false(o.term.mouse);
	assert_int_equal(o.key_set, KEYS_VI);
	assert_int_equal(o.interval_ns, GK_NS_PER_S / 2);
	assert_int_equal(o.order.first.column, GK_COLUMN_CPU);
	assert_int_equal(o.order.second.column, GK_COLUMN_USER);
	assert_false(o.order.first.reversed);
	assert_true(o.order.second.reversed);
	assert_int_equal(o.boxed.gpu.moderate, 200);
	assert_int_equal(o.boxed.gpu.heavy, 600);
	assert_true(o.host_hidden);
	assert_false(o.devices_hidden);
	assert_int_equal(o.alerts.temperature, 85);
	assert_int_equal(o.alerts.idle, 0);
	assert_true(o.alerts.ecc);
	assert_int_equal(o.alerts.command_ns, 10 * GK_NS_PER_S);
	assert_string_equal(o.alerts.command[0], "logger");
	assert_string_equal(o.alerts.command[1], "a b");
	assert_null(o.alerts.command[2]);
	assert_int_equal(o.columns.count, 2);
	assert_int_equal(o.columns.id[1], GK_COLUMN_PID);
	assert_int_equal(o.binding_count, 1);
	assert_string_equal(o.bindings[0].keys, "F6 o+x");
	tui_options_free(&o);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	static const struct {
		const char *text, *line, *says;
	} rows[] = {
	    {"mode: auto\nmodus: full\n", ":2: ", "modus: no such key"},
	    {"\ncolourful: true\n", ":2: ", "is it colorful?"},
	    {"mode: high\n", ":1: ", "one of auto, full, compact"},
	    {"mode: [auto]\nreadonly: yes\n", ":2: ", "true or false"},
	    {"interval: 0.001\n", ":1: ", "seconds from 0.01"},
	    {"gpu-util-thresh: 10\n", ":1: ", "two percentages"},
	    {"gpu-util-thresh: [80, 20]\n", ":1: ", "the smaller one first"},
	    {"alerts: 3\n", ":1: ", "a mapping"},
	    {"alerts:\n  temperature: hot\n", ":2: ", "off, or a number"},
	    {"alerts:\n  command: reboot\n", ":2: ", "a list"},
	    {"alerts.ecc: true\n", ":1: ", "no such key"},
	    {"keys:\n  pause: F6\n  halt: F7\n", ":3: ", "halt"},
	    {"keys:\n  pause: F66\n", ":2: ", "invalid keys"},
	    {"sort: size\n", ":1: ", "one or two columns"},
	    {"sort: [user, size]\n", ":1: ", "one or two columns"},
	    {"sort: [user, pid, cpu]\n", ":1: ", "one or two columns"},
	    {"columns: gpu\n", ":1: ", "a list of columns"},
	    {"columns: [gpu, pdi]\n", ":1: ", "'pdi' is not a column"},
	    {"columns: [gpu, gpu]\n", ":1: ", "is repeated"},
	    {"mode: auto\nmode: full\n", ":2: ", "is repeated"},
	    {"mode: auto\n---\nmode: full\n", ":3: ", "a second document"},
	    {"- mode\n", ":1: ", "mapping"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tui_options o;
		char message[256];

		assert_true(read_text(rows[i].text, &o, message) < 0);
		if (!strstr(message, rows[i].line) ||
		    !strstr(message, rows[i].says))
			fail_msg("%s is told as %s", rows[i].text, message);
		tui_options_free(&o);
	}
}

static void nothing_but_comments_is_nothing(void **state)
{
	struct tui_options o;
	char message[256];

	(void)state;
	assert_int_equal(read_text("# mode: full\n", &o, message), 0);
	assert_int_equal(o.mode, MODE_AUTO);
}

/* A saved file reads back with the same values. */
static void what_is_saved_is_read_again(void **state)
{
	struct tui_options o, again;
	struct gk_buf first = {0}, second = {0};
	char message[256];

	(void)state;
	assert_int_equal(
	    read_text("mode: full\nalerts:\n  power: 95\n"
		      "  command: [sh, -c, \"a \\\"b\\\" \\\\ \\n c\"]\n"
		      "columns: [pid, user]\nkeys:\n"
		      "  pause: \"\\\\ F6\"\n  search: '\"'\n",
		      &o, message),
	    0);
	tui_config_text(&o, &first);
	assert_int_equal(read_text(first.data, &again, message), 0);
	tui_config_text(&again, &second);
	assert_string_equal(first.data, second.data);
	assert_string_equal(again.alerts.command[2], "a \"b\" \\ \n c");
	assert_string_equal(again.bindings[0].keys, "\\ F6");
	assert_int_equal(again.alerts.power, 95);
	gk_buf_free(&first);
	gk_buf_free(&second);
	tui_options_free(&o);
	tui_options_free(&again);
}

static void every_setting_takes_its_own_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < tui_setting_count; i++) {
		const struct tui_setting *s = &tui_settings[i];
		struct tui_options o = TUI_OPTIONS_DEFAULT, again;
		char text[128 + TUI_SETTING_TEXT], value[TUI_SETTING_TEXT];
		char message[256], now[TUI_SETTING_TEXT];
		const char *dot = strchr(s->name, '.');

		for (int step = 0; step < 3; step++) {
			tui_setting_step(s, &o, step < 2 ? 1 : -1);
			tui_setting_text(s, &o, value);
			snprintf(text, sizeof text, "%.*s%s%s: %s\n",
				 dot ? (int)(dot - s->name) : 0, s->name,
				 dot ? ":\n  " : "", dot ? dot + 1 : s->name,
				 value);
			if (read_text(text, &again, message))
				fail_msg("%s: %s", text, message);
			tui_setting_text(s, &again, now);
			assert_string_equal(now, value);
		}
	}
}

static void a_bound_key_is_taken_from_others(void **state)
{
	struct tui_keymap *map = tui_keymap_new(false);
	tui_key pending = TUI_KEY_NONE;

	(void)state;
	assert_int_equal(tui_keymap_take(map, ON_MAIN, '/', &pending),
			 ACTION_SORT_REVERSE);
	assert_true(tui_keymap_set(map, "search", "/ F6"));
	assert_int_equal(tui_keymap_take(map, ON_MAIN, '/', &pending),
			 ACTION_SEARCH);
	assert_int_equal(
	    tui_keymap_take(map, ON_MAIN, TUI_KEY_F1 + 5, &pending),
	    ACTION_SEARCH);
	assert_int_equal(
	    tui_keymap_take(map, ON_MAIN, TUI_KEY_F1 + 2, &pending),
	    ACTION_NONE);
	tui_keymap_free(map);
}

/* ---- the screen ---- */

static void usual_times(struct screen *s)
{
	s->t.options.interval_ns = GK_NS_PER_S;
	s->t.options.alerts.command_ns = 60 * GK_NS_PER_S;
}

static void the_screen_changes_and_saves(void **state)
{
	struct tui_options again = TUI_OPTIONS_DEFAULT;
	char message[256], deep[160];
	struct screen s;
	struct stat st;

	(void)state;
	screen_begin(&s, 24, 80);
	snprintf(deep, sizeof deep, "%s/a/b/top.yaml", directory);
	usual_times(&s);
	s.t.options.path = deep;
	screen_press(&s, "F2");
	assert_int_equal(s.t.screen, SCREEN_SETTINGS);
	screen_press(&s, "Enter");
	assert_int_equal(s.t.options.mode, MODE_FULL);
	screen_press(&s, "Left Left");
	assert_int_equal(s.t.options.mode, MODE_COMPACT);
	screen_press(&s, "Down Down Space");
	assert_true(s.t.options.boxed.colorful);
	screen_press(&s, "s");
	assert_int_equal(tui_config_read(deep, &again, message, 256), 0);
	assert_int_equal(again.mode, MODE_COMPACT);
	assert_true(again.boxed.colorful);
	assert_int_equal(stat(deep, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	screen_press(&s, "F2");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	s.t.options.path = NULL;
	screen_end(&s);
}

static void the_screen_looks_so(void **state)
{
	static char file[] = "/home/ana/.config/gpukit/top.yaml";
	struct screen s;

	(void)state;
	screen_begin(&s, 24, 80);
	usual_times(&s);
	s.t.options.path = file;
	screen_press(&s, "F2 Down");
	assert_screen(&s, "top/settings-80x24");
	screen_resize(&s, 10, 40);
	screen_press(&s, "End");
	assert_screen(&s, "top/settings-40x10");
	s.t.options.path = NULL;
	screen_end(&s);
}

static void readonly_is_not_undone(void **state)
{
	struct screen s;

	(void)state;
	screen_begin(&s, 24, 80);
	s.t.options.readonly = true;
	screen_press(&s, "F2");
	for (size_t i = 0; strcmp(tui_settings[i].name, "readonly"); i++)
		screen_press(&s, "Down");
	screen_press(&s, "Enter");
	assert_true(s.t.options.readonly);
	screen_end(&s);
}

/* ---- alerts ---- */

static struct gk_device gpu = {
    .mig_index = -1, .index = 3, .uuid = "GPU-a", .read_ns = {1, 1, 1}};
static struct gk_snapshot snap = {.device_count = 1, .devices = &gpu};

static bool at(struct tui_alerts *alerts, const struct tui_alert_rules *rules,
	       uint64_t seconds)
{
	snap.mono_ns = seconds * GK_NS_PER_S;
	return tui_alerts_update(alerts, rules, &snap);
}

static void set_metric(enum gk_metric metric, int64_t v)
{
	gpu.m[metric] = (struct gk_value){v, GK_PRESENT};
}

static int clear_gpu(void **state)
{
	(void)state;
	for (int i = 0; i < GK_M_COUNT; i++)
		gpu.m[i].why = GK_ABSENT_NOT_SUPPORTED;
	gpu.process_count = 0;
	return 0;
}

static void heat_is_told_once(void **state)
{
	struct tui_alert_rules rules = {.temperature = 80};
	struct tui_alerts alerts = {0};
	struct gk_buf line = {0};

	(void)state;
	assert_false(at(&alerts, &rules, 1)); /* unknown: no alert */
	set_metric(GK_M_TEMP, 79);
	assert_false(at(&alerts, &rules, 2));
	set_metric(GK_M_TEMP, 80);
	assert_true(at(&alerts, &rules, 3));
	assert_false(at(&alerts, &rules, 4));
	tui_alerts_line(&alerts, &line);
	assert_string_equal(line.data, "! GPU 3: 80 C (alert from 80 C)");
	set_metric(GK_M_TEMP, 79); /* not yet cool enough */
	assert_false(at(&alerts, &rules, 5));
	assert_int_equal(alerts.on, 1);
	set_metric(GK_M_TEMP, 77);
	assert_false(at(&alerts, &rules, 6));
	assert_int_equal(alerts.on, 0);
	gk_buf_free(&line);
	tui_alerts_free(&alerts);
}

static void power_is_of_the_limit(void **state)
{
	struct tui_alert_rules rules = {.power = 95};
	struct tui_alerts alerts = {0};

	(void)state;
	set_metric(GK_M_POWER, 390000);
	assert_false(at(&alerts, &rules, 1));
	set_metric(GK_M_POWER_ENFORCED, 400000);
	assert_true(at(&alerts, &rules, 2));
	for (size_t i = 0; i < alerts.count; i++)
		assert_int_equal(alerts.rows[i].on ? alerts.rows[i].value : 97,
				 97);
	tui_alerts_free(&alerts);
}

static void idle_has_to_last(void **state)
{
	struct tui_alert_rules rules = {.idle = 5};
	struct tui_alerts alerts = {0};

	(void)state;
	gpu.process_count = 1;
	set_metric(GK_M_GPU_UTIL, 0);
	assert_false(at(&alerts, &rules, 10));
	assert_false(at(&alerts, &rules, 10 + 299));
	assert_true(at(&alerts, &rules, 10 + 300));
	set_metric(GK_M_GPU_UTIL, 1);
	assert_false(at(&alerts, &rules, 311));
	assert_int_equal(alerts.on, 0);
	set_metric(GK_M_GPU_UTIL, 0);
	assert_false(at(&alerts, &rules, 312)); /* begins again */
	gpu.process_count = 0;                  /* no process holds it */
	assert_false(at(&alerts, &rules, 10000));
	tui_alerts_free(&alerts);
}

static void each_memory_error_is_told(void **state)
{
	struct tui_alert_rules rules = {.ecc = true};
	struct tui_alerts alerts = {0};

	(void)state;
	set_metric(GK_M_ECC_UNCORRECTED, 0);
	assert_false(at(&alerts, &rules, 1));
	set_metric(GK_M_ECC_UNCORRECTED, 1);
	assert_true(at(&alerts, &rules, 2));
	assert_false(at(&alerts, &rules, 3));
	set_metric(GK_M_ECC_UNCORRECTED, 2);
	assert_true(at(&alerts, &rules, 4));
	tui_alerts_free(&alerts);
}

/* Each Xid is reported with its meaning for ten minutes, even of a lost GPU. */
static void each_xid_is_told(void **state)
{
	struct tui_alert_rules rules = {.xid = true};
	struct tui_alerts alerts = {0};
	struct gk_buf line = {0};

	(void)state;
	snap.wall_ns = 5000 * GK_NS_PER_S;
	set_metric(GK_M_XID_COUNT, 0);
	set_metric(GK_M_XID_LAST, 0);
	assert_false(at(&alerts, &rules, 1));
	set_metric(GK_M_XID_COUNT, 1);
	set_metric(GK_M_XID_LAST, 31);
	set_metric(GK_M_XID_TIME, 4999 * GK_NS_PER_S);
	assert_true(at(&alerts, &rules, 2));
	assert_false(at(&alerts, &rules, 3));
	set_metric(GK_M_XID_COUNT, 2); /* the same number again */
	assert_true(at(&alerts, &rules, 4));
	set_metric(GK_M_XID_COUNT, 3);
	set_metric(GK_M_XID_LAST, 79);
	gpu.health = GK_HEALTH_LOST;
	assert_true(at(&alerts, &rules, 5));
	tui_alerts_line(&alerts, &line);
	assert_string_equal(line.data,
			    "! GPU 3: Xid 79: GPU has fallen off the bus");
	assert_int_equal(alerts.rows[0].value, 79);
	snap.wall_ns = (4999 + 601) * GK_NS_PER_S;
	assert_false(at(&alerts, &rules, 6));
	assert_int_equal(alerts.on, 0);
	gpu.health = GK_HEALTH_OK;
	gk_buf_free(&line);
	tui_alerts_free(&alerts);
}

static int lines_of(const char *file)
{
	FILE *f = fopen(file, "r");
	int c, lines = 0;

	while (f && (c = getc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines;
}

static void wait_for_lines(const char *file, int lines)
{
	for (int i = 0; i < 1000 && lines_of(file) < lines; i++)
		usleep(10000);
	assert_int_equal(lines_of(file), lines);
	tui_alerts_reap();
}

/*
 * Arguments reach the program unchanged, without a shell; it does not run too
 * often.
 */
static void the_command_runs_and_is_limited(void **state)
{
	char out[160], script[256];
	char shell[] = "/bin/sh", option[] = "-c", last[] = "$(id); x";
	char *command[] = {shell, option, script, last, NULL};
	struct tui_alert_rules rules = {
	    .ecc = true, .command = command, .command_ns = 60 * GK_NS_PER_S};
	struct tui_alerts alerts = {0};
	char text[200] = "";
	FILE *file;

	(void)state;
	snprintf(out, sizeof out, "%s/out", directory);
	snprintf(script, sizeof script,
		 "echo \"$0 $GPUKIT_ALERT $GPUKIT_ALERT_GPU "
		 "$GPUKIT_ALERT_VALUE $GPUKIT_ALERT_UUID\" >>%s",
		 out);
	for (int i = 1; i <= 3; i++) {
		set_metric(GK_M_ECC_UNCORRECTED, i);
		assert_true(at(&alerts, &rules, (uint64_t)i));
		assert_int_equal(tui_alerts_run(&alerts, &rules, snap.mono_ns),
				 0);
	}
	wait_for_lines(out, 1);
	set_metric(GK_M_ECC_UNCORRECTED, 4);
	assert_true(at(&alerts, &rules, 61));
	assert_int_equal(tui_alerts_run(&alerts, &rules, snap.mono_ns), 0);
	wait_for_lines(out, 2);
	file = fopen(out, "r");
	assert_non_null(fgets(text, sizeof text, file));
	fclose(file);
	assert_string_equal(text, "$(id); x ecc 3 1 GPU-a\n");
	tui_alerts_free(&alerts);
}

static void a_command_that_is_not_there_is_told(void **state)
{
	char program[] = "/nowhere/at/all", *command[] = {program, NULL};
	struct tui_alert_rules rules = {.ecc = true, .command = command};
	struct tui_alerts alerts = {0};

	(void)state;
	set_metric(GK_M_ECC_UNCORRECTED, 1);
	assert_true(at(&alerts, &rules, 1));
	assert_int_equal(tui_alerts_run(&alerts, &rules, 1), ENOENT);
	tui_alerts_free(&alerts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_of_it_is_read),
	    cmocka_unit_test(what_is_wrong_is_told_with_its_line),
	    cmocka_unit_test(nothing_but_comments_is_nothing),
	    cmocka_unit_test(what_is_saved_is_read_again),
	    cmocka_unit_test(every_setting_takes_its_own_values),
	    cmocka_unit_test(a_bound_key_is_taken_from_others),
	    cmocka_unit_test(the_screen_changes_and_saves),
	    cmocka_unit_test(the_screen_looks_so),
	    cmocka_unit_test(readonly_is_not_undone),
	    cmocka_unit_test_setup(heat_is_told_once, clear_gpu),
	    cmocka_unit_test_setup(power_is_of_the_limit, clear_gpu),
	    cmocka_unit_test_setup(idle_has_to_last, clear_gpu),
	    cmocka_unit_test_setup(each_memory_error_is_told, clear_gpu),
	    cmocka_unit_test_setup(each_xid_is_told, clear_gpu),
	    cmocka_unit_test_setup(the_command_runs_and_is_limited, clear_gpu),
	    cmocka_unit_test_setup(a_command_that_is_not_there_is_told,
				   clear_gpu),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
