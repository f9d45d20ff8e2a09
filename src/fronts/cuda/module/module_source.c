/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_source.c - reads images: chooses the image in a fat binary that fits
 * the device, and reports errors in images.
 */
#include "base/err.h"
#include "fronts/cuda/generation.h"
#include "fronts/cuda/module/module.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/store/coverage.h"
#include "ptx/front/fatbin.h"

#include <sys/types.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX   ((size_t)1 << 30)
#define BINARY_MIN ((size_t)16) /* size of a fat binary's header */

/* The PTX version of each CUDA release; PTX ISA, "Release Notes". */
static const struct {
	unsigned cuda, ptx;
} releases[] = {
    {11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74},
    {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78}, {12000, 80},
    {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85},
    {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91},
    {13020, 92}, {13030, 93},
};

static unsigned newest_ptx(void)
{
	unsigned ptx = releases[0].ptx;

	for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
		if (releases[i].cuda <= front_generation->cuda)
			ptx = releases[i].ptx;
	return ptx;
}

static unsigned module_capability(const struct cuda_device *d)
{
	const struct gkf_profile *p = &d->board->profile;

	return (unsigned)(p->compute_major * 10 + p->compute_minor);
}

/* Returns CUDA_ERROR_NO_BINARY_FOR_GPU if the PTX is for other devices. */
static CUresult parse_ptx(const struct cuda_device *d, const char *text,
			  size_t size, char *message,
			  struct gkf_ptx_module **ret)
{
	struct gkf_ptx_module *m;
	int error = gkf_ptx_module_read(text, size, newest_ptx(), message, &m);

	if (error == GK_ERR_VERSION)
		return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	if (error == GK_ERR_NOMEM)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (error)
		return CUDA_ERROR_INVALID_PTX;
	if (!gkf_ptx_module_fits(m, module_capability(d))) {
		snprintf(message, GKF_PTX_MESSAGE_MAX,
			 ".target sm_%u%.1s is not for a device of compute "
			 "capability %u.%u",
			 m->target, &m->target_kind, module_capability(d) / 10,
			 module_capability(d) % 10);
		gkf_ptx_module_free(m);
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	}
	message[0] = '\0'; /* drop the message of an earlier attempt */
	*ret = m;
	return CUDA_SUCCESS;
}

/*
 * Anything shorter than the header of a binary is text. `size` is 0 if it is
 * unknown.
 */
static enum gkf_image_form image_form(const void *image, size_t size)
{
	return size && size < BINARY_MIN ? GKF_FORM_TEXT
					 : gkf_image_form(image);
}

bool module_is_text(const void *image, size_t size)
{
	return !module_is_bundle(image, size) &&
	       image_form(image, size) == GKF_FORM_TEXT;
}

static CUresult read_text(const struct cuda_device *d, const char *text,
			  size_t size, char *message,
			  struct gkf_ptx_module **ret)
{
	size_t length = 0;
	CUresult r;

	if (size <= TEXT_MAX)
		length = size ? strnlen(text, size) : strlen(text);
	/* PTX starts with .version, after white space and comments. */
	if (!memmem(text, length, ".version", 8)) {
		snprintf(message, GKF_PTX_MESSAGE_MAX,
			 "neither PTX nor a fat binary");
		return CUDA_ERROR_INVALID_IMAGE;
	}
	r = parse_ptx(d, text, length, message, ret);
	return r == CUDA_ERROR_NO_BINARY_FOR_GPU ? CUDA_ERROR_INVALID_PTX : r;
}

/*
 * Counts a refusal, because a real GPU might run the machine code in the image.
 */
static CUresult no_image(const struct cuda_device *d, char *message)
{
	char name[GKF_REFUSED_MAX];

	snprintf(name, sizeof name,
		 "an image without PTX for compute capability %u.%u",
		 module_capability(d) / 10, module_capability(d) % 10);
	gkf_refuse_named(cuda.machine, GKF_NAMED_KERNEL, name);
	snprintf(message, GKF_PTX_MESSAGE_MAX,
		 "no PTX for compute capability %u.%u in the image: only PTX "
		 "is executed; build with -arch=compute_%u or "
		 "-gencode arch=compute_%u,code=compute_%u",
		 module_capability(d) / 10, module_capability(d) % 10,
		 module_capability(d), module_capability(d),
		 module_capability(d));
	return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult read_packed(const struct cuda_device *d,
			    const struct gkf_image *image, char *message,
			    struct gkf_ptx_module **ret)
{
	size_t length;
	char *text;
	int error = gkf_image_unpack(image, &text, &length);
	CUresult r;

	if (error)
		return error == GK_ERR_NOMEM ? CUDA_ERROR_OUT_OF_MEMORY
					     : CUDA_ERROR_INVALID_IMAGE;
	r = parse_ptx(d, text, strnlen(text, length), message, ret);
	free(text);
	return r;
}

/*
 * Reads the newest PTX in a fat binary that this device can run; PTX for
 * sm_90a, for example, runs only on compute capability 9.0.
 */
static CUresult read_fatbin(const struct cuda_device *d, const void *fatbin,
			    size_t size, char *message,
			    struct gkf_ptx_module **ret)
{
	uint64_t whole = gkf_fatbin_size(fatbin);
	const struct gkf_image *before = NULL;
	struct gkf_image image;
	CUresult r;
	int error;

	if (!whole || (size && whole > size))
		return CUDA_ERROR_INVALID_IMAGE;
	do {
		error = gkf_fatbin_choose(fatbin, whole, module_capability(d),
					  before, &image);
		if (error)
			return error == GK_ERR_NOT_FOUND
				   ? CUDA_ERROR_NO_BINARY_FOR_GPU
				   : CUDA_ERROR_INVALID_IMAGE;
		r = read_packed(d, &image, message, ret);
		before = &image;
	} while (r == CUDA_ERROR_NO_BINARY_FOR_GPU);
	return r;
}

/*
 * Reads the PTX of the images; skips those that have none for this device,
 * possibly all. If `sizes` is NULL, the sizes are read from the images.
 */
static CUresult read_parts(const struct cuda_device *d,
			   const void *const *images, const size_t *sizes,
			   char *message, struct gkf_ptx_module **parts,
			   unsigned *ret_count)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; images[i] && !r; i++) {
		struct gkf_ptx_module **to = &parts[*ret_count];
		size_t size = sizes ? sizes[i] : 0;

		if (*ret_count == MODULE_PARTS_MAX)
			return CUDA_ERROR_NOT_SUPPORTED;
		r = image_form(images[i], size) == GKF_FORM_FATBIN
			? read_fatbin(d, images[i], size, message, to)
			: read_text(d, images[i], size, message, to);
		if (!r)
			++*ret_count;
		else if (r == CUDA_ERROR_NO_BINARY_FOR_GPU)
			r = CUDA_SUCCESS;
	}
	return r;
}

