/* SPDX-License-Identifier: Apache-2.0 */
/* tape_block.c - writes and reads block heads, and computes checksums. */
#include "record/tape_block.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78U /* bit-reversed */

static const unsigned char magic[4] = {'G', 'K', 'T', 'B'};

/* Advances the checksum by one byte: two steps of four bits, by a table. */
static uint32_t step_checksum(uint32_t crc)
{
	static const uint32_t remainders[16] = {
#define BIT(crc)  ((crc) >> 1 ^ ((crc)&1 ? POLYNOMIAL : 0))
#define HALF(crc) BIT(BIT(BIT(BIT(crc##U))))
	    HALF(0),  HALF(1),  HALF(2),  HALF(3),  HALF(4),  HALF(5),
	    HALF(6),  HALF(7),  HALF(8),  HALF(9),  HALF(10), HALF(11),
	    HALF(12), HALF(13), HALF(14), HALF(15),
#undef HALF
#undef BIT
	};

	crc = crc >> 4 ^ remainders[crc & 15];
	return crc >> 4 ^ remainders[crc & 15];
}

uint32_t gk_crc32c(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint32_t crc = ~0U;

	while (len--)
		crc = step_checksum(crc ^ *at++);
	return ~crc;
}

static void put_little_endian(unsigned char *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get_little_endian(const unsigned char *from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

bool gk_tape_head_fits(const struct gk_tape_head *head)
{
	uint64_t most =
	    GK_TAPE_RATIO_FREE + (uint64_t)head->stored * GK_TAPE_RATIO_MAX;

	return head->stored && head->raw && head->raw <= most &&
	       head->stored <= GK_TAPE_BLOCK_MAX &&
	       head->raw <= GK_TAPE_BLOCK_MAX;
}

void gk_tape_head_write(const struct gk_tape_head *head,
			unsigned char bytes[GK_TAPE_HEAD_LEN])
{
	memcpy(bytes, magic, sizeof magic);
	put_little_endian(bytes + 4, head->flags, 4);
	put_little_endian(bytes + 8, head->stored, 4);
	put_little_endian(bytes + 12, head->raw, 4);
	put_little_endian(bytes + 16, head->wall_ns, 8);
	put_little_endian(bytes + 24, head->check, 4);
	put_little_endian(bytes + 28, gk_crc32c(bytes, 28), 4);
}

bool gk_tape_head_read(const unsigned char bytes[GK_TAPE_HEAD_LEN],
		       struct gk_tape_head *ret_head)
{
	struct gk_tape_head head = {
	    .flags = (uint32_t)get_little_endian(bytes + 4, 4),
	    .stored = (uint32_t)get_little_endian(bytes + 8, 4),
	    .raw = (uint32_t)get_little_endian(bytes + 12, 4),
	    .wall_ns = get_little_endian(bytes + 16, 8),
	    .check = (uint32_t)get_little_endian(bytes + 24, 4),
	};

	if (memcmp(bytes, magic, sizeof magic) != 0 ||
	    get_little_endian(bytes + 28, 4) != gk_crc32c(bytes, 28) ||
	    !gk_tape_head_fits(&head))
		return false;
	*ret_head = head;
	return true;
}
