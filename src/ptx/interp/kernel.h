/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - kernels of a loaded PTX module: preparing one, querying the
 * resources it needs, and running it.
 *
 * A kernel never changes after it is decoded, so any number of threads may run
 * it. It refers to its module, which must outlive it.
 */
#ifndef GKF_PTX_KERNEL_H
#define GKF_PTX_KERNEL_H

#include "base/export.h"
#include "ptx/front/module.h"

#include <stdatomic.h>

struct gkf_ptx_kernel;

/*
 * Decodes an entry function into a kernel. addresses[i] is the address of the
 * module's variable i; only those of .global and .const variables are used. An
 * instruction that we cannot execute is not an error here:
 * gkf_ptx_kernel_refused() reports it, and gkf_ptx_run() refuses the kernel.
 * Returns 0 or GK_ERR_NOMEM. The caller owns the kernel and frees it with
 * gkf_ptx_kernel_free().
 */
GKF_API int gkf_ptx_kernel_new(const struct gkf_ptx_module *module,
			       const uint64_t *addresses,
			       const struct gkf_ptx_function *entry,
			       struct gkf_ptx_kernel **ret_kernel);
GKF_API void gkf_ptx_kernel_free(struct gkf_ptx_kernel *kernel);

/*
 * An instruction that we cannot execute. The strings live as long as the
 * module.
 */
struct gkf_ptx_refusal {
	const char *function, *instruction;
	/* the function that it calls, the register that it reads, or NULL */
	const char *operand;
	unsigned line; /* line in the module's text */
};
/*
 * Returns the first instruction that we cannot execute; false if there is none.
 */
GKF_API bool gkf_ptx_kernel_refused(const struct gkf_ptx_kernel *kernel,
				    struct gkf_ptx_refusal *ret_refusal);

/*
 * Resources that the kernel needs: bytes of static shared memory, bytes of
 * constants, bytes of local memory per thread, and an estimate of the registers
 * per thread.
 */
GKF_API uint32_t gkf_ptx_kernel_shared(const struct gkf_ptx_kernel *kernel);
GKF_API uint32_t gkf_ptx_kernel_constants(const struct gkf_ptx_kernel *kernel);
GKF_API uint32_t gkf_ptx_kernel_local(const struct gkf_ptx_kernel *kernel);
GKF_API uint32_t gkf_ptx_kernel_registers(const struct gkf_ptx_kernel *kernel);

/*
 * A range of device memory, in bytes, and the address at which this process has
 * mapped it.
 */
struct gkf_ptx_window {
	uint64_t base, size;
	unsigned char *host;
	bool read_only; /* a write ends the run with GKF_PTX_ILLEGAL_ADDRESS */
};

/* Why a run ended. */
enum gkf_ptx_end {
	GKF_PTX_DONE,
	GKF_PTX_REFUSED,         /* an instruction cannot be executed */
	GKF_PTX_NO_MEMORY,       /* the host is out of memory */
	GKF_PTX_STOPPED,         /* stopped() returned true */
	GKF_PTX_ILLEGAL_ADDRESS, /* an access to an address without memory */
	GKF_PTX_MISALIGNED,
	GKF_PTX_TRAPPED,        /* trap, brkpt */
	GKF_PTX_ASSERTED,       /* __assertfail() was called */
	GKF_PTX_STACK_OVERFLOW, /* calls nested too deeply */
	GKF_PTX_DEADLOCK,       /* all threads wait at barriers */
};

struct gkf_ptx_launch {
	const struct gkf_ptx_kernel *kernel;
	uint32_t grid[3], block[3]; /* blocks, threads */
	uint32_t dynamic_shared;    /* bytes */
	const void *params; /* param_size bytes, laid out as in the module */
	uint32_t param_size;
	/* Finds the memory that contains an address; false if there is none. */
	bool (*find)(void *context, uint64_t address,
		     struct gkf_ptx_window *ret_window);
	bool (*stopped)(void); /* called at back-branches and after blocks */
	/* Implements cudaGraphSetConditional(); false: unknown handle. */
	bool (*set_condition)(uint64_t handle, uint32_t value);
	void *context;
	uint32_t clock_khz; /* rate of %clock; 0 means 1 GHz */
	uint32_t sm_count;  /* number of SMs that share the blocks; 0 means 1 */
	const uint16_t *sms; /* %smid of each of these SMs; NULL: 0, 1, ... */
	uint32_t device_sms; /* %nsmid; 0 means sm_count */
};

/* Where a run failed. */
struct gkf_ptx_report {
	const char *function;
	unsigned line;
	uint64_t address;
	uint32_t block[3], thread[3];
};

/*
 * Runs all blocks in the calling thread. Always fills in ret_report, except
 * when it returns GKF_PTX_DONE, GKF_PTX_REFUSED or, before the first block,
 * GKF_PTX_NO_MEMORY.
 */
GKF_API enum gkf_ptx_end gkf_ptx_run(const struct gkf_ptx_launch *launch,
				     struct gkf_ptx_report *ret_report);

#endif
