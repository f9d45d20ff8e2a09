/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - creates and opens made-up machines, with faults and scenarios.
 * store/machine.h has the functions for an open one.
 */
#ifndef GKF_TROUBLE_MACHINE_H
#define GKF_TROUBLE_MACHINE_H

#include "machine/store/machine.h"

/*
 * Creates a machine file, of mode 0600 unless it is shared, and reserves its
 * space (GK_ERR_NO_SPACE when /dev/shm is full). It appears whole or not at
 * all. GK_ERR_EXISTS when there is one, GK_ERR_INVALID when path has no '/'.
 * Also creates the private directory if it is the parent.
 */
int gkf_machine_create(const char *path, const struct gkf_machine_spec *spec);

/*
 * Opens a machine. path NULL: the one named by GPUKIT_MACHINE; if that is
 * "default" and missing, creates it with 8 x gkf_profile_default.
 * GK_ERR_VERSION: made by another version of gpukit; GK_ERR_CORRUPT: not a
 * machine file; GK_ERR_PERMISSION: this user may not read and write it, or it
 * is not trusted (trust.h).
 */
GKF_API int gkf_machine_open(const char *path, struct gkf_machine **ret);

/*
 * Makes a machine in the memory of this process alone, for trials: its clock
 * and model are stopped.
 */
int gkf_machine_scratch(const struct gkf_machine_spec *spec,
			struct gkf_machine **ret);

#endif
