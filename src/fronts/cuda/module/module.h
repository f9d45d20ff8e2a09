/*
 * module.h - loaded code: modules of a context, libraries of a process, and
 * the kernels of both.
 */
#ifndef GKF_CUDA_MODULE_H
#define GKF_CUDA_MODULE_H

#include "fronts/common/export_table.h"
#include "fronts/cuda/front.h"
#include "fronts/cuda/module_use.h"
#include "machine/file/numbers.h"
#include "ptx/interp/kernel.h"

#include <pthread.h>

/* Text that was read; shared by all modules that come of it. */
struct module_source {
	_Atomic unsigned references;
	struct gkf_ptx_module *ptx;
};

/*
 * A module in the memory of a context's device. Launches on their way hold it,
 * so that it outlives cuModuleUnload() for them.
 */
struct module_image {
	_Atomic unsigned references;
	struct module_source *source;
	unsigned device;
	CUcontext ctx;
	uint64_t ctx_id;
	uint64_t *addresses; /* of the source's variables; 0: no memory */
	bool leaves_memory;  /* to its context, when the image goes */
	struct gkf_ptx_kernel *_Atomic
	    *kernels; /* by function; NULL: not yet */
};

struct CUmod_st {
	struct retired retired; /* when it is unloaded */
	CUcontext ctx;
	CUlibrary library; /* NULL: of cuModuleLoad */
	struct module_image *image;
	struct CUfunc_st **functions; /* kernels, in the order of the text */
	unsigned function_count;
	CUmodule next; /* of the context */
};

/* Settings that cuFuncSetAttribute and cuKernelSetAttribute make. */
struct function_settings {
	_Atomic int dynamic_shared, carveout;
	_Atomic int cluster[3], non_portable, policy;
};

struct CUfunc_st {
	CUmodule module;
	struct module_image *image;
	const struct gkf_ptx_function *ptx;
	CUkernel kernel; /* NULL: of no library */
	struct function_settings set;
	/* The launch state that the calls of CUDA 2 set. */
	unsigned block[3], shared_bytes, param_bytes;
	unsigned char params[4096];
};

struct CUkern_st {
	CUlibrary library;
	const struct gkf_ptx_function *ptx;
	unsigned index;             /* among the library's kernels */
	_Atomic gpukit_body native; /* runs instead of it; NULL: none */
	struct function_settings set[GKF_DEVICES_MAX];
	/* The function of the context that asked last. */
	_Atomic uint64_t last_ctx;
	_Atomic(CUfunction) last;
};

struct CUlib_st {
	struct retired retired;
	struct module_source *source;
	CUkernel *kernels;
	unsigned kernel_count;
	CUmodule *modules; /* one a context that used it */
	unsigned module_count, module_room;
};

/* Guards lists of modules and libraries; held over no waiting. */
extern pthread_mutex_t module_lock;

/* The texts and times that a load gives besides its result; module_jit.c. */
struct module_log {
	char *error, *info;
	unsigned error_size, info_size;
	void **error_used, **info_used; /* places of the sizes; may be NULL */
	void **wall_place;              /* milliseconds, a float */
};

/*
 * Reads the options of a load, CUDA_ERROR_INVALID_VALUE; and writes at its end
 * the message of an error ("": none) where they want it.
 */
CUresult module_log_open(unsigned count, const CUjit_option *options,
			 void **values, struct module_log *ret_log);
void module_log_close(const struct module_log *log, const char *message);

/*
 * Reads an image as cuModuleLoadData is given it; size 0: only its headers
 * say. message has GKF_PTX_MESSAGE_MAX bytes. module_source.c.
 */
CUresult module_source_read(const struct cuda_device *d, const void *image,
			    size_t size, char *message,
			    struct module_source **ret_source);

/* Is it neither a binary nor a bundle? PTX, perhaps. size: as above. */
bool module_is_text(const void *image, size_t size);

/*
 * Images that are to be linked, in one piece of memory that loads as an image
 * does; module_bundle.c.
 */
