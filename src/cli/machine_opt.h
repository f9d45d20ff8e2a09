/*
 * machine_opt.h - --timeout, --nvml and --pcie, for every verb that reads a
 * machine: argp children whose input is a struct gk_options. Their options
 * are in group 5, which the verb heads "Reading the machine:".
 */
#ifndef GK_CLI_MACHINE_OPT_H
#define GK_CLI_MACHINE_OPT_H

#include <argp.h>

extern const struct argp gk_machine_argp;      /* without --pcie */
extern const struct argp gk_machine_pcie_argp; /* with it */

#endif
