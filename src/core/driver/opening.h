/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opening.h - opens the driver library with a deadline. A driver that hangs
 * during initialisation blocks one thread, however often it is opened.
 */
#ifndef GK_CORE_OPENING_H
#define GK_CORE_OPENING_H

#include "core/driver/nvml.h"

/*
 * Calls gk_nvml_open() and counts the GPUs, in a thread of the library. Returns
 * GK_ERR_TIMEOUT with NVML_ERROR_TIMEOUT after timeout_ns, or at once if an
 * earlier attempt has been stuck for that long. A library that is opened too
 * late is kept for the next caller, and so is a failure for some seconds. End
 * with gk_nvml_close().
 */
int gk_opening(const char *path, uint64_t timeout_ns, int *ret_nvml_error,
	       unsigned *ret_count, struct gk_nvml **ret_nvml);

#endif
