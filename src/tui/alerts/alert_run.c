/* SPDX-License-Identifier: Apache-2.0 */
/* alert_run.c - runs the user's command for alerts. */
#include "tui/alerts/alert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The maximum number of commands at a time. If more are due, the running ones
 * probably hang.
 */
#define RUNNING_MOST 8

static pid_t running[RUNNING_MOST];

void tui_alerts_reap(void)
{
	for (size_t i = 0; i < RUNNING_MOST; i++)
		if (running[i] &&
		    waitpid(running[i], NULL, WNOHANG) == running[i])
			running[i] = 0;
}

/* ---- the environment of the command ---- */

#define VARIABLES 6

struct told {
	char text[VARIABLES][256];
};

static void tell_alert(const struct tui_alert *a, struct told *told)
{
	char text[160];

	tui_alert_text(a, text, sizeof text);
	snprintf(told->text[0], sizeof *told->text, "GPUKIT_ALERT=%s",
		 tui_alert_kind_name(a->kind));
	snprintf(told->text[1], sizeof *told->text, "GPUKIT_ALERT_GPU=%u",
		 a->gpu.index);
	snprintf(told->text[2], sizeof *told->text, "GPUKIT_ALERT_UUID=%s",
		 a->gpu.uuid);
	snprintf(told->text[3], sizeof *told->text,
		 "GPUKIT_ALERT_VALUE=%" PRId64, a->value);
	snprintf(told->text[4], sizeof *told->text,
		 "GPUKIT_ALERT_LIMIT=%" PRId64, a->limit);
	snprintf(told->text[5], sizeof *told->text, "GPUKIT_ALERT_TEXT=%s",
		 text);
}

/*
 * Returns our environment plus the alert's variables. The caller frees the
 * list.
 */
static char **make_environment(struct told *told)
{
	size_t count = 0, at = 0;
	char **list;

	while (environ[count])
		count++;
	list = calloc(count + VARIABLES + 1, sizeof *list);
	for (size_t i = 0; list && i < count; i++)
		if (strncmp(environ[i], "GPUKIT_ALERT", 12) != 0)
			list[at++] = environ[i];
	for (size_t i = 0; list && i < VARIABLES; i++)
		list[at++] = told->text[i];
	return list;
}

/* ---- starting the command ---- */

/*
 * Restores the signals that the viewer blocks or ignores, and puts the command
 * into a process group of its own.
 */
static void prepare_spawn(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
						 POSIX_SPAWN_SETSIGDEF |
						 POSIX_SPAWN_SETPGROUP);
}

static int start_command(char **argv, char **env, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int err;

	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_init(&files);
	prepare_spawn(&attributes);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	err = posix_spawnp(ret_pid, argv[0], &files, &attributes, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return err;
}

static pid_t *free_place(void)
{
	for (size_t i = 0; i < RUNNING_MOST; i++)
		if (!running[i])
			return &running[i];
	return NULL;
}

/* ---- running the queue ---- */

static int64_t xid_of_alert(const struct tui_alert *a)
{
	return a->kind == ALERT_XID ? a->value : 0;
}

static bool ran_of_late(const struct tui_alert *row, int64_t what,
			uint64_t patience_ns, uint64_t now_ns)
{
	for (int i = 0; i < TUI_ALERT_RUNS; i++)
		if (row->ran[i].ns && row->ran[i].what == what)
			return now_ns - row->ran[i].ns < patience_ns;
	return false;
}

static int run_alert(struct tui_alert *row, const struct tui_alert *a,
		     char **command, pid_t *place, uint64_t now_ns)
{
	struct told told;
	char **env;
	int err;

	tell_alert(a, &told);
	env = make_environment(&told);
	err = env ? start_command(command, env, place) : ENOMEM;
	if (err)
		*place = 0;
	free(env);
	memmove(row->ran + 1, row->ran,
		(TUI_ALERT_RUNS - 1) * sizeof *row->ran);
	row->ran[0] = (struct tui_alert_run){xid_of_alert(a), now_ns};
	return err;
}

static void add_fresh(struct tui_alerts *alerts)
{
	for (size_t i = 0; i < alerts->count; i++) {
		if (alerts->rows[i].fresh)
			tui_alerts_add_due(alerts, i);
		alerts->rows[i].fresh = false;
	}
}

int tui_alerts_run(struct tui_alerts *alerts,
		   const struct tui_alert_rules *rules, uint64_t now_ns)
{
	size_t done = 0;
	int err = 0;

	add_fresh(alerts);
	for (; done < alerts->due_count; done++) {
		const struct tui_alert_due *due = &alerts->due[done];
		struct tui_alert *row = &alerts->rows[due->row];
		pid_t *place = free_place();
		int r;

		if (!rules->command ||
		    ran_of_late(row, xid_of_alert(&due->alert),
				rules->command_ns, now_ns))
			continue;
		if (!place)
			break;
		r = run_alert(row, &due->alert, rules->command, place, now_ns);
		err = r ? r : err;
	}
	alerts->due_count -= done;
	memmove(alerts->due, alerts->due + done,
		alerts->due_count * sizeof *alerts->due);
	return err;
}
