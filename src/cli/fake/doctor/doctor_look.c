/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_look.c - finds the CUDA runtime and the images that a file contains,
 * and judges whether the file will run on a made-up machine.
 */
#include "base/err.h"
#include "cli/fake/doctor/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * NVIDIA's runtime, from 11.2 on, requests the driver's table with this GUID
 * and cannot work without it. Every program that contains the runtime contains
 * these bytes, stripped or not. The bytes here are inverted, because gpukit
 * itself must not seem to contain a runtime; volatile keeps the compiler from
 * inverting them.
 */
static const volatile unsigned char runtime_guid[16] = {
    0x94, 0x2a, 0x04, 0x93, 0xa4, 0x0b, 0x18, 0xb5,
    0x76, 0x78, 0x26, 0xc6, 0xed, 0x02, 0x62, 0x06};

/* The ELF note written by src/fronts/cudart/elf_note.c. */
#define OUR_NOTE ".note.gpukit.cudart"
struct our_note {
	uint32_t name_size, size, type;
	char name[8];
	uint32_t major;
};

static const struct advice
    static_runtime =
	{"static-runtime",
	 "it contains NVIDIA's own runtime, which works only with NVIDIA's own "
	 "driver",
	 "link it again with the shared runtime: -cudart shared, without "
	 "touching the makefile NVCC_APPEND_FLAGS=\"-cudart shared\", with "
	 "CMake -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared; or with gpukit's static "
	 "runtime: NVCC_APPEND_FLAGS=\"-L@\", where CMake links "
	 "CUDA::cudart_static "
	 "-DCUDA_cudart_static_LIBRARY=@/libcudart_static.a"},
    new_ptx = {"new-ptx", "its PTX is for newer GPUs than the machine has",
	       "choose newer GPUs with --gpus, or compile it for "
	       "older ones too: -gencode "
	       "arch=compute_#,code=compute_#"},
    unfit = {"other-ptx", "its PTX is for one kind of GPU only, such as sm_90a",
	     "compile it for all later GPUs, too: -gencode "
	     "arch=compute_#,code=compute_#"},
    unreadable = {"bad-ptx", "its PTX cannot be read", ""},
    not_linked = {"not-linked",
		  "its device code (-rdc=true) does not fit together", ""},
    refused = {"refused-instruction",
	       "some of its kernels have unsupported instructions and are "
	       "refused when launched",
	       ""},
    refused_call = {"refused-call",
		    "it uses functions that are refused when called", ""},
    old_runtime = {"old-runtime",
		   "it needs the shared runtime of a CUDA other than 12 or 13",
		   "build it with CUDA 12 or 13"},
    wrong_cpu = {"wrong-cpu", "it is built for another CPU",
		 "build it on this kind of machine"},
    nothing = {"nothing", "it is neither a program nor a library", ""};

const struct advice doctor_no_ptx = {
    "no-ptx", "it has kernels only as machine code, which no CPU can run",
    "compile it with PTX too: -gencode arch=compute_#,code=compute_#, without "
    "touching the makefile NVCC_APPEND_FLAGS=\"-gencode "
    "arch=compute_#,code=compute_#\", with CMake "
    "-DCMAKE_CUDA_ARCHITECTURES=#-virtual"};

/* Prefixes of NVIDIA's libraries that we do not provide. */
static const struct {
	const char *begin;
	struct advice advice;
} libraries[] = {
    {"libcufftw.so",
     {"cufftw", "it needs cuFFTW, which is not provided here", ""}},
    {"libcusolverMg",
     {"cusolvermg", "it needs cuSOLVERMg, which contains NVIDIA's runtime",
      ""}},
    {"libcudnn",
     {"cudnn", "it needs cuDNN, which contains NVIDIA's runtime", ""}},
    {"libnccl.so",
     {"nccl", "it needs NCCL, which contains NVIDIA's runtime", ""}},
};

static bool holds_bytes(struct bytes all, const void *what, size_t size)
{
	return all.size && memmem(all.data, all.size, what, size) != NULL;
}

static bool holds_runtime_guid(struct bytes all)
{
	unsigned char guid[sizeof runtime_guid];

	for (size_t i = 0; i < sizeof guid; i++)
		guid[i] = (unsigned char)~runtime_guid[i];
	return holds_bytes(all, guid, sizeof guid);
}

static unsigned our_major(const struct elf *elf)
{
	struct bytes found = elf_find(elf, OUR_NOTE);
	struct our_note note;

	if (found.size < sizeof note)
		return 0;
	memcpy(&note, found.data, sizeof note);
	return memcmp(note.name, "gpukit", sizeof "gpukit") ? 0 : note.major;
}

