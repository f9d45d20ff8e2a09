/* SPDX-License-Identifier: Apache-2.0 */
/* dice_fill.c - fills what random pointers lead to; see dice.h. */
#include "fronts/cuda/dice.h"

#include <string.h>

const char dice_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .align 4 .u32 thing;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared;\n"
    ".visible .entry every(.param .u64 p)\n{\n\tret;\n}\n";

/*
 * Kinds of memory, including an invalid one; old structs have no unified one.
 */
#define MEMORY_TYPES(copy) (sizeof(copy)->srcDevice == 4 ? 3 : 5)

/* The part that copies in two and in three dimensions share. */
#define FILL_COPY(d, copy)                                                     \
	do {                                                                   \
		(copy)->srcXInBytes = dice_few(d);                             \
		(copy)->srcY = dice_few(d);                                    \
		(copy)->srcMemoryType = 1 + dice_below(d, MEMORY_TYPES(copy)); \
		(copy)->srcHost = dice_buffer(d);                              \
		(copy)->srcDevice =                                            \
		    (__typeof__((copy)->srcDevice))dice_address(d);            \
		(copy)->srcArray =                                             \
		    (CUarray)dice_remembered(d, dice_kind_of("CUarray"));      \
		(copy)->srcPitch = dice_few(d);                                \
		(copy)->dstXInBytes = dice_few(d);                             \
		(copy)->dstY = dice_few(d);                                    \
		(copy)->dstMemoryType = 1 + dice_below(d, MEMORY_TYPES(copy)); \
		(copy)->dstHost = dice_buffer(d);                              \
		(copy)->dstDevice =                                            \
		    (__typeof__((copy)->dstDevice))dice_address(d);            \
		(copy)->dstArray =                                             \
		    (CUarray)dice_remembered(d, dice_kind_of("CUarray"));      \
		(copy)->dstPitch = dice_few(d);                                \
		(copy)->WidthInBytes = dice_few(d);                            \
		(copy)->Height = dice_few(d);                                  \
	} while (0)

#define FILL_COPY3(d, copy)                                                    \
	do {                                                                   \
		FILL_COPY(d, copy);                                            \
		(copy)->srcZ = dice_few(d);                                    \
		(copy)->srcHeight = dice_few(d);                               \
		(copy)->dstZ = dice_few(d);                                    \
		(copy)->dstHeight = dice_few(d);                               \
		(copy)->Depth = dice_few(d);                                   \
	} while (0)

static void fill_copy2(struct dice *d, void *at)
{
	FILL_COPY(d, (CUDA_MEMCPY2D *)at);
}

static void fill_copy2_v1(struct dice *d, void *at)
{
	FILL_COPY(d, (CUDA_MEMCPY2D_v1 *)at);
}

static void fill_copy3(struct dice *d, void *at)
{
	FILL_COPY3(d, (CUDA_MEMCPY3D *)at);
}

static void fill_copy3_v1(struct dice *d, void *at)
{
	FILL_COPY3(d, (CUDA_MEMCPY3D_v1 *)at);
}

static void fill_peer(struct dice *d, void *at)
{
	CUDA_MEMCPY3D_PEER *copy = at;

	FILL_COPY3(d, copy);
	copy->srcContext = (CUcontext)dice_remembered(d, CONTEXT);
	copy->dstContext = (CUcontext)dice_remembered(d, CONTEXT);
}

/* Nearly always a valid format. */
static CUarray_format format(struct dice *d)
{
	static const CUarray_format formats[] = {
	    CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT16,
	    CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT,
	    CU_AD_FORMAT_UNSIGNED_INT32, 0};

	return formats[dice_below(d, sizeof formats / sizeof *formats)];
}

static void fill_array_v1(struct dice *d, void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR_v1 *)at = (CUDA_ARRAY_DESCRIPTOR_v1){
	    dice_below(d, DICE_FEW), dice_below(d, DICE_FEW), format(d),
	    1u << dice_below(d, 3)};
}

static void fill_array3_v1(struct dice *d, void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR_v1 *)at = (CUDA_ARRAY3D_DESCRIPTOR_v1){
	    dice_below(d, DICE_FEW), dice_below(d, DICE_FEW),
	    dice_below(d, DICE_FEW), format(d),
	    1u << dice_below(d, 3),  dice_below(d, 2)};
}

static void fill_array(struct dice *d, void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR *)at = (CUDA_ARRAY_DESCRIPTOR){
	    dice_few(d), dice_few(d), format(d), 1u << dice_below(d, 3)};
}

static void fill_array3(struct dice *d, void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR *)at =
	    (CUDA_ARRAY3D_DESCRIPTOR){dice_few(d),
				      dice_few(d),
				      dice_few(d),
				      format(d),
				      1u << dice_below(d, 3),
				      dice_one_in(d, 2) ? 0 : dice_below(d, 8)};
}

