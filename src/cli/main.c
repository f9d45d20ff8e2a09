/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - finds the verb and runs it. */
#include "cli/aliases.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "cli/fake/launch/replay_process.h"
#include "cli/manual/manual.h"

#include "commit.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gk_cmd *find_verb(const char *name)
{
	for (const struct gk_cmd *const *cmd = gk_cmds; *cmd; cmd++)
		if (!strcmp((*cmd)->name, name))
			return *cmd;
	return NULL;
}

/* A full disk is an error, even if only a help text is written. */
static int flush_output(FILE *to)
{
	if (!fflush(to) && !ferror(to))
		return GK_EXIT_OK;
	fprintf(stderr, "gpukit: cannot write the output: %s\n",
		strerror(errno));
	return GK_EXIT_FAILURE;
}

/*
 * Opens /dev/null in place of each standard stream that is closed. Otherwise
 * the next open() would return its number, and output would go to that file,
 * for example to the machine. The access mode is wrong on purpose, so that
 * reads of stdin and writes to stdout fail. Children do not inherit these
 * descriptors.
 */
static void guard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null",
				    (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

static int print_version(FILE *to)
{
	return fputs("gpukit " GPUKIT_VERSION GPUKIT_COMMIT_TOLD "\n", to) < 0
		   ? GK_EXIT_FAILURE
		   : flush_output(to);
}

/* argp calls this for --version of every verb, and then exits with 0. */
static void print_verbs_version(FILE *to, struct argp_state *state)
{
	int status = print_version(to);

	(void)state;
	if (status)
		exit(status);
}

static int print_help(FILE *to)
{
	fputs("Usage: gpukit VERB [OPTION...]\n\n", to);
	for (const struct gk_cmd *const *cmd = gk_cmds; *cmd; cmd++)
		fprintf(to, "  %-8s %s\n", (*cmd)->name, (*cmd)->summary);
	fputs("\nRun `gpukit VERB --help` for the options of a verb, `gpukit "
	      "version` for the\nversion.\n",
	      to);
	return flush_output(to);
}

/*
 * Runs a verb. Messages name the verb, whatever name the command was started
 * under.
 */
static int run_found(const struct gk_cmd *cmd, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof name, "gpukit %s", cmd->name);
	argv[0] = name;
	return cmd->run(argc, argv);
}

static int run_verb(int argc, char **argv)
{
	const struct gk_cmd *cmd = find_verb(argv[0]);

	if (cmd)
		return run_found(cmd, argc, argv);
	fprintf(stderr, "gpukit: no verb '%s'; `gpukit help` lists them\n",
		argv[0]);
	return GK_EXIT_USAGE;
}

/* Runs `help limit show` as `limit show --help`. */
static int run_help(int argc, char **argv)
{
	static char option[] = "--help";

	if (argc < 2)
		return print_help(stdout);
	memmove(argv, argv + 1, (size_t)(argc - 1) * sizeof *argv);
	argv[argc - 1] = option;
	return run_verb(argc, argv);
}

static bool is_any(const char *word, const char *a, const char *b,
		   const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

static int run_version(int argc, char **argv)
{
	if (argc == 1)
		return print_version(stdout);
	fprintf(stderr, "gpukit %s: unexpected argument '%s'\n", argv[0],
		argv[1]);
	return GK_EXIT_USAGE;
}

static int run_gpukit(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return GK_EXIT_USAGE;
	}
	/* The build calls this to write the manual. */
	if (argc == 3 && !strcmp(argv[1], "--manual"))
		return gk_manual_write(argv[2]);
	if (is_any(argv[1], "version", "--version", "-V"))
		return run_version(argc - 1, argv + 1);
	if (is_any(argv[1], "help", "--help", "-h"))
		return run_help(argc - 1, argv + 1);
	return run_verb(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	const struct gk_cmd *alias;

	guard_streams();
	/*
	 * The threads that read GPUs allocate little. Mapping an arena for each
	 * would cost more than all of their work.
	 */
	mallopt(M_ARENA_MAX, 1);
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = GK_EXIT_USAGE;
	argp_program_version_hook = print_verbs_version;
	if (getenv(FAKE_REPLAY_PROCESS))
		return fake_replay_process_main();
	if (argc && !strcmp(argv[0], FAKE_LOAD_NAME))
		return fake_load_main(argc, argv);
	/*
	 * Shells call this for completions, whatever name the command was
	 * started under.
	 */
	if (argc > 1 && !strcmp(argv[1], "--complete"))
		return gk_complete(argc - 2, (const char *const *)argv + 2);
	alias = argc ? gk_alias_find(argv[0]) : NULL;
	return alias ? run_found(alias, argc, argv) : run_gpukit(argc, argv);
}
