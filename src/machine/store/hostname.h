/*
 * hostname.h - the host name that a device was told (since Blackwell).
 */
#ifndef GKF_HOSTNAME_H
#define GKF_HOSTNAME_H

#include "base/export.h"
#include "machine/file/numbers.h"

struct gkf_machine;

/* Writes the name and a NUL; "" at first. */
GKF_API void gkf_hostname(const struct gkf_machine *m, unsigned device,
			  char ret_name[GKF_TEXT_MAX]);

/* GK_ERR_RANGE when it is too long, or what gkf_lock() says. */
GKF_API int gkf_hostname_set(struct gkf_machine *m, unsigned device,
			     const char *name);

#endif
