/* SPDX-License-Identifier: Apache-2.0 */
/* fatbin.c - finds, chooses and unpacks images in fat binaries. */
#include "ptx/front/fatbin.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <elf.h>
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define UNPACKED_MAX ((size_t)1 << 30)
#define FLAG_LZ4     0x2000U
#define FLAG_ZSTD    0x8000U

struct header {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size; /* bytes after the header */
};

/* The header of an image; later versions are longer. */
struct entry {
	uint16_t kind, attribute;
	uint32_t header_size;
	uint64_t padded_size;
	uint32_t packed_size;
	uint32_t options;
	uint16_t minor, major; /* version of the cubin's ABI or of PTX */
	uint32_t arch;
	uint64_t name;
	uint64_t flags;
	uint64_t reserved;
	uint64_t size; /* bytes when unpacked; 0 if not packed */
};
_Static_assert(sizeof(struct header) == 16, "fat binary's header");
_Static_assert(sizeof(struct entry) == 64, "fat binary's image");

/*
 * Compares byte by byte and stops at the first difference, because the data may
 * be a shorter string, which ends there.
 */
static bool begins_with_magic(const void *data, uint32_t magic)
{
	for (unsigned i = 0; i < sizeof magic; i++)
		if (((const unsigned char *)data)[i] !=
		    ((const unsigned char *)&magic)[i])
			return false;
	return true;
}

enum gkf_image_form gkf_image_form(const void *data)
{
	uint32_t elf;

	memcpy(&elf, ELFMAG, sizeof elf);
	if (begins_with_magic(data, GKF_WRAPPER_MAGIC))
		return GKF_FORM_WRAPPER;
	if (begins_with_magic(data, GKF_FATBIN_MAGIC))
		return GKF_FORM_FATBIN;
	return begins_with_magic(data, elf) ? GKF_FORM_ELF : GKF_FORM_TEXT;
}

uint64_t gkf_fatbin_size(const void *fatbin)
{
	struct header h;

	memcpy(&h, fatbin, sizeof h);
	if (h.magic != GKF_FATBIN_MAGIC || h.header_size < sizeof h ||
	    h.size > UINT64_MAX - h.header_size)
		return 0;
	return h.header_size + h.size;
}

static enum gkf_packing packing_of(const struct entry *e)
{
	if (e->flags & FLAG_ZSTD)
		return GKF_ZSTD;
	if (e->flags & FLAG_LZ4)
		return GKF_LZ4;
	return e->packed_size && e->size ? GKF_UNKNOWN_PACKING : GKF_PLAIN;
}

static enum gkf_image_kind kind_of(unsigned kind)
{
	return kind == 1   ? GKF_IMAGE_PTX
	       : kind == 2 ? GKF_IMAGE_ELF
			   : GKF_IMAGE_OTHER;
}

/*
 * Skips a fat binary's header and the zeros between the fat binaries of a
 * section.
 */
static int skip_header(const unsigned char *bytes, size_t size, size_t *offset)
{
	struct header h;

	while (size - *offset >= 8 && *offset % 8 == 0 &&
	       !memcmp(bytes + *offset, "\0\0\0\0\0\0\0\0", 8))
		*offset += 8;
	if (size - *offset < sizeof h)
		return GK_ERR_NOT_FOUND;
	memcpy(&h, bytes + *offset, sizeof h);
	if (h.magic != GKF_FATBIN_MAGIC)
		return 0;
	if (h.header_size < sizeof h || h.header_size > size - *offset)
		return GK_ERR_CORRUPT;
	*offset += h.header_size;
	return 0;
}

int gkf_fatbin_next(const void *fatbin, size_t size, size_t *offset,
		    struct gkf_image *ret_image)
{
	const unsigned char *bytes = fatbin;
	size_t at = *offset;
	struct entry e;
	uint32_t magic;
	int error;