static void fill_launch(struct dice *d, void *at)
{
	CUlaunchConfig *c = at;
	unsigned char *attributes = (unsigned char *)at + DICE_BUFFER / 2;

	*c = (CUlaunchConfig){.gridDimX = dice_below(d, 4),
			      .gridDimY = 1,
			      .gridDimZ = 1,
			      .blockDimX = dice_below(d, 64),
			      .blockDimY = 1,
			      .blockDimZ = dice_below(d, 3),
			      .sharedMemBytes = dice_below(d, 1024),
			      .hStream = (CUstream)dice_remembered(d, STREAM),
			      .attrs = (CUlaunchAttribute *)attributes,
			      .numAttrs = dice_below(d, 3)};
	c->attrs[0].id = dice_below(d, 18);
}

static void fill_location(struct dice *d, void *at)
{
	CUmemLocation *places = at;

	for (int i = 0; i < DICE_FEW; i++)
		places[i] = (CUmemLocation){dice_below(d, 7),
					    (int)dice_below(d, 4) - 1};
}

static void fill_pool(struct dice *d, void *at)
{
	*(CUmemPoolProps *)at = (CUmemPoolProps){
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .handleTypes = dice_below(d, 2),
	    .location = {dice_below(d, 3), (int)dice_below(d, 3)},
	    .maxSize = dice_one_in(d, 2) ? 0 : 1 << 22};
}

static void fill_properties(struct dice *d, void *at)
{
	*(CUmemAllocationProp *)at = (CUmemAllocationProp){
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .requestedHandleTypes = dice_one_in(d, 4),
	    .location = {dice_one_in(d, 8) ? dice_below(d, 6)
					   : CU_MEM_LOCATION_TYPE_DEVICE,
			 (int)dice_below(d, 3)}};
}

static void fill_access(struct dice *d, void *at)
{
	CUmemAccessDesc *desc = at;

	for (int i = 0; i < DICE_FEW; i++)
		desc[i] = (CUmemAccessDesc){
		    {dice_one_in(d, 8) ? dice_below(d, 6)
				       : CU_MEM_LOCATION_TYPE_DEVICE,
		     (int)dice_below(d, 2)},
		    (CUmemAccess_flags)dice_below(d, 4)};
}

static void fill_addresses(struct dice *d, void *at)
{
	uint64_t *addresses = at;

	for (int i = 0; i < DICE_FEW; i++)
		addresses[i] = dice_remembered(d, ADDRESS);
}

static void fill_sizes(struct dice *d, void *at)
{
	for (int i = 0; i < DICE_FEW; i++)
		((size_t *)at)[i] = dice_few(d);
}

static void fill_code(struct dice *d, void *at)
{
	memset(at, 0, DICE_BUFFER);
	if (dice_one_in(d, 8))
		memcpy(at, "\x50\xed\x55\xba",
		       4); /* the start of a fat binary */
	else
		memcpy(at, dice_ptx, sizeof dice_ptx);
	/* Now and then one of its bytes is changed. */
	if (dice_one_in(d, 4))
		((char *)at)[dice_below(d, sizeof dice_ptx - 1)] =
		    (char)dice_next(d);
}

/* Parameters of a kernel: more than any kernel here has. */
static void fill_pointers(struct dice *d, void *at)
{
	unsigned char *values = dice_buffer(d);

	for (int i = 0; i < DICE_FEW; i++)
		((void **)at)[i] = values + 64 * i;
}

/* An empty batch, since its entries would need valid targets. */
static void fill_zeros(struct dice *d, void *at)
{
	(void)d;
	memset(at, 0, DICE_BUFFER);
}

void dice_nothing(void *data)
{
	(void)data;
}

static void fill_nodes(struct dice *d, void *at)
{
	for (int i = 0; i < DICE_FEW; i++)
		((uint64_t *)at)[i] =
		    dice_remembered(d, dice_kind_of("CUgraphNode"));
}

static void fill_kernel(struct dice *d, void *at)
{
	CUDA_KERNEL_NODE_PARAMS *p = at;
	void **params = (void **)((unsigned char *)at + DICE_BUFFER / 2);

	memset(p, 0, sizeof *p);
	p->func = (CUfunction)dice_remembered(d, dice_kind_of("CUfunction"));
	p->gridDimX = dice_below(d, 4);
	p->gridDimY = p->gridDimZ = p->blockDimY = p->blockDimZ = 1;
	p->blockDimX = dice_below(d, 64);
	p->kernelParams = params;
	fill_pointers(d, params);
}

static void fill_set(struct dice *d, void *at)
{
	*(CUDA_MEMSET_NODE_PARAMS *)at = (CUDA_MEMSET_NODE_PARAMS){
	    dice_address(d),  dice_few(d), dice_below(d, 256),
	    dice_below(d, 5), dice_few(d), 1 + dice_below(d, 2)};
}

static void fill_host(struct dice *d, void *at)
{
	*(CUDA_HOST_NODE_PARAMS *)at = (CUDA_HOST_NODE_PARAMS){
	    dice_one_in(d, 8) ? NULL : dice_nothing, NULL};
}