/* Links the images of a program whose files call each other (-rdc=true). */
static CUresult link_parts(const struct cuda_device *d,
			   const void *const *images, const size_t *sizes,
			   char *message, struct gkf_ptx_module **ret)
{
	struct gkf_ptx_module *parts[MODULE_PARTS_MAX];
	unsigned count = 0;
	CUresult r = read_parts(d, images, sizes, message, parts, &count);
	int error;

	if (!r && !count)
		r = CUDA_ERROR_NO_BINARY_FOR_GPU;
	if (!r) {
		error = gkf_ptx_module_link(parts, count, message, ret);
		if (!error)
			return CUDA_SUCCESS;
		r = error == GK_ERR_NOMEM ? CUDA_ERROR_OUT_OF_MEMORY
					  : CUDA_ERROR_INVALID_PTX;
	}
	while (count)
		gkf_ptx_module_free(parts[--count]);
	return r;
}

static CUresult read_wrapper(const struct cuda_device *d, const void *image,
			     char *message, struct gkf_ptx_module **ret)
{
	struct gkf_fatbin_wrapper w;

	memcpy(&w, image, sizeof w);
	if (w.version >= 2 && w.more && w.more[0])
		return link_parts(d, w.more, NULL, message, ret);
	return w.data ? read_fatbin(d, w.data, 0, message, ret)
		      : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult read_bundle(const struct cuda_device *d, const void *bundle,
			    size_t size, char *message,
			    struct gkf_ptx_module **ret)
{
	const void *images[MODULE_PARTS_MAX + 1];
	size_t sizes[MODULE_PARTS_MAX];
	CUresult r = module_bundle_open(bundle, size, images, sizes);

	return r ? r : link_parts(d, images, sizes, message, ret);
}

static CUresult read_image(const struct cuda_device *d, const void *image,
			   size_t size, char *message,
			   struct gkf_ptx_module **ret)
{
	if (module_is_bundle(image, size))
		return read_bundle(d, image, size, message, ret);
	switch (image_form(image, size)) {
	case GKF_FORM_WRAPPER:
		return size ? CUDA_ERROR_INVALID_IMAGE
			    : read_wrapper(d, image, message, ret);
	case GKF_FORM_FATBIN:
		return read_fatbin(d, image, size, message, ret);
	case GKF_FORM_ELF:
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	case GKF_FORM_TEXT:
		break;
	}
	return read_text(d, image, size, message, ret);
}

CUresult module_source_read(const struct cuda_device *d, const void *image,
			    size_t size, char *message,
			    struct module_source **ret_source)
{
	struct module_source *s = calloc(1, sizeof *s);
	CUresult r;

	message[0] = '\0';
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = read_image(d, image, size, message, &s->ptx);
	if (r == CUDA_ERROR_NO_BINARY_FOR_GPU)
		r = no_image(d, message);
	if (r == CUDA_ERROR_INVALID_IMAGE && !message[0])
		snprintf(message, GKF_PTX_MESSAGE_MAX,
			 "the binary is truncated or damaged");
	if (r) {
		if (message[0])
			front_log(GK_LOG_WARN, "image refused: %s", message);
		free(s);
		return r;
	}
	atomic_init(&s->references, 1);
	*ret_source = s;
	return CUDA_SUCCESS;
}

void module_source_drop(struct module_source *s)
{
	if (!s || atomic_fetch_sub(&s->references, 1) != 1)
		return;
	gkf_ptx_module_free(s->ptx);
	free(s);
}

/*
 * Pads the bytes with zeros, so that a fat binary's header can always be read.
 */
CUresult module_file_read(const char *path, void **ret_bytes, size_t *ret_size)
{
	FILE *f = fopen(path, "rbe");
	CUresult r = CUDA_ERROR_FILE_NOT_FOUND;
	struct stat st;
	char *bytes = NULL;
	size_t size = 0;

	if (!f)
		return errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : r;
	if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode) ||
	    st.st_size > (off_t)1 << 30)
		goto out;
	bytes = calloc(1, (size_t)st.st_size + 64);
	if (bytes)
		size = fread(bytes, 1, (size_t)st.st_size, f);
	r = bytes ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	if (bytes && !size) {
		free(bytes);
		r = CUDA_ERROR_INVALID_IMAGE;
	}
	if (!r) {
		*ret_bytes = bytes;
		*ret_size = size;
	}
out:
	fclose(f);
	return r;
}
