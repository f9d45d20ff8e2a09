/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fatbin_fuzz.c - checks fat binaries of any bytes: images are within them, and
 * unpack or are refused.
 */
#include "fuzz.h"
#include "ptx/front/fatbin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gkf_image image;
	size_t offset = 0, unpacked, before;
	char *bytes;

	do {
		before = offset;
		if (gkf_fatbin_next(data, size, &offset, &image))
			break;
		if ((const uint8_t *)image.bytes < data ||
		    (const uint8_t *)image.bytes + image.stored > data + size ||
		    offset <= before)
			abort();
		if (image.size < 1 << 24 &&
		    !gkf_image_unpack(&image, &bytes, &unpacked)) {
			if (bytes[unpacked])
				abort();
			free(bytes);
		}
	} while (offset < size);
	gkf_fatbin_choose(data, size, 90, NULL, &image);
	gkf_cubin_arch(data, size);
	return 0;
}
