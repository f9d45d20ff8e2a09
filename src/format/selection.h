/*
 * selection.h - the devices that `gpukit select` has chosen, as text and as
 * JSON.
 */
#ifndef GK_FORMAT_SELECTION_H
#define GK_FORMAT_SELECTION_H

#include "base/str.h"
#include "core/select.h"

enum gk_select_ids { GK_SELECT_INDEX, GK_SELECT_UUID };

/*
 * The form that CUDA takes: UUIDs when a MIG device is chosen, for those have
 * no index.
 */
enum gk_select_ids gk_selection_ids(const struct gk_snapshot *snap,
				    const struct gk_selection *selection,
				    enum gk_select_ids asked);

/* Adds the chosen devices with separator (any bytes) between them. */
void gk_format_selection(struct gk_buf *out, const struct gk_snapshot *snap,
			 const struct gk_selection *selection,
			 enum gk_select_ids ids, const char *separator,
			 size_t separator_len);

/*
 * One JSON object: the value for CUDA_VISIBLE_DEVICES, the chosen devices and
 * why the others were refused. docs/SELECT.md describes it.
 */
void gk_format_selection_json(struct gk_buf *out,
			      const struct gk_snapshot *snap,
			      const struct gk_selection *selection,
			      enum gk_select_ids ids);

/*
 * Tells why devices were refused: "5 too busy, 1 reserved", "3 MIG devices
 * too busy". Adds nothing if none was.
 */
void gk_format_refusals(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_selection *selection);

#endif