	if (at > size || size - at < sizeof(struct header))
		return GK_ERR_NOT_FOUND;
	memcpy(&magic, bytes + at, sizeof magic);
	if (!at && magic != GKF_FATBIN_MAGIC)
		return GK_ERR_CORRUPT;
	do {
		error = skip_header(bytes, size, &at);
		if (error)
			return error;
		memcpy(&magic, bytes + at, size - at < 4 ? size - at : 4);
	} while (size - at >= sizeof(struct header) &&
		 magic == GKF_FATBIN_MAGIC);
	if (size - at < sizeof e)
		return GK_ERR_NOT_FOUND;
	memcpy(&e, bytes + at, sizeof e);
	if (e.header_size < sizeof e || e.header_size > size - at ||
	    e.padded_size > size - at - e.header_size)
		return GK_ERR_CORRUPT;
	*ret_image = (struct gkf_image){
	    .kind = kind_of(e.kind),
	    .arch = e.arch,
	    .packing = packing_of(&e),
	    .bytes = bytes + at + e.header_size,
	    .stored = e.padded_size,
	    .size = e.padded_size,
	};
	if (ret_image->packing != GKF_PLAIN) {
		if (e.packed_size > e.padded_size)
			return GK_ERR_CORRUPT;
		ret_image->stored = e.packed_size;
		ret_image->size = e.size;
	}
	*offset = at + e.header_size + e.padded_size;
	return 0;
}

static bool unpack_image(const struct gkf_image *i, char *to)
{
	if (i->packing == GKF_PLAIN) {
		memcpy(to, i->bytes, i->size);
		return true;
	}
	if (i->packing == GKF_LZ4)
		return i->stored <= INT_MAX &&
		       LZ4_decompress_safe(i->bytes, to, (int)i->stored,
					   (int)i->size) == (int)i->size;
	return ZSTD_decompress(to, i->size, i->bytes, i->stored) == i->size;
}

int gkf_image_unpack(const struct gkf_image *i, char **ret_bytes,
		     size_t *ret_size)
{
	char *to;

	if (i->packing == GKF_UNKNOWN_PACKING)
		return GK_ERR_NOT_SUPPORTED;
	if (i->size > UNPACKED_MAX)
		return GK_ERR_CORRUPT;
	to = malloc(i->size + 1);
	if (!to)
		return GK_ERR_NOMEM;
	if (!unpack_image(i, to)) {
		free(to);
		return GK_ERR_CORRUPT;
	}
	to[i->size] = '\0';
	*ret_bytes = to;
	*ret_size = i->size;
	return 0;
}

/* Images are preferred by architecture, newest first, then by position. */
static bool is_after(const struct gkf_image *image,
		     const struct gkf_image *before)
{
	return !before || image->arch < before->arch ||
	       (image->arch == before->arch && image->bytes > before->bytes);
}

int gkf_fatbin_choose(const void *fatbin, size_t size, unsigned capability,
		      const struct gkf_image *before,
		      struct gkf_image *ret_image)
{
	struct gkf_image image, best = {0};
	size_t offset = 0;
	int error;

	while (!(error = gkf_fatbin_next(fatbin, size, &offset, &image)))
		if (image.kind == GKF_IMAGE_PTX && image.arch <= capability &&
		    image.arch > best.arch && is_after(&image, before))
			best = image;
	if (error != GK_ERR_NOT_FOUND)
		return error;
	if (!best.arch)
		return GK_ERR_NOT_FOUND;
	*ret_image = best;
	return 0;
}

unsigned gkf_cubin_arch(const void *elf, size_t size)
{
	Elf64_Ehdr h;
	unsigned low, high;

	if (size < sizeof h)
		return 0;
	memcpy(&h, elf, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_machine != EM_CUDA)
		return 0;
	/*
	 * The architecture is in the lowest byte up to CUDA 12, and in the
	 * second one since CUDA 13.
	 */
	low = h.e_flags & 0xff;
	high = h.e_flags >> 8 & 0xff;
	return h.e_ident[EI_ABIVERSION] >= 8 ? high : low;
}
