/*
 * err.h - the one table of errors, usable without the public header's types.
 */
#ifndef GK_BASE_ERR_H
#define GK_BASE_ERR_H

#include <gpukit/gpukit.h>

/* The gk_err that says best what a positive errno value means. */
int gk_err_from_errno(int error);

#endif
