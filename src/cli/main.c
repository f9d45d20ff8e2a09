/* main.c - finds the verb and runs it. */
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "cli/fake/replay_process.h"

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

/* A full disk is an error, even of a help text. */
static int flushed(FILE *to)
{
	if (!fflush(to) && !ferror(to))
		return GK_EXIT_OK;
	fprintf(stderr, "gpukit: cannot write the output: %s\n",
		strerror(errno));
	return GK_EXIT_FAILURE;
}

/*
 * The number of a closed standard stream would go to the next file that is
 * opened: a report would be written into the machine. So a file takes its place
 * that cannot be used, and that children do not inherit.
 */
static void guard_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null",
				    (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

static int print_help(FILE *to)
{
	fputs("Usage: gpukit VERB [OPTION...]\n\n", to);
	for (const struct gk_cmd *const *cmd = gk_cmds; *cmd; cmd++)
		fprintf(to, "  %-8s %s\n", (*cmd)->name, (*cmd)->summary);
	fputs("\n`gpukit VERB --help` tells the options of a verb.\n", to);
	return flushed(to);
}

/* On the made-up machine's PATH the command has that name too. */
static bool is_nvidia_smi(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, "nvidia-smi");
}

static int run_verb(int argc, char **argv)
{
	const struct gk_cmd *cmd = find_verb(argv[0]);
	char name[64];

	if (!cmd) {
		fprintf(stderr,
			"gpukit: no verb '%s'; `gpukit help` lists them\n",
			argv[0]);
		return GK_EXIT_USAGE;
	}
	snprintf(name, sizeof name, "gpukit %s", cmd->name);
	argv[0] = name;
	return cmd->run(argc, argv);
}

/* `help limit show` is `limit show --help`. */
static int help(int argc, char **argv)
{
	static char option[] = "--help";

	if (argc < 2)
		return print_help(stdout);
	memmove(argv, argv + 1, (size_t)(argc - 1) * sizeof *argv);
	argv[argc - 1] = option;
	return run_verb(argc, argv);
}

int main(int argc, char **argv)
{
	guard_streams();
	/* A worker for each GPU allocates little: a heap of its own for each
	 * would cost more to map than all of its work. */
	mallopt(M_ARENA_MAX, 1);
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = GK_EXIT_USAGE;
	if (getenv(FAKE_REPLAY_PROCESS))
		return fake_replay_process_main();
	if (argc && !strcmp(argv[0], FAKE_LOAD_NAME))
		return fake_load_main(argc, argv);
	if (argc && is_nvidia_smi(argv[0]))
		return gk_cmd_smi.run(argc, argv);
	if (argc < 2) {
		print_help(stderr);
		return GK_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return puts("gpukit " GPUKIT_VERSION) < 0 ? GK_EXIT_FAILURE
							  : flushed(stdout);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help(stdout);
	return strcmp(argv[1], "help") != 0 ? run_verb(argc - 1, argv + 1)
					    : help(argc - 1, argv + 1);
}
