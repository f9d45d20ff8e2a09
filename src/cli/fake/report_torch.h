/*
 * report_torch.h - for `gpukit fake --report`: the memory that PyTorch's
 * programs took, as each of them tells it, and the GPU that would do.
 */
#ifndef GK_CLI_FAKE_REPORT_TORCH_H
#define GK_CLI_FAKE_REPORT_TORCH_H

#include "base/str.h"

#include <jansson.h>
#include <stddef.h>

struct gkf_machine;

/*
 * Makes the folder that programs write to, and names it in the environment of
 * those that are started from now on. An exit code, told.
 */
int report_torch_begin(char *ret_folder, size_t cap);

/* Removes it. An empty name is none. */
void report_torch_end(const char *folder);

/*
 * A list of objects, as docs/fake-report.schema.json has them, one for each
 * process and GPU; what is not of our writing is left out. The caller's; NULL
 * without memory.
 */
json_t *report_torch_read(struct gkf_machine *m, const char *folder);

/* Adds lines for people. */
void report_torch_text(const json_t *list, struct gk_buf *buf);

#endif
