/* code_size.c - adds up the variables of PTX, and the sections of cubins. */
#include "limit/preload/code_size.h"
#include "base/array.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 512u /* what memory is given out in */

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

/* 0: no type. Vectors are up to four of them, and said before it. */
static unsigned bytes_of_type(const char *at, size_t length)
{
	for (size_t i = 0; i < COUNT(types); i++)
		if (is_word(at, length, types[i].name))
			return types[i].bytes;
	return 0;
}

/* From the name of a variable on: [3][4] and so on, until its end. */
static uint64_t count_elements(const char *at)
{
	uint64_t count = 1;

	at += strcspn(at, "[=;,");
	while (*at == '[') {
		char *end;

		count *= strtoull(skip_space(at + 1), &end, 0);
		at = skip_space(end + strcspn(end, "]") + 1);
	}
	return count;
}

/* After ".global": .align 4 .v2 .f32 name[10]. */
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
			length = strcspn(at, ")") + 1;
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

	/* Loads and stores (ld.global.f32) have a word before the dot. */
	for (const char *at = strstr(text, space); at;
	     at = strstr(at + 1, space))
		if ((at == text || strchr(" \t\r\n", at[-1])) &&
		    strchr(" \t", at[sizeof(space) - 1]))
			sum += size_variable(at + sizeof(space) - 1);
	return sum;
}

/* ---- cubins ---- */

/* Whatever is to be in memory is in sections that say so. */
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

uint64_t code_size(const void *image)
{
	const unsigned char *bytes = image;

	if (!image)
		return 0;
	/* Text may be shorter. */
	if (!strncmp(image, ELFMAG, SELFMAG))
		return size_elf(bytes);
	/* Fat binaries begin with a byte that no text has. */
	return strchr("./ \t\r\n", bytes[0]) && bytes[0] ? size_ptx(image) : 0;
}
