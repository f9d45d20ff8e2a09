/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_test.c - makes random calls of every implemented entry point of CUDA:
 * random handles, alive, dead and never given out, random sizes, shapes and
 * NULLs, from two threads at once, on contexts that come and go. Every buffer
 * is between two pages without access. Nothing may crash or hang.
 *
 * GPUKIT_CALLS is the number of calls (a tenth with a sanitizer), GPUKIT_SEED
 * the first seed.
 */
/* The newest driver has all functions. */
#define CUDA_DRIVER "610.57.04"
#define CUDA_FRONT  FAKE_DIR "/610/libcuda.so.1"
#include "base/clock.h"
#include "fronts/cuda/cuda_test.h"
#include "fronts/cuda/dice.h"

#include <pthread.h>

#define THREADS    2
#define CALLS      1000000ULL
#define ANEW_EVERY 2048 /* calls of a thread between new contexts */
#define HUNG_S     60

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOWER 10
#endif
#endif
#ifndef SLOWER
#define SLOWER 1
#endif

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

/*
 * Objects that the dice made and never destroyed are not leaks of the library.
 */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static struct dice threads[THREADS];
static uint64_t wanted; /* calls of each */

static void tell(void)
{
	for (int i = 0; i < THREADS; i++)
		dprintf(2, "thread %d: seed %llu, call %llu: %s\n", i,
			(unsigned long long)threads[i].seed,
			(unsigned long long)threads[i].done,
			entry_points[threads[i].row].symbol);
}

/* Prints the call from a signal handler. */
static void crashed(int number)
{
	tell();
	signal(number, SIG_DFL);
	raise(number);
}

#define REMEMBER(d, type, value) dice_remember(d, type, (uint64_t)(value))

/* Nodes of the types that most functions use. */
static void begin_with_graph(struct dice *d, CUfunction function,
			     CUdeviceptr memory)
{
	uint64_t parameter = 0;
	void *params[] = {&parameter};
	CUDA_KERNEL_NODE_PARAMS kernel = {function, 1,    1,    1,   1, 1, 1, 0,
					  params,   NULL, NULL, NULL};
	CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 7, 4, 16, 1};
	CUgraphNode node[4] = {NULL};
	CUuserObject object = NULL;
	CUgraphExec exec = NULL;
	CUgraph graph = NULL;

	CU(cuGraphCreate)(&graph, 0);
	CU(cuGraphAddEmptyNode)(&node[0], graph, NULL, 0);
	CU(cuGraphAddKernelNode_v2)(&node[1], graph, NULL, 0, &kernel);
	CU(cuGraphAddKernelNode_v2)(&node[2], graph, NULL, 0, &kernel);
	CU(cuGraphAddMemsetNode)(&node[3], graph, NULL, 0, &set, NULL);
	CU(cuGraphInstantiateWithFlags)(&exec, graph, 0);
	CU(cuUserObjectCreate)(&object, NULL, dice_nothing, 9, 1);
	REMEMBER(d, "CUgraph", graph);
	for (int i = 0; i < 4; i++)
		REMEMBER(d, "CUgraphNode", node[i]);
	REMEMBER(d, "CUgraphExec", exec);
	REMEMBER(d, "CUuserObject", object);
}

