/* special_name.h - the names of PTX's special registers. */
#ifndef GKF_PTX_SPECIAL_NAME_H
#define GKF_PTX_SPECIAL_NAME_H

#include <stdbool.h>

/* Is it one that PTX has, whether or not the executor has a value for it? */
bool gkf_special_known(const char *name);

#endif
