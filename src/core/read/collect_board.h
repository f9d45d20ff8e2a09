/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_board.h - readers of the board, its fabric and MIG instances, for the
 * tables of collect.c and collect_detail.c.
 */
#ifndef GK_CORE_COLLECT_BOARD_H
#define GK_CORE_COLLECT_BOARD_H

#include "core/read/collect_row.h"

gk_row_reader gk_read_pci_class, gk_read_pdi, gk_read_inforom_valid,
    gk_read_capabilities, gk_read_c2c, gk_read_encryption, gk_read_protected,
    gk_read_fabric, gk_read_platform, gk_read_unrepairable, gk_read_sram;

/* For MIG devices; a whole GPU answers NOT_SUPPORTED. */
gk_row_reader gk_read_mig_parts, gk_read_instances;

#endif
