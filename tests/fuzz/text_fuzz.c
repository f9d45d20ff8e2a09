/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_fuzz.c - checks foreign text: cleaned text is valid UTF-8 without
 * controls; lines of /proc and numbers that a person types parse or are
 * refused.
 */
#include "base/pidstat.h"
#include "base/str.h"
#include "core/read/procfs.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_clean(const char *text, size_t size)
{
	char out[256];
	size_t cap = 1 + size % sizeof out;
	size_t len = gk_str_clean(out, cap, text, size);

	if (len >= cap || out[len])
		abort();
	for (size_t i = 0; i < len;) {
		size_t n = gk_utf8_len(out + i, len - i);

		if (!n || (unsigned char)out[i] < 0x20 || out[i] == 0x7f)
			abort();
		i += n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct gk_pidstat st;
	uint64_t number;
	size_t len = 0;
	const char *id;

	if (!text)
		return 0;
	check_clean((const char *)data, size);
	gk_pidstat_parse(text, &st);
	gk_parse_size(text, &number);
	gk_parse_duration(text, &number);
	id = gk_container_id(text, &len);
	if (id && (id < text || id + len > text + strlen(text)))
		abort();
	free(text);
	return 0;
}
