/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_shell.c - a CUDA program that allocates and frees memory on command: a
 * command a line, and an answer a line that begins with the CUDA error.
 */
#include "abi/nvml/nvml_abi.h"
#include "limit/memory/memory_classes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES_MAX = 1 << 18 };

static struct piece pieces[PIECES_MAX];
static unsigned piece_count;

static CUresult take(const struct class *class, size_t bytes)
{
	struct piece p = {.class = class};
	CUresult r = piece_count < PIECES_MAX ? class->take(&p, bytes)
					      : CUDA_ERROR_UNKNOWN;

	if (!r)
		pieces[piece_count++] = p;
	return r;
}

static CUresult give(unsigned index)
{
	struct piece p = pieces[index];

	pieces[index] = pieces[--piece_count];
	return p.class->give(&p);
}

static CUresult give_all(void)
{
	CUresult r = CUDA_SUCCESS;

	while (piece_count) {
		CUresult one = give(piece_count - 1);

		r = r ? r : one;
	}
	return r;
}

/* ---- storms ---- */

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Mostly small sizes, now and then up to `most`. */
static size_t random_size(uint64_t *seed, size_t most)
{
	uint64_t r = next_random(seed);
	size_t bound = r & 7 ? 64 << 10 : most;

	return 1 + (size_t)((r >> 8) % bound);
}

/* Allocates and frees at random; refusals are expected. */
static CUresult run_storm(uint64_t seed, unsigned n, size_t most, unsigned live,
			  const char *names)
{
	const struct class *chosen[32];
	unsigned count = 0, refused = 0;
	char copy[200], *save, *name;

	snprintf(copy, sizeof copy, "%s", names);
	for (name = strtok_r(copy, ",", &save); name && count < 32;
	     name = strtok_r(NULL, ",", &save))
		chosen[count++] = find_class(name);
	for (unsigned i = 0; i < n; i++) {
		bool takes = next_random(&seed) % (2 * live) >= piece_count;
		CUresult r;

		if (takes)
			r = take(chosen[next_random(&seed) % count],
				 random_size(&seed, most));
		else
			r = give((unsigned)(next_random(&seed) % piece_count));
		refused += r == CUDA_ERROR_OUT_OF_MEMORY;
		if (r && r != CUDA_ERROR_OUT_OF_MEMORY)
			return r;
	}
	printf("0 %u\n", refused);
	return CUDA_SUCCESS;
}

/* ---- threads ---- */

struct thread_run {
	pthread_t thread;
	CUcontext ctx;
	uint64_t seed;
	unsigned n;
	size_t most;
	CUresult result;
};

static void *run_thread(void *arg)
{
	struct thread_run *t = arg;
	CUdeviceptr at[64] = {0};
	CUresult r = cuCtxSetCurrent(t->ctx);

	for (unsigned i = 0; !r && i < t->n; i++) {
		unsigned j = (unsigned)(next_random(&t->seed) % 64);

		if (at[j]) {
			r = cuMemFree_v2(at[j]);
			at[j] = 0;
			continue;
		}
		r = cuMemAlloc_v2(&at[j], random_size(&t->seed, t->most));
		if (r == CUDA_ERROR_OUT_OF_MEMORY) {
			at[j] = 0;
			r = CUDA_SUCCESS;
		}
	}
	for (unsigned j = 0; j < 64; j++)
		if (at[j])
			cuMemFree_v2(at[j]);
	t->result = r;
	return NULL;
}

static CUresult run_threads(unsigned count, unsigned n, size_t most)
{
	struct thread_run runs[64];
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; i < count && i < 64; i++) {
		runs[i] =
		    (struct thread_run){.seed = i + 1, .n = n, .most = most};
		cuCtxGetCurrent(&runs[i].ctx);
		pthread_create(&runs[i].thread, NULL, run_thread, &runs[i]);
	}
	for (unsigned i = 0; i < count && i < 64; i++) {
		pthread_join(runs[i].thread, NULL);
		r = r ? r : runs[i].result;
	}
	return r;
}