/* One write, because a wait might last for ever. */
static void fill_values(struct dice *d, void *at)
{
	CUstreamBatchMemOpParams *op =
	    (CUstreamBatchMemOpParams *)((unsigned char *)at + DICE_BUFFER / 2);

	memset(op, 0, sizeof *op);
	op->writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	op->writeValue.address = dice_remembered(d, ADDRESS);
	*(CUDA_BATCH_MEM_OP_NODE_PARAMS *)at = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
	    NULL, dice_below(d, 2), op, dice_one_in(d, 8)};
}

static void fill_alloc(struct dice *d, void *at)
{
	CUDA_MEM_ALLOC_NODE_PARAMS *p = at;

	memset(p, 0, sizeof *p);
	fill_pool(d, &p->poolProps);
	p->bytesize = dice_few(d);
}

static void fill_node(struct dice *d, void *at)
{
	CUgraphNodeParams *p = at;

	memset(p, 0, sizeof *p);
	p->type = dice_below(d, 15);
	if (p->type == CU_GRAPH_NODE_TYPE_HOST)
		p->host.fn = dice_nothing;
	if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
		p->graph.graph =
		    (CUgraph)dice_remembered(d, dice_kind_of("CUgraph"));
	if (p->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		p->eventRecord.event =
		    (CUevent)dice_remembered(d, dice_kind_of("CUevent"));
}

static const struct {
	const char *type, *name; /* of the parameter; NULL: any */
	void (*fill)(struct dice *d, void *at);
} fills[] = {
    {"const CUDA_MEMCPY2D *", NULL, fill_copy2},
    {"const CUDA_MEMCPY2D_v1 *", NULL, fill_copy2_v1},
    {"const CUDA_MEMCPY3D *", NULL, fill_copy3},
    {"const CUDA_MEMCPY3D_v1 *", NULL, fill_copy3_v1},
    {"const CUDA_MEMCPY3D_PEER *", NULL, fill_peer},
    {"const CUDA_ARRAY_DESCRIPTOR_v1 *", NULL, fill_array_v1},
    {"const CUDA_ARRAY3D_DESCRIPTOR_v1 *", NULL, fill_array3_v1},
    {"const CUDA_ARRAY_DESCRIPTOR *", NULL, fill_array},
    {"const CUDA_ARRAY3D_DESCRIPTOR *", NULL, fill_array3},
    {"const CUlaunchConfig *", NULL, fill_launch},
    {"const CUmemPoolProps *", NULL, fill_pool},
    {"const CUmemAccessDesc *", NULL, fill_access},
    {"const CUmemAllocationProp *", NULL, fill_properties},
    {"CUmemLocation *", NULL, fill_location},
    {"const CUmemLocation *", NULL, fill_location},
    {"CUdeviceptr *", NULL, fill_addresses},
    {"size_t *", NULL, fill_sizes},
    {"const void *", "image", fill_code},
    {"const void *", "code", fill_code},
    {"const void *", "fatCubin", fill_code},
    {"void **", "kernelParams", fill_pointers},
    {"void **", NULL, fill_zeros},
    {"const CUgraphNode *", NULL, fill_nodes},
    {"CUgraphNode *", "dependencies", fill_nodes},
    {"const CUgraphEdgeData *", NULL, fill_zeros},
    {"const CUDA_KERNEL_NODE_PARAMS_v1 *", NULL, fill_kernel},
    {"const CUDA_KERNEL_NODE_PARAMS *", NULL, fill_kernel},
    {"const CUDA_MEMSET_NODE_PARAMS *", NULL, fill_set},
    {"const CUDA_HOST_NODE_PARAMS *", NULL, fill_host},
    {"const CUDA_BATCH_MEM_OP_NODE_PARAMS *", NULL, fill_values},
    {"CUDA_MEM_ALLOC_NODE_PARAMS *", NULL, fill_alloc},
    {"CUgraphNodeParams *", NULL, fill_node},
    {"CUDA_GRAPH_INSTANTIATE_PARAMS *", NULL, fill_zeros},
    {"CUDA_MEMCPY3D_BATCH_OP *", NULL, fill_zeros},
    {"CUmemcpyAttributes *", NULL, fill_zeros},
    {"CUexecAffinityParam *", NULL, fill_zeros},
    {"CUctxCreateParams *", NULL, fill_zeros},
    {"CUstreamBatchMemOpParams *", NULL, fill_zeros},
    {"const CUDA_RESOURCE_DESC *", NULL, fill_zeros},
    {"CUDA_LAUNCH_PARAMS *", NULL, fill_zeros},
};

void dice_fill(struct dice *d, const struct arg *a, void *at)
{
	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
		if (!strcmp(fills[i].type, a->type) &&
		    (!fills[i].name || !strcmp(fills[i].name, a->name))) {
			fills[i].fill(d, at);
			return;
		}
}
