/*
 * fatbin.h - what nvcc puts a program's kernels into: fat binaries, which hold
 * images of several architectures, PTX or machine code, packed or not.
 *
 * Layout as found in the output of nvcc 12 and 13. Nothing is read outside of
 * what the caller or a header that was checked says is there.
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
	uint32_t version; /* 2: `more` leads to fat binaries, NULL behind */
	const void *data;
	const void *const *more;
};

enum gkf_image_kind { GKF_IMAGE_OTHER, GKF_IMAGE_PTX, GKF_IMAGE_ELF };
enum gkf_packing { GKF_PLAIN, GKF_LZ4, GKF_ZSTD, GKF_UNKNOWN_PACKING };

/* An image; its bytes lie in the fat binary. */
struct gkf_image {
	enum gkf_image_kind kind;
	unsigned arch; /* 75 for sm_75, compute_75 */
	enum gkf_packing packing;
	const void *bytes;
	size_t stored; /* as it lies there */
	size_t size;   /* unpacked */
};

/* The forms of an image that cuModuleLoadData takes. */
enum gkf_image_form {
	GKF_FORM_WRAPPER,
	GKF_FORM_FATBIN,
	GKF_FORM_ELF,
	GKF_FORM_TEXT, /* anything else: PTX, perhaps */
};
GKF_API enum gkf_image_form gkf_image_form(const void *data);

/* Bytes of a fat binary, as its header says, the header too; 0: it is none. */
GKF_API uint64_t gkf_fatbin_size(const void *fatbin);

/*
 * The image at *offset of the size bytes of a fat binary (0: the first one),
 * and the offset of the next. Also goes on to fat binaries that follow, as in
 * a section. GK_ERR_NOT_FOUND at the end, GK_ERR_CORRUPT.
 */
int gkf_fatbin_next(const void *fatbin, size_t size, size_t *offset,
		    struct gkf_image *ret_image);

/*
 * The bytes of an image, unpacked, the caller's to free(), with a NUL behind.
 * GK_ERR_CORRUPT, GK_ERR_NOT_SUPPORTED (a packing that nobody knows),
 * GK_ERR_NOMEM.
 */
GKF_API int gkf_image_unpack(const struct gkf_image *image, char **ret_bytes,
			     size_t *ret_size);

/*
 * The PTX that a device of a compute capability (major * 10 + minor) takes:
 * the newest one that is not above it, or of those that come after one that it
 * was told before (NULL: none was). GK_ERR_NOT_FOUND.
 */
GKF_API int gkf_fatbin_choose(const void *fatbin, size_t size,
			      unsigned capability,
			      const struct gkf_image *before,
			      struct gkf_image *ret_image);

/* The architecture of a cubin: 75; 0: it does not tell. size: at least 64. */
unsigned gkf_cubin_arch(const void *elf, size_t size);

#endif
