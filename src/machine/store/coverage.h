/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - counts refusals: functions of the CUDA driver by their rows in
 * cuda_symbols.def; functions of libraries and features of kernels by name.
 */
#ifndef GKF_COVERAGE_H
#define GKF_COVERAGE_H

#include "base/export.h"
#include "machine/file/fault_state.h"
#include "machine/file/numbers.h"
#include "machine/file/work_state.h"

#include <stdbool.h>

struct gkf_file;
struct gkf_machine;

enum gkf_named {
	GKF_NAMED_RUNTIME, /* a function of libcudart */
	GKF_NAMED_KERNEL,  /* a kernel and the reason: "ptx: wgmma in k" */
	GKF_NAMED_CUBLAS,
	GKF_NAMED_CUFFT,
	GKF_NAMED_CURAND,
	GKF_NAMED_CUSPARSE,
	GKF_NAMED_CUSOLVER,
	GKF_NAMED_CUPTI,
	GKF_NAMED_NCCL,
	GKF_NAMED_TORCH,
	GKF_NAMED_KINDS,
};

/* The name that this process had when it was first refused something. */
GKF_API const char *gkf_caller(void);

/*
 * Counts a refused call of this process; `row` is the function's row in
 * cuda_symbols.def.
 */
GKF_API void gkf_cuda_refuse(struct gkf_machine *m, unsigned row);

/*
 * Counts a refused call of this process, by the name of a function or feature.
 * The name is truncated to GKF_REFUSED_MAX - 1 bytes.
 */
GKF_API void gkf_refuse_named(struct gkf_machine *m, enum gkf_named kind,
			      const char *name);

/*
 * A refused function or feature that is counted by name; index is below
 * GKF_NAMES_MAX.
 */
struct gkf_named_count {
	enum gkf_named kind;
	char name[GKF_REFUSED_MAX];
	uint64_t count;
};
bool gkf_named_read(struct gkf_machine *m, unsigned index,
		    struct gkf_named_count *ret_named);

/*
 * `function` of struct gkf_refused: a row of nvml.def, a row of
 * cuda_symbols.def plus GKF_REFUSED_CUDA, or the index of a name plus
 * GKF_REFUSED_NAMED.
 */
#define GKF_REFUSED_CUDA  4096u
#define GKF_REFUSED_NAMED 8192u
#define GKF_REFUSED_END   (GKF_REFUSED_NAMED + GKF_NAMES_MAX)

/* Counts a refused call of a function by the program `caller`. */
GKF_API void gkf_refusal_count(struct gkf_machine *m, unsigned function,
			       const char *caller);

struct gkf_refused {
	char caller[GKF_CALLER_MAX];
	unsigned function;
	uint64_t count;
	uint64_t order; /* lower for entries added earlier */
};

/* Reads the entry at index, below GKF_REFUSALS_MAX; false: it is free. */
bool gkf_refusal_read(struct gkf_machine *m, unsigned index,
		      struct gkf_refused *ret_refused);

/* Resets all counts to 0. */
void gkf_refusals_forget(struct gkf_machine *m);

#endif
