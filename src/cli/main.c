/* main.c - finds the verb and runs it. */
#include "cli/cmd.h"
#include "cli/fake.h"

#include <argp.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static const struct gk_cmd *find(const char *name)
{
	for (const struct gk_cmd *const *cmd = gk_cmds; *cmd; cmd++)
		if (!strcmp((*cmd)->name, name))
			return *cmd;
	return NULL;
}

static int help(FILE *to)
{
	fputs("Usage: gpukit VERB [OPTION...]\n\n", to);
	for (const struct gk_cmd *const *cmd = gk_cmds; *cmd; cmd++)
		fprintf(to, "  %-8s %s\n", (*cmd)->name, (*cmd)->summary);
	fputs("\n`gpukit VERB --help` tells the options of a verb.\n", to);
	return fflush(to) ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

int main(int argc, char **argv)
{
	const struct gk_cmd *cmd;
	char name[64];

	setlocale(LC_CTYPE, "");
	argp_err_exit_status = GK_EXIT_USAGE;
	if (argc && !strcmp(argv[0], FAKE_LOAD_NAME))
		return fake_load_main(argc, argv);
	if (argc < 2) {
		help(stderr);
		return GK_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return puts("gpukit " GPUKIT_VERSION) < 0;
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(stdout);
	cmd = find(argv[1]);
	if (!cmd) {
		fprintf(stderr,
			"gpukit: no verb '%s'; `gpukit help` lists them\n",
			argv[1]);
		return GK_EXIT_USAGE;
	}
	snprintf(name, sizeof name, "gpukit %s", cmd->name);
	argv[1] = name;
	return cmd->run(argc - 1, argv + 1);
}
