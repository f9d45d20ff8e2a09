/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_cost.c - what the CUDA libraries cost a program: cuInit, allocations,
 * launches, copies beside memcpy. On the machine of its environment. One line
 * a thing.
 */
#include "base/clock.h"
#include "base/units.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 9
#define CALLS  2000
#define NODES  100
#define LIVE   100000
#define TO_GPU 1 /* cudaMemcpyHostToDevice */

static void *driver, *runtime;

static void *symbol(void *library, const char *name)
{
	void *at = library ? dlsym(library, name) : NULL;

	if (!at) {
		fprintf(stderr, "cuda_cost: %s\n", dlerror());
		exit(1);
	}
	return at;
}

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "cuda_cost: %s: %d\n", what, result);
	exit(1);
}

static int (*device_malloc)(void **at, size_t size);
static int (*device_free)(void *at);
static int (*device_set)(void *at, int value, size_t size);
static int (*device_copy)(void *to, const void *from, size_t size, int kind);
static int (*device_wait)(void);
static int (*init)(unsigned flags);
static int (*look_up)(const char *base, void **at, int version, uint64_t flags,
		      int *status);
static int (*load)(void **module, const void *text);
static int (*find)(void **function, void *module, const char *name);
static int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned,
		     unsigned, unsigned, unsigned shared, void *stream,
		     void **params, void **extra);

static int (*capture)(void *stream, int mode);
static int (*captured)(void *stream, void **graph);
static int (*instantiate)(void **exec, void *graph, uint64_t flags);
static int (*launch_graph)(void *exec, void *stream);
static int (*new_stream)(void **stream, unsigned flags);
static int (*wait_stream)(void *stream);

static void open_libraries(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	runtime = dlopen("libcudart.so.13", RTLD_NOW);
	init = symbol(driver, "cuInit");
	look_up = symbol(driver, "cuGetProcAddress_v2");
	load = symbol(driver, "cuModuleLoadData");
	find = symbol(driver, "cuModuleGetFunction");
	launch = symbol(driver, "cuLaunchKernel");
	capture = symbol(driver, "cuStreamBeginCapture_v2");
	captured = symbol(driver, "cuStreamEndCapture");
	instantiate = symbol(driver, "cuGraphInstantiateWithFlags");
	launch_graph = symbol(driver, "cuGraphLaunch");
	new_stream = symbol(driver, "cuStreamCreate");
	wait_stream = symbol(driver, "cuStreamSynchronize");
	device_malloc = symbol(runtime, "cudaMalloc");
	device_free = symbol(runtime, "cudaFree");
	device_set = symbol(runtime, "cudaMemset");
	device_copy = symbol(runtime, "cudaMemcpy");
	device_wait = symbol(runtime, "cudaDeviceSynchronize");
}

static int by_size(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static double median(double *of, size_t n)
{
	qsort(of, n, sizeof *of, by_size);
	return of[n / 2];
}

/* The best round of copies counts: the machine's memory is for all. */
static double least(const double of[ROUNDS])
{
	double best = of[0];

	for (int i = 1; i < ROUNDS; i++)
		best = of[i] < best ? of[i] : best;
	return best;
}

/* Milliseconds of cuInit in a process that has done nothing yet. */
static double one_init(void)
{
	double ms = -1;
	int line[2];
	pid_t child;

	must(pipe(line), "pipe");
	child = fork();
	if (!child) {
		uint64_t began = gk_mono_ns();

		must(init(0), "cuInit");
		ms = (double)(gk_mono_ns() - began) / 1e6;
		_exit(write(line[1], &ms, sizeof ms) != sizeof ms);
	}
	must(read(line[0], &ms, sizeof ms) != sizeof ms, "cuInit of a child");
	waitpid(child, NULL, 0);
	close(line[0]);
	close(line[1]);
	return ms;
}

static void inits(void)
{
	double all[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		all[i] = one_init();
	printf("init_ms %.4f\n", median(all, ROUNDS));
}

#define NEWEST 13000 /* what the machine's driver has */

/* Microseconds of asking for every function, as a runtime does at its start. */
static void look_ups(void)
{
	static const struct {
		const char *base;
		int since;
	} rows[] = {
#define CUDA_SYMBOL(symbol, base, since, ...) {#base, since},
#include "abi/cuda/cuda_symbols.def"
	};
	double all[ROUNDS];
	void *at;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t began = gk_mono_ns();

		for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
			if (rows[r].since <= NEWEST)
				must(look_up(rows[r].base, &at, rows[r].since,
					     0, NULL),
				     rows[r].base);
		all[i] = (double)(gk_mono_ns() - began) / 1e3;
	}
	printf("look_ups_us %.1f\n", median(all, ROUNDS));
}

/* Nanoseconds of an allocation and of giving it back, touched between. */
static double pair(size_t size, int touch)
{
	static double all[CALLS];
	uint64_t a, b, c, d;
	void *at;

	for (int i = 0; i < CALLS; i++) {
		a = gk_mono_ns();
		must(device_malloc(&at, size), "cudaMalloc");
		b = gk_mono_ns();
		if (touch) {
			must(device_set(at, i, size), "cudaMemset");
			must(device_wait(), "cudaDeviceSynchronize");
		}
		c = gk_mono_ns();
		must(device_free(at), "cudaFree");
		d = gk_mono_ns();
		all[i] = (double)(b - a + d - c);
	}
	return median(all, CALLS);
}

static void allocations(void)
{
	static void *live[LIVE];
	double alone, among;

	pair(MIB, 1);
	printf("malloc_free_touched_ns %.0f\n", pair(MIB, 1));
	alone = pair(1000, 0);
	for (int i = 0; i < LIVE; i++)
		must(device_malloc(&live[i], 1000), "cudaMalloc");
	among = pair(1000, 0);
	for (int i = 0; i < LIVE; i++)
		must(device_free(live[(i * 7919L) % LIVE]), "cudaFree");
	printf("malloc_free_alone_ns %.0f\nmalloc_free_among_ns %.0f\n", alone,
	       among);
}

static void *empty_kernel(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n"
				   ".address_size 64\n"
				   ".visible .entry nothing() { ret; }\n";
	void *module, *nothing;

	must(load(&module, text), "cuModuleLoadData");
	must(find(&nothing, module, "nothing"), "cuModuleGetFunction");
	return nothing;
}

static void launch_nodes(void *kernel, void *stream)
{
	for (int n = 0; n < NODES; n++)
		must(launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL),
		     "cuLaunchKernel");
}

