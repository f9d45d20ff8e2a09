/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - short names of GPU models. The maker is dropped first, then the
 * form factor, then the memory size, as long as different models of a machine
 * keep different names.
 */
#ifndef GK_FORMAT_MODEL_H
#define GK_FORMAT_MODEL_H

#include <gpukit/gpukit.h>

/*
 * Writes the name of a device's model, if possible shortened to `width`
 * columns.
 */
char *gk_short_model(const struct gk_snapshot *snap,
		     const struct gk_device *device, int width,
		     char dst[GK_NAME_MAX]);

/* Whether all GPUs are the same model. */
bool gk_one_model(const struct gk_snapshot *snap);

#endif
