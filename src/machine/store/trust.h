/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - decides which machine files are trusted: those that belong to this
 * user or root and that nobody else can write. Anyone can write to /dev/shm, so
 * a file there that is named after this user may belong to another user.
 */
#ifndef GKF_TRUST_H
#define GKF_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/* The directory of this user's machines: /dev/shm/gpukit-<uid>, or one in
 * $XDG_RUNTIME_DIR (gk_name_shared_dir()). 0 or a gk_err. */
int gkf_private_dir(char *ret_dir, size_t cap);

/*
 * Opens a machine file; returns a descriptor or a gk_err. In the private
 * directory, the file and the directory must belong to this user or root alone;
 * if not, GK_ERR_PERMISSION and a line in the log. Elsewhere the user chose the
 * path: a file that its owner shares is accepted, and another user's file is
 * opened read-only and sets *ret_foreign, unless GPUKIT_TRUST has that user's
 * uid. A file that this process may only read is treated the same.
 */
int gkf_trust_open(const char *path, bool *ret_foreign);

#endif
