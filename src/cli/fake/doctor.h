/*
 * doctor.h - what `gpukit fake doctor` finds in a program or library
 * without running it, and what it says of that.
 */
#ifndef GK_CLI_FAKE_DOCTOR_H
#define GK_CLI_FAKE_DOCTOR_H

#include "base/str.h"
#include "cli/fake/elf.h"
#include "ptx/front/fatbin.h"

#include <jansson.h>
#include <stdint.h>

/* One image of a module's kernels: PTX, or machine code of one GPU. */
struct image {
	struct gkf_image found;
	unsigned module;  /* images of one module say the same thing */
	bool relocatable; /* of -rdc=true: one of several that are linked */
	bool empty;       /* machine code without a kernel */
};

/* A kernel that would be refused, and the first reason. */
struct refused_kernel {
	char kernel[96], instruction[128];
};

/* A function that it asks for and that would be refused. */
struct refused_call {
	char name[96];
};

#define REFUSED_MAX 16 /* that are named */
#define IMAGES_MAX  4096

/* The kinds of file that the doctor tells apart. */
enum doctor_kind {
	KIND_PROGRAM,
	KIND_LIBRARY,
	KIND_OBJECT,
	KIND_IMAGE, /* kernels for cuModuleLoad: PTX, cubin, fat binary */
	KIND_SCRIPT,
	KIND_OTHER,
};

/* Which CUDA runtime it works with; several may be true. */
struct runtime {
	char shared[64]; /* "libcudart.so.13", "": none */
	bool nvidia_static;
	bool replaced;        /* it is NVIDIA's: the launcher has ours opened */
	unsigned ours_static; /* the CUDA major of ours; 0: it is not there */
	bool driver;          /* it uses the driver API itself */
};

struct doctor {
	const char *path;
	enum doctor_kind kind;
	unsigned capability;   /* of the GPU with the least, 80 for 8.0 */
	char interpreter[128]; /* of a script */
	struct runtime runtime;
	struct image *images;
	unsigned image_count, module_count;
	struct refused_kernel refused[REFUSED_MAX];
	unsigned kernel_count, refused_count; /* of the PTX that is taken */
	struct refused_call refused_calls[REFUSED_MAX];
	unsigned call_count, call_refused_count; /* that it asks for */
	bool unlinked;                   /* its parts could not be linked */
	bool unreadable;                 /* what should be PTX is none */
	bool unfit;                      /* PTX for other GPUs alone */
	const struct advice *advice[16]; /* why it will not run */
	unsigned advice_count;
};

/*
 * One thing to know, and what to do about it ("" where nothing is): @ stands
 * for the directory of our libraries, # for the compute capability.
 */
struct advice {
	const char *code; /* for programs: "static-runtime" */
	const char *says;
	const char *what_to_do;
};

/* Machine code only; the launcher tells it, too. */
extern const struct advice doctor_no_ptx;

/*
 * Reads a file; capability: of the GPU with the least, 80 for 8.0. 0 or a
 * gk_err with the result untouched, which points into all.
 */
int doctor_look(const char *path, struct bytes all, unsigned capability,
		struct doctor *ret_doctor);
void doctor_free(struct doctor *doctor);

/* Adds the images of a section of fat binaries. 0 or GK_ERR_NOMEM. */
int doctor_images(struct bytes section, bool relocatable,
		  struct doctor *doctor);

/* Adds a file that is an image itself, PTX or machine code. The same. */
int doctor_image(struct bytes file, enum gkf_image_kind kind,
		 struct doctor *doctor);

/* The bytes of a file; NULL data: errno says why; an empty one is "". */
struct bytes doctor_map(const char *path);
void doctor_unmap(struct bytes all);

/*
 * Reads the PTX that a GPU of its capability takes. 0 or GK_ERR_NOMEM; text
 * that is no PTX has no kernels.
 */
int doctor_kernels(struct doctor *doctor);

/* Is there a library of ours for that name? */
bool doctor_is_made_up(const char *name);

/* Weighs the functions that it asks of libraries that are made up here. */
void doctor_calls(const struct elf *elf, struct doctor *doctor);

/* Does it carry or ask for something of CUDA? */
bool doctor_has_cuda(const struct doctor *doctor);

/* Adds lines for people; libraries: the directory of our own libraries. */
void doctor_text(const struct doctor *doctor, const char *libraries,
		 struct gk_buf *buf);

/* As one JSON object, the caller's; NULL without memory. */
json_t *doctor_json(const struct doctor *doctor, const char *libraries);

/*
 * Asks a Python about its PyTorch: adds an object to list or, where that is
 * NULL, lines to text. ret_code becomes that of a failure where it will not
 * run. An exit code, told: it cannot be asked.
 */
int doctor_python(const char *python, json_t *list, struct gk_buf *text,
		  int *ret_code);

/* Adds the advice, with the directory of our libraries put in. */
void doctor_what_to_do(const struct doctor *doctor, const struct advice *advice,
		       const char *libraries, struct gk_buf *buf);

#endif
