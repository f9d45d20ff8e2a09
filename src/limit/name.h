/* SPDX-License-Identifier: Apache-2.0 */
/* name.h - names of groups. */
#ifndef GKL_NAME_H
#define GKL_NAME_H

#include <stdbool.h>

enum { GKL_NAME = 64 }; /* bytes, with the NUL */

/* 1 to 63 letters, digits, '.', '_' and '-'; the first is not '.'. */
bool gkl_name_is_good(const char *name);

#endif
