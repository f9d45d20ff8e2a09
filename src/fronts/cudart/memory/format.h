/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.h - converts between the runtime's channel descriptors and the
 * driver's array formats.
 */
#ifndef GKF_CUDART_FORMAT_H
#define GKF_CUDART_FORMAT_H

#include "fronts/cudart/runtime.h"

#include <stddef.h>

/*
 * Fills in Format and NumChannels. cudaErrorInvalidChannelDescriptor if no
 * array can have these channels.
 */
cudaError_t format_of(const struct cudaChannelFormatDesc *desc,
		      CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* The channels of a format: the inverse of format_of(). */
struct cudaChannelFormatDesc
format_channels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* Bytes per element; for a compressed format, bytes per block. */
size_t format_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

#endif
