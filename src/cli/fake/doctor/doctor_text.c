/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_text.c - formats the doctor's findings as lines and as JSON. */
#include "cli/fake/doctor/doctor.h"

#include <string.h>

static const char *const kinds[] = {
    [KIND_PROGRAM] = "program", [KIND_LIBRARY] = "library",
    [KIND_OBJECT] = "object",   [KIND_IMAGE] = "image of kernels",
    [KIND_SCRIPT] = "script",   [KIND_OTHER] = "other",
};

static const char *const packings[] = {
    [GKF_PLAIN] = "none",
    [GKF_ZSTD] = "zstd",
    [GKF_LZ4] = "lz4",
    [GKF_UNKNOWN_PACKING] = "unknown",
};

/* The lowest compute capability that nvcc 13 supports. */
#define NVCC_13_BEGINS 75

/* The indent of lines after the first. */
#define INDENT "           "

static void runtime_text(const struct runtime *r, struct gk_buf *buf)
{
	const char *comma = "";

	gk_buf_puts(buf, "  runtime  ");
	if (*r->shared) {
		gk_buf_printf(buf, "%s, shared", r->shared);
		comma = "; ";
	}
	if (r->nvidia_static) {
		gk_buf_printf(buf, "%sNVIDIA's, inside%s", comma,
			      r->replaced ? ", which the launcher replaces "
					    "by gpukit's"
					  : "");
		comma = "; ";
	}
	if (r->ours_static) {
		gk_buf_printf(buf, "%sgpukit's of CUDA %u, inside", comma,
			      r->ours_static);
		comma = "; ";
	}
	if (r->driver) {
		gk_buf_printf(buf, "%sthe driver API", comma);
		comma = "; ";
	}
	gk_buf_puts(buf, *comma ? "\n" : "none\n");
}

static void image_text(const struct image *image, struct gk_buf *buf)
{
	bool ptx = image->found.kind == GKF_IMAGE_PTX;

	gk_buf_printf(buf, "%s_%u, %zu bytes",
		      ptx ? "PTX compute" : "machine code sm",
		      image->found.arch, image->found.stored);
	if (image->found.packing != GKF_PLAIN)
		gk_buf_printf(buf, ", %s", packings[image->found.packing]);
	if (image->relocatable)
		gk_buf_puts(buf, ", to be linked");
	if (image->empty)
		gk_buf_puts(buf, ", without kernels");
	gk_buf_putc(buf, '\n');
}

static void kernels_text(const struct doctor *doctor, struct gk_buf *buf)
{
	if (!doctor->kernel_count)
		return;
	gk_buf_printf(buf, "  kernels  %u", doctor->kernel_count);
	if (doctor->refused_count)
		gk_buf_printf(buf, ", %u of them refused",
			      doctor->refused_count);
	gk_buf_putc(buf, '\n');
	for (unsigned i = 0; i < doctor->refused_count && i < REFUSED_MAX; i++)
		gk_buf_printf(buf, INDENT "%s: %s\n", doctor->refused[i].kernel,
			      doctor->refused[i].instruction);
}

static void calls_text(const struct doctor *doctor, struct gk_buf *buf)
{
	if (!doctor->call_count)
		return;
	gk_buf_printf(buf, "  calls    %u", doctor->call_count);
	if (doctor->call_refused_count)
		gk_buf_printf(buf, ", %u of them refused",
			      doctor->call_refused_count);
	gk_buf_putc(buf, '\n');
	for (unsigned i = 0; i < doctor->call_refused_count && i < REFUSED_MAX;
	     i++)
		gk_buf_printf(buf, INDENT "%s\n",
			      doctor->refused_calls[i].name);
}

static void images_text(const struct doctor *doctor, struct gk_buf *buf)
{
	if (!doctor->image_count)
		gk_buf_puts(buf, "  images   none\n");
	for (unsigned i = 0; i < doctor->image_count; i++) {
		gk_buf_puts(buf, i ? INDENT : "  images   ");
		image_text(&doctor->images[i], buf);
	}
}

void doctor_what_to_do(const struct doctor *doctor, const struct advice *advice,
		       const char *libraries, struct gk_buf *buf)
{
	for (const char *p = advice->what_to_do; *p; p++)
		if (*p == '@')
			gk_buf_puts(buf, libraries);
		else if (*p == '#')
			gk_buf_printf(buf, "%u", doctor->capability);
		else
			gk_buf_putc(buf, *p);
	if (doctor->capability < NVCC_13_BEGINS &&
	    strchr(advice->what_to_do, '#'))
		gk_buf_puts(buf, "; nvcc of CUDA 13 begins with 75, that of 12 "
				 "has older ones");
}