#define MODULE_PARTS_MAX 1024 /* files of a program */

struct module_part {
	char *bytes; /* a NUL behind */
	size_t size; /* without it */
};

/* A bundle is the caller's to free(); NULL: no memory. */
void *module_bundle_new(const struct module_part *parts, unsigned count);
bool module_is_bundle(const void *image, size_t size);
size_t module_bundle_size(const void *bundle);

/*
 * The images of it, as pointers with NULL behind, and their sizes; at most size
 * bytes, 0: any.
 */
CUresult module_bundle_open(const void *bundle, size_t size,
			    const void *ret_images[MODULE_PARTS_MAX + 1],
			    size_t ret_sizes[MODULE_PARTS_MAX]);

/* Reads a file of an image whole; the bytes are the caller's to free(). */
CUresult module_file_read(const char *path, void **ret_bytes, size_t *ret_size);

/* Gives up a reference; NULL is accepted. The last one frees the source. */
void module_source_drop(struct module_source *s);

/* Puts a source into the memory of a context's device. */
CUresult module_image_new(CUcontext ctx, struct module_source *source,
			  struct module_image **ret_image);
/* Gives up a reference; NULL is accepted. The last one frees the image. */
void module_image_drop(struct module_image *image);

/* Has it variables on the device? */
bool module_has_memory(const struct module_image *image);

/*
 * The kernel of a function, made when it is first wanted;
 * CUDA_ERROR_INVALID_PTX when it has more shared memory than an assembler
 * takes.
 */
CUresult module_kernel(struct module_image *image,
		       const struct gkf_ptx_function *f,
		       const struct gkf_ptx_kernel **ret_kernel);

/* A module in a context, with the functions of all its kernels. */
CUresult module_new(CUcontext ctx, struct module_source *source,
		    CUlibrary library, CUmodule *ret_module);

/* Makes it its context's: it ends with that. With module_lock. */
void module_enlist(CUmodule module);

/* Takes it out of its context; its handles are dead. With module_lock. */
void module_end(CUmodule module);

/* A variable by name; CUDA_ERROR_NOT_FOUND. */
CUresult module_global(const struct module_image *image, const char *name,
		       CUdeviceptr *ret_address, size_t *ret_bytes);

/* The library forgets a module of it; with module_lock; library.c. */
void library_forget(CUlibrary library, CUmodule module);

/*
 * The function that a caller means in a context: a function of it, or a
 * kernel. CUDA_ERROR_INVALID_HANDLE.
 */
CUresult function_of(CUcontext ctx, CUfunction given, CUfunction *ret_function);
CUresult kernel_function(CUcontext ctx, CUkernel kernel,
			 CUfunction *ret_function);

/*
 * Read and set attributes of a function on the device that it runs on, and find
 * a parameter: its offset and size in bytes; function.c.
 */
CUresult function_attribute(const struct cuda_device *d,
			    const struct gkf_ptx_module *m,
			    const struct gkf_ptx_function *f,
			    const struct gkf_ptx_kernel *k,
			    const struct function_settings *set,
			    CUfunction_attribute id, int *ret_value);
CUresult function_set(const struct cuda_device *d,
		      const struct gkf_ptx_kernel *k,
		      struct function_settings *set, CUfunction_attribute id,
		      int value);
CUresult function_parameter(const struct gkf_ptx_module *m,
			    const struct gkf_ptx_function *f, size_t index,
			    size_t *ret_offset, size_t *ret_size);

/* `attach` of struct gpukit_table; library_kernel.c. */
CUresult kernel_attach(CUkernel kernel, gpukit_body body);

/* An attribute of a device that there is for sure. */
int function_limit(const struct cuda_device *d, CUdevice_attribute id);

/* The most threads that a block of it may have. */
int function_threads(const struct cuda_device *d,
		     const struct gkf_ptx_function *f,
		     const struct gkf_ptx_kernel *k);

#endif
