/*
 * landing.c - parts of a context that no file of this library defines yet: a
 * strong definition elsewhere wins.
 */
#include "fake/cuda/stream.h"

__attribute__((weak)) const struct cuda_part_row memory_part = {NULL, NULL};
__attribute__((weak)) const struct cuda_part_row stream_part = {NULL, NULL};
__attribute__((weak)) const struct cuda_part_row module_part = {NULL, NULL};

__attribute__((weak)) CUresult stream_drain(CUcontext ctx)
{
	(void)ctx;
	return CUDA_ERROR_NOT_SUPPORTED;
}

__attribute__((weak)) CUresult stream_check(CUcontext ctx, CUstream stream,
					    bool per_thread)
{
	(void)ctx;
	(void)stream;
	(void)per_thread;
	return CUDA_ERROR_NOT_SUPPORTED;
}

__attribute__((weak)) CUresult stream_submit(CUcontext ctx, CUstream stream,
					     bool per_thread,
					     struct gkf_task *task)
{
	if (task->drop)
		task->drop(task);
	gkf_task_free(task);
	return stream_check(ctx, stream, per_thread);
}

__attribute__((weak)) CUresult stream_run(CUcontext ctx, CUstream stream,
					  bool per_thread,
					  struct gkf_task *task)
{
	return stream_submit(ctx, stream, per_thread, task);
}

__attribute__((weak)) CUresult stream_after(CUcontext ctx, CUstream stream,
					    bool per_thread,
					    void (*done)(void *data),
					    void *data)
{
	(void)done;
	(void)data;
	return stream_check(ctx, stream, per_thread);
}
