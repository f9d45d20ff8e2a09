/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h - the verbs of `gpukit smi` that ask or change the driver directly,
 * without a snapshot. Each returns an exit status, after a message on failure.
 */
#ifndef GK_CLI_SMI_DIRECT_H
#define GK_CLI_SMI_DIRECT_H

#include "cli/smi/smi.h"

smi_direct smi_set, smi_reset;

#endif
