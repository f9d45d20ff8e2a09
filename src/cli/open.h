/*
 * open.h - opening the machine for a verb, with a line that helps when there
 * is none.
 */
#ifndef GK_CLI_OPEN_H
#define GK_CLI_OPEN_H

#include <gpukit/gpukit.h>

/*
 * gk_open() for the verb of that name ("stat"). 0, or a gk_exit after one
 * line on stderr.
 */
int gk_cli_open(const char *verb, const struct gk_options *options,
		struct gk **ret_gk);

/* Why gk_open() failed, and what to do; err and nvml are what it has returned
 * and put into *ret_nvml. */
#define GK_CLI_WHY_MAX 5120
char *gk_cli_why(char dst[GK_CLI_WHY_MAX], const char *verb,
		 const struct gk_options *options, int err, int nvml);

/* The line alone, for what gk_open() has returned and put into *ret_nvml. */
void gk_cli_explain(const char *verb, const struct gk_options *options, int err,
		    int nvml);

/*
 * Ends a verb: closes gk and returns status, or tells that the made-up machine
 * was truncated meanwhile and returns failure. Does not return when a worker is
 * stuck in the driver, for then exit() would wait for it.
 */
int gk_cli_close(struct gk *gk, int status);

#endif