/* Makes something of each kind to begin with; what is not available is NULL. */
static void begin_with_things(struct dice *d)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
	CUdeviceptr memory = 0, managed = 0;
	CUmipmappedArray mipmap = NULL;
	CUfunction function = NULL;
	CUlibrary library = NULL;
	CUmodule module = NULL;
	CUkernel kernel = NULL;
	CUstream stream = NULL;
	CUevent event = NULL;
	CUarray array = NULL;

	CU(cuMemAlloc_v2)(&memory, 1 << 20);
	REMEMBER(d, "CUdeviceptr", memory);
	CU(cuMemAllocManaged)(&managed, 1 << 16, CU_MEM_ATTACH_GLOBAL);
	REMEMBER(d, "CUdeviceptr", managed);
	CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
	REMEMBER(d, "CUstream", stream);
	CU(cuEventCreate)(&event, CU_EVENT_DEFAULT);
	REMEMBER(d, "CUevent", event);
	CU(cuArray3DCreate_v2)(&array, &shape);
	REMEMBER(d, "CUarray", array);
	CU(cuMipmappedArrayCreate)(&mipmap, &shape, 3);
	REMEMBER(d, "CUmipmappedArray", mipmap);
	CU(cuModuleLoadData)(&module, dice_ptx);
	REMEMBER(d, "CUmodule", module);
	CU(cuModuleGetFunction)(&function, module, "every");
	REMEMBER(d, "CUfunction", function);
	CU(cuLibraryLoadData)(&library, dice_ptx, NULL, NULL, 0, NULL, NULL, 0);
	REMEMBER(d, "CUlibrary", library);
	CU(cuLibraryGetKernel)(&kernel, library, "every");
	REMEMBER(d, "CUkernel", kernel);
	begin_with_graph(d, function, memory);
}

/* Makes a context to begin with, whatever state the earlier calls have left. */
static void begin_anew(struct dice *d, CUcontext *ctx)
{
	CUcontext old = *ctx;

	CU(cuCtxDestroy_v2)(old);
	while (!CU(cuCtxPopCurrent_v2)(&old))
		CU(cuCtxDestroy_v2)(old);
	CU(cuDevicePrimaryCtxReset_v2)((CUdevice)d->number);
	*ctx = NULL;
	CU(cuCtxCreate_v2)(ctx, 0, (CUdevice)dice_below(d, 2));
	dice_forget(d);
	REMEMBER(d, "CUcontext", *ctx);
	begin_with_things(d);
}

static void *call_on(void *arg)
{
	struct dice *d = arg;
	CUcontext ctx = NULL;

	while (d->done < wanted) {
		if (d->done % ANEW_EVERY == 0)
			begin_anew(d, &ctx);
		dice_once(d);
		if (d->done % 64 == 0)
			CU(cuCtxSetCurrent)(ctx);
	}
	return NULL;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t done(void)
{
	uint64_t n = 0;

	for (int i = 0; i < THREADS; i++)
		n += threads[i].done;
	return n;
}

/* False: there was no call for HUNG_S seconds. */
static bool wait_for(pthread_t *ids)
{
	uint64_t before = 0, since = gk_mono_ns();

	for (int i = 0; i < THREADS;) {
		if (!pthread_tryjoin_np(ids[i], NULL)) {
			i++;
			continue;
		}
		if (done() != before)
			since = gk_mono_ns();
		before = done();
		if (gk_mono_ns() - since > HUNG_S * GK_NS_PER_S)
			return false;
		usleep(10000);
	}
	return true;
}

static void nobody_crashes_or_hangs(void **state)
{
	uint64_t seed = from_environment("GPUKIT_SEED", gk_mono_ns());
	pthread_t ids[THREADS];
	unsigned worked, written;

	(void)state;
	/* Installed after cmocka's handlers, which would continue. */
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], crashed);
	dice_prepare(cuda_library);
	wanted = from_environment("GPUKIT_CALLS", CALLS / SLOWER) / THREADS;
	for (int i = 0; i < THREADS; i++) {
		threads[i].number = (unsigned)i;
		threads[i].seed = seed + (unsigned)i;
		threads[i].state = threads[i].seed;
		dice_buffers(&threads[i]);
		assert_int_equal(
		    pthread_create(&ids[i], NULL, call_on, &threads[i]), 0);
	}
	if (!wait_for(ids)) {
		tell();
		fail_msg("hung");
	}
	worked = dice_worked(&written);
	print_message("seed %llu: %llu calls; %u of %u functions worked\n",
		      (unsigned long long)seed, (unsigned long long)done(),
		      worked, written);
	if (getenv("GPUKIT_IDLE"))
		dice_tell_idle();
	assert_true(worked * 3 > written * 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(nobody_crashes_or_hangs,
					    cuda_setup_init, cuda_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
