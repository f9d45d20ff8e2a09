/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.c - reads ELF files; every offset is checked against the file's length.
 */
#include "cli/fake/doctor/elf.h"

#include <string.h>

struct bytes bytes_part(struct bytes all, size_t offset, size_t size)
{
	if (offset > all.size || size > all.size - offset)
		return (struct bytes){NULL, 0};
	return (struct bytes){all.data + offset, size};
}

/*
 * Copies a struct out of the file. Returns false if it extends beyond the end.
 */
static bool copy_struct(struct bytes all, size_t offset, void *to, size_t size)
{
	struct bytes part = bytes_part(all, offset, size);

	if (!part.data)
		return false;
	memcpy(to, part.data, size);
	return true;
}

static const char *text_at(struct bytes table, size_t offset)
{
	if (offset >= table.size ||
	    !memchr(table.data + offset, 0, table.size - offset))
		return "";
	return (const char *)table.data + offset;
}

static bool section_header(const struct elf *elf, unsigned index,
			   Elf64_Shdr *ret)
{
	return index < elf->header.e_shnum &&
	       elf->header.e_shentsize == sizeof *ret &&
	       copy_struct(elf->all,
			   elf->header.e_shoff + (size_t)index * sizeof *ret,
			   ret, sizeof *ret);
}

static struct bytes find_contents(const struct elf *elf,
				  const Elf64_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS)
		return (struct bytes){NULL, 0};
	return bytes_part(elf->all, header->sh_offset, header->sh_size);
}

bool elf_read(struct bytes all, struct elf *ret_elf)
{
	struct elf elf = {.all = all};
	Elf64_Shdr names;

	if (!copy_struct(all, 0, &elf.header, sizeof elf.header) ||
	    memcmp(elf.header.e_ident, ELFMAG, SELFMAG) ||
	    elf.header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf.header.e_shoff > all.size)
		return false;
	if (section_header(&elf, elf.header.e_shstrndx, &names))
		elf.names = find_contents(&elf, &names);
	elf.symbols = elf_find(&elf, ".dynsym");
	elf.texts = elf_find(&elf, ".dynstr");
	*ret_elf = elf;
	return true;
}

bool elf_section(const struct elf *elf, unsigned index, const char **ret_name,
		 struct bytes *ret_contents)
{
	Elf64_Shdr header;

	if (!section_header(elf, index, &header))
		return false;
	*ret_name = text_at(elf->names, header.sh_name);
	*ret_contents = find_contents(elf, &header);
	return true;
}

struct bytes elf_find(const struct elf *elf, const char *name)
{
	struct bytes found;
	const char *named;

	for (unsigned i = 0; elf_section(elf, i, &named, &found); i++)
		if (!strcmp(named, name))
			return found;
	return (struct bytes){NULL, 0};
}

/* Returns the string of the index-th dynamic entry with the given tag. */
static const char *dynamic_text(const struct elf *elf, Elf64_Sxword tag,
				unsigned index)
{
	struct bytes dynamic = elf_find(elf, ".dynamic");
	struct bytes texts = elf_find(elf, ".dynstr");
	Elf64_Dyn entry;

	for (size_t at = 0; copy_struct(dynamic, at, &entry, sizeof entry) &&
			    entry.d_tag != DT_NULL;
	     at += sizeof entry)
		if (entry.d_tag == tag && !index--)
			return text_at(texts, entry.d_un.d_val);
	return NULL;
}

const char *elf_needed(const struct elf *elf, unsigned index)
{
	return dynamic_text(elf, DT_NEEDED, index);
}

const char *elf_soname(const struct elf *elf)
{
	return dynamic_text(elf, DT_SONAME, 0);
}

bool elf_symbol(const struct elf *elf, size_t index, const char **ret_name,
		Elf64_Sym *ret_symbol)
{
	if (!copy_struct(elf->symbols, index * sizeof *ret_symbol, ret_symbol,
			 sizeof *ret_symbol))
		return false;
	*ret_name = text_at(elf->texts, ret_symbol->st_name);
	return true;
}

bool elf_imports(const struct elf *elf, const char *prefix)
{
	size_t length = strlen(prefix);
	Elf64_Sym symbol;
	const char *name;

	for (size_t i = 0; elf_symbol(elf, i, &name, &symbol); i++)
		if (symbol.st_shndx == SHN_UNDEF &&
		    !strncmp(name, prefix, length) && name[length] >= 'A' &&
		    name[length] <= 'Z')
			return true;
	return false;
}

bool elf_is_program(const struct elf *elf)
{
	Elf64_Phdr header;

	for (unsigned i = 0;
	     i < elf->header.e_phnum &&
	     elf->header.e_phentsize == sizeof header &&
	     copy_struct(elf->all,
			 elf->header.e_phoff + (size_t)i * sizeof header,
			 &header, sizeof header);
	     i++)
		if (header.p_type == PT_INTERP)
			return true;
	return elf->header.e_type == ET_EXEC;
}
