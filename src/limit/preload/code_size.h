/*
 * code_size.h - what the variables of code take on a device, as far as the
 * code says so before it is loaded.
 */
#ifndef GKL_PRELOAD_CODE_SIZE_H
#define GKL_PRELOAD_CODE_SIZE_H

#include <stdint.h>

/*
 * Bytes of the variables of PTX, or of the sections of a cubin; 0 of anything
 * else, as of fat binaries, which are compressed. The image is what
 * cuModuleLoadData() takes, and is believed as the driver believes it.
 */
uint64_t code_size(const void *image);

#endif
