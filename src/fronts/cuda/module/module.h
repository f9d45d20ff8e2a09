/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - loaded code: the modules of contexts, the libraries of the
 * process, and their kernels.
 */
#ifndef GKF_CUDA_MODULE_H
#define GKF_CUDA_MODULE_H

#include "fronts/common/export_table.h"
#include "fronts/cuda/context/front.h"
#include "fronts/cuda/module/module_use.h"
#include "machine/file/numbers.h"
#include "ptx/interp/kernel.h"

#include <pthread.h>

/* Parsed PTX, shared by all modules made from it. */
struct module_source {
	_Atomic unsigned references;
	struct gkf_ptx_module *ptx;
};

/*
 * The variables and kernels of a module, in the memory of a context's device.
 * Launches in streams hold references to the image, so that it outlives
 * cuModuleUnload().
 */
struct module_image {
	_Atomic unsigned references;
	struct module_source *source;
	unsigned device;
	CUcontext ctx;
	uint64_t ctx_id;
	/* addresses of the source's variables; 0: no memory allocated */
	uint64_t *addresses;
	/* the memory is freed with the context, not with the image */
	bool leaves_memory;
	struct gkf_ptx_kernel *_Atomic
	    *kernels; /* one per function; NULL: not decoded yet */
};

struct CUmod_st {
	struct retired retired; /* used only after the module is unloaded */
	CUcontext ctx;
	CUlibrary library; /* NULL: loaded by cuModuleLoad* */
	struct module_image *image;
	struct CUfunc_st **functions; /* kernels, in the order of the PTX */
	unsigned function_count;
	CUmodule next; /* next module of the context */
};

/* Set by cuFuncSetAttribute and cuKernelSetAttribute. */
struct function_settings {
	_Atomic int dynamic_shared, carveout;
	_Atomic int cluster[3], non_portable, policy;
};

struct CUfunc_st {
	CUmodule module;
	struct module_image *image;
	const struct gkf_ptx_function *ptx;
	CUkernel kernel; /* NULL: not a kernel of a library */
	struct function_settings set;
	/*
	 * Launch state set by deprecated calls such as cuFuncSetBlockShape().
	 */
	unsigned block[3], shared_bytes, param_bytes;
	unsigned char params[4096];
};

struct CUkern_st {
	CUlibrary library;
	const struct gkf_ptx_function *ptx;
	unsigned index;             /* index among the library's kernels */
	_Atomic gpukit_body native; /* runs instead of the PTX, unless NULL */
	struct function_settings set[GKF_DEVICES_MAX];
	/* The function of this kernel in the context that used it last. */
	_Atomic uint64_t last_ctx;
	_Atomic(CUfunction) last;
};

struct CUlib_st {
	struct retired retired;
	struct module_source *source;
	CUkernel *kernels;
	unsigned kernel_count;
	CUmodule *modules; /* one for each context that has used the library */
	unsigned module_count, module_room;
};

/*
 * Guards lists of modules and libraries; never held while waiting. Defined in
 * module_use.c.
 */
extern pthread_mutex_t module_lock;

/* Where loading code writes logs and times (module_jit.c). */
struct module_log {
	char *error, *info;
	unsigned error_size, info_size;
	/* receive the number of bytes written; may be NULL */
	void **error_used, **info_used;
	void **wall_place; /* receives milliseconds, as a float */
};

/*
 * module_log_open() reads the options of a load; it may fail with
 * CUDA_ERROR_INVALID_VALUE. module_log_close() writes an error message, or ""
 * if there was none, to the buffers that the options name.
 */
CUresult module_log_open(unsigned count, const CUjit_option *options,
			 void **values, struct module_log *ret_log);
void module_log_close(const struct module_log *log, const char *message);

/*
 * Reads an image given to cuModuleLoadData(). If `size` is 0, the size is read
 * from the image itself. `message` has GKF_PTX_MESSAGE_MAX bytes. Defined in
 * module_source.c.
 */
