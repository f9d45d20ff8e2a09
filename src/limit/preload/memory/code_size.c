/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_size.c - adds up the variables of PTX and the sections of cubins, and
 * finds bounds for what code takes.
 */
#include "limit/preload/memory/code_size.h"
#include "base/array.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 512u /* the unit of allocation */

static uint64_t round_piece(uint64_t bytes)
{
	return (bytes + PIECE - 1) & -(uint64_t)PIECE;
}

/* ---- PTX ---- */

static const struct {
	const char *name;
	unsigned bytes;
} types[] = {
    {".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2}, {".u16", 2},
    {".s16", 2}, {".f16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4},
    {".f32", 4}, {".b64", 8}, {".u64", 8}, {".s64", 8}, {".f64", 8},
};

static bool is_word(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(at, word, length);
}

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/*
 * The size of a type; 0: not a type. Vectors of two or four elements have a
 * mark before the type.
 */
static unsigned bytes_of_type(const char *at, size_t length)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (is_word(at, length, types[i].name))
			return types[i].bytes;
	return 0;
}

/*
 * The position after the next of the characters in `last`, or the end of the
 * text.
 */
static const char *skip_to(const char *at, const char *last)
{
	at += strcspn(at, last);
	return *at ? at + 1 : at;
}

/* Multiplies the dimensions after a variable's name: [3][4] and so on. */
static uint64_t count_elements(const char *at)
{
	uint64_t count = 1;

	at += strcspn(at, "[=;,");
	while (*at == '[') {
		char *end;

		count *= strtoull(skip_space(at + 1), &end, 0);
		at = skip_space(skip_to(end, "]"));
	}
	return count;
}

/* Reads what follows ".global": .align 4 .v2 .f32 name[10]. */
static uint64_t size_variable(const char *at)
{
	uint64_t elements = 1;
	unsigned bytes = 0;

	for (at = skip_space(at); *at == '.' && !bytes; at = skip_space(at)) {
		size_t length = 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyz"
						   "0123456789");

		bytes = bytes_of_type(at, length);
		if (is_word(at, length, ".v2") || is_word(at, length, ".v4"))
			elements = at[2] == '2' ? 2 : 4;
		if (is_word(at, length, ".attribute"))
			length = (size_t)(skip_to(at, ")") - at);
		at += length;
		if (!bytes)
			at += strspn(at, " \t0123456789");
	}
	return bytes ? round_piece(elements * bytes * count_elements(at)) : 0;
}

static uint64_t size_ptx(const char *text)
{
	static const char space[] = ".global";
	uint64_t sum = 0;

	/*
	 * Only declarations count: in loads and stores (ld.global.f32) a word
	 * precedes the dot.
	 */
	for (const char *at = strstr(text, space); at;
	     at = strstr(at + 1, space))
		if ((at == text || strchr(" \t\r\n", at[-1])) &&
		    strchr(" \t", at[sizeof(space) - 1]))
			sum += size_variable(at + sizeof(space) - 1);
	return sum;
}

/* ---- cubins ---- */

/* Sections that will be in memory are marked SHF_ALLOC. */
static uint64_t size_elf(const unsigned char *image)
{
	Elf64_Shdr section;
	Elf64_Ehdr head;
	uint64_t sum = 0;

	memcpy(&head, image, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize < sizeof(section))
		return 0;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		memcpy(&section, image + head.e_shoff + i * head.e_shentsize,
		       sizeof(section));
		if (section.sh_flags & SHF_ALLOC)
			sum += round_piece(section.sh_size);
	}
	return sum;
}

/* ---- fat binaries ---- */

#define WRAPPER_MAGIC 0x466243b1U
#define FATBIN_MAGIC  0xba55ed50U

/* A program's reference to a fat binary. */
struct wrapper {
	uint32_t magic, version;
	const void *fatbin;
};

struct fatbin {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size; /* size of all images after the header */
};

/* The header of an image. */
struct image {
	uint16_t kind, attribute;
	uint32_t header_size;
	uint64_t padded_size, not_read[5];
	uint64_t unpacked_size; /* 0: not compressed */
};
_Static_assert(sizeof(struct image) == 64, "as compilers write it");

enum { IMAGE_PTX = 1 };

/* Reads single bytes, because a text may be as short as one byte. */
static bool has_magic(const unsigned char *bytes, uint32_t magic)
{
	for (unsigned i = 0; i < sizeof magic; i++)
		if (bytes[i] != (magic >> 8 * i & 0xff))
			return false;
	return true;
}

/*
 * A PTX instruction of some ten characters may become several GPU instructions.
 */
static uint64_t most_of_ptx(uint64_t bytes)
{
	return bytes < CODE_MOST / 8 ? 8 * bytes : CODE_MOST;
}

/* The size of the largest image: a driver loads one of the images. */
static uint64_t most_of_fatbin(const unsigned char *bytes)
{
	struct fatbin head;
	struct image image;
	uint64_t most = 0, at, end;

	memcpy(&head, bytes, sizeof head);
	end = head.header_size + head.size;
	for (at = head.header_size; at + sizeof image <= end;
	     at += image.header_size + image.padded_size) {
		uint64_t size;

		memcpy(&image, bytes + at, sizeof image);
		if (image.header_size < sizeof image ||
		    image.padded_size > end - at)
			break;
		size = image.unpacked_size > image.padded_size
			   ? image.unpacked_size
			   : image.padded_size;
		size = image.kind == IMAGE_PTX ? most_of_ptx(size) : size;
		most = size > most ? size : most;
	}
	return most;
}

/* ---- any form ---- */

static struct code_size with_slack(uint64_t least, uint64_t most)
{
	most = most < CODE_MOST - CODE_SLACK ? most + CODE_SLACK : CODE_MOST;
	return (struct code_size){least, most > least ? most : least};
}

/*
 * Returns the content of a wrapper, or the image itself if it is not a wrapper.
 */
static const void *unwrap_image(const void *image)
{
	struct wrapper wrapper;

	if (!image || !has_magic(image, WRAPPER_MAGIC))
		return image;
	memcpy(&wrapper, image, sizeof wrapper);
	return wrapper.fatbin;
}

struct code_size code_size(const void *image)
{
	const unsigned char *bytes = unwrap_image(image);
	uint64_t least;

	if (!bytes)
		return (struct code_size){0};
	if (has_magic(bytes, FATBIN_MAGIC))
		return with_slack(0, most_of_fatbin(bytes));
	/* A text may be shorter than the magic. */
	if (!strncmp((const char *)bytes, ELFMAG, SELFMAG)) {
		least = size_elf(bytes);
		return with_slack(least, least);
	}
	if (!bytes[0] || !strchr("./ \t\r\n", bytes[0]))
		return with_slack(0, 0);
	least = size_ptx((const char *)bytes);
	return with_slack(least,
			  least + most_of_ptx(strlen((const char *)bytes)));
}

/* Files may be compressed: compilers reduce them to as little as a tenth. */
struct code_size code_size_of_file(uint64_t bytes)
{
	return with_slack(0, bytes < CODE_MOST / 16 ? 16 * bytes : CODE_MOST);
}
