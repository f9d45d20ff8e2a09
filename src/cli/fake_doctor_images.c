/*
 * fake_doctor_images.c - what lies in a section of fat binaries: containers,
 * each with the images of one module. Nothing is unpacked but machine code
 * that may hold no kernel at all.
 */
#include "cli/fake_doctor.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CONTAINER_MAGIC 0xba55ed50u
#define CONTAINER_ALIGN 8

struct container {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size; /* of what follows */
};

/* The first 64 bytes of an entry; its header may be longer. */
struct entry {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t size;        /* of the image, padding included */
	uint32_t packed_size; /* 0: it is not packed */
	uint32_t options;
	uint16_t minor, major;
	uint32_t arch;
	uint64_t source_name;
	uint64_t flags;
	uint64_t reserved;
	uint64_t unpacked_size;
};

_Static_assert(sizeof(struct container) == 16, "as nvcc writes it");
_Static_assert(sizeof(struct entry) == 64, "as nvcc writes it");

enum { KIND_PTX = 1, KIND_ELF = 2 };
#define FLAG_LZ4     0x2000u
#define FLAG_ZSTD    0x8000u
#define UNPACKED_MAX ((size_t)64 << 20)

/* A file of machine code without a section of code. */
static bool has_no_kernel(struct bytes file)
{
	struct bytes contents;
	const char *name;
	struct elf elf;

	if (!elf_read(file, &elf))
		return false;
	for (unsigned i = 0; elf_section(&elf, i, &name, &contents); i++)
		if (!strncmp(name, ".text.", strlen(".text.")))
			return false;
	return true;
}

static bool is_empty(const struct image *image, const struct entry *entry,
		     struct bytes packed)
{
	struct bytes file = packed;
	unsigned char *room;
	bool empty;

	if (image->kind != IMAGE_CODE || image->packing == PACKED_LZ4)
		return false;
	if (image->packing == PACKED_NOT)
		return has_no_kernel(file);
	if (entry->unpacked_size > UNPACKED_MAX)
		return false;
	room = malloc(entry->unpacked_size + 1);
	if (!room)
		return false;
	file.data = room;
	file.size = ZSTD_decompress(room, entry->unpacked_size, packed.data,
				    entry->packed_size);
	empty = !ZSTD_isError(file.size) && has_no_kernel(file);
	free(room);
	return empty;
}

static int add(struct doctor *doctor, const struct entry *entry,
	       struct bytes payload, bool relocatable)
{
	struct image *image;

	if (!doctor->images)
		doctor->images = calloc(IMAGES_MAX, sizeof *doctor->images);
	if (!doctor->images)
		return GK_ERR_NOMEM;
	if (doctor->image_count == IMAGES_MAX)
		return 0;
	image = &doctor->images[doctor->image_count++];
	*image = (struct image){
	    .kind = entry->kind == KIND_PTX ? IMAGE_PTX : IMAGE_CODE,
	    .packing = entry->flags & FLAG_ZSTD  ? PACKED_ZSTD
		       : entry->flags & FLAG_LZ4 ? PACKED_LZ4
						 : PACKED_NOT,
	    .arch = entry->arch,
	    .module = doctor->module_count,
	    .relocatable = relocatable,
	    .size = payload.size,
	};
	image->empty = entry->packed_size <= payload.size &&
		       is_empty(image, entry, payload);
	return 0;
}

static int add_container(struct bytes entries, bool relocatable,
			 struct doctor *doctor)
{
	struct entry entry;
	int err = 0;

	for (size_t at = 0; !err;) {
		struct bytes head = bytes_part(entries, at, sizeof entry);
		struct bytes payload;

		if (!head.data)
			break;
		memcpy(&entry, head.data, sizeof entry);
		if (entry.header_size < sizeof entry)
			break;
		at += entry.header_size;
		payload = bytes_part(entries, at, entry.size);
		if (!payload.data)
			break;
		if (entry.kind == KIND_PTX || entry.kind == KIND_ELF)
			err = add(doctor, &entry, payload, relocatable);
		at += entry.size;
	}
	return err;
}

int doctor_images(struct bytes section, bool relocatable, struct doctor *doctor)
{
	struct container head;
	int err = 0;

	for (size_t at = 0; !err && at + sizeof head <= section.size;) {
		struct bytes entries;

		memcpy(&head, section.data + at, sizeof head);
		if (head.magic != CONTAINER_MAGIC ||
		    head.header_size < sizeof head) {
			at += CONTAINER_ALIGN;
			continue;
		}
		at += head.header_size;
		entries = bytes_part(section, at, head.size);
		err = add_container(entries, relocatable, doctor);
		doctor->module_count++;
		at += entries.size;
	}
	return err;
}
