/* SPDX-License-Identifier: Apache-2.0 */
/* selection.h - the devices chosen by `gpukit select`, as text and as JSON. */
#ifndef GK_FORMAT_SELECTION_H
#define GK_FORMAT_SELECTION_H

#include "base/str.h"
#include "core/choose/select.h"

enum gk_select_ids { GK_SELECT_INDEX, GK_SELECT_UUID };

/*
 * Returns the kind of identifiers to give to CUDA: `asked`, unless a MIG device
 * was chosen. A MIG device has no index, so UUIDs are needed.
 */
enum gk_select_ids gk_selection_ids(const struct gk_snapshot *snap,
				    const struct gk_selection *selection,
				    enum gk_select_ids asked);

/*
 * Adds the chosen devices. The separator, which may be any bytes, is put
 * between them.
 */
void gk_format_selection(struct gk_buf *out, const struct gk_snapshot *snap,
			 const struct gk_selection *selection,
			 enum gk_select_ids ids, const char *separator,
			 size_t separator_len);

/*
 * Adds one JSON object: the value for CUDA_VISIBLE_DEVICES, the chosen devices,
 * and why the others were refused; see docs/SELECT.md.
 */
void gk_format_selection_json(struct gk_buf *out,
			      const struct gk_snapshot *snap,
			      const struct gk_selection *selection,
			      enum gk_select_ids ids);

/*
 * Adds the reasons why devices were refused, such as "5 too busy, 1 reserved"
 * or "3 MIG devices too busy". Adds nothing if no device was refused.
 */
void gk_format_refusals(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_selection *selection);

#endif
