/*
 * cmd.h - the verbs of the command: one file each, one row each.
 */
#ifndef GK_CLI_CMD_H
#define GK_CLI_CMD_H

enum gk_exit {
	GK_EXIT_OK = 0,
	GK_EXIT_FAILURE = 1, /* one line on stderr says what and what to do */
	GK_EXIT_USAGE = 2,
};

struct gk_cmd {
	const char *name;
	const char *summary; /* one line for `gpukit help` */
	/* argv[0] is "gpukit NAME", so that argp names the verb in messages. */
	int (*run)(int argc, char **argv);
};

/* Every verb, in the order of `gpukit help`; ends with a NULL name. */
extern const struct gk_cmd *const gk_cmds[];

extern const struct gk_cmd gk_cmd_top;
extern const struct gk_cmd gk_cmd_stat;
extern const struct gk_cmd gk_cmd_smi;
extern const struct gk_cmd gk_cmd_record;
extern const struct gk_cmd gk_cmd_select;
extern const struct gk_cmd gk_cmd_export;
extern const struct gk_cmd gk_cmd_web;
extern const struct gk_cmd gk_cmd_plot;
extern const struct gk_cmd gk_cmd_limit;
extern const struct gk_cmd gk_cmd_fake;

#endif
