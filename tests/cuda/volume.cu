/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume.cu - checks a picture and a volume: a kernel that smooths pitched
 * rows, and boxes that are copied between pitched memory, 3D arrays and the
 * host with offsets on every side, each compared with the same on the host.
 */
#include "runtime.h"

#include <vector>

#define W 61
#define H 37
#define D 11

typedef std::vector<float> volume; /* W * H * D */

static volume numbers(float scale)
{
	volume v(W * H * D);

	for (size_t i = 0; i < v.size(); i++)
		v[i] = scale * (float)((i * 7919) % 1000);
	return v;
}

static void same(const volume &a, const volume &b)
{
	for (size_t i = 0; i < a.size(); i++)
		EQUAL_FLOAT(a[i], b[i]);
}

__global__ void smooth(const char *from, char *to, size_t pitch, int width,
		       int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x;
	int y = blockIdx.y * blockDim.y + threadIdx.y;
	const float *row = (const float *)(from + y * pitch);

	if (x >= width || y >= height)
		return;
	float left = row[x ? x - 1 : x];
	float right = row[x + 1 < width ? x + 1 : x];
	((float *)(to + y * pitch))[x] =
	    0.25f * left + 0.5f * row[x] + 0.25f * right;
}

static void rows_are_smoothed(void)
{
	volume v = numbers(0.5f), back(W * H);
	size_t pitch, other;
	char *from, *to;

	OK(cudaMallocPitch((void **)&from, &pitch, W * sizeof(float), H));
	OK(cudaMallocPitch((void **)&to, &other, W * sizeof(float), H));
	EQUAL(pitch, other);
	OK(cudaMemcpy2D(from, pitch, v.data(), W * sizeof(float),
			W * sizeof(float), H, cudaMemcpyHostToDevice));
	smooth<<<dim3((W + 15) / 16, (H + 7) / 8), dim3(16, 8)>>>(from, to,
								  pitch, W, H);
	LAUNCHED();
	OK(cudaMemcpy2D(back.data(), W * sizeof(float), to, pitch,
			W * sizeof(float), H, cudaMemcpyDeviceToHost));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			const float *row = &v[y * W];

			EQUAL_FLOAT(back[y * W + x],
				    0.25f * row[x ? x - 1 : x] + 0.5f * row[x] +
					0.25f * row[x + 1 < W ? x + 1 : x]);
		}
	OK(cudaFree(from));
	OK(cudaFree(to));
}

struct box {
	int x, y, z, w, h, d;
};

/* What a copy of a box should do. */
static void copy_box(volume &to, cudaPos at, const volume &from, box b)
{
	for (int z = 0; z < b.d; z++)
		for (int y = 0; y < b.h; y++)
			for (int x = 0; x < b.w; x++)
				to[((at.z + z) * H + at.y + y) * W + at.x + x] =
				    from[((b.z + z) * H + b.y + y) * W + b.x +
					 x];
}

/* A place for a volume: the host, pitched memory, or an array. */
struct place {
	cudaPitchedPtr at;
	cudaArray_t array;
};

static void set_side(cudaMemcpy3DParms *p, const place &s, cudaPos pos,
		     size_t unit, bool is_target)
{
	pos.x *= s.array ? 1 : unit;
	if (is_target) {
		p->dstPtr = s.at;
		p->dstArray = s.array;
		p->dstPos = pos;
	} else {
		p->srcPtr = s.at;
		p->srcArray = s.array;
		p->srcPos = pos;
	}
}

static void move_box(const place &to, cudaPos at, const place &from, box b,
		     cudaStream_t stream)
{
	size_t unit = sizeof(float);
	bool cells = to.array || from.array; /* the extent counts elements */
	cudaMemcpy3DParms p = {};

	set_side(&p, to, at, unit, true);
	set_side(&p, from, make_cudaPos(b.x, b.y, b.z), unit, false);
	p.extent = make_cudaExtent(b.w * (cells ? 1 : unit), b.h, b.d);
	p.kind = cudaMemcpyDefault;
	OK(cudaMemcpy3DAsync(&p, stream));
}

