/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_size.h - how much device memory code and its variables take, to the
 * extent that the code reveals it before it is loaded.
 */
#ifndef GKL_PRELOAD_CODE_SIZE_H
#define GKL_PRELOAD_CODE_SIZE_H

#include <stdint.h>

/* Memory that loading takes in addition to the code: drivers round up. */
#define CODE_SLACK (32ULL << 20)

/* The highest value of a bound. */
#define CODE_MOST (1ULL << 62)

/*
 * least: the variables of PTX, or the sections of a cubin; 0 for fat binaries,
 * which are compressed. most: an upper bound, including the slack; what
 * compilers produce stays far below it.
 */
struct code_size {
	uint64_t least, most;
};

/*
 * The image is one for cuModuleLoadData(), and is trusted as the driver trusts
 * it. For a file only the size is known.
 */
struct code_size code_size(const void *image);
struct code_size code_size_of_file(uint64_t bytes);

#endif
