/* SPDX-License-Identifier: Apache-2.0 */
/* hostname.h - the host name that was set on a device (Blackwell and later). */
#ifndef GKF_HOSTNAME_H
#define GKF_HOSTNAME_H

#include "base/export.h"
#include "machine/file/numbers.h"

struct gkf_machine;

/* Writes the name and a NUL; "" if none was set. */
GKF_API void gkf_hostname(const struct gkf_machine *m, unsigned device,
			  char ret_name[GKF_TEXT_MAX]);

/* GK_ERR_RANGE when the name is too long, or an error of gkf_lock(). */
GKF_API int gkf_hostname_set(struct gkf_machine *m, unsigned device,
			     const char *name);

#endif
