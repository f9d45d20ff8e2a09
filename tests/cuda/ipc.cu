/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc.cu - does what torch.multiprocessing does: a process shares memory and an
 * event; another waits for the event before it reads, and records its own event
 * afterwards.
 */
#include "runtime.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 100000

struct shared {
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t ready, seen;
};

__global__ void fill(int *to, int value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		to[i] = value + i;
}

__global__ void check(const int *at, int value, int n, int *misses)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && at[i] != value + i)
		atomicAdd(misses, 1);
}

static int wrong_in(const int *at, int value, cudaStream_t stream)
{
	int *misses, count;

	OK(cudaMalloc(&misses, sizeof(int)));
	OK(cudaMemsetAsync(misses, 0, sizeof(int), stream));
	check<<<(COUNT + 255) / 256, 256, 0, stream>>>(at, value, COUNT,
						       misses);
	OK(cudaMemcpyAsync(&count, misses, sizeof(int), cudaMemcpyDefault,
			   stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaFree(misses));
	return count;
}

/* The consumer, after exec: handles come through its input. */
static int consume(void)
{
	struct shared s;
	cudaEvent_t ready, seen;
	cudaStream_t stream;
	int *at;

	REQUIRE(read(0, &s, sizeof s) == (ssize_t)sizeof s);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaIpcOpenMemHandle((void **)&at, s.memory,
				cudaIpcMemLazyEnablePeerAccess));
	OK(cudaIpcOpenEventHandle(&ready, s.ready));
	OK(cudaIpcOpenEventHandle(&seen, s.seen));
	for (int round = 0; round < 20; round++) {
		char byte;

		REQUIRE(read(0, &byte, 1) == 1);
		OK(cudaStreamWaitEvent(stream, ready, 0));
		EQUAL(wrong_in(at, round * 1000, stream), 0);
		OK(cudaEventRecord(seen, stream));
		REQUIRE(write(1, &byte, 1) == 1);
	}
	OK(cudaEventDestroy(ready));
	OK(cudaEventDestroy(seen));
	OK(cudaIpcCloseMemHandle(at));
	return 0;
}

static pid_t start_consumer(const char *self, int *to, int *from)
{
	int in[2], out[2];
	pid_t pid;

	REQUIRE(!pipe(in) && !pipe(out));
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(self, self, "consume", (char *)NULL);
		_exit(126);
	}
	close(in[0]);
	close(out[1]);
	*to = in[1];
	*from = out[0];
	return pid;
}

int main(int argc, char **argv)
{
	const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;
	cudaEvent_t ready, seen;
	struct shared s;
	int *at, to, from, status, supported;
	pid_t pid;

	OK(cudaDeviceGetAttribute(&supported, cudaDevAttrIpcEventSupport, 0));
	if (!supported)
		skip("no events between processes");
	if (argc > 1)
		return consume();
	pid = start_consumer(argv[0], &to, &from);
	OK(cudaMalloc(&at, COUNT * sizeof(int)));
	OK(cudaEventCreateWithFlags(&ready, flags));
	OK(cudaEventCreateWithFlags(&seen, flags));
	OK(cudaIpcGetMemHandle(&s.memory, at));
	OK(cudaIpcGetEventHandle(&s.ready, ready));
	OK(cudaIpcGetEventHandle(&s.seen, seen));
	REQUIRE(write(to, &s, sizeof s) == (ssize_t)sizeof s);
	for (int round = 0; round < 20; round++) {
		char byte = 'r';

		fill<<<(COUNT + 255) / 256, 256>>>(at, round * 1000, COUNT);
		OK(cudaEventRecord(ready, 0));
		REQUIRE(write(to, &byte, 1) == 1);
		REQUIRE(read(from, &byte, 1) == 1);
		OK(cudaEventSynchronize(seen));
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EQUAL(status, 0);
	OK(cudaFree(at));
	return 0;
}
