/* SPDX-License-Identifier: Apache-2.0 */
/* dtd.h - the DTD of -q -x, made from the table of its elements. */
#ifndef GK_FORMAT_SMI_DTD_H
#define GK_FORMAT_SMI_DTD_H

#include "format/smi/log.h"

/* Adds the declarations of all elements that this driver's report can have. */
void gk_smi_dtd(struct gk_buf *out, const struct gk_snapshot *snap);

#endif
