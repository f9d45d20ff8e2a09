/*
 * trust.h - which machine files are believed: those of this user and of root,
 * which nobody else can write. /dev/shm is everybody's: what lies under the
 * name of this user there may be somebody else's.
 */
#ifndef GKF_TRUST_H
#define GKF_TRUST_H

#include <stdbool.h>
#include <stddef.h>

/* Where this user's machines are: /dev/shm/gpukit-<uid>. 0 or a gk_err. */
int gkf_private_dir(char *ret_dir, size_t cap);

/*
 * Opens a machine file; a descriptor or a gk_err. In the private directory all
 * must be this user's or root's alone, the directory too: else
 * GK_ERR_PERMISSION, and a line in the log. Elsewhere it was named by hand:
 * what its owner has opened to others is shared with them, and a file of
 * somebody else is *ret_foreign, open for reading only.
 */
int gkf_trust_open(const char *path, bool *ret_foreign);

#endif