/* One thread allocates and frees memory while another uses the context. */
static void *retain_again(void *arg)
{
	volatile bool *ended = arg;
	CUcontext ctx;

	while (!*ended)
		if (!cuDevicePrimaryCtxRetain(&ctx, device))
			cuDevicePrimaryCtxRelease_v2(device);
	return NULL;
}

static CUresult run_retains(unsigned n, size_t bytes)
{
	volatile bool ended = false;
	pthread_t thread;
	CUresult r = CUDA_SUCCESS;
	CUdeviceptr at;

	pthread_create(&thread, NULL, retain_again, (void *)(uintptr_t)&ended);
	for (unsigned i = 0; !r && i < n; i++) {
		r = cuMemAlloc_v2(&at, bytes);
		r = r ? r : cuMemFree_v2(at);
	}
	ended = true;
	pthread_join(thread, NULL);
	return r;
}

/* Half of the threads allocate counted memory, half measured memory. */
static void *take_and_give(void *arg)
{
	struct thread_run *t = arg;
	const struct class *class = find_class(t->seed % 2 ? "plain" : "array");

	t->result = cuCtxSetCurrent(t->ctx);
	for (unsigned i = 0; !t->result && i < t->n; i++) {
		struct piece p = {.class = class};

		t->result = class->take(&p, t->most);
		t->result = t->result ? t->result : class->give(&p);
	}
	return NULL;
}

static CUresult run_both(unsigned n, size_t bytes)
{
	struct thread_run runs[4] = {0};
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; i < 4; i++) {
		runs[i].seed = i;
		runs[i].n = n;
		runs[i].most = bytes;
		cuCtxGetCurrent(&runs[i].ctx);
		pthread_create(&runs[i].thread, NULL, take_and_give, &runs[i]);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(runs[i].thread, NULL);
		r = r ? r : runs[i].result;
	}
	return r;
}

