/* SPDX-License-Identifier: Apache-2.0 */
/* copies_2d_3d.cu - checks pitched memory of two and three dimensions. */
#include "runtime.h"

#define W 30
#define H 20
#define D 10

static int host[D][H][W], back[D][H][W];

static void two(void)
{
	size_t pitch;
	int *at;

	OK(cudaMallocPitch(&at, &pitch, W * sizeof(int), H));
	REQUIRE(pitch >= W * sizeof(int) && pitch % 32 == 0);
	OK(cudaMemset2D(at, pitch, 0xff, W * sizeof(int), H));
	OK(cudaMemcpy2D(at, pitch, host[1], W * sizeof(int), W * sizeof(int),
			H - 1, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2D(back[1], W * sizeof(int), at, pitch, W * sizeof(int),
			H, cudaMemcpyDeviceToHost));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			EQUAL(back[1][y][x], y < H - 1 ? host[1][y][x] : -1);
	EXPECT(cudaMemcpy2D(at, 4, host[1], W * sizeof(int), W * sizeof(int),
			    H, cudaMemcpyHostToDevice),
	       cudaErrorInvalidPitchValue);
	OK(cudaFree(at));
}

static void three(void)
{
	cudaExtent all = make_cudaExtent(W * sizeof(int), H, D);
	cudaMemcpy3DParms copy = {};
	cudaPitchedPtr at;

	OK(cudaMalloc3D(&at, all));
	REQUIRE(at.pitch >= W * sizeof(int));
	EQUAL(at.ysize, H);
	OK(cudaMemset3D(at, 0, all));
	copy.srcPtr = make_cudaPitchedPtr(host, W * sizeof(int), W, H);
	copy.dstPtr = at;
	copy.extent = all;
	copy.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&copy));

	/* Copies a box of it to another place in `back`. */
	memset(back, 0, sizeof back);
	copy.srcPtr = at;
	copy.srcPos = make_cudaPos(4 * sizeof(int), 3, 2);
	copy.dstPtr = make_cudaPitchedPtr(back, W * sizeof(int), W, H);
	copy.dstPos = make_cudaPos(0, 1, 5);
	copy.extent = make_cudaExtent(6 * sizeof(int), 7, 3);
	copy.kind = cudaMemcpyDeviceToHost;
	OK(cudaMemcpy3D(&copy));
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				bool in = x < 6 && y >= 1 && y < 8 && z >= 5 &&
					  z < 8;

				EQUAL(back[z][y][x],
				      in ? host[z - 3][y + 2][x + 4] : 0);
			}
	OK(cudaFree(at.ptr));
}

/* Copies a slice there and the same slice back, as a batch of two copies. */
static void batch(void)
{
#if CUDART_VERSION >= 13000
	size_t bytes = W * sizeof(int) * H;
	cudaMemcpy3DBatchOp ops[2] = {};
	cudaStream_t stream;
	char *at;

	OK(cudaMalloc(&at, 2 * bytes));
	OK(cudaStreamCreate(&stream));
	for (int i = 0; i < 2; i++) {
		ops[i].src.type = cudaMemcpyOperandTypePointer;
		ops[i].src.op.ptr.ptr = host[i];
		ops[i].dst.type = cudaMemcpyOperandTypePointer;
		ops[i].dst.op.ptr.ptr = at + i * bytes;
		ops[i].extent = make_cudaExtent(W * sizeof(int), H, 1);
		ops[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	}
	OK(cudaMemcpy3DBatchAsync(2, ops, 0, stream));
	for (int i = 0; i < 2; i++) {
		ops[i].src.op.ptr.ptr = at + i * bytes;
		ops[i].dst.op.ptr.ptr = back[i];
	}
	memset(back, 0, sizeof back);
	OK(cudaMemcpy3DBatchAsync(2, ops, 0, stream));
	OK(cudaStreamSynchronize(stream));
	EQUAL(memcmp(host, back, 2 * bytes), 0);
	EXPECT(cudaMemcpy3DBatchAsync(2, ops, 1, stream),
	       cudaErrorInvalidValue);
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(at));
#endif
}

int main(void)
{
	int version;

	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				host[z][y][x] = 1 + x + 100 * y + 10000 * z;
	two();
	three();
	/* It has another parameter in CUDA 12, on which this may run too. */
	OK(cudaRuntimeGetVersion(&version));
	if (version >= 13000)
		batch();
	return 0;
}