static place on_host(volume &v)
{
	return {make_cudaPitchedPtr(v.data(), W * sizeof(float),
				    W * sizeof(float), H),
		NULL};
}

/* Copies between all kinds, with offsets, then everything back. */
static void boxes_go_everywhere(cudaStream_t stream)
{
	cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
	cudaExtent bytes = make_cudaExtent(W * sizeof(float), H, D);
	const box all = {0, 0, 0, W, H, D}, part = {5, 4, 3, 40, 20, 6};
	const cudaPos zero = make_cudaPos(0, 0, 0), at = make_cudaPos(11, 9, 2);
	place places[5] = {};

	for (int i = 0; i < 2; i++) {
		OK(cudaMalloc3D(&places[i].at, bytes));
		OK(cudaMalloc3DArray(&places[2 + i].array, &one,
				     make_cudaExtent(W, H, D)));
	}
	for (int to = 0; to < 5; to++)
		for (int from = 0; from < 5; from++) {
			volume a = numbers(1), b = numbers(-3), back(W * H * D);
			volume other = numbers(0);

			if (to == from)
				continue;
			places[4] = on_host(other);
			move_box(places[from], zero, on_host(a), all, stream);
			move_box(places[to], zero, on_host(b), all, stream);
			move_box(places[to], at, places[from], part, stream);
			move_box(on_host(back), zero, places[to], all, stream);
			OK(cudaStreamSynchronize(stream));
			copy_box(b, at, a, part);
			same(back, b);
		}
	for (int i = 0; i < 2; i++) {
		OK(cudaFree(places[i].at.ptr));
		OK(cudaFreeArray(places[2 + i].array));
	}
}

/*
 * A box that exceeds its place on any side is refused, and nothing is copied.
 */
static void boxes_that_do_not_fit(void)
{
	cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
	cudaChannelFormatDesc small = cudaCreateChannelDesc<short>();
	volume v = numbers(1);
	cudaMemcpy3DParms p = {};
	const cudaPos shifts[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

	OK(cudaMalloc3DArray(&p.dstArray, &one, make_cudaExtent(W, H, D)));
	p.srcPtr = on_host(v).at;
	p.extent = make_cudaExtent(W, H, D);
	p.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&p));
	for (int i = 0; i < 3; i++) {
		p.dstPos = shifts[i];
		EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	}
	p.dstPos = make_cudaPos(0, 0, 0);
	p.dstPtr = p.srcPtr;
	EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	p.dstPtr = p.srcPtr = {};
	OK(cudaMalloc3DArray(&p.srcArray, &small, make_cudaExtent(W, H, D)));
	p.extent = make_cudaExtent(W / 8, H, D);
	p.kind = cudaMemcpyDeviceToDevice;
	EXPECT(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cudaFreeArray(p.srcArray));
	OK(cudaFreeArray(p.dstArray));
}

/* Nothing is set when the last plane does not fit, or there are too many. */
static void fills_that_do_not_fit(void)
{
	cudaExtent box = make_cudaExtent(16, 4, 8);
	unsigned char host[16 * 5 * 8];
	cudaPitchedPtr at;

	OK(cudaMalloc(&at.ptr, sizeof host));
	OK(cudaMemset(at.ptr, 1, sizeof host));
	at.pitch = at.xsize = 16;
	at.ysize = 5;
	OK(cudaMemset3D(at, 2, box));
	box.depth = 9;
	EXPECT(cudaMemset3D(at, 3, box), cudaErrorInvalidValue);
	box.depth = (size_t)1 << 62;
	EXPECT(cudaMemset3D(at, 3, box), cudaErrorInvalidValue);
	box.height = 5;
	box.depth = (size_t)1 << 63;
	EXPECT(cudaMemset3D(at, 3, box), cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cudaMemcpy(host, at.ptr, sizeof host, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < sizeof host; i++)
		EQUAL(host[i], i / 16 % 5 < 4 ? 2 : 1);
	OK(cudaFree(at.ptr));
}

int main(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	rows_are_smoothed();
	boxes_go_everywhere(stream);
	boxes_that_do_not_fit();
	fills_that_do_not_fit();
	OK(cudaStreamDestroy(stream));
	return 0;
}
