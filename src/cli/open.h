/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h - opens the machine for a verb, or prints one line that says how to
 * get one.
 */
#ifndef GK_CLI_OPEN_H
#define GK_CLI_OPEN_H

#include <gpukit/gpukit.h>

/*
 * Opens a machine with gk_open() for the named verb ("stat"). Returns 0, or a
 * gk_exit after printing one line on stderr.
 */
int gk_cli_open(const char *verb, const struct gk_options *options,
		struct gk **ret_gk);

/*
 * Writes a line that says why gk_open() failed and what to do. err is the value
 * that gk_open() returned, nvml the value that it stored in *ret_nvml.
 */
#define GK_CLI_WHY_MAX 5120
char *gk_cli_why(char dst[GK_CLI_WHY_MAX], const char *verb,
		 const struct gk_options *options, int err, int nvml);

/*
 * Returns what is wrong with the made-up machine that GPUKIT_MACHINE names,
 * possibly in text. Returns NULL if nothing is wrong; the caller then reports
 * the driver's error.
 */
const char *gk_cli_machine_advice(char *text, size_t cap);

/* Prints the line of gk_cli_why() to stderr. */
void gk_cli_explain(const char *verb, const struct gk_options *options, int err,
		    int nvml);

/*
 * Ends a verb: closes gk and returns status. If the made-up machine's file was
 * truncated meanwhile, prints a message and returns a failure. Does not return
 * if a thread is stuck in the driver, because exit() would wait for that
 * thread.
 */
int gk_cli_close(struct gk *gk, int status);

#endif
