/* SPDX-License-Identifier: Apache-2.0 */
/*
 * computed.h - values that are not simply a word of the state or the profile.
 * CODE(name) in values.def stands for gkf_compute_name().
 */
#ifndef GKF_COMPUTED_H
#define GKF_COMPUTED_H

#include <stdint.h>

struct gkf_machine;

typedef int64_t gkf_compute_fn(struct gkf_machine *m, unsigned device);

gkf_compute_fn gkf_compute_power, gkf_compute_power_average, gkf_compute_energy,
    gkf_compute_pcie_tx, gkf_compute_pcie_rx, gkf_compute_fan_target,
    gkf_compute_fan_rpm, gkf_compute_ecc_corrected, gkf_compute_ecc_uncorrected,
    gkf_compute_pcie_generation, gkf_compute_bar1_used,
    gkf_compute_fabric_state;

#endif
