/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.cu - connects all GPUs in a ring: each passes its values to the next,
 * by copies with and without access to each other's memory, and by kernels that
 * read a neighbour's.
 */
#include "runtime.h"

#include <vector>

#define N     (1 << 16)
#define BYTES (N * sizeof(int))

__global__ void add_device(int *at, int device)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	at[i] = at[i] * 2 + device;
}

__global__ void take(int *to, const int *from)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i] + 1;
}

struct gpu {
	int *at, *next;
	cudaStream_t stream;
	cudaEvent_t done;
};

static std::vector<gpu> make(int count)
{
	std::vector<gpu> gpus(count);

	for (int i = 0; i < count; i++) {
		OK(cudaSetDevice(i));
		OK(cudaMalloc(&gpus[i].at, BYTES));
		OK(cudaMalloc(&gpus[i].next, BYTES));
		OK(cudaMemset(gpus[i].at, 0, BYTES));
		OK(cudaStreamCreate(&gpus[i].stream));
		OK(cudaEventCreateWithFlags(&gpus[i].done,
					    cudaEventDisableTiming));
		OK(cudaDeviceSynchronize());
	}
	return gpus;
}

/* Once around; each waits for the previous one. */
static void hand_around(std::vector<gpu> &gpus)
{
	int count = (int)gpus.size(), expected = 0;
	std::vector<int> host(N);

	for (int i = 0; i < count; i++) {
		gpu &g = gpus[i], &before = gpus[(i + count - 1) % count];

		OK(cudaSetDevice(i));
		if (i) {
			OK(cudaStreamWaitEvent(g.stream, before.done, 0));
			OK(cudaMemcpyPeerAsync(g.at, i, before.at, i - 1, BYTES,
					       g.stream));
		}
		add_device<<<N / 256, 256, 0, g.stream>>>(g.at, i + 1);
		LAUNCHED();
		OK(cudaEventRecord(g.done, g.stream));
		expected = expected * 2 + i + 1;
	}
	OK(cudaStreamSynchronize(gpus[count - 1].stream));
	OK(cudaMemcpy(host.data(), gpus[count - 1].at, BYTES,
		      cudaMemcpyDefault));
	for (int i = 0; i < N; i++)
		EQUAL(host[i], expected);
}

/* Kernels read their neighbour's memory where that is allowed. */
static void read_neighbours(std::vector<gpu> &gpus)
{
	int count = (int)gpus.size(), can;
	std::vector<int> host(N);

	for (int i = 0; i < count; i++) {
		int other = (i + 1) % count;
		cudaPointerAttributes a;

		OK(cudaDeviceCanAccessPeer(&can, i, other));
		if (!can)
			continue;
		OK(cudaSetDevice(other));
		OK(cudaMemset(gpus[other].at, other, BYTES));
		OK(cudaDeviceSynchronize());
		OK(cudaSetDevice(i));
		OK(cudaDeviceEnablePeerAccess(other, 0));
		take<<<N / 256, 256, 0, gpus[i].stream>>>(gpus[i].next,
							  gpus[other].at);
		LAUNCHED();
		OK(cudaStreamSynchronize(gpus[i].stream));
		OK(cudaMemcpy(host.data(), gpus[i].next, BYTES,
			      cudaMemcpyDeviceToHost));
		for (int j = 0; j < N; j++)
			EQUAL(host[j], other * 0x01010101 + 1);
		OK(cudaPointerGetAttributes(&a, gpus[other].at));
		EQUAL(a.device, other);
		OK(cudaDeviceDisablePeerAccess(other));
	}
}

/* Copies a box between two GPUs, whichever is current. */
static void boxes(std::vector<gpu> &gpus)
{
	cudaMemcpy3DPeerParms p = {};
	std::vector<int> host(N);

	OK(cudaSetDevice(0));
	OK(cudaMemset(gpus[0].at, 3, BYTES));
	OK(cudaSetDevice(1));
	OK(cudaMemset(gpus[1].at, 0, BYTES));
	OK(cudaDeviceSynchronize());
	p.srcDevice = 0;
	p.dstDevice = 1;
	p.srcPtr = make_cudaPitchedPtr(gpus[0].at, 256, 256, 16);
	p.dstPtr = make_cudaPitchedPtr(gpus[1].at, 512, 512, 8);
	p.extent = make_cudaExtent(100, 5, 4);
	OK(cudaMemcpy3DPeer(&p));
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(host.data(), gpus[1].at, BYTES, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		int x = i % 128, y = i / 128 % 8, z = i / 1024;

		EQUAL(host[i], x < 25 && y < 5 && z < 4 ? 0x03030303 : 0);
	}
	EXPECT(cudaMemcpyPeer(gpus[1].at, 1, gpus[0].at, 99, BYTES),
	       cudaErrorInvalidDevice);
	EXPECT(cudaMemcpyPeer(gpus[1].at, 1, gpus[0].at, 0, BYTES + 1),
	       cudaErrorInvalidValue);
	cudaGetLastError();
}

int main(void)
{
	std::vector<gpu> gpus;

	if (devices() < 2)
		skip("one GPU has no peer");
	gpus = make(devices());
	hand_around(gpus);
	read_neighbours(gpus);
	boxes(gpus);
	for (int i = 0; i < (int)gpus.size(); i++) {
		OK(cudaSetDevice(i));
		OK(cudaFree(gpus[i].at));
		OK(cudaFree(gpus[i].next));
		OK(cudaStreamDestroy(gpus[i].stream));
		OK(cudaEventDestroy(gpus[i].done));
	}
	return 0;
}
