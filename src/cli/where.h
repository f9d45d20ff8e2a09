/*
 * where.h - where gpukit's own files lie: relative to the executable, so that
 * a build tree and an installed tree work alike.
 */
#ifndef GK_CLI_WHERE_H
#define GK_CLI_WHERE_H

#include <stddef.h>

/*
 * The absolute path of something beside bin/, such as "lib/gpukit/fake".
 * 0 or a gk_err; it need not exist.
 */
int gk_where(const char *relative, char *ret_path, size_t cap);

/* Where profiles lie: $GPUKIT_PROFILES, or share/gpukit/profiles. */
int gk_where_profiles(char *ret_path, size_t cap);

#endif
