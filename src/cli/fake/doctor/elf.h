/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - reads 64-bit little-endian ELF files without trusting their contents:
 * whatever lies outside the file is treated as absent.
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

/* Returns a part of `all`, or an empty one if it is not entirely inside. */
struct bytes bytes_part(struct bytes all, size_t offset, size_t size);

struct elf {
	struct bytes all;
	Elf64_Ehdr header;
	struct bytes names;          /* the sections' names */
	struct bytes symbols, texts; /* dynamic symbols and their names */
};

/*
 * Returns false if the bytes are not such an ELF file. *ret_elf points into the
 * bytes.
 */
bool elf_read(struct bytes all, struct elf *ret_elf);

/*
 * Returns the name and the contents of the index-th section; false after the
 * last. The name is NUL-terminated, and "" if it lies outside the file.
 */
bool elf_section(const struct elf *elf, unsigned index, const char **ret_name,
		 struct bytes *ret_contents);

/*
 * Returns the contents of the first section of that name; empty if there is
 * none.
 */
struct bytes elf_find(const struct elf *elf, const char *name);

/*
 * Returns the index-th library that the file needs (DT_NEEDED); NULL after the
 * last.
 */
const char *elf_needed(const struct elf *elf, unsigned index);

/* Returns the name under which others link to the file (DT_SONAME), or NULL. */
const char *elf_soname(const struct elf *elf);

/* Returns the index-th dynamic symbol and its name; false after the last. */
bool elf_symbol(const struct elf *elf, size_t index, const char **ret_name,
		Elf64_Sym *ret_symbol);

/*
 * Whether the file imports a symbol whose name is the prefix followed by an
 * upper-case letter.
 */
bool elf_imports(const struct elf *elf, const char *prefix);

/*
 * Whether the file is a program: it names an interpreter or has type ET_EXEC.
 */
bool elf_is_program(const struct elf *elf);

#endif
