/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unload_test.c - checks code that is unloaded while other threads are in calls
 * that read it, as by a runtime when the process exits.
 */
#include "fronts/cuda/loaded.h"

#include <pthread.h>
#include <stdatomic.h>

/* So long that reading a kernel for its first launch takes a while. */
#define INSTRUCTIONS 60000
#define THREADS      4
#define ROUNDS       8

static char *text;

static void write_text(void)
{
	size_t room = (size_t)INSTRUCTIONS * 32 + 4096, used;

	text = malloc(room);
	assert_non_null(text);
	used = (size_t)sprintf(text, ".version 7.0\n.target sm_50\n"
				     ".address_size 64\n");
	for (int k = 0; k < THREADS; k++) {
		used += (size_t)sprintf(text + used,
					".visible .entry k%d()\n{\n"
					".reg .b32 %%r<3>;\nret;\n",
					k);
		for (int i = 0; i < INSTRUCTIONS / THREADS; i++)
			used += (size_t)sprintf(text + used,
						"add.s32 %%r1, %%r2, %d;\n", i);
		used += (size_t)sprintf(text + used, "}\n");
	}
}

struct launcher {
	pthread_t thread;
	CUcontext ctx;
	CUkernel kernel;
	_Atomic unsigned *begun;
	CUresult result;
};

/* Launches until the kernel is gone: no other error may come. */
static void *launch(void *argument)
{
	__typeof__(&cuLaunchKernel) call = CU(cuLaunchKernel);
	struct launcher *l = argument;

	CU(cuCtxSetCurrent)(l->ctx);
	atomic_fetch_add(l->begun, 1);
	do
		l->result = call((CUfunction)l->kernel, 1, 1, 1, 1, 1, 1, 0,
				 NULL, NULL, NULL);
	while (l->result == CUDA_SUCCESS);
	return NULL;
}

/* The same by nodes of graphs. */
static void *add_nodes(void *argument)
{
	struct launcher *l = argument;
	CUDA_KERNEL_NODE_PARAMS p = {.kern = l->kernel,
				     .gridDimX = 1,
				     .gridDimY = 1,
				     .gridDimZ = 1,
				     .blockDimX = 1,
				     .blockDimY = 1,
				     .blockDimZ = 1};
	CUgraphNode node;
	CUgraph graph;

	CU(cuCtxSetCurrent)(l->ctx);
	atomic_fetch_add(l->begun, 1);
	do {
		CU(cuGraphCreate)(&graph, 0);
		l->result =
		    CU(cuGraphAddKernelNode_v2)(&node, graph, NULL, 0, &p);
		CU(cuGraphDestroy)(graph);
	} while (l->result == CUDA_SUCCESS);
	return NULL;
}

static void unload_amid(CUcontext ctx, void *(*calls)(void *launcher))
{
	struct launcher l[THREADS];
	_Atomic unsigned begun = 0;
	CUlibrary library;

	assert_cuda(
	    CU(cuLibraryLoadData)(&library, text, NULL, NULL, 0, NULL, NULL, 0),
	    SUCCESS);
	for (int i = 0; i < THREADS; i++) {
		char name[16];

		snprintf(name, sizeof name, "k%d", i);
		l[i] = (struct launcher){.ctx = ctx, .begun = &begun};
		assert_cuda(CU(cuLibraryGetKernel)(&l[i].kernel, library, name),
			    SUCCESS);
		pthread_create(&l[i].thread, NULL, calls, &l[i]);
	}
	while (atomic_load(&begun) < THREADS)
		sched_yield();
	assert_cuda(CU(cuLibraryUnload)(library), SUCCESS);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(l[i].thread, NULL);
		assert_int_equal(l[i].result, CUDA_ERROR_INVALID_HANDLE);
	}
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static void what_a_launch_reads_is_there_until_it_is_over(struct fixture *fx)
{
	CUcontext ctx = begin();

	(void)fx;
	write_text();
	for (int i = 0; i < ROUNDS; i++)
		unload_amid(ctx, launch);
	free(text);
}

static void what_a_node_reads_is_there_until_it_is_made(struct fixture *fx)
{
	CUcontext ctx = begin();

	(void)fx;
	write_text();
	for (int i = 0; i < ROUNDS; i++)
		unload_amid(ctx, add_nodes);
	free(text);
}

static size_t free_bytes(void)
{
	size_t left, all;

	assert_cuda(CU(cuMemGetInfo_v2)(&left, &all), SUCCESS);
	return left;
}

/* 64 MiB of variables, which must not be kept when unused. */
static void what_nobody_reads_goes_at_once(struct fixture *fx)
{
	static const char big[] = ".version 7.0\n.target sm_50\n"
				  ".address_size 64\n"
				  ".visible .global .b8 much[67108864];\n"
				  ".visible .entry k() { ret; }\n";
	size_t before;
	CUmodule m;

	(void)fx;
	begin();
	before = free_bytes();
	for (int i = 0; i < 3; i++) {
		assert_cuda(CU(cuModuleLoadData)(&m, big), SUCCESS);
		assert_true(free_bytes() <= before - (64 << 20));
		assert_cuda(CU(cuModuleUnload)(m), SUCCESS);
		assert_int_equal(free_bytes(), before);
	}
}

static const struct alone tests[] = {
    ALONE(what_a_launch_reads_is_there_until_it_is_over),
    ALONE(what_a_node_reads_is_there_until_it_is_made),
    ALONE(what_nobody_reads_goes_at_once),
};

ALONE_MAIN(tests)
