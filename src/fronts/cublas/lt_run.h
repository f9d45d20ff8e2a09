/*
 * lt_run.h - a product as it runs: the kernel's parameters, and what its parts
 * share. Addresses are the device's; what is behind them is asked of the run.
 */
#ifndef GKF_CUBLAS_LT_RUN_H
#define GKF_CUBLAS_LT_RUN_H

#include "fronts/cublas/gemm.h"
#include "fronts/cublas/lt_memory.h"
#include "fronts/cublas/lt_problem.h"
#include "fronts/cublas/lt_scale.h"

/* The parameters of the kernel. */
struct lt_job {
	struct lt_problem p;
	uint64_t a, b, c, d; /* of arrays of addresses in that batch mode */
	struct lt_factor alpha, beta;
	uint64_t
	    emulated_bits; /* of an int32_t that says: none; 0: nobody asks */
};

/* A matrix as gemm.h takes it. */
struct lt_operand {
	const void *data;
	int64_t ld;
	enum element type;
	enum operation op;
	void *own; /* to be freed */
};

/*
 * A matrix of a product summed in `sums`, scaled. false: no memory.
 * by_k: its inner index is its row.
 */
bool lt_take_operand(const struct lt_layout *l, const void *matrix,
		     int32_t trans, const struct lt_scales *scales,
		     bool by_rows, enum element sums, struct lt_operand *ret);

/* What is done to the sums of one product of a batch. */
struct lt_epilogue {
	const struct lt_problem *p;
	const void *c; /* NULL: beta is 0 everywhere */
	void *d;
	double *alpha, *beta;  /* m of them, pairs where complex */
	double *c_column;      /* room for one */
	double *bias;          /* m; NULL: none */
	double *bias_gradient; /* m sums; NULL: none */
	double *aux_column;    /* room for one; NULL: none or bits */
	uint8_t *aux;          /* NULL: none */
	struct lt_layout aux_layout;
	struct lt_scales b_outer; /* a scale for each column of B; data NULL */
	struct lt_scales d_out;   /* data NULL: D is in no blocks */
	double c_scale, d_scale, aux_scale;
	double *amax_d, *amax_aux; /* NULL: nobody asks */
};

/* Column j of D from its sums, as double or pairs of them, which are spoilt. */
void lt_finish_column(const struct lt_epilogue *e, uint64_t j, double *x);

CUresult lt_run_matmul(struct gpukit_run *run);

#endif
