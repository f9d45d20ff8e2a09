/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_object.c - finds the device code in host objects, as written by nvcc,
 * and in archives of such objects. Files are untrusted: every offset is
 * checked.
 */
#include "fronts/cuda/module/link_object.h"
#include "ptx/front/fatbin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FATBIN_ALIGN  8
#define FATBIN_HEADER 16

/*
 * Returns `count` bytes of b that begin at offset `from`; NULL if b is too
 * short.
 */
static const char *part_of(const struct link_bytes *b, uint64_t from,
			   uint64_t count)
{
	return from <= b->size && count <= b->size - from ? b->data + from
							  : NULL;
}

/* Passes an aligned copy of a fat binary to add(). */
static CUresult add_copy(const char *fatbin, size_t size, link_add *add,
			 void *to)
{
	char *copy = malloc(size + 1);
	CUresult r;

	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(copy, fatbin, size);
	copy[size] = '\0';
	r = add(to, copy, size);
	free(copy);
	return r;
}

/* A section contains one fat binary after another, with zeros in between. */
static CUresult add_section(const struct link_bytes *section, link_add *add,
			    void *to, unsigned *count)
{
	CUresult r = CUDA_SUCCESS;

	for (size_t at = 0; !r && at + FATBIN_HEADER <= section->size;) {
		uint64_t size = gkf_fatbin_size(section->data + at);

		if (!size) {
			at += FATBIN_ALIGN;
			continue;
		}
		if (!part_of(section, at, size))
			return CUDA_ERROR_INVALID_IMAGE;
		r = add_copy(section->data + at, size, add, to);
		++*count;
		at += (size + FATBIN_ALIGN - 1) / FATBIN_ALIGN * FATBIN_ALIGN;
	}
	return r;
}

static bool is_device_code(const struct link_bytes *names, uint32_t name)
{
	static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};

	for (unsigned i = 0; i < sizeof sections / sizeof *sections; i++) {
		size_t length = strlen(sections[i]) + 1;
		const char *at = part_of(names, name, length);

		if (at && !memcmp(at, sections[i], length))
			return true;
	}
	return false;
}

static bool read_section(const struct link_bytes *file, const Elf64_Ehdr *head,
			 unsigned i, Elf64_Shdr *ret_header,
			 struct link_bytes *ret_contents)
{
	const char *at =
	    part_of(file, head->e_shoff + (uint64_t)i * sizeof *ret_header,
		    sizeof *ret_header);

	if (!at || head->e_shoff > file->size)
		return false;
	memcpy(ret_header, at, sizeof *ret_header);
	ret_contents->size = ret_header->sh_size;
	ret_contents->data =
	    part_of(file, ret_header->sh_offset, ret_header->sh_size);
	return ret_contents->data && ret_header->sh_type != SHT_NOBITS;
}

static bool is_object(const struct link_bytes *file, Elf64_Ehdr *ret_head)
{
	if (!part_of(file, 0, sizeof *ret_head))
		return false;
	memcpy(ret_head, file->data, sizeof *ret_head);
	return !memcmp(ret_head->e_ident, ELFMAG, SELFMAG) &&
	       ret_head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret_head->e_shentsize == sizeof(Elf64_Shdr);
}

static CUresult add_object(const struct link_bytes *file, link_add *add,
			   void *to, unsigned *count)
{
	struct link_bytes names, contents;
	Elf64_Ehdr head;
	Elf64_Shdr header;
	CUresult r = CUDA_SUCCESS;

	if (!is_object(file, &head) ||
	    !read_section(file, &head, head.e_shstrndx, &header, &names))
		return CUDA_ERROR_INVALID_IMAGE;
	for (unsigned i = 0; !r && i < head.e_shnum; i++)
		if (read_section(file, &head, i, &header, &contents) &&
		    is_device_code(&names, header.sh_name))
			r = add_section(&contents, add, to, count);
	return r;
}

/* ---- archives ---- */

#define ARCHIVE "!<arch>\n"
#define MEMBER  60 /* bytes of a member's header */
/* the offset of the size in a member's header, and its number of digits */
#define MEMBER_SIZE 48
#define SIZE_DIGITS 10

static uint64_t member_size(const char *header)
{
	char digits[SIZE_DIGITS + 1] = "";

	memcpy(digits, header + MEMBER_SIZE, SIZE_DIGITS);
	return strtoull(digits, NULL, 10);
}

static bool is_archive(const struct link_bytes *file)
{
	return file->size >= strlen(ARCHIVE) &&
	       !memcmp(file->data, ARCHIVE, strlen(ARCHIVE));
}

/* The archive's index and table of names are members too, but not objects. */
static CUresult add_archive(const struct link_bytes *file, link_add *add,
			    void *to, unsigned *count)
{
	CUresult r = CUDA_SUCCESS;
	struct link_bytes member;
	Elf64_Ehdr head;

	for (uint64_t at = strlen(ARCHIVE); !r && at < file->size;) {
		const char *header = part_of(file, at, MEMBER);

		if (!header)
			return CUDA_ERROR_INVALID_IMAGE;
		member.size = member_size(header);
		member.data = part_of(file, at + MEMBER, member.size);
		if (!member.data)
			return CUDA_ERROR_INVALID_IMAGE;
		if (is_object(&member, &head))
			r = add_object(&member, add, to, count);
		at += MEMBER + member.size + member.size % 2;
	}
	return r;
}

CUresult link_object_add(CUjitInputType type, const void *data, size_t size,
			 link_add *add, void *to)
{
	struct link_bytes file = {data, size};
	unsigned count = 0;
	CUresult r;

	if (type == CU_JIT_INPUT_LIBRARY && !is_archive(&file))
		return CUDA_ERROR_INVALID_IMAGE;
	r = type == CU_JIT_INPUT_LIBRARY ? add_archive(&file, add, to, &count)
					 : add_object(&file, add, to, &count);
	return r || count ? r : CUDA_ERROR_NO_BINARY_FOR_GPU;
}
