/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_bundle.c - makes and reads bundles: several images in one piece of
 * memory. A bundle contains no pointers, because programs treat the result of
 * cuLinkComplete() as machine code and copy it.
 */
#include "fronts/cuda/module/module.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* No PTX and no other file starts like this. */
#define MAGIC "gpukit bundle 1"

struct bundle {
	char magic[sizeof MAGIC];
	uint64_t size; /* total bytes */
	uint64_t count;
};

/*
 * The header of each image. It keeps the images aligned to 8 bytes, which fat
 * binaries require.
 */
struct part {
	uint64_t size; /* including the padding, which is at least one NUL */
};

static uint64_t padded_size(size_t size)
{
	return (size + 8) & ~(uint64_t)7;
}

void *module_bundle_new(const struct module_part *parts, unsigned count)
{
	struct bundle head = {.magic = MAGIC, .count = count};
	char *made, *at;

	GK_ASSERT(count <= MODULE_PARTS_MAX);
	head.size = sizeof head;
	for (unsigned i = 0; i < count; i++)
		head.size += sizeof(struct part) + padded_size(parts[i].size);
	made = calloc(1, head.size);
	if (!made)
		return NULL;
	memcpy(made, &head, sizeof head);
	at = made + sizeof head;
	for (unsigned i = 0; i < count; i++) {
		struct part p = {padded_size(parts[i].size)};

		memcpy(at, &p, sizeof p);
		memcpy(at + sizeof p, parts[i].bytes, parts[i].size);
		at += sizeof p + p.size;
	}
	return made;
}

/*
 * Stops at the first NUL, because the image may be a text shorter than MAGIC.
 */
bool module_is_bundle(const void *image, size_t size)
{
	return (!size || size >= sizeof MAGIC) &&
	       !strncmp(image, MAGIC, sizeof MAGIC);
}

size_t module_bundle_size(const void *bundle)
{
	struct bundle head;

	memcpy(&head, bundle, sizeof head);
	return head.size;
}

CUresult module_bundle_open(const void *bundle, size_t size,
			    const void *ret_images[MODULE_PARTS_MAX + 1],
			    size_t ret_sizes[MODULE_PARTS_MAX])
{
	const char *at = (const char *)bundle + sizeof(struct bundle);
	struct bundle head;
	uint64_t left;

	if (size && size < sizeof head)
		return CUDA_ERROR_INVALID_IMAGE;
	memcpy(&head, bundle, sizeof head);
	if ((size && size < head.size) || head.size < sizeof head ||
	    head.count > MODULE_PARTS_MAX)
		return CUDA_ERROR_INVALID_IMAGE;
	left = head.size - sizeof head;
	for (uint64_t i = 0; i < head.count; i++) {
		struct part p;

		if (left < sizeof p)
			return CUDA_ERROR_INVALID_IMAGE;
		memcpy(&p, at, sizeof p);
		left -= sizeof p;
		if (!p.size || p.size > left || at[sizeof p + p.size - 1])
			return CUDA_ERROR_INVALID_IMAGE;
		ret_images[i] = at + sizeof p;
		ret_sizes[i] = p.size;
		at += sizeof p + p.size;
		left -= p.size;
	}
	ret_images[head.count] = NULL;
	return CUDA_SUCCESS;
}
