/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_kernels.c - reads the kernels of a file's PTX, and finds those that
 * contain instructions which made-up GPUs do not support. Runs nothing.
 */
#include "base/err.h"
#include "cli/fake/doctor/doctor.h"
#include "ptx/interp/kernel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 1024
#define ANY_PTX   UINT_MAX /* the doctor accepts every PTX version */

static void note_refused_kernel(struct doctor *doctor,
				const struct gkf_ptx_function *f,
				const struct gkf_ptx_refusal *why)
{
	struct refused_kernel *r;
	char text[sizeof r->instruction];

	doctor->refused_count++;
	if (doctor->refused_count > REFUSED_MAX)
		return;
	r = &doctor->refused[doctor->refused_count - 1];
	gk_str_clean(r->kernel, sizeof r->kernel, f->name, strlen(f->name));
	snprintf(text, sizeof text, "%s%s%s", why->instruction,
		 why->operand ? " " : "", why->operand ? why->operand : "");
	gk_str_clean(r->instruction, sizeof r->instruction, text, strlen(text));
}

static int judge_kernel(struct doctor *doctor, const struct gkf_ptx_module *m,
			const uint64_t *addresses,
			const struct gkf_ptx_function *f)
{
	struct gkf_ptx_refusal refusal;
	struct gkf_ptx_kernel *kernel;
	int err = gkf_ptx_kernel_new(m, addresses, f, &kernel);

	if (err)
		return err;
	doctor->kernel_count++;
	if (gkf_ptx_kernel_refused(kernel, &refusal))
		note_refused_kernel(doctor, f, &refusal);
	gkf_ptx_kernel_free(kernel);
	return 0;
}

static int judge_module(struct doctor *doctor, const struct gkf_ptx_module *m)
{
	uint64_t *addresses = calloc(m->variable_count + 1, sizeof *addresses);
	int err = addresses ? 0 : GK_ERR_NOMEM;

	/*
	 * The addresses of variables are only known at launch. Their values do
	 * not matter here.
	 */
	for (uint32_t i = 0; !err && i < m->variable_count; i++)
		addresses[i] = 1 << 20;
	for (uint32_t i = 0; !err && i < m->function_count; i++)
		if (m->functions[i].is_entry && m->functions[i].has_body)
			err = judge_kernel(doctor, m, addresses,
					   &m->functions[i]);
	free(addresses);
	return err;
}

/*
 * Returns the PTX image that the device tries after `before`, in the order of
 * gkf_fatbin_choose(); NULL if there is none. `first` is the module's first
 * image.
 */
static const struct image *choose_images(const struct doctor *doctor,
					 unsigned first,
					 const struct image *before)
{
	const struct image *best = NULL;

	for (unsigned i = first; i < doctor->image_count; i++) {
		const struct image *image = &doctor->images[i];

		if (image->module != doctor->images[first].module ||
		    image->found.kind != GKF_IMAGE_PTX ||
		    image->found.arch > doctor->capability)
			continue;
		if (before && (image->found.arch > before->found.arch ||
			       (image->found.arch == before->found.arch &&
				image <= before)))
			continue;
		if (!best || image->found.arch > best->found.arch)
			best = image;
	}
	return best;
}

/* Modules made to be linked together (-rdc=true). */
struct parts {
	struct gkf_ptx_module *module[PARTS_MAX];
	unsigned count;
};

static int read_ptx_image(const struct image *image,
			  struct gkf_ptx_module **ret)
{
	char message[GKF_PTX_MESSAGE_MAX];
	size_t size;
	char *text;
	int err = gkf_image_unpack(&image->found, &text, &size);

	if (err)
		return err;
	err = gkf_ptx_module_read(text, size, ANY_PTX, message, ret);
	free(text);
	return err;
}

/*
 * Returns the parsed PTX of the module whose first image is `first`, or NULL if
 * none suits the GPU.
 */
static struct gkf_ptx_module *read_module(struct doctor *doctor, unsigned first)
{
	const struct image *image = NULL;
	struct gkf_ptx_module *m = NULL;
	bool unfit = false;

	while (!m && (image = choose_images(doctor, first, image))) {
		if (read_ptx_image(image, &m)) {
			doctor->unreadable = true;
			return NULL;
		}
		if (!gkf_ptx_module_fits(m, doctor->capability)) {
			unfit = true;
			gkf_ptx_module_free(m);
			m = NULL;
		}
	}
	doctor->unfit = doctor->unfit || (unfit && !m);
	return m;
}

static int judge_parts(struct doctor *doctor, struct parts *parts)
{
	char message[GKF_PTX_MESSAGE_MAX];
	struct gkf_ptx_module *whole;
	int err = 0;

	if (!parts->count)
		return 0;
	if (gkf_ptx_module_link(parts->module, parts->count, message, &whole)) {
		doctor->unlinked = true;
		while (parts->count)
			gkf_ptx_module_free(parts->module[--parts->count]);
		return 0;
	}
	err = judge_module(doctor, whole);
	gkf_ptx_module_free(whole);
	return err;
}

int doctor_kernels(struct doctor *doctor)
{
	struct parts parts = {.count = 0};
	unsigned last = UINT_MAX;
	int err = 0;

	for (unsigned i = 0; !err && i < doctor->image_count; i++) {
		struct gkf_ptx_module *m;

		if (doctor->images[i].module == last)
			continue;
		last = doctor->images[i].module;
		/*
		 * An object file is not linked yet: other files may define the
		 * names it uses.
		 */
		if (doctor->images[i].relocatable &&
		    doctor->kind == KIND_OBJECT)
			continue;
		m = read_module(doctor, i);
		if (m && doctor->images[i].relocatable &&
		    parts.count < PARTS_MAX) {
			parts.module[parts.count++] = m;
		} else if (m) {
			err = judge_module(doctor, m);
			gkf_ptx_module_free(m);
		}
	}
	return err ? err : judge_parts(doctor, &parts);
}
