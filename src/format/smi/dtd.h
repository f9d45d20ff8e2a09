/* SPDX-License-Identifier: Apache-2.0 */
/* dtd.h - the DTD of -q -x, made from the table of its elements. */
#ifndef GK_FORMAT_SMI_DTD_H
#define GK_FORMAT_SMI_DTD_H

#include "format/smi/log.h"
#include "format/smi/log_lists.h"

/* Adds the declarations of all elements that this driver's report can have. */
void gk_smi_dtd(struct gk_buf *out, const struct gk_snapshot *snap);

/*
 * Tells of the elements of a list, which has no table; NULL: of the root's that
 * follow those about the machine. depth is that of the first one.
 */
void gk_smi_dtd_list(gk_smi_log_list *list, int depth, gk_smi_log_on *on,
		     void *arg);

#endif
