/*
 * elf.h - reads ELF files of 64 bits, little endian, without trusting a
 * byte of them: whatever lies outside of the file is not there.
 */
#ifndef GK_CLI_FAKE_ELF_H
#define GK_CLI_FAKE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

struct bytes {
	const unsigned char *data;
	size_t size;
};

/* The part of a stretch of bytes; empty where it is not all there. */
struct bytes bytes_part(struct bytes all, size_t offset, size_t size);

struct elf {
	struct bytes all;
	Elf64_Ehdr header;
	struct bytes names;          /* of sections */
	struct bytes symbols, texts; /* dynamic ones and their names */
};

/* False: the bytes are no such file. *ret_elf points into them. */
bool elf_read(struct bytes all, struct elf *ret_elf);

/*
 * The index-th section: its name (NUL-terminated, "" if that is outside of
 * the file) and contents. False after the last.
 */
bool elf_section(const struct elf *elf, unsigned index, const char **ret_name,
		 struct bytes *ret_contents);

/* The contents of the first section of a name; empty: there is none. */
struct bytes elf_find(const struct elf *elf, const char *name);

/* The index-th library that it needs (DT_NEEDED); NULL after the last. */
const char *elf_needed(const struct elf *elf, unsigned index);

/* The name by which others need it (DT_SONAME); NULL: it has none. */
const char *elf_soname(const struct elf *elf);

/* The index-th dynamic symbol and its name; false after the last. */
bool elf_symbol(const struct elf *elf, size_t index, const char **ret_name,
		Elf64_Sym *ret_symbol);

/*
 * Whether it asks others for a symbol whose name is the prefix followed by an
 * upper-case letter.
 */
bool elf_imports(const struct elf *elf, const char *prefix);

/* Whether it names a program that is to load it. */
bool elf_is_program(const struct elf *elf);

#endif
