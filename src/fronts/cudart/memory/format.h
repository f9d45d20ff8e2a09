/*
 * format.h - channel descriptions of the runtime and formats of the driver.
 */
#ifndef GKF_CUDART_FORMAT_H
#define GKF_CUDART_FORMAT_H

#include "fronts/cudart/runtime.h"

#include <stddef.h>

/*
 * Fills Format and NumChannels. cudaErrorInvalidChannelDescriptor for what no
 * array can have.
 */
cudaError_t format_of(const struct cudaChannelFormatDesc *desc,
		      CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* The channels of a format: format_of() the other way round. */
struct cudaChannelFormatDesc
format_channels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* Bytes of an element; a block of a compressed format is one. */
size_t format_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

#endif
