/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_fuzz.c - decodes the output of a host of `gpukit top --host`, with any
 * bytes.
 */
#include "fuzz.h"

#include "format/json.h"
#include "format/sums.h"
#include "hosts/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gk_snapshot *snap;
	struct gk_buf text = {0};

	if (gk_decode_text((const char *)data, size, 1000000000, &snap))
		return 0;
	check_ranges(snap);
	gk_sums_of(snap);
	gk_format_json(&text, snap, GK_JSON_WHY);
	gk_buf_free(&text);
	gk_snapshot_free(snap);
	return 0;
}
