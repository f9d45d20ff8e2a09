/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the verbs of the command: one folder and one row of verbs.def each.
 */
#ifndef GK_CLI_CMD_H
#define GK_CLI_CMD_H

enum gk_exit {
	GK_EXIT_OK = 0,
	GK_EXIT_FAILURE =
	    1, /* one line on stderr says what failed and how to fix it */
	GK_EXIT_USAGE = 2,
};

struct gk_cmd {
	const char *name;
	const char *summary; /* one line in `gpukit help` */
	/* argv[0] is "gpukit NAME", so that argp's messages name the verb. */
	int (*run)(int argc, char **argv);
};

/* All verbs in the order of `gpukit help`; ends with a NULL name. */
extern const struct gk_cmd *const gk_cmds[];

#define VERB(name) extern const struct gk_cmd gk_cmd_##name;
#include "cli/verbs.def"
#undef VERB

#endif
