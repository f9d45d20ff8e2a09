/* error.h - what the last error was, in words. */
#ifndef GKF_NCCL_ERROR_H
#define GKF_NCCL_ERROR_H

#include "abi/nccl_abi.h"

/* Notes the text for ncclGetLastError() and the log; answers `result`. */
ncclResult_t error_set(ncclResult_t result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a call of CUDA that failed. */
ncclResult_t error_of_cuda(CUresult r, const char *what);

/* The text that was noted last: TROUBLE_MAX bytes. */
void error_last(char *ret_text);

#endif