CUresult module_source_read(const struct cuda_device *d, const void *image,
			    size_t size, char *message,
			    struct module_source **ret_source);

/*
 * Whether an image is neither a binary nor a bundle, so that it may be PTX.
 * `size` is 0 if it is unknown.
 */
bool module_is_text(const void *image, size_t size);

/*
 * Bundles: several images to be linked, in one piece of memory that can be
 * loaded like an image (module_bundle.c).
 */
#define MODULE_PARTS_MAX 1024 /* the maximum number of files in a program */

struct module_part {
	char *bytes; /* followed by a NUL */
	size_t size; /* without the NUL */
};

/* The caller frees the bundle with free(); NULL: out of memory. */
void *module_bundle_new(const struct module_part *parts, unsigned count);
bool module_is_bundle(const void *image, size_t size);
size_t module_bundle_size(const void *bundle);

/*
 * Finds the images in a bundle and their sizes, reading at most `size` bytes
 * (0: no limit). A NULL follows the last image.
 */
CUresult module_bundle_open(const void *bundle, size_t size,
			    const void *ret_images[MODULE_PARTS_MAX + 1],
			    size_t ret_sizes[MODULE_PARTS_MAX]);

/* Reads a whole image file; the caller frees the bytes with free(). */
CUresult module_file_read(const char *path, void **ret_bytes, size_t *ret_size);

/*
 * Drops a reference; NULL is accepted. Dropping the last one frees the source.
 */
void module_source_drop(struct module_source *s);

/* Puts a source in the memory of a context's device. */
CUresult module_image_new(CUcontext ctx, struct module_source *source,
			  struct module_image **ret_image);
/*
 * Drops a reference; NULL is accepted. Dropping the last one frees the image.
 */
void module_image_drop(struct module_image *image);

/* Whether the module has variables in device memory. */
bool module_has_memory(const struct module_image *image);

/*
 * Finds the kernel of a function, decoding it on first use. Fails with
 * CUDA_ERROR_INVALID_PTX if the kernel has more shared memory than NVIDIA's
 * assembler accepts.
 */
CUresult module_kernel(struct module_image *image,
		       const struct gkf_ptx_function *f,
		       const struct gkf_ptx_kernel **ret_kernel);

/* Makes a module in a context, with functions for all its kernels. */
CUresult module_new(CUcontext ctx, struct module_source *source,
		    CUlibrary library, CUmodule *ret_module);

/*
 * Adds a module to its context, with which it ends. The caller holds
 * module_lock.
 */
void module_enlist(CUmodule module);

/*
 * Removes a module from its context and invalidates its handles. The caller
 * holds module_lock.
 */
void module_end(CUmodule module);

/* Finds a variable by name; may fail with CUDA_ERROR_NOT_FOUND. */
CUresult module_global(const struct module_image *image, const char *name,
		       CUdeviceptr *ret_address, size_t *ret_bytes);

/*
 * Returns the function that a handle stands for in a context. The handle may be
 * that of a function or of a kernel; if it is neither, returns
 * CUDA_ERROR_INVALID_HANDLE.
 */
CUresult function_of(CUcontext ctx, CUfunction given, CUfunction *ret_function);
CUresult kernel_function(CUcontext ctx, CUkernel kernel,
			 CUfunction *ret_function);

/*
 * Get and set an attribute of a function on a device, and find the offset and
 * size of a parameter in bytes (function.c).
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

/* The `attach` function of struct gpukit_table (library_kernel.c). */
CUresult kernel_attach(CUkernel kernel, gpukit_body body);

/* Returns a device attribute; `id` must be one that exists. */
int function_limit(const struct cuda_device *d, CUdevice_attribute id);

/* Returns the maximum number of threads in a block of this function. */
int function_threads(const struct cuda_device *d,
		     const struct gkf_ptx_function *f,
		     const struct gkf_ptx_kernel *k);

#endif
