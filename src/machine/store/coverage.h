/*
 * coverage.h - what CUDA programs call and are refused: rows of cuda.def, and
 * by name functions of the runtime and whatever a kernel is made of.
 */
#ifndef GKF_COUNT_H
#define GKF_COUNT_H

#include "machine/trouble/fault.h"

enum gkf_named {
	GKF_NAMED_RUNTIME, /* a function of libcudart */
	GKF_NAMED_KERNEL,  /* what a kernel was refused for: "ptx: wgmma" */
	GKF_NAMED_CUBLAS,
	GKF_NAMED_KINDS,
};

/* A call of a row of cuda.def; rows beyond what is counted are nothing. */
static inline void gkf_cuda_count(struct gkf_file *file, unsigned row)
{
	if (row < GKF_CUDA_FUNCTIONS_MAX)
		atomic_fetch_add_explicit(&file->cuda_calls[row], 1,
					  memory_order_relaxed);
}

/* The name of this process, as it was when it was first refused something. */
GKF_API const char *gkf_caller(void);

/* It was refused, to this process. */
GKF_API void gkf_cuda_refuse(struct gkf_machine *m, unsigned row);

/* The same by name, cut to GKF_NAME_MAX - 1 bytes. */
GKF_API void gkf_refuse_named(struct gkf_machine *m, enum gkf_named kind,
			      const char *name);

/* What was refused by name, at place index below GKF_NAMES_MAX. */
struct gkf_named_count {
	enum gkf_named kind;
	char name[GKF_NAME_MAX];
	uint64_t count;
};
GKF_API bool gkf_named_read(struct gkf_machine *m, unsigned index,
			    struct gkf_named_count *ret_named);

/*
 * `function` of struct gkf_refused: a row of nvml.def, or one of cuda.def from
 * GKF_REFUSED_CUDA on, or the place of a name from GKF_REFUSED_NAMED on.
 */
#define GKF_REFUSED_CUDA  4096u
#define GKF_REFUSED_NAMED 8192u
#define GKF_REFUSED_END   (GKF_REFUSED_NAMED + GKF_NAMES_MAX)

#endif
