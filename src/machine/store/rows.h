/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - a checksum of the tables whose row numbers are in the machine file.
 */
#ifndef GKF_ROWS_H
#define GKF_ROWS_H

#include <stdint.h>

/*
 * A checksum of the tables of functions (NVML, CUDA), values and faults, and of
 * the size of a board. It differs between programs whose tables have different
 * rows or another order of rows: such a program would read counts and values of
 * the file under wrong names.
 */
uint32_t gkf_rows_check(void);

#endif
