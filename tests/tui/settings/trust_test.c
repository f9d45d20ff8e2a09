/* SPDX-License-Identifier: Apache-2.0 */
/* trust_test.c - checks whose config file may name a program to run. */
#include "can.h"
#include "unit.h"

#include "base/err.h"
#include "tui/settings/config.h"
#include "tui/settings/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER 12345
#define THIRD 23456

static const char text[] = "mode: compact\n"
			   "alerts:\n"
			   "  ecc: true\n"
			   "  command: [/bin/true]\n";

static char root[64], dir[128], file[160];

static void write_file(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static int make_file(void **state)
{
	(void)state;
	strcpy(root, "/tmp/gpukit-trust-XXXXXX");
	if (!mkdtemp(root) || chmod(root, 0755))
		return -1;
	snprintf(dir, sizeof dir, "%s/gpukit", root);
	snprintf(file, sizeof file, "%s/top.yaml", dir);
	if (mkdir(dir, 0700))
		return -1;
	write_file(file);
	return 0;
}

static int remove_file(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

/* Only root can give files away and act as another user. */
static void root_only(void)
{
	need_root();
}

/* How often the command of a config file runs for a new alert. */
static int runs(const char *path, struct tui_options *o)
{
	struct gk_device gpu = {
	    .mig_index = -1, .uuid = "GPU-a", .read_ns = {1, 1, 1}};
	struct gk_snapshot snap = {
	    .device_count = 1, .devices = &gpu, .mono_ns = 1};
	struct tui_alerts alerts = {0};
	char message[256] = "";
	int count = 0;

	*o = TUI_OPTIONS_DEFAULT;
	for (int i = 0; i < GK_M_COUNT; i++)
		gpu.m[i].why = GK_ABSENT_NOT_SUPPORTED;
	gpu.m[GK_M_ECC_UNCORRECTED] = (struct gk_value){1, GK_PRESENT};
	if (tui_config_read(path, o, message, sizeof message))
		fail_msg("%s", message);
	assert_true(tui_alerts_update(&alerts, &o->alerts, &snap));
	assert_int_equal(tui_alerts_run(&alerts, &o->alerts, 1), 0);
	while (waitpid(-1, NULL, 0) > 0)
		count++;
	assert_int_equal(errno, ECHILD);
	tui_alerts_free(&alerts);
	return count;
}

static void runs_it(const char *path)
{
	struct tui_options o;

	assert_int_equal(runs(path, &o), 1);
	assert_null(o.alerts.refused);
	tui_options_free(&o);
}

/*
 * Checks that the command does not run, all else is used, and the remedy is
 * named.
 */
static void refuses(const char *path, const char *what, const char *cure)
{
	struct tui_options o;
	int count = runs(path, &o);

	if (count || !o.alerts.refused || !strstr(o.alerts.refused, what) ||
	    !strstr(o.alerts.refused, cure))
		fail_msg("%s: run %d times; told %s", path, count,
			 o.alerts.refused ? o.alerts.refused : "nothing");
	assert_null(o.alerts.command);
	assert_true(o.alerts.ecc);
	assert_int_equal(o.mode, MODE_COMPACT);
	tui_options_free(&o);
}

static void ones_own_file_runs_its_command(void **state)
{
	(void)state;
	runs_it(file);
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(chmod(dir, 0755), 0);
	runs_it(file);
}

static void what_others_can_write_is_not_run(void **state)
{
	static const mode_t modes[] = {0660, 0606, 0620, 0602};

	(void)state;
	for (size_t i = 0; i < COUNT(modes); i++) {
		assert_int_equal(chmod(file, modes[i]), 0);
		refuses(file, file, "chmod go-w ");
	}
	assert_int_equal(chmod(file, 0600), 0);
	runs_it(file);
}

/* A user who can write to the directory can replace the file. */
static void what_others_can_replace_is_not_run(void **state)
{
	static const mode_t modes[] = {0770, 0707, 01777};
	char cure[160];

	(void)state;
	snprintf(cure, sizeof cure, "chmod go-w %s", dir);
	for (size_t i = 0; i < COUNT(modes); i++) {
		assert_int_equal(chmod(dir, modes[i]), 0);
		refuses(file, dir, cure);
	}
	assert_int_equal(chmod(dir, 0700), 0);
	runs_it(file);
}

/* Root after su, with a user's HOME. */
static void root_runs_no_command_of_a_user(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(chown(file, OTHER, OTHER), 0);
	refuses(file, "belongs to uid 12345", "chown 0 ");
	assert_int_equal(chown(file, 0, 0), 0);
	assert_int_equal(chown(dir, OTHER, OTHER), 0);
	refuses(file, "belongs to uid 12345", dir);
	assert_int_equal(chown(dir, 0, 0), 0);
	runs_it(file);
}

static void a_user_runs_ones_own_and_roots(void **state)
{
	(void)state;
	root_only();
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(seteuid(OTHER), 0);
	runs_it(file);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chown(file, THIRD, THIRD), 0);
	assert_int_equal(seteuid(OTHER), 0);
	refuses(file, "belongs to uid 23456", "chown 12345 ");
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(chown(file, OTHER, OTHER), 0);
	assert_int_equal(chown(dir, OTHER, OTHER), 0);
	assert_int_equal(seteuid(OTHER), 0);
	runs_it(file);
	assert_int_equal(seteuid(0), 0);
}

static void a_link_is_as_good_as_both_its_ends(void **state)
{
	char open_dir[128], there[160];

	(void)state;
	snprintf(open_dir, sizeof open_dir, "%s/open", root);
	snprintf(there, sizeof there, "%s/real.yaml", open_dir);
	assert_int_equal(mkdir(open_dir, 0700), 0);
	write_file(there);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink(there, file), 0);
	runs_it(file);
	assert_int_equal(chmod(open_dir, 0777), 0);
	refuses(file, open_dir, "chmod go-w ");
	assert_int_equal(chmod(open_dir, 0700), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	refuses(file, dir, "chmod go-w ");
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(chmod(there, 0666), 0);
	refuses(file, there, "chmod go-w ");
}

/* The open file is checked, not the one that is there by now. */
static void another_file_in_its_place_does_not_count(void **state)
{
	char why[TUI_CONFIG_WHY], moved[200];
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_true(tui_trusts(file, fd, why, sizeof why));
	snprintf(moved, sizeof moved, "%s.old", file);
	assert_int_equal(rename(file, moved), 0);
	write_file(file);
	assert_false(tui_trusts(file, fd, why, sizeof why));
	close(fd);
}

/* A rewritten file would be ours, and with it a command of others. */
static void what_others_can_write_is_not_saved_over(void **state)
{
	struct tui_options o = TUI_OPTIONS_DEFAULT;
	char why[TUI_CONFIG_WHY];
	struct stat before, after;
	bool kept;

	(void)state;
	o.path = file;
	assert_int_equal(chmod(file, 0666), 0);
	assert_int_equal(stat(file, &before), 0);
	assert_int_equal(tui_config_save(&o, &kept, why), GK_ERR_PERMISSION);
	assert_non_null(strstr(why, "chmod go-w "));
	assert_int_equal(stat(file, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(tui_config_save(&o, &kept, why), 0);
	assert_string_equal(why, "");
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)
	const struct CMUnitTest tests[] = {
	    ROW(ones_own_file_runs_its_command),
	    ROW(what_others_can_write_is_not_run),
	    ROW(what_others_can_replace_is_not_run),
	    ROW(root_runs_no_command_of_a_user),
	    ROW(a_user_runs_ones_own_and_roots),
	    ROW(a_link_is_as_good_as_both_its_ends),
	    ROW(another_file_in_its_place_does_not_count),
	    ROW(what_others_can_write_is_not_saved_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
