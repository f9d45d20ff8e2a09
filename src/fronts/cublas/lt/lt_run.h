/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_run.h - runs a product: the kernel's parameters, operands and epilogue.
 * The addresses are device addresses, which lt_run_matmul() resolves.
 */
#ifndef GKF_CUBLAS_LT_RUN_H
#define GKF_CUBLAS_LT_RUN_H

#include "fronts/cublas/gemm/gemm.h"
#include "fronts/cublas/lt/lt_memory.h"
#include "fronts/cublas/lt/lt_problem.h"
#include "fronts/cublas/lt/lt_scale.h"

/* The parameters of the kernel. */
struct lt_job {
	struct lt_problem p;
	/*
	 * addresses of matrices or, in pointer array mode, of arrays of
	 * addresses
	 */
	uint64_t a, b, c, d;
	struct lt_factor alpha, beta;
	/*
	 * Where to store the number of emulated bits, an int32_t; 0: nowhere.
	 */
	uint64_t emulated_bits;
};

/* A matrix in a form that gemm.h supports. */
struct lt_operand {
	const void *data;
	int64_t ld;
	enum element type;
	enum operation op;
	void *own; /* to be freed by the caller */
};

/*
 * Converts a matrix for a product whose sums have type `sums`, and applies its
 * scales. by_rows: the inner index of the scales is the matrix's row. Returns
 * false when out of memory.
 */
bool lt_take_operand(const struct lt_layout *l, const void *matrix,
		     int32_t trans, const struct lt_scales *scales,
		     bool by_rows, enum element sums, struct lt_operand *ret);

/* The epilogue of one product of a batch. */
struct lt_epilogue {
	const struct lt_problem *p;
	const void *c; /* NULL: beta is 0 everywhere */
	void *d;
	double *alpha, *beta;  /* m numbers each, or m pairs if complex */
	double *c_column;      /* a buffer for a column of C */
	double *bias;          /* m numbers; NULL: none */
	double *bias_gradient; /* m sums; NULL: none */
	/* a buffer; NULL if aux is unused or consists of bits */
	double *aux_column;
	uint8_t *aux; /* NULL: none */
	struct lt_layout aux_layout;
	/* one scale per column of B; none if data is NULL */
	struct lt_scales b_outer;
	/* one scale per block of D; none if data is NULL */
	struct lt_scales d_out;
	double c_scale, d_scale, aux_scale;
	double *amax_d, *amax_aux; /* NULL: not requested */
};

/*
 * Stores column j of D from its sums x (doubles, or pairs if complex), which it
 * overwrites.
 */
void lt_finish_column(const struct lt_epilogue *e, uint64_t j, double *x);

CUresult lt_run_matmul(struct gpukit_run *run);

#endif
