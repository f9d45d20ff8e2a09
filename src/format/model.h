/*
 * model.h - short names of GPU models: without the maker, then without the form
 * and the size, as long as models of a machine stay different.
 */
#ifndef GK_FORMAT_MODEL_H
#define GK_FORMAT_MODEL_H

#include <gpukit/gpukit.h>

/* The model of a device of the snapshot in at most so many columns, where that
 * can be. */
char *gk_short_model(const struct gk_snapshot *snap,
		     const struct gk_device *device, int width,
		     char dst[GK_NAME_MAX]);

/* Whether all GPUs are of one model. */
bool gk_one_model(const struct gk_snapshot *snap);

#endif
