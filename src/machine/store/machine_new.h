/* SPDX-License-Identifier: Apache-2.0 */
/* machine_new.h - the first content of a new machine's file. */
#ifndef GKF_MACHINE_NEW_H
#define GKF_MACHINE_NEW_H

#include <stddef.h>

struct gkf_above;
struct gkf_file;
struct gkf_machine_spec;

/*
 * gkf_file_size(): the size of a new machine's file in bytes, or
 * GK_ERR_TOO_MANY. gkf_file_init(): fills in its content, given that many
 * zeroed bytes.
 */
int gkf_file_size(const struct gkf_machine_spec *spec, size_t *ret_size);
void gkf_file_init(struct gkf_file *f, const struct gkf_machine_spec *spec,
		   const struct gkf_above *above);

#endif