/* The last pool is the current one from now on. */
static CUresult make_pools(unsigned n)
{
	CUmemPoolProps props = {
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUresult r = CUDA_SUCCESS;

	while (!r && n--)
		r = cuMemPoolCreate(&pool, &props);
	return r;
}

/* ---- between processes ---- */

/* Exports memory of cuMemCreate() as a descriptor of this process. */
static int run_export(unsigned index)
{
	int fd = -1;
	CUresult r = cuMemExportToShareableHandle(
	    &fd, pieces[index].at, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

	if (!r)
		printf("0 %d\n", fd);
	return r ? (int)r : -1;
}

static CUresult give_opened(struct piece *p)
{
	return cuIpcCloseMemHandle(p->at);
}

static const struct class imported = {"imported", NULL, give_virtual};
static const struct class opened = {"opened", NULL, give_opened};

/* Copies another process's descriptor into this process. */
static int take_descriptor(unsigned pid, unsigned number)
{
	int other = (int)syscall(SYS_pidfd_open, pid, 0);
	int fd = (int)syscall(SYS_pidfd_getfd, other, number, 0);

	close(other);
	return fd;
}

static int run_import(unsigned pid, unsigned number)
{
	struct piece p = {.class = &imported};
	CUmemGenericAllocationHandle handle;
	int fd = take_descriptor(pid, number);
	CUresult r = cuMemImportFromShareableHandle(
	    &handle, (void *)(uintptr_t)(unsigned)fd,
	    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

	close(fd);
	p.at = handle;
	if (!r)
		pieces[piece_count++] = p;
	return (int)r;
}

/* Holds memory that nobody has imported; the descriptor survives exec. */
static int run_hold(unsigned pid, unsigned number)
{
	int fd = take_descriptor(pid, number);

	if (fd < 0 || fcntl(fd, F_SETFD, 0))
		return 1;
	printf("0 %d\n", fd);
	return -1;
}

static int run_export_pool(void)
{
	int fd = -1;
	CUresult r = cuMemPoolExportToShareableHandle(
	    &fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

	if (!r)
		printf("0 %d\n", fd);
	return r ? (int)r : -1;
}

/* It is the current pool from now on. */
static CUresult run_import_pool(unsigned pid, unsigned number)
{
	int fd = take_descriptor(pid, number);
	CUresult r = cuMemPoolImportFromShareableHandle(
	    &pool, (void *)(uintptr_t)(unsigned)fd,
	    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

	close(fd);
	return r;
}

/* Writes the handle of a piece of the pool to a file. */
static CUresult run_tell_pointer(unsigned index, const char *path)
{
	CUmemPoolPtrExportData data;
	CUresult r = cuMemPoolExportPointer(&data, pieces[index].at);
	FILE *f = fopen(path, "w");

	fwrite(&data, sizeof data, 1, f);
	fclose(f);
	return r;
}

static CUresult run_hear_pointer(const char *path)
{
	struct piece p = {.class = find_class("async")};
	CUmemPoolPtrExportData data;
	FILE *f = fopen(path, "r");
	CUresult r;

	if (fread(&data, sizeof data, 1, f) != 1)
		return CUDA_ERROR_UNKNOWN;
	fclose(f);
	r = cuMemPoolImportPointer(&p.at, pool, &data);
	if (!r)
		pieces[piece_count++] = p;
	return r;
}

/* Writes the handle of cuMemAlloc()'s memory to a file. */
static int run_tell(unsigned index, const char *path)
{
	CUipcMemHandle handle;
	CUresult r = cuIpcGetMemHandle(&handle, pieces[index].at);
	FILE *f = fopen(path, "w");

	fwrite(&handle, sizeof handle, 1, f);
	fclose(f);
	return (int)r;
}

static int run_hear(const char *path)
{
	struct piece p = {.class = &opened};
	CUipcMemHandle handle;
	FILE *f = fopen(path, "r");
	CUresult r;

	if (fread(&handle, sizeof handle, 1, f) != 1)
		return 1;
	fclose(f);
	r = cuIpcOpenMemHandle_v2(&p.at, handle, 1);
	if (!r)
		pieces[piece_count++] = p;
	return (int)r;
}

/* ---- commands ---- */

static CUresult open_device(unsigned number)
{
	CUcontext ctx;
	CUresult r = cuInit(0);

	if (!r)
		r = cuDeviceGet(&device, (int)number);
	if (!r)
		r = cuDevicePrimaryCtxRetain(&ctx, device);
	return r ? r : cuCtxSetCurrent(ctx);
}

static CUresult run_fill(const struct class *class, size_t bytes)
{
	unsigned n = 0;
	CUresult r;

	while (!(r = take(class, bytes)))
		n++;
	printf("%d %u\n", (int)r, n);
	return CUDA_SUCCESS;
}

static CUresult run_info(void)
{
	size_t room = 0, total = 0;
	CUresult r = cuMemGetInfo_v2(&room, &total);

	if (!r)
		printf("0 %zu %zu\n", room, total);
	return r;
}

/* A zombie has ended: its memory is to be given back. */
static bool is_alive(unsigned pid)
{
	char path[40], state = 'X';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(f);
	return state != 'Z' && state != 'X';
}

/* Runs this program again in the same process. */
static CUresult run_exec(void)
{
	execl("/proc/self/exe", "memory_shell", (char *)NULL);
	return CUDA_ERROR_UNKNOWN;
}

/* What NVML says a process holds, and what all living processes hold. */
static int run_used(unsigned gpu, unsigned pid)
{
	void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	__typeof__(nvmlInit_v2) *init = dlsym(nvml, "nvmlInit_v2");
	__typeof__(nvmlDeviceGetHandleByIndex_v2) *by_index =
	    dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
	__typeof__(nvmlDeviceGetComputeRunningProcesses_v3) *list =
	    dlsym(nvml, "nvmlDeviceGetComputeRunningProcesses_v3");
	static nvmlProcessInfo_t rows[1024];
	unsigned long long own = 0, all = 0;
	nvmlDevice_t handle;
	unsigned count = 1024;

	if (init() || by_index(gpu, &handle) || list(handle, &count, rows))
		return 1;
	for (unsigned i = 0; i < count; i++) {
		all += is_alive(rows[i].pid) ? rows[i].usedGpuMemory : 0;
		if (rows[i].pid == pid)
			own += rows[i].usedGpuMemory;
	}
	printf("0 %llu %llu\n", own, all);
	return -1;
}

/* The child's memory ends with it; it has none of its parent's. */
static CUresult run_fork(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		for (unsigned i = 0; i < piece_count; i++)
			pieces[i].class->give(&pieces[i]);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && !status
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_UNKNOWN;
}

/* -1: the command has printed its own answer and succeeded. */
static int obey(const char *line)
{
	unsigned long long seed;
	unsigned a, b;
	size_t bytes;
	char name[200];

	if (sscanf(line, "open %u", &a) == 1)
		return (int)open_device(a);
	if (sscanf(line, "close %u", &a) == 1)
		return (int)cuDevicePrimaryCtxRelease_v2((int)a);
	if (sscanf(line, "reset %u", &a) == 1)
		return (int)cuDevicePrimaryCtxReset_v2((int)a);
	if (sscanf(line, "take %199s %zu", name, &bytes) == 2)
		return (int)take(find_class(name), bytes);
	if (sscanf(line, "give %u", &a) == 1)
		return (int)give(a);
	if (sscanf(line, "forget %u", &a) == 1)
		return piece_count = a, 0;
	if (sscanf(line, "fill %199s %zu", name, &bytes) == 2)
		return (int)run_fill(find_class(name), bytes) ?: -1;
	if (sscanf(line, "storm %llu %u %zu %u %199s", &seed, &a, &bytes, &b,
		   name) == 5)
		return (int)run_storm(seed, a, bytes, b, name) ?: -1;
	if (sscanf(line, "threads %u %u %zu", &a, &b, &bytes) == 3)
		return (int)run_threads(a, b, bytes);
	if (sscanf(line, "retains %u %zu", &a, &bytes) == 2)
		return (int)run_retains(a, bytes);
	if (sscanf(line, "both %u %zu", &a, &bytes) == 2)
		return (int)run_both(a, bytes);
	if (sscanf(line, "pools %u", &a) == 1)
		return (int)make_pools(a);
	if (sscanf(line, "load %199s", name) == 1)
		return (int)cuModuleLoad(&(CUmodule){0}, name);
	if (sscanf(line, "used %u", &a) == 1)
		return run_used(0, a);
	if (sscanf(line, "used-of %u %u", &a, &b) == 2)
		return run_used(a, b);
	if (sscanf(line, "export %u", &a) == 1)
		return run_export(a);
	if (sscanf(line, "close-fd %u", &a) == 1)
		return close((int)a);
	if (sscanf(line, "import %u %u", &a, &b) == 2)
		return run_import(a, b);
	if (sscanf(line, "hold %u %u", &a, &b) == 2)
		return run_hold(a, b);
	if (!strcmp(line, "export-pool\n"))
		return run_export_pool();
	if (sscanf(line, "import-pool %u %u", &a, &b) == 2)
		return (int)run_import_pool(a, b);
	if (sscanf(line, "tell-pointer %u %199s", &a, name) == 2)
		return (int)run_tell_pointer(a, name);
	if (sscanf(line, "hear-pointer %199s", name) == 1)
		return (int)run_hear_pointer(name);
	if (sscanf(line, "tell %u %199s", &a, name) == 2)
		return run_tell(a, name);
	if (sscanf(line, "hear %199s", name) == 1)
		return run_hear(name);
	if (!strcmp(line, "empty\n"))
		return (int)give_all();
	if (!strcmp(line, "drop-pool\n"))
		return (int)cuMemPoolDestroy(pool);
	if (!strcmp(line, "info\n"))
		return (int)run_info() ?: -1;
	if (!strcmp(line, "fork\n"))
		return (int)run_fork();
	if (!strcmp(line, "exec\n"))
		return (int)run_exec();
	fprintf(stderr, "no command %s", line);
	exit(2);
}

int main(void)
{
	char line[300];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		int r = obey(line);

		if (r >= 0)
			printf("%d\n", r);
	}
	return 0;
}
