/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - sets and returns the text of the last error. */
#ifndef GKF_NCCL_ERROR_H
#define GKF_NCCL_ERROR_H

#include "abi/libraries/nccl_abi.h"

/* Sets the text for ncclGetLastError(), logs it, and returns `result`. */
ncclResult_t error_set(ncclResult_t result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Like error_set(), for a CUDA result. Returns ncclSuccess if there is no
 * error.
 */
ncclResult_t error_of_cuda(CUresult r, const char *what);

/* Copies the text of the last error, TROUBLE_MAX bytes. */
void error_last(char *ret_text);

#endif
