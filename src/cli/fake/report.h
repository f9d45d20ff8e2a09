/* report.h - `gpukit fake --report FILE`. */
#ifndef GK_CLI_FAKE_REPORT_H
#define GK_CLI_FAKE_REPORT_H

#include "cli/fake/fake.h"

struct report_ask {
	/*
	 * "*.json" or "-": JSON there, and the table on stderr unless quiet.
	 * Any other name: the table there.
	 */
	const char *path;
	char *const *command;
	const char *torch; /* the folder of report_torch_begin(); "": none */
	int status;        /* of the command */
	bool quiet;
};

/* Both return an exit code, told. Can a file be made there, before CMD runs? */
int report_check(const char *path);
int report_write(struct gkf_machine *m, const struct report_ask *ask);

/* Does it say on stderr what was refused? */
bool report_tells(const struct report_ask *ask);

#endif
