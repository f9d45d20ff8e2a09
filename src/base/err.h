/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - declares the conversion of errno, without the types of the public
 * header.
 */
#ifndef GK_BASE_ERR_H
#define GK_BASE_ERR_H

#include <gpukit/gpukit.h>

/* Returns the gk_err closest in meaning to a positive errno value. */
int gk_err_from_errno(int error);

#endif
