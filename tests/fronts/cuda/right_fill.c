/* SPDX-License-Identifier: Apache-2.0 */
/* right_fill.c - fills what correct pointers lead to; see right.h. */
#include "fronts/cuda/right_things.h"
#include "fronts/cuda/right_graph.h"

#include <stddef.h>

#define ROWS_AT_ONE 32 /* bytes */

static const char ptx[] = RIGHT_PTX;

/* The same in a fat binary: its header, the header of an image, the image. */
static const struct {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size; /* of the rest */
	struct {
		uint16_t kind, attribute;
		uint32_t header_size;
		uint64_t image_size;
		uint32_t packed_size, options;
		uint16_t minor, major;
		uint32_t arch;
		uint64_t name, flags, reserved, unpacked_size;
	} image;
	char text[sizeof ptx + 8 - sizeof ptx % 8];
} fat = {.magic = 0xba55ed50,
	 .version = 1,
	 .header_size = 16,
	 .size = sizeof fat.image + sizeof fat.text,
	 .image = {.kind = 1, /* PTX */
		   .attribute = 0x101,
		   .header_size = sizeof fat.image,
		   .image_size = sizeof fat.text,
		   .major = 7,
		   .arch = 52}};

/* A copy of ROWS_AT_ONE bytes within the device. */
#define FILL_COPY(copy)                                                        \
	do {                                                                   \
		(copy)->srcMemoryType = CU_MEMORYTYPE_DEVICE;                  \
		(copy)->srcDevice = things.memory;                             \
		(copy)->dstMemoryType = CU_MEMORYTYPE_DEVICE;                  \
		(copy)->dstDevice = things.memory + 4096;                      \
		(copy)->srcPitch = (copy)->dstPitch = ROWS_AT_ONE;             \
		(copy)->WidthInBytes = ROWS_AT_ONE;                            \
		(copy)->Height = 1;                                            \
	} while (0)

static void fill_copy3d(void *at)
{
	CUDA_MEMCPY3D *copy = at;

	FILL_COPY(copy);
	copy->srcHeight = copy->dstHeight = copy->Depth = 1;
}

static void fill_copy3d_peer(void *at)
{
	CUDA_MEMCPY3D_PEER *copy = at;

	FILL_COPY(copy);
	copy->srcHeight = copy->dstHeight = copy->Depth = 1;
	copy->srcContext = copy->dstContext = things.ctx;
}

static void fill_copy2d(void *at)
{
	CUDA_MEMCPY2D *copy = at;

	FILL_COPY(copy);
}

static void fill_array(void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR *)at =
	    (CUDA_ARRAY_DESCRIPTOR){32, 32, CU_AD_FORMAT_FLOAT, 1};
}

static void fill_array3d(void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR *)at =
	    (CUDA_ARRAY3D_DESCRIPTOR){.Width = 32,
				      .Height = 32,
				      .Format = CU_AD_FORMAT_FLOAT,
				      .NumChannels = 1};
}

static void fill_array_v1(void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR_v1 *)at =
	    (CUDA_ARRAY_DESCRIPTOR_v1){32, 32, CU_AD_FORMAT_FLOAT, 1};
}

static void fill_array3d_v1(void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR_v1 *)at =
	    (CUDA_ARRAY3D_DESCRIPTOR_v1){.Width = 32,
					 .Height = 32,
					 .Format = CU_AD_FORMAT_FLOAT,
					 .NumChannels = 1};
}

static void fill_managed(void *at)
{
	*(CUdeviceptr *)at = things.managed;
}

static void fill_size(void *at)
{
	*(size_t *)at = 4096;
}

static void fill_four(void *at)
{
	*(size_t *)at = 4;
}

static void fill_one(void *at)
{
	*(unsigned *)at = 1;
}

/* Room for one result. */
static void fill_room(void *at)
{
	*(void **)at = (char *)at + RIGHT_BUFFER / 2;
}

