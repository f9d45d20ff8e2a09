/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_opt.h - the options --timeout, --nvml and --pcie of every verb that
 * reads a machine. They form an argp child whose input is a struct gk_options,
 * in group 5, under the verb's heading "Reading the machine:".
 */
#ifndef GK_CLI_MACHINE_OPT_H
#define GK_CLI_MACHINE_OPT_H

#include <argp.h>

extern const struct argp gk_machine_argp;      /* without --pcie */
extern const struct argp gk_machine_pcie_argp; /* with --pcie */

#endif