static void add_advice(struct doctor *doctor, const struct advice *advice)
{
	size_t most = sizeof doctor->advice / sizeof *doctor->advice;

	for (unsigned i = 0; i < doctor->advice_count; i++)
		if (doctor->advice[i] == advice)
			return;
	if (doctor->advice_count < most)
		doctor->advice[doctor->advice_count++] = advice;
}

static void look_at_library(struct doctor *doctor, const char *name)
{
	const struct advice *missing;
	unsigned at = 0;

	while ((missing = doctor_missing(name, &at)))
		add_advice(doctor, missing);
	if (doctor_is_made_up(name))
		return;
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (!strncmp(name, libraries[i].begin,
			     strlen(libraries[i].begin)))
			add_advice(doctor, &libraries[i].advice);
}

static bool is_shared_runtime(const struct elf *elf)
{
	const char *name = elf_soname(elf);

	return name && (!strcmp(name, "libcudart.so.12") ||
			!strcmp(name, "libcudart.so.13"));
}

static void look_at_runtime(const struct elf *elf, struct doctor *doctor)
{
	static const char libcuda[] = "libcuda.so.1";
	struct runtime *runtime = &doctor->runtime;
	bool names_driver = holds_bytes(elf->all, libcuda, sizeof libcuda - 1);
	const char *name;

	for (unsigned i = 0; (name = elf_needed(elf, i)); i++) {
		if (!strncmp(name, "libcudart.so", strlen("libcudart.so")))
			gk_str_clean(runtime->shared, sizeof runtime->shared,
				     name, strlen(name));
		look_at_library(doctor, name);
	}
	runtime->ours_static = our_major(elf);
	runtime->nvidia_static = names_driver && !runtime->ours_static &&
				 holds_runtime_guid(elf->all);
	runtime->replaced = runtime->nvidia_static && is_shared_runtime(elf);
	/*
	 * A statically linked runtime contains the driver's name as well. The
	 * name then does not prove that the program itself calls the driver.
	 */
	runtime->driver = elf_imports(elf, "cu") && !elf_imports(elf, "cuda")
			      ? true
			      : names_driver && !runtime->ours_static &&
				    !runtime->nvidia_static;
}

static void find_elf_kind(const struct elf *elf, struct doctor *doctor)
{
	if (elf->header.e_type == ET_REL)
		doctor->kind = KIND_OBJECT;
	else if (elf_is_program(elf))
		doctor->kind = KIND_PROGRAM;
	else
		doctor->kind = KIND_LIBRARY;
}

/*
 * Stores the interpreter named in a first line such as "#!/usr/bin/env
 * python3". Returns false if the file is not a script.
 */
static bool look_at_script(struct bytes all, struct doctor *doctor)
{
	size_t cap = sizeof doctor->interpreter, size = 0;

	if (all.size < 2 || memcmp(all.data, "#!", 2))
		return false;
	doctor->kind = KIND_SCRIPT;
	while (2 + size < all.size && all.data[2 + size] != '\n')
		size++;
	gk_str_clean(doctor->interpreter, cap, (const char *)all.data + 2,
		     size);
	return true;
}

/*
 * Which kinds of image a module has, and whether one of its PTX images suits
 * the GPU.
 */
struct standing {
	bool has_code, has_ptx, fits;
};

static struct standing standing_of(const struct doctor *doctor, unsigned module)
{
	struct standing s = {false, false, false};

	for (unsigned i = 0; i < doctor->image_count; i++) {
		const struct image *image = &doctor->images[i];

		if (image->module != module || image->empty)
			continue;
		if (image->found.kind == GKF_IMAGE_ELF) {
			s.has_code = true;
			continue;
		}
		s.has_ptx = true;
		s.fits = s.fits || image->found.arch <= doctor->capability;
	}
	return s;
}

/*
 * Whether the file has parts made with -rdc=true, which are linked when the
 * program starts.
 */
static bool has_parts(const struct doctor *doctor, unsigned capability)
{
	for (unsigned i = 0; i < doctor->image_count; i++)
		if (doctor->images[i].relocatable &&
		    doctor->images[i].found.kind == GKF_IMAGE_PTX &&
		    doctor->images[i].found.arch <= capability)
			return true;
	return false;
}

/*
 * nvcc's device linker produces only machine code. A program linked by it still
 * runs if its relocatable parts contain PTX.
 */
