/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of tables that are numbers in the machine file. */
#ifndef GKF_ROWS_H
#define GKF_ROWS_H

#include <stdint.h>

/*
 * A number that another program has if its tables have other rows than ours, or
 * the same rows in another order: functions of NVML and CUDA, values, faults.
 * Its boards have the same size if the number is the same. Such a program would
 * read counts and values of the file under wrong names.
 */
uint32_t gkf_rows_check(void);

#endif
