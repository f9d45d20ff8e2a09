/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_work.h - functions of the export table for device work that is done by
 * the calling thread itself; see fronts/common/export_table.h.
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
