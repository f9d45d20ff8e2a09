/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_torch.h - finds, for `gpukit fake --report`, the memory that each
 * PyTorch program reports to have used, and the smallest GPU that is sufficient
 * for it.
 */
#ifndef GK_CLI_FAKE_REPORT_TORCH_H
#define GK_CLI_FAKE_REPORT_TORCH_H

#include "base/str.h"

#include <jansson.h>
#include <stddef.h>

struct gkf_machine;

/*
 * Creates the directory for the reports, and puts its name into the environment
 * of programs started from now on. Returns 0, or an exit code after a message.
 */
int report_torch_begin(char *ret_folder, size_t cap);

/* Removes the directory, unless its name is "". */
void report_torch_end(const char *folder);

/*
 * Returns a list of objects as described by docs/fake-report.schema.json, one
 * for each process and GPU. The caller owns it. NULL: out of memory. Files that
 * our package did not write are skipped.
 */
json_t *report_torch_read(struct gkf_machine *m, const char *folder);

/* Adds the contents of the list as lines of text. */
void report_torch_text(const json_t *list, struct gk_buf *buf);

#endif
