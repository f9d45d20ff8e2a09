/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fatbin.h - fat binaries, in which nvcc stores a program's kernels. They
 * contain images for several architectures, as PTX or machine code, compressed
 * or not.
 *
 * The layout was found in the output of nvcc 12 and 13. Nothing is read beyond
 * the size that the caller or a checked header gives.
 */
#ifndef GKF_PTX_FATBIN_H
#define GKF_PTX_FATBIN_H

#include "base/export.h"

#include <stdint.h>
#include <stddef.h>

#define GKF_WRAPPER_MAGIC 0x466243b1U
#define GKF_FATBIN_MAGIC  0xba55ed50U

/* The argument of __cudaRegisterFatBinary and cuModuleLoadFatBinary. */
struct gkf_fatbin_wrapper {
	uint32_t magic;
	uint32_t version; /* 2: `more` is a NULL-terminated list of fat
			     binaries */
	const void *data;
	const void *const *more;
};

enum gkf_image_kind { GKF_IMAGE_OTHER, GKF_IMAGE_PTX, GKF_IMAGE_ELF };
enum gkf_packing { GKF_PLAIN, GKF_LZ4, GKF_ZSTD, GKF_UNKNOWN_PACKING };

/* An image; its bytes are in the fat binary. */
struct gkf_image {
	enum gkf_image_kind kind;
	unsigned arch; /* 75 for sm_75, compute_75 */
	enum gkf_packing packing;
	const void *bytes;
	size_t stored; /* bytes in the fat binary, as packed */
	size_t size;   /* bytes unpacked */
};

/* The forms of an image that cuModuleLoadData accepts. */
enum gkf_image_form {
	GKF_FORM_WRAPPER,
	GKF_FORM_FATBIN,
	GKF_FORM_ELF,
	GKF_FORM_TEXT, /* anything else, perhaps PTX */
};
GKF_API enum gkf_image_form gkf_image_form(const void *data);

/* Returns the size of a fat binary with its header, or 0 if it is not one. */
GKF_API uint64_t gkf_fatbin_size(const void *fatbin);

/*
 * Reads the image at *offset of a fat binary of `size` bytes and advances
 * *offset to the next image. Start with offset 0. Continues with any fat
 * binaries that follow the first, as in an ELF section. Returns
 * GK_ERR_NOT_FOUND at the end, or GK_ERR_CORRUPT.
 */
int gkf_fatbin_next(const void *fatbin, size_t size, size_t *offset,
		    struct gkf_image *ret_image);

/*
 * Unpacks an image and appends a NUL, which *ret_size does not count. The
 * caller frees the bytes with free(). Returns GK_ERR_CORRUPT, GK_ERR_NOMEM, or
 * GK_ERR_NOT_SUPPORTED for an unknown compression.
 */
GKF_API int gkf_image_unpack(const struct gkf_image *image, char **ret_bytes,
			     size_t *ret_size);

/*
 * Chooses the PTX image for a device with the given compute capability (major *
 * 10 + minor): the newest one that the device can run. `before` is NULL at
 * first; pass the previous choice to get the next best image. Returns
 * GK_ERR_NOT_FOUND or GK_ERR_CORRUPT.
 */
GKF_API int gkf_fatbin_choose(const void *fatbin, size_t size,
			      unsigned capability,
			      const struct gkf_image *before,
			      struct gkf_image *ret_image);

/*
 * Returns a cubin's architecture, such as 75 for sm_75, or 0 if it is not a
 * complete cubin.
 */
unsigned gkf_cubin_arch(const void *elf, size_t size);

#endif
