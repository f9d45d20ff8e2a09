/*
 * kernel.h - kernels of a PTX module that was loaded: getting one ready,
 * asking what it needs, running it.
 *
 * A kernel is decoded once and then never changed: any number of threads may
 * run it. It refers to its module, which must outlive it.
 */
#ifndef GKF_PTX_KERNEL_H
#define GKF_PTX_KERNEL_H

#include "base/export.h"
#include "ptx/front/module.h"

#include <stdatomic.h>

struct gkf_ptx_kernel;

/*
 * Decodes the kernel of a function. addresses: of the module's variables, by
 * their index; only those of .global and .const are looked at. Never fails
 * for what it does not execute: gkf_ptx_kernel_refused() tells of it, and
 * running such a kernel is refused. 0 or GK_ERR_NOMEM; the kernel is the
 * caller's, freed by gkf_ptx_kernel_free().
 */
GKF_API int gkf_ptx_kernel_new(const struct gkf_ptx_module *module,
			       const uint64_t *addresses,
			       const struct gkf_ptx_function *entry,
			       struct gkf_ptx_kernel **ret_kernel);
GKF_API void gkf_ptx_kernel_free(struct gkf_ptx_kernel *kernel);

/* The texts live as long as the module. */
struct gkf_ptx_refusal {
	const char *function, *instruction;
	const char *operand; /* whom it calls, what it reads; NULL: neither */
	unsigned line;       /* of the module's text */
};
/* False: all of it is executed. */
GKF_API bool gkf_ptx_kernel_refused(const struct gkf_ptx_kernel *kernel,
				    struct gkf_ptx_refusal *ret_refusal);

/*
 * The resources that the kernel needs: bytes of static shared memory, of
 * constants, of local memory a thread; registers a thread, which is a guess.
 */
GKF_API uint32_t gkf_ptx_kernel_shared(const struct gkf_ptx_kernel *kernel);
GKF_API uint32_t gkf_ptx_kernel_constants(const struct gkf_ptx_kernel *kernel);
GKF_API uint32_t gkf_ptx_kernel_local(const struct gkf_ptx_kernel *kernel);
GKF_API uint32_t gkf_ptx_kernel_registers(const struct gkf_ptx_kernel *kernel);

/* A stretch of device memory, in bytes, and where this process reads it. */
struct gkf_ptx_window {
	uint64_t base, size;
	unsigned char *host;
	bool read_only; /* who writes there has an illegal address */
};

/* Why a run ended. */
enum gkf_ptx_end {
	GKF_PTX_DONE,
	GKF_PTX_REFUSED,         /* holds what is not executed */
	GKF_PTX_NO_MEMORY,       /* of the host */
	GKF_PTX_STOPPED,         /* was told to */
	GKF_PTX_ILLEGAL_ADDRESS, /* no memory there */
	GKF_PTX_MISALIGNED,
	GKF_PTX_TRAPPED,        /* trap, brkpt */
	GKF_PTX_ASSERTED,       /* __assertfail() was called */
	GKF_PTX_STACK_OVERFLOW, /* calls too deep */
	GKF_PTX_DEADLOCK,       /* all threads wait at barriers */
};

struct gkf_ptx_launch {
	const struct gkf_ptx_kernel *kernel;
	uint32_t grid[3], block[3]; /* blocks, threads */
	uint32_t dynamic_shared;    /* bytes */
	const void *params; /* param_size bytes, laid out as in the module */
	uint32_t param_size;
	/* The memory an address lies in; false: in none. */
	bool (*find)(void *context, uint64_t address,
		     struct gkf_ptx_window *ret_window);
	bool (*stopped)(void); /* asked at back-branches, after blocks */
	/* What cudaGraphSetConditional() does; false: no such handle. */
	bool (*set_condition)(uint64_t handle, uint32_t value);
	void *context;
	uint32_t clock_khz;  /* of %clock; 0: a tick is a nanosecond */
	uint32_t sm_count;   /* that %smid goes through; 0: 1 */
	const uint16_t *sms; /* their numbers; NULL: from 0 on */
	uint32_t device_sms; /* %nsmid; 0: sm_count */
};

/* Where it went wrong. */
struct gkf_ptx_report {
	const char *function;
	unsigned line;
	uint64_t address;
	uint32_t block[3], thread[3];
};

/* Runs all blocks, in the calling thread. ret_report: unless DONE. */
GKF_API enum gkf_ptx_end gkf_ptx_run(const struct gkf_ptx_launch *launch,
				     struct gkf_ptx_report *ret_report);

#endif