/* Microseconds that a launch of so many empty kernels takes the caller. */
static void graphs(void)
{
	double graph[ROUNDS * 9], single[ROUNDS * 9];
	void *kernel = empty_kernel(), *stream, *made, *exec;

	must(new_stream(&stream, 1), "cuStreamCreate");
	must(capture(stream, 2), "cuStreamBeginCapture");
	launch_nodes(kernel, stream);
	must(captured(stream, &made), "cuStreamEndCapture");
	must(instantiate(&exec, made, 0), "cuGraphInstantiate");
	for (int i = 0; i < ROUNDS * 9; i++) {
		uint64_t a = gk_mono_ns(), b, c;

		must(launch_graph(exec, stream), "cuGraphLaunch");
		b = gk_mono_ns();
		must(wait_stream(stream), "cuStreamSynchronize");
		graph[i] = (double)(b - a) / 1e3;
		c = gk_mono_ns();
		launch_nodes(kernel, stream);
		single[i] = (double)(gk_mono_ns() - c) / 1e3;
		must(wait_stream(stream), "cuStreamSynchronize");
	}
	printf("graph_us %.1f\n", median(graph, ROUNDS * 9));
	printf("graph_single_us %.1f\n", median(single, ROUNDS * 9));
}

static void launches(void)
{
	double all[ROUNDS];
	void *nothing = empty_kernel();

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t began = gk_mono_ns();

		for (int n = 0; n < CALLS; n++)
			must(launch(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
				    NULL),
			     "cuLaunchKernel");
		all[i] = (double)(gk_mono_ns() - began) / CALLS;
		must(device_wait(), "cudaDeviceSynchronize");
	}
	printf("launch_ns %.0f\n", median(all, ROUNDS));
}

static void *fresh_file(int *fd)
{
	void *at;

	*fd = memfd_create("bench", MFD_CLOEXEC);
	must(*fd < 0 || ftruncate(*fd, (off_t)GIB), "memfd_create");
	at = mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	must(at == MAP_FAILED, "mmap");
	return at;
}

static double seconds_of_copy(void *to, const void *from)
{
	uint64_t began = gk_mono_ns();

	must(device_copy(to, from, GIB, TO_GPU), "cudaMemcpy");
	return (double)(gk_mono_ns() - began) / 1e9;
}

static double seconds_of_memcpy(void *to, const void *from)
{
	uint64_t began = gk_mono_ns();

	memcpy(to, from, GIB);
	__asm__ volatile("" ::"r"(to) : "memory");
	return (double)(gk_mono_ns() - began) / 1e9;
}

/*
 * A copy of 1 GiB beside memcpy, in turns: to memory that was written before,
 * to memory that is new.
 */
static void copies(void)
{
	double warm[ROUNDS], cold[ROUNDS], plain[ROUNDS], file[ROUNDS];
	char *from = malloc(GIB), *host = malloc(GIB);
	void *at, *again, *mapped;
	int fd;

	must(!from || !host, "memory");
	memset(from, 1, GIB);
	memset(host, 1, GIB);
	must(device_malloc(&at, GIB), "cudaMalloc");
	seconds_of_copy(at, from);
	for (int i = 0; i < ROUNDS; i++) {
		plain[i] = seconds_of_memcpy(host, from);
		warm[i] = seconds_of_copy(at, from);
	}
	must(device_free(at), "cudaFree");
	free(host);
	for (int i = 0; i < ROUNDS; i++) {
		mapped = fresh_file(&fd);
		file[i] = seconds_of_memcpy(mapped, from);
		munmap(mapped, GIB);
		close(fd);
		must(device_malloc(&again, GIB), "cudaMalloc");
		cold[i] = seconds_of_copy(again, from);
		must(device_free(again), "cudaFree");
		must(device_wait(), "cudaDeviceSynchronize");
	}
	printf("warm_percent %.1f\n", 100 * least(plain) / least(warm));
	printf("cold_percent %.1f\n", 100 * least(file) / least(cold));
	free(from);
}

int main(void)
{
	open_libraries();
	inits();
	must(init(0), "cuInit");
	look_ups();
	must(device_free(NULL), "cudaFree");
	allocations();
	copies();
	launches();
	graphs();
	return 0;
}
