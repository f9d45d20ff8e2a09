/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.h - messages of nvidia-smi that several options share. Each function
 * that returns an int returns the exit status that goes with the message.
 */
#ifndef GK_CLI_SMI_TELL_H
#define GK_CLI_SMI_TELL_H

#include "abi/nvml/nvml_types.h"

/* Print that the arguments are wrong. */
int smi_refuse_arguments(void);
int smi_refuse_unknown(const char *word);
int smi_refuse_missing(const char *word);

/* Prints why the driver could not be opened. */
int smi_tell_open_error(int err, int nvml);

/* Prints that there is no such GPU. */
int smi_none_found(void);

/* Print the last lines of a change. */
int smi_all_done(void);
int smi_terminate(int status);

/* Returns the exit status for a return code of the driver. */
int smi_status_of(nvmlReturn_t answer);

#endif
