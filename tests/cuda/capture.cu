/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.cu - checks capture of streams by the runtime: <<<>>> and
 * asynchronous calls become nodes; forks and joins by events; what is not
 * allowed meanwhile.
 */
#include "runtime.h"

#define N 1000

__global__ void scale(float *x, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		x[i] *= by;
}

__global__ void sum(const float *a, const float *b, float *c)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		c[i] = a[i] + b[i];
}

struct data {
	float *a, *b, *c, *host, *out;
	cudaStream_t one, two;
	cudaEvent_t fork, join;
};

/* c = 2 a + 3 b, with a and b scaled in parallel. */
static cudaGraph_t captured(struct data *d)
{
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(d->one, cudaStreamCaptureModeGlobal));
	OK(cudaMemcpyAsync(d->a, d->host, N * sizeof(float),
			   cudaMemcpyHostToDevice, d->one));
	OK(cudaMemcpyAsync(d->b, d->host, N * sizeof(float),
			   cudaMemcpyHostToDevice, d->one));
	OK(cudaEventRecord(d->fork, d->one));
	OK(cudaStreamWaitEvent(d->two, d->fork, 0));
	scale<<<(N + 127) / 128, 128, 0, d->one>>>(d->a, 2);
	scale<<<(N + 127) / 128, 128, 0, d->two>>>(d->b, 3);
	LAUNCHED();
	OK(cudaEventRecord(d->join, d->two));
	OK(cudaStreamWaitEvent(d->one, d->join, 0));
	sum<<<(N + 127) / 128, 128, 0, d->one>>>(d->a, d->b, d->c);
	LAUNCHED();
	OK(cudaMemcpyAsync(d->out, d->c, N * sizeof(float),
			   cudaMemcpyDeviceToHost, d->one));
	OK(cudaStreamEndCapture(d->one, &graph));
	return graph;
}

static void replay(struct data *d)
{
	cudaGraph_t graph = captured(d);
	cudaGraphExec_t exec;
	size_t count = 0;

	OK(cudaGraphGetNodes(graph, NULL, &count));
	EQUAL(count, 6);
	EQUAL_FLOAT(d->out[1], 0);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < N; i++)
			d->host[i] = (float)(i * round);
		OK(cudaGraphLaunch(exec, d->one));
		OK(cudaStreamSynchronize(d->one));
		for (int i = 0; i < N; i++)
			EQUAL_FLOAT(d->out[i], 5 * i * round);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

/* The usual way: capture again each time, and update the instance. */
static void again(struct data *d)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec;
	cudaGraph_t graph = captured(d);

	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	for (int round = 0; round < 3; round++) {
		graph = captured(d);
		OK(cudaGraphExecUpdate(exec, graph, &info));
		EQUAL(info.result, cudaGraphExecUpdateSuccess);
		OK(cudaGraphDestroy(graph));
		OK(cudaGraphLaunch(exec, d->one));
	}
	OK(cudaStreamSynchronize(d->one));
	EQUAL_FLOAT(d->out[10], 150);
	OK(cudaGraphExecDestroy(exec));
}

static void not_allowed(struct data *d)
{
	enum cudaStreamCaptureStatus status;
	cudaGraph_t graph;
	void *memory;

	EXPECT(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
	       cudaErrorStreamCaptureUnsupported);
	OK(cudaStreamBeginCapture(d->one, cudaStreamCaptureModeGlobal));
	OK(cudaStreamIsCapturing(d->one, &status));
	EQUAL(status, cudaStreamCaptureStatusActive);
	EXPECT(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
	OK(cudaStreamIsCapturing(d->one, &status));
	EQUAL(status, cudaStreamCaptureStatusInvalidated);
	EXPECT(cudaStreamEndCapture(d->one, &graph),
	       cudaErrorStreamCaptureInvalidated);
	REQUIRE(!graph);
	OK(cudaStreamBeginCapture(d->one, cudaStreamCaptureModeRelaxed));
	OK(cudaMalloc(&memory, 64));
	OK(cudaFree(memory));
	EXPECT(cudaStreamSynchronize(d->one),
	       cudaErrorStreamCaptureUnsupported);
	EXPECT(cudaStreamEndCapture(d->one, &graph),
	       cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamBeginCapture(d->one, cudaStreamCaptureModeRelaxed));
	OK(cudaEventRecord(d->fork, d->one));
	OK(cudaStreamWaitEvent(d->two, d->fork, 0));
	OK(cudaMemsetAsync(d->a, 0, 4, d->two));
	EXPECT(cudaStreamEndCapture(d->one, &graph),
	       cudaErrorStreamCaptureUnjoined);
	EXPECT(cudaStreamEndCapture(d->one, &graph), cudaErrorIllegalState);
	(void)cudaGetLastError();
}

int main(void)
{
	struct data d;

	memset(&d, 0, sizeof d);
	OK(cudaMalloc(&d.a, N * sizeof(float)));
	OK(cudaMalloc(&d.b, N * sizeof(float)));
	OK(cudaMalloc(&d.c, N * sizeof(float)));
	OK(cudaMallocHost(&d.host, N * sizeof(float)));
	OK(cudaMallocHost(&d.out, N * sizeof(float)));
	memset(d.out, 0, N * sizeof(float));
	OK(cudaStreamCreateWithFlags(&d.one, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&d.two, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&d.fork, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&d.join, cudaEventDisableTiming));
	replay(&d);
	again(&d);
	not_allowed(&d);
	return 0;
}
