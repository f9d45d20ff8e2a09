/* alert_run.c - runs the command of alerts. */
#include "tui/alert.h"

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

/* More at the same time is a command that hangs. */
#define RUNNING_MOST 8

extern char **environ;

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

/* The environment of ours and what is told; free() it. */
static char **environment(struct told *told)
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

/* ---- starting it ---- */

/* The viewer's signals are blocked, and SIGPIPE is ignored: not there. */
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

int tui_alerts_run(struct tui_alerts *alerts,
		   const struct tui_alert_rules *rules, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; rules->command && i < alerts->count; i++) {
		struct tui_alert *a = &alerts->rows[i];
		pid_t *place = free_place();
		struct told told;
		char **env;

		if (!a->fresh || !place ||
		    (a->run_ns && now_ns - a->run_ns < rules->command_ns))
			continue;
		tell_alert(a, &told);
		env = environment(&told);
		err = env ? start_command(rules->command, env, place) : ENOMEM;
		if (err)
			*place = 0;
		free(env);
		a->run_ns = now_ns;
	}
	return err;
}