static void judge_images(struct doctor *doctor)
{
	bool is_linked = has_parts(doctor, UINT_MAX);

	if (has_parts(doctor, doctor->capability))
		return;
	for (unsigned i = 0; i < doctor->module_count; i++) {
		struct standing s = standing_of(doctor, i);

		if (s.has_ptx && !s.fits)
			add_advice(doctor, &new_ptx);
		else if (s.has_code && !s.has_ptx && !is_linked)
			add_advice(doctor, &doctor_no_ptx);
	}
}

static void judge_kernels(struct doctor *doctor)
{
	judge_images(doctor);
	if (doctor->unfit)
		add_advice(doctor, &unfit);
	if (doctor->unreadable)
		add_advice(doctor, &unreadable);
	if (doctor->unlinked)
		add_advice(doctor, &not_linked);
	if (doctor->refused_count)
		add_advice(doctor, &refused);
}

static void judge_elf(const struct elf *elf, struct doctor *doctor)
{
#if defined(__x86_64__)
	const unsigned own = EM_X86_64;
#else
	const unsigned own = EM_AARCH64;
#endif
	const char *shared = doctor->runtime.shared;

	if (!doctor_has_cuda(doctor))
		return;
	if (elf->header.e_machine != own)
		add_advice(doctor, &wrong_cpu);
	if (doctor->runtime.nvidia_static && !doctor->runtime.replaced)
		add_advice(doctor, &static_runtime);
	if (*shared && strcmp(shared, "libcudart.so.12") &&
	    strcmp(shared, "libcudart.so.13"))
		add_advice(doctor, &old_runtime);
	if (doctor->call_refused_count)
		add_advice(doctor, &refused_call);
	judge_kernels(doctor);
}

bool doctor_has_cuda(const struct doctor *doctor)
{
	const struct runtime *r = &doctor->runtime;

	return *r->shared || r->nvidia_static || r->ours_static || r->driver ||
	       doctor->image_count || doctor->call_count ||
	       (doctor->advice_count && doctor->kind != KIND_OTHER);
}

/* Examines a program, a library or an object file. */
static int look_at_elf(const struct elf *elf, struct doctor *doctor)
{
	int err;

	find_elf_kind(elf, doctor);
	look_at_runtime(elf, doctor);
	err = doctor_images(elf_find(elf, ".nv_fatbin"), false, doctor);
	if (!err)
		err = doctor_images(elf_find(elf, "__nv_relfatbin"), true,
				    doctor);
	if (!err)
		err = doctor_kernels(doctor);
	if (!err && doctor->capability)
		doctor_calls(elf, doctor);
	if (!err)
		judge_elf(elf, doctor);
	return err;
}

/* PTX begins with its version, after comments. */
static bool is_ptx(struct bytes all)
{
	static const char version[] = ".version", target[] = ".target";
	const unsigned char *found =
	    memmem(all.data, all.size, version, sizeof version - 1);
	size_t at = found ? (size_t)(found - all.data) : 0;

	return found && !memchr(all.data, 0, at) &&
	       (!at || all.data[at - 1] == '\n') &&
	       memmem(found, all.size - at, target, sizeof target - 1);
}

/*
 * Examines a file of kernels that a program loads. Other files have nothing to
 * examine.
 */
static int look_at_image(struct bytes all, bool is_code, struct doctor *doctor)
{
	int err = 0;

	doctor->kind = KIND_IMAGE;
	if (is_code)
		err = doctor_image(all, GKF_IMAGE_ELF, doctor);
	else if (is_ptx(all))
		err = doctor_image(all, GKF_IMAGE_PTX, doctor);
	else if (all.size >= sizeof(uint64_t) * 2 &&
		 gkf_image_form(all.data) == GKF_FORM_FATBIN)
		err = doctor_images(all, false, doctor);
	if (!err && doctor->image_count)
		err = doctor_kernels(doctor);
	if (!doctor->image_count) {
		doctor->kind = KIND_OTHER;
		add_advice(doctor, &nothing);
	}
	judge_kernels(doctor);
	return err;
}

int doctor_look(const char *path, struct bytes all, unsigned capability,
		struct doctor *ret_doctor)
{
	struct doctor doctor = {.path = path, .capability = capability};
	bool is_elf;
	struct elf elf;
	int err = 0;

	is_elf = elf_read(all, &elf);
	if (is_elf && elf.header.e_machine != EM_CUDA)
		err = look_at_elf(&elf, &doctor);
	else if (is_elf || !look_at_script(all, &doctor))
		err = look_at_image(all, is_elf, &doctor);
	if (err) {
		doctor_free(&doctor);
		return err;
	}
	*ret_doctor = doctor;
	return 0;
}

void doctor_free(struct doctor *doctor)
{
	free(doctor->images);
	doctor->images = NULL;
}
