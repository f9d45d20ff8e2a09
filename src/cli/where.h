/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.h - finds gpukit's own files relative to the executable, so that it
 * works both in a build tree and in an installed tree, which may be moved. The
 * directories are those of GNUInstallDirs.
 */
#ifndef GK_CLI_WHERE_H
#define GK_CLI_WHERE_H

#include <stddef.h>

/*
 * Return the absolute path of a library of ours ("libvgpu.so", "fake"), of a
 * data file or directory ("scenarios"), and of the command. Return 0 or a
 * gk_err. The path need not exist.
 */
int gk_where_library(const char *name, char *ret_path, size_t cap);
int gk_where_data(const char *name, char *ret_path, size_t cap);
int gk_where_command(char *ret_path, size_t cap);

/*
 * Returns the directory of profiles: $GPUKIT_PROFILES, or the one beside the
 * other data.
 */
int gk_where_profiles(char *ret_path, size_t cap);

#endif
