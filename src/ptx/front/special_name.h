/* SPDX-License-Identifier: Apache-2.0 */
/* special_name.h - the names of PTX's special registers. */
#ifndef GKF_PTX_SPECIAL_NAME_H
#define GKF_PTX_SPECIAL_NAME_H

#include <stdbool.h>

/* Whether PTX has a special register of that name, supported or not. */
bool gkf_special_known(const char *name);

#endif