static void verdict_text(const struct doctor *doctor, const char *libraries,
			 struct gk_buf *buf)
{
	if (!doctor->advice_count)
		gk_buf_puts(buf, "  runs     yes\n");
	for (unsigned i = 0; i < doctor->advice_count; i++) {
		const struct advice *advice = doctor->advice[i];

		gk_buf_printf(buf, "  runs     no: %s\n", advice->says);
		if (!*advice->what_to_do)
			continue;
		gk_buf_puts(buf, "  do       ");
		doctor_what_to_do(doctor, advice, libraries, buf);
		gk_buf_putc(buf, '\n');
	}
}

void doctor_text(const struct doctor *doctor, const char *libraries,
		 struct gk_buf *buf)
{
	char path[1024];

	gk_str_clean(path, sizeof path, doctor->path, strlen(doctor->path));
	if (doctor->kind == KIND_SCRIPT) {
		gk_buf_printf(
		    buf,
		    "%s: a script for %s; check what it loads separately\n",
		    path, doctor->interpreter);
		return;
	}
	if (doctor->kind == KIND_OTHER) {
		gk_buf_printf(buf, "%s: neither a program nor a library\n",
			      path);
		return;
	}
	gk_buf_printf(buf, "%s: %s %s\n", path,
		      strchr("aeiou", *kinds[doctor->kind]) ? "an" : "a",
		      kinds[doctor->kind]);
	if (doctor->kind != KIND_IMAGE)
		runtime_text(&doctor->runtime, buf);
	images_text(doctor, buf);
	kernels_text(doctor, buf);
	calls_text(doctor, buf);
	verdict_text(doctor, libraries, buf);
}

static json_t *images_json(const struct doctor *doctor)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < doctor->image_count; i++) {
		const struct image *image = &doctor->images[i];

		json_array_append_new(
		    list,
		    json_pack(
			"{s:s, s:i, s:i, s:s, s:I, s:b, s:b}", "kind",
			image->found.kind == GKF_IMAGE_PTX ? "ptx" : "code",
			"arch", (int)image->found.arch, "module",
			(int)image->module, "packing",
			packings[image->found.packing], "bytes",
			(json_int_t)image->found.stored, "to_be_linked",
			image->relocatable, "without_kernels", image->empty));
	}
	return list;
}

static json_t *reasons_json(const struct doctor *doctor, const char *libraries)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < doctor->advice_count; i++) {
		const struct advice *advice = doctor->advice[i];
		struct gk_buf text = {0};

		doctor_what_to_do(doctor, advice, libraries, &text);
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s, s:s}", "code", advice->code, "says",
			      advice->says, "do", text.data ? text.data : ""));
		gk_buf_free(&text);
	}
	return list;
}

static json_t *refused_json(const struct doctor *doctor)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < doctor->refused_count && i < REFUSED_MAX; i++)
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s}", "kernel", doctor->refused[i].kernel,
			      "instruction", doctor->refused[i].instruction));
	return list;
}

static json_t *refused_calls_json(const struct doctor *doctor)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < doctor->call_refused_count && i < REFUSED_MAX;
	     i++)
		json_array_append_new(
		    list, json_string(doctor->refused_calls[i].name));
	return list;
}

json_t *doctor_json(const struct doctor *doctor, const char *libraries)
{
	const struct runtime *r = &doctor->runtime;
	char path[4096];

	gk_str_clean(path, sizeof path, doctor->path, strlen(doctor->path));
	return json_pack(
	    "{s:s, s:s, s:{s:s?, s:b, s:i, s:b}, s:o, s:i, s:i, s:o, s:i, "
	    "s:i, s:o, s:b, s:o}",
	    "path", path, "kind", kinds[doctor->kind], "runtime", "shared",
	    *r->shared ? r->shared : NULL, "nvidia_inside", r->nvidia_static,
	    "gpukit_inside", (int)r->ours_static, "driver", r->driver, "images",
	    images_json(doctor), "kernels", (int)doctor->kernel_count,
	    "kernels_refused", (int)doctor->refused_count, "refused",
	    refused_json(doctor), "calls", (int)doctor->call_count,
	    "calls_refused", (int)doctor->call_refused_count, "refused_calls",
	    refused_calls_json(doctor), "runs", !doctor->advice_count,
	    "reasons", reasons_json(doctor, libraries));
}
