/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what `gpukit fake doctor` finds in a program or library without
 * running it, and its advice.
 */
#ifndef GK_CLI_FAKE_DOCTOR_H
#define GK_CLI_FAKE_DOCTOR_H

#include "base/str.h"
#include "cli/fake/doctor/elf.h"
#include "ptx/front/fatbin.h"

#include <jansson.h>
#include <stdint.h>

/* One image of a module: PTX, or machine code for one GPU. */
struct image {
	struct gkf_image found;
	/*
	 * Number of the module. Images of the same module contain the same
	 * kernels.
	 */
	unsigned module;
	bool relocatable; /* made with -rdc=true, to be linked with others */
	bool empty;       /* machine code without any kernel */
};

/*
 * A kernel that a made-up GPU would refuse to run, and its first instruction
 * that is not supported.
 */
struct refused_kernel {
	char kernel[96], instruction[128];
};

/* A function that the file imports and that our library would refuse. */
struct refused_call {
	char name[96];
};

#define REFUSED_MAX 16 /* maximum number of kernels, and of calls, to name */
#define IMAGES_MAX  4096

/* The kinds of file. */
enum doctor_kind {
	KIND_PROGRAM,
	KIND_LIBRARY,
	KIND_OBJECT,
	KIND_IMAGE, /* kernels for cuModuleLoad: PTX, cubin, fat binary */
	KIND_SCRIPT,
	KIND_OTHER,
};

/* Which CUDA runtime the file uses; several may be true. */
struct runtime {
	char shared[64]; /* such as "libcudart.so.13"; "": none */
	bool nvidia_static;
	/* The file is NVIDIA's own runtime, and ours replaces it. */
	bool replaced;
	unsigned ours_static; /* CUDA version of our static runtime; 0: none */
	bool driver;          /* the file calls the driver API directly */
};

struct doctor {
	const char *path;
	enum doctor_kind kind;
	unsigned capability; /* lowest capability of all GPUs; 80 for 8.0 */
	/* Interpreter of a script, from its first line. */
	char interpreter[128];
	struct runtime runtime;
	struct image *images;
	unsigned image_count, module_count;
	struct refused_kernel refused[REFUSED_MAX];
	/*
	 * How many kernels are in the PTX that would be used, and how many of
	 * these the made-up GPU would refuse.
	 */
	unsigned kernel_count, refused_count;
	struct refused_call refused_calls[REFUSED_MAX];
	unsigned call_count, call_refused_count; /* numbers of imported
						  * functions: all, and those
						  * that are refused */
	bool unlinked;   /* the file's relocatable parts cannot be linked */
	bool unreadable; /* the file's PTX cannot be read */
	bool unfit;      /* all of the file's PTX is for other GPUs */
	const struct advice *advice[16]; /* why the file will not run */
	unsigned advice_count;
};

/*
 * One finding, and what to do about it ("" if nothing). In what_to_do, @ stands
 * for the directory of our libraries and # for the compute capability.
 */
struct advice {
	const char *code; /* identifies the finding in JSON: "static-runtime" */
	const char *says;
	const char *what_to_do;
};

/*
 * The finding that kernels exist only as machine code. The launcher reports it
 * too.
 */
extern const struct advice doctor_no_ptx;

/*
 * Examines a file. `capability` is the lowest of all GPUs, 80 for 8.0. Returns
 * 0 or a gk_err. The result points into `all`; it is untouched on failure.
 */
int doctor_look(const char *path, struct bytes all, unsigned capability,
		struct doctor *ret_doctor);
void doctor_free(struct doctor *doctor);

/* Adds the images in a section of fat binaries. Returns 0 or GK_ERR_NOMEM. */
int doctor_images(struct bytes section, bool relocatable,
		  struct doctor *doctor);

/* Adds a file that is itself an image. Returns 0 or GK_ERR_NOMEM. */
int doctor_image(struct bytes file, enum gkf_image_kind kind,
		 struct doctor *doctor);

/*
 * Maps a file. On failure `data` is NULL and errno is set. The contents of an
 * empty file are "".
 */
struct bytes doctor_map(const char *path);
void doctor_unmap(struct bytes all);

/*
 * Reads the PTX that a GPU of the doctor's compute capability would use.
 * Returns 0 or GK_ERR_NOMEM. Text that is not PTX counts as having no kernels.
 */
int doctor_kernels(struct doctor *doctor);

/* Whether we provide a library of that name. */
bool doctor_is_made_up(const char *name);

/*
 * Counts the functions that the file imports from libraries we provide, and how
 * many of these our libraries refuse.
 */
void doctor_calls(const struct elf *elf, struct doctor *doctor);

/*
 * Returns the next third-party library that our library of that name needs and
 * that is not installed; NULL after the last. *at, initially 0, is the position
 * in the list.
 */
const struct advice *doctor_missing(const char *library, unsigned *at);

/*
 * Reports all third-party libraries that ours need: adds objects to list or, if
 * that is NULL, lines to text. Returns the number of those not installed.
 */
unsigned doctor_needed(json_t *list, struct gk_buf *text);

/* Whether the file contains or uses any CUDA code. */
bool doctor_has_cuda(const struct doctor *doctor);

/*
 * Adds the findings as lines of text. `libraries` is the directory of our
 * libraries.
 */
void doctor_text(const struct doctor *doctor, const char *libraries,
		 struct gk_buf *buf);

/* Returns a JSON object owned by the caller, or NULL if out of memory. */
json_t *doctor_json(const struct doctor *doctor, const char *libraries);

/*
 * Runs a Python interpreter to examine its PyTorch. Adds an object to list or,
 * if that is NULL, lines to text. Sets *ret_code to GK_EXIT_FAILURE if PyTorch
 * will not run. Returns 0, or an exit code after a message if Python cannot be
 * run.
 */
int doctor_python(const char *python, json_t *list, struct gk_buf *text,
		  int *ret_code);

/* Appends the advice's what_to_do with its placeholders replaced. */
void doctor_what_to_do(const struct doctor *doctor, const struct advice *advice,
		       const char *libraries, struct gk_buf *buf);

#endif
