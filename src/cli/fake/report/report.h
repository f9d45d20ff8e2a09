/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - writes the report of `gpukit fake --report FILE`. */
#ifndef GK_CLI_FAKE_REPORT_H
#define GK_CLI_FAKE_REPORT_H

#include "cli/fake/fake.h"

struct report_ask {
	/*
	 * "-" or a name ending in ".json": JSON goes there, and the table to
	 * stderr unless quiet. Any other name: the table goes there.
	 */
	const char *path;
	char *const *command;
	const char *torch; /* folder made by report_torch_begin(); "": none */
	int status;        /* exit status of the command */
	bool quiet;
};

/*
 * Return 0, or an exit code after a message. report_check(), called before CMD
 * runs, checks that the file can be created.
 */
int report_check(const char *path);
int report_write(struct gkf_machine *m, const struct report_ask *ask);

/* Whether the report prints refusals on stderr. */
bool report_tells(const struct report_ask *ask);

#endif
