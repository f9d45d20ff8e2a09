/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_images.c - reads the images in a section of fat binaries. Each fat
 * binary holds the images of one module.
 */
#include "base/err.h"
#include "cli/fake/doctor/doctor.h"
#include "ptx/front/fatbin.h"

#include <stdlib.h>
#include <string.h>

#define FATBIN_ALIGN 8

/*
 * Whether an image of machine code has no section with code, and so no kernel.
 */
static bool has_no_kernel(const struct gkf_image *image)
{
	struct bytes file, contents;
	const char *name;
	bool none = true;
	struct elf elf;
	char *unpacked;

	if (gkf_image_unpack(image, &unpacked, &file.size))
		return false;
	file.data = (const unsigned char *)unpacked;
	none = elf_read(file, &elf);
	for (unsigned i = 0; none && elf_section(&elf, i, &name, &contents);
	     i++)
		none = strncmp(name, ".text.", strlen(".text.")) != 0;
	free(unpacked);
	return none;
}

static int add_image(struct doctor *doctor, const struct gkf_image *found,
		     bool relocatable)
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
	    .found = *found,
	    .module = doctor->module_count,
	    .relocatable = relocatable,
	    .empty = found->kind == GKF_IMAGE_ELF && has_no_kernel(found),
	};
	return 0;
}

/* Finds 75 in the line ".target sm_75"; 0: no such line. */
static unsigned ptx_arch(struct bytes text)
{
	static const char target[] = ".target sm_";
	const char *found =
	    memmem(text.data, text.size, target, sizeof target - 1);
	const char *end = (const char *)text.data + text.size;
	unsigned arch = 0;

	if (!found)
		return 0;
	for (found += sizeof target - 1;
	     found < end && *found >= '0' && *found <= '9' && arch < 1000;
	     found++)
		arch = arch * 10 + (unsigned)(*found - '0');
	return arch;
}

static int add_module(struct bytes fatbin, bool relocatable,
		      struct doctor *doctor)
{
	struct gkf_image image;
	size_t at = 0;
	int err = 0;

	while (!err && !gkf_fatbin_next(fatbin.data, fatbin.size, &at, &image))
		if (image.kind != GKF_IMAGE_OTHER)
			err = add_image(doctor, &image, relocatable);
	doctor->module_count++;
	return err;
}

/*
 * Returns the fat binary at an offset, cut off at the end of the section; empty
 * if there is none.
 */
static struct bytes fatbin_at(struct bytes section, size_t at)
{
	struct bytes head = bytes_part(section, at, 16);
	struct bytes all = {NULL, 0};
	uint64_t size;

	if (!head.data || gkf_image_form(head.data) != GKF_FORM_FATBIN)
		return all;
	size = gkf_fatbin_size(head.data);
	return size ? bytes_part(section, at,
				 size < section.size - at ? size
							  : section.size - at)
		    : all;
}

int doctor_image(struct bytes file, enum gkf_image_kind kind,
		 struct doctor *doctor)
{
	struct gkf_image image = {.kind = kind,
				  .packing = GKF_PLAIN,
				  .bytes = file.data,
				  .stored = file.size,
				  .size = file.size};
	int err;

	image.arch = kind == GKF_IMAGE_ELF
			 ? gkf_cubin_arch(file.data, file.size)
			 : ptx_arch(file);
	err = add_image(doctor, &image, false);
	doctor->module_count++;
	return err;
}

int doctor_images(struct bytes section, bool relocatable, struct doctor *doctor)
{
	int err = 0;

	for (size_t at = 0; !err && at < section.size;) {
		struct bytes fatbin = fatbin_at(section, at);

		if (fatbin.size)
			err = add_module(fatbin, relocatable, doctor);
		at += (fatbin.size + FATBIN_ALIGN - 1) / FATBIN_ALIGN *
		      FATBIN_ALIGN;
		at += fatbin.size ? 0 : FATBIN_ALIGN;
	}
	return err;
}
