/*
 * host_work.h - the functions of the export table for work that the calling
 * thread does itself (fronts/common/export_table.h tells of them).
 */
#ifndef GKF_CUDA_HOST_WORK_H
#define GKF_CUDA_HOST_WORK_H

#include "fronts/common/export_table.h"

CUresult host_work_begin(CUstream stream, const char *name,
			 struct gpukit_work *work);
void host_work_end(struct gpukit_work *work);
void host_work_fail(CUstream stream, CUresult result);
CUresult host_work_watch(CUstream stream, void (*ended)(void *data),
			 void *data);

#endif