static void fill_pool(void *at)
{
	*(CUmemPoolProps *)at =
	    (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			     .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
}

static void fill_properties(void *at)
{
	*(CUmemAllocationProp *)at = right_on_device;
}

static void fill_sms(void *at)
{
	*(CUdevResource *)at = things.sms;
}

static void fill_launch(void *at)
{
	*(CUlaunchConfig *)at =
	    (CUlaunchConfig){1, 1, 1, 1, 1, 1, 0, things.stream, NULL, 0};
}

static void fill_address(void *at)
{
	*(CUdeviceptr *)at = things.memory;
}

static void fill_other(void *at)
{
	*(CUdeviceptr *)at = things.memory + 8192;
}

static void fill_order(void *at)
{
	*(CUmemcpyAttributes *)at = (CUmemcpyAttributes){
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
}

static void fill_batch(void *at)
{
	CUDA_MEMCPY3D_BATCH_OP *op = at;

	op->src.type = op->dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
	op->src.op.ptr.ptr = things.memory;
	op->dst.op.ptr.ptr = things.memory + 8192;
	op->extent = (CUextent3D){ROWS_AT_ONE, 1, 1};
	op->srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
}

static void fill_location(void *at)
{
	*(CUmemLocation *)at = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0};
}

static void fill_access(void *at)
{
	*(CUmemAccessDesc *)at =
	    (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, 0},
			      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

static void fill_code(void *at)
{
	memcpy(at, ptx, sizeof ptx);
}

static void fill_fat(void *at)
{
	memcpy(at, &fat, sizeof fat);
	memcpy((char *)at + offsetof(__typeof__(fat), text), ptx, sizeof ptx);
}

/* What correct pointers lead to: by type, or by the parameter's name. */
static const struct {
	const char *type, *name;
	void (*fill)(void *at);
} fills[] = {
    {"const CUDA_MEMCPY2D *", NULL, fill_copy2d},
    {"const CUDA_MEMCPY3D *", NULL, fill_copy3d},
    {"const CUDA_MEMCPY3D_PEER *", NULL, fill_copy3d_peer},
    {"const CUDA_ARRAY_DESCRIPTOR *", NULL, fill_array},
    {"const CUDA_ARRAY3D_DESCRIPTOR *", NULL, fill_array3d},
    {"const CUmemPoolProps *", NULL, fill_pool},
    {"const CUlaunchConfig *", NULL, fill_launch},
    {"const CUmemAccessDesc *", NULL, fill_access},
    {"const CUmemAllocationProp *", NULL, fill_properties},
    {"CUmemLocation *", NULL, fill_location},
    {"const CUmemLocation *", NULL, fill_location},
    {"const CUDA_ARRAY_DESCRIPTOR_v1 *", NULL, fill_array_v1},
    {"const CUDA_ARRAY3D_DESCRIPTOR_v1 *", NULL, fill_array3d_v1},
    {"CUmem_range_attribute *", NULL, fill_one},
    {"CUpointer_attribute *", NULL, fill_one},
    {"const CUdevResource *", NULL, fill_sms},
    {"CUdevResource *", "resources", fill_sms},
    {"unsigned int *", "nbGroups", fill_one},
    {"size_t *", "sizes", fill_size},
    {"size_t *", "size", fill_size},
    {"size_t *", "dataSizes", fill_four},
    {"void **", "data", fill_room},
    {"const void *", "value", fill_one},
    {"CUdeviceptr *", NULL, fill_address},
    {"CUdeviceptr *", "dptrs", fill_managed},
    {"CUdeviceptr *", "srcs", fill_other},
    {"CUmemcpyAttributes *", NULL, fill_order},
    {"CUDA_MEMCPY3D_BATCH_OP *", NULL, fill_batch},
    {"const void *", "image", fill_code},
    {"const void *", "code", fill_code},
    {"const void *", "fatCubin", fill_fat},
    {"void *", "data", fill_code},
    {"void **", "kernelParams", fill_room},
};

uint64_t right_pointer(const struct arg *a)
{
	unsigned char *at = right_buffer();

	if (right_graph_fill(a, at))
		return (uintptr_t)at;
	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
		if (!strcmp(fills[i].type, a->type) &&
		    (!fills[i].name || !strcmp(fills[i].name, a->name)))
			fills[i].fill(at);
	return (uintptr_t)at;
}
