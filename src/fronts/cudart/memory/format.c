/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c - converts between the runtime's channel descriptors and the
 * driver's array formats (format.def).
 */
#include "fronts/cudart/memory/format.h"

#include <stddef.h>

static const struct format {
	CUarray_format format;
	enum cudaChannelFormatKind kind;
	int bits, channels;
	size_t bytes;
} formats[] = {
#define FORMAT(format, kind, bits, channels, bytes)                            \
	{CU_AD_FORMAT_##format, cudaChannelFormatKind##kind, bits, channels,   \
	 bytes},
#include "fronts/cudart/memory/format.def"
#undef FORMAT
};
#define FORMATS (sizeof formats / sizeof *formats)

/* The number of channels. 0 if there are 3, or if their sizes differ: no array
 * has such channels. */
static unsigned count_channels(const struct cudaChannelFormatDesc *desc)
{
	const int bits[] = {desc->x, desc->y, desc->z, desc->w};
	unsigned n = 0;

	while (n < 4 && bits[n])
		n++;
	for (unsigned i = 0; i < 4; i++)
		if (bits[i] != (i < n ? desc->x : 0))
			return 0;
	return n == 3 ? 0 : n;
}

cudaError_t format_of(const struct cudaChannelFormatDesc *desc,
		      CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	unsigned n = count_channels(desc);

	for (size_t i = 0; n && i < FORMATS; i++) {
		const struct format *f = &formats[i];

		if (f->kind == desc->f && f->bits == desc->x &&
		    (!f->channels || (unsigned)f->channels == n)) {
			descriptor->Format = f->format;
			descriptor->NumChannels = n;
			return cudaSuccess;
		}
	}
	return cudart_fail(cudaErrorInvalidChannelDescriptor);
}

static const struct format *
find_format(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i].format == descriptor->Format)
			return &formats[i];
	return NULL;
}

struct cudaChannelFormatDesc
format_channels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	const struct format *f = find_format(descriptor);
	unsigned n = descriptor->NumChannels;

	if (!f)
		return (struct cudaChannelFormatDesc){
		    .f = cudaChannelFormatKindNone};
	return (struct cudaChannelFormatDesc){
	    .x = f->bits,
	    .y = n > 1 ? f->bits : 0,
	    .z = n > 2 ? f->bits : 0,
	    .w = n > 3 ? f->bits : 0,
	    .f = f->kind,
	};
}

size_t format_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	const struct format *f = find_format(descriptor);

	if (!f)
		return 1;
	return f->channels ? f->bytes : f->bytes * descriptor->NumChannels;
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
