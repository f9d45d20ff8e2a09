/* name.h - names of groups. */
#ifndef GKL_NAME_H
#define GKL_NAME_H

#include <stdbool.h>

enum { GKL_NAME = 64 }; /* bytes, with the NUL */

/* One to 63 of letters, digits, '.', '_', '-', and no '.' at the front. */
bool gkl_name_is_good(const char *name);

#endif
