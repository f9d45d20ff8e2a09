/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt_problem.c - checks whether cuBLASLt supports a product. Each check_...()
 * implements one paragraph of cublasLtMatmul()'s documentation.
 */
#include "fronts/cublas/lt/lt_problem.h"

#include "fronts/common/native.h"

struct checking {
	struct lt_problem *p;
	const struct lt_device *device;
	bool pointers; /* whether the epilogue's buffers are required */
	const char *why;
};

#define OK            CUBLAS_STATUS_SUCCESS
#define INVALID       CUBLAS_STATUS_INVALID_VALUE
#define NOT_SUPPORTED CUBLAS_STATUS_NOT_SUPPORTED

static cublasStatus_t object_to(struct checking *c, cublasStatus_t status,
				const char *why)
{
	c->why = why;
	return status;
}

static bool is_half_complex(uint32_t type)
{
	return type == C_16F || type == C_16BF;
}

static cublasStatus_t check_types(struct checking *c)
{
	struct lt_problem *p = c->p;
	struct lt_types types = {p->op.compute_type, p->op.scale_type,
				 (int32_t)p->a.type, (int32_t)p->b.type,
				 (int32_t)p->c.type, (int32_t)p->d.type};
	int planes = !!p->a.plane_offset + !!p->b.plane_offset +
		     !!p->c.plane_offset + !!p->d.plane_offset;

	if (!lt_types_are_known(&types, &p->bias_type))
		return object_to(c, NOT_SUPPORTED, "no product of these types");
	if (planes != (is_half_complex(p->a.type) ? 4 : 0))
		return object_to(c, NOT_SUPPORTED,
				 "planes are for complex numbers of 16 bits");
	p->sums = lt_sums_of(&types);
	p->narrow = lt_is_narrow(p->a.type);
	return OK;
}

static bool is_operation(int32_t op)
{
	return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

static cublasStatus_t check_shapes(struct checking *c)
{
	struct lt_problem *p = c->p;
	const struct lt_layout *a = &p->a, *b = &p->b, *d = &p->d;
	bool at = p->op.trans_a != CUBLAS_OP_N,
	     bt = p->op.trans_b != CUBLAS_OP_N;
	uint64_t k = at ? a->rows : a->cols;

	if (!is_operation(p->op.trans_a) || !is_operation(p->op.trans_b))
		return object_to(c, INVALID, "no such operation");
	if (p->op.trans_c != CUBLAS_OP_N)
		return object_to(c, NOT_SUPPORTED, "C transposed");
	if (p->op.fill_mode != CUBLAS_FILL_MODE_FULL)
		return object_to(c, NOT_SUPPORTED, "a triangle of a matrix");
	if ((at ? a->cols : a->rows) != d->rows ||
	    (bt ? b->rows : b->cols) != d->cols ||
	    (bt ? b->cols : b->rows) != k || p->c.rows != d->rows ||
	    p->c.cols != d->cols)
		return object_to(c, INVALID, "rows and columns do not agree");
	if (d->rows > INT32_MAX || d->cols > INT32_MAX || k > INT32_MAX)
		return object_to(c, NOT_SUPPORTED, "too many rows or columns");
	p->m = (int64_t)d->rows;
	p->n = (int64_t)d->cols;
	p->k = (int64_t)k;
	return OK;
}

static cublasStatus_t check_places(struct checking *c)
{
	struct lt_problem *p = c->p;

	if (p->c.order != p->d.order)
		return object_to(c, INVALID, "C and D have different orders");
	if (!lt_layout_is_valid(&p->a) || !lt_layout_is_valid(&p->b) ||
	    !lt_layout_is_readable(&p->c) || !lt_layout_is_valid(&p->d))
		return object_to(c, INVALID,
				 "an order is unknown or a leading dimension "
				 "too small");
	if (p->a.ld > INT32_MAX || p->b.ld > INT32_MAX)
		return object_to(c, NOT_SUPPORTED,
				 "a leading dimension is too large");
	return OK;
}

static cublasStatus_t check_batches(struct checking *c)
{
	struct lt_problem *p = c->p;
	const struct lt_layout *all[] = {&p->a, &p->b, &p->c, &p->d};

	for (size_t i = 0; i < 4; i++)
		if (all[i]->batch_count < 1 ||
		    all[i]->batch_count != p->d.batch_count ||
		    all[i]->batch_mode != p->d.batch_mode ||
		    all[i]->batch_mode > CUBLASLT_BATCH_MODE_POINTER_ARRAY)
			return object_to(c, INVALID, "batches do not agree");
	if (p->d.batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY &&
	    (p->op.epilogue != CUBLASLT_EPILOGUE_DEFAULT || p->op.alpha_stride))
		return object_to(c, NOT_SUPPORTED,
				 "an epilogue of an array of pointers");
	p->batches = p->d.batch_count;
	return OK;
}

static bool is_epilogue(uint32_t epilogue)
{
	switch (epilogue) {
	case CUBLASLT_EPILOGUE_DEFAULT:
	case CUBLASLT_EPILOGUE_RELU:
	case CUBLASLT_EPILOGUE_BIAS:
	case CUBLASLT_EPILOGUE_RELU_BIAS:
	case CUBLASLT_EPILOGUE_GELU:
	case CUBLASLT_EPILOGUE_GELU_BIAS:
	case CUBLASLT_EPILOGUE_RELU_AUX:
	case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
	case CUBLASLT_EPILOGUE_DRELU:
	case CUBLASLT_EPILOGUE_DRELU_BGRAD:
	case CUBLASLT_EPILOGUE_GELU_AUX:
	case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
	case CUBLASLT_EPILOGUE_DGELU:
	case CUBLASLT_EPILOGUE_DGELU_BGRAD:
	case CUBLASLT_EPILOGUE_BGRADA:
	case CUBLASLT_EPILOGUE_BGRADB:
		return true;
	default:
		return false;
	}
}

#define ACTIVATIONS (LT_RELU | LT_GELU | LT_DRELU | LT_DGELU)
#define WITH_BIAS   (LT_BIAS | LT_BGRAD | LT_BGRADA | LT_BGRADB)

/*
 * Checks the auxiliary buffer, which holds values for GELU and bits for ReLU.
 */
static cublasStatus_t check_aux(struct checking *c)
{
	struct lt_problem *p = c->p;
	const struct lt_matmul *op = &p->op;
	bool bits = op->epilogue & (LT_RELU | LT_DRELU);
	int64_t step = bits ? 128 : 8;
	int32_t type = op->aux_type, d = (int32_t)p->d.type;

	if (!(op->epilogue & LT_AUX))
		return OK;
	if (op->aux_ld % step || op->aux_ld < p->m || op->aux_stride % step)
		return object_to(c, INVALID,
				 "the leading dimension of the auxiliary "
				 "buffer");
	if (p->d.order == CUBLASLT_ORDER_ROW)
		return object_to(c, NOT_SUPPORTED,
				 "an auxiliary buffer with D in rows");
	if (c->pointers && !op->aux)
		return object_to(c, INVALID, "no auxiliary buffer");
	p->aux_type = bits ? LT_NO_TYPE : type == -1 ? d : type;
	if (bits || p->aux_type == d)
		return OK;
	if (d != R_8F_E4M3 || (type != R_16F && type != R_16BF))
		return object_to(c, INVALID,
				 "the type of the auxiliary buffer");
	return OK;
}

/*
 * A bias may also have A's type if that type has 16 bits. So the bias gradient
 * can have 16 bits while D, the weight gradient, is float.
 */
static bool take_bias_type(struct lt_problem *p)
{
	int32_t type = p->op.bias_type, a = (int32_t)p->a.type;

	if (!(p->op.epilogue & WITH_BIAS) || type == -1 || type == p->bias_type)
		return true;
	if (type != a || (a != R_16F && a != R_16BF))
		return false;
	p->bias_type = type;
	return true;
}

static cublasStatus_t check_epilogue(struct checking *c)
{
	struct lt_problem *p = c->p;
	const struct lt_matmul *op = &p->op;

	if (!is_epilogue(op->epilogue))
		return object_to(c, INVALID, "no such epilogue");
	if (op->epilogue == CUBLASLT_EPILOGUE_DEFAULT)
		return OK;
	if (p->bias_type == LT_NO_TYPE)
		return object_to(c, NOT_SUPPORTED,
				 "an epilogue with these types");
	if (!take_bias_type(p))
		return object_to(c, NOT_SUPPORTED, "a bias of this type");
	if (op->epilogue & WITH_BIAS && op->epilogue & ACTIVATIONS &&
	    p->d.order == CUBLASLT_ORDER_ROW)
		return object_to(c, NOT_SUPPORTED,
				 "bias and activation with D in rows");
	if (op->epilogue & WITH_BIAS && c->pointers && !op->bias)
		return object_to(c, INVALID, "no bias");
	return check_aux(c);
}

static cublasStatus_t check_pointer_mode(struct checking *c)
{
	const struct lt_matmul *op = &c->p->op;

	if (op->pointer_mode < CUBLASLT_POINTER_MODE_HOST ||
	    op->pointer_mode >
		CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
		return object_to(c, INVALID, "no such pointer mode");
	if (op->pointer_mode ==
		CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO &&
	    op->alpha_stride)
		return object_to(c, INVALID, "a batch of vectors alpha");
	return OK;
}

static bool is_tiled(const struct lt_layout *l)
{
	return l->order > CUBLASLT_ORDER_ROW;
}

/* Checks the tiled orders for integers, which Turing and Ampere support. */
static cublasStatus_t check_tiles(struct checking *c)
{
	const struct lt_problem *p = c->p;
	int capability = c->device->capability;
	bool ampere = p->b.order == CUBLASLT_ORDER_COL32_2R_4R4;

	if (p->sums != R_32I || p->a.order != CUBLASLT_ORDER_COL32 ||
	    p->d.order != CUBLASLT_ORDER_COL32 ||
	    p->b.order <= CUBLASLT_ORDER_COL32 ||
	    p->op.trans_a != CUBLAS_OP_N || p->op.trans_b == CUBLAS_OP_N ||
	    p->op.pointer_mode ==
		CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
		return object_to(c, NOT_SUPPORTED, "such orders");
	if (capability < (ampere ? 80 : 75) || capability >= 90)
		return object_to(c, NOT_SUPPORTED, "such orders on this GPU");
	return OK;
}

static cublasStatus_t check_integers(struct checking *c)
{
	const struct lt_problem *p = c->p;
	int32_t mode = p->op.pointer_mode;

	if (is_tiled(&p->a) || is_tiled(&p->b) || is_tiled(&p->d))
		return check_tiles(c);
	if (p->sums != R_32I)
		return OK;
	if (p->op.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
		return object_to(c, NOT_SUPPORTED, "an epilogue of integers");
	if (mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR ||
	    mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
		return object_to(c, NOT_SUPPORTED, "such a pointer mode");
	if ((p->m | p->k | p->a.ld | p->b.ld | p->c.ld) % 4)
		return object_to(c, NOT_SUPPORTED,
				 "integers whose rows are no multiples of 4");
	return OK;
}

/*
 * Whether the size and stride of columns (rows if row-major) are multiples of
 * 16 bytes.
 */
static bool is_aligned(const struct lt_layout *l)
{
	bool by_row = l->order == CUBLASLT_ORDER_ROW;
	uint64_t together = by_row ? l->cols : l->rows;

	return lt_bytes(l->type, together) % 16 == 0 &&
	       lt_bytes(l->type, (size_t)l->ld) % 16 == 0;
}

/*
 * Whether the GPU supports a scale mode. range[] has the first and the last
 * compute capability that supports each mode.
 */
static bool has_scale_mode(int capability, int32_t mode)
{
	static const int range[][2] = {
	    [CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F] = {89, 1000},
	    [CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3] = {100, 1000},
	    [CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0] = {100, 1000},
	    [CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F] = {90, 90},
	    [CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F] = {90, 90},
	    [CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F] = {90, 90},
	};

	return mode >= 0 && mode < CUBLASLT_MATMUL_MATRIX_SCALE_END &&
	       capability >= range[mode][0] && capability <= range[mode][1];
}

/* Whether A and B may have these scale modes together. */
static bool are_a_pair(int32_t a, int32_t b)
{
	int32_t vector = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
	int32_t block = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;

	return (a == b && a != block) || (a == vector && b == block) ||
	       (a == block && b == vector);
}

/*
 * Checks the scale modes of A and B, and those of C and D if their types are
 * narrow.
 */
static cublasStatus_t check_scale_modes(struct checking *c)
{
	const struct lt_problem *p = c->p;
	const struct lt_matmul *op = &p->op;
	int32_t mode = op->a_mode;
	bool blocks = mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 ||
		      mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
	bool four = p->a.type == R_4F_E2M1, narrow_d = lt_is_narrow(p->d.type);

	if (!has_scale_mode(c->device->capability, mode) ||
	    !has_scale_mode(c->device->capability, op->b_mode) ||
	    !are_a_pair(mode, op->b_mode) ||
	    four != (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3))
		return object_to(c, NOT_SUPPORTED,
				 "such scales of A and B on this GPU");
	if (op->c_mode || op->d_mode || op->aux_mode ||
	    op->d_out_mode != (blocks && narrow_d ? mode : 0))
		return object_to(c, NOT_SUPPORTED, "such scales of C or D");
	if (narrow_d && mode && !blocks)
		return object_to(c, NOT_SUPPORTED, "a narrow D of such scales");
	if (mode && p->batches > 1)
		return object_to(c, NOT_SUPPORTED, "a batch of scaled blocks");
	if (mode && ((c->pointers && (!op->a_scale || !op->b_scale)) ||
		     (p->m | p->n) % 4))
		return object_to(c, INVALID, "scales of blocks");
	if (blocks && narrow_d && c->pointers && !op->d_out)
		return object_to(c, INVALID, "no place for the scales of D");
	return OK;
}

static cublasStatus_t check_narrow(struct checking *c)
{
	const struct lt_problem *p = c->p;
	const struct lt_matmul *op = &p->op;
	int capability = c->device->capability;
	bool by_k =
	    (op->trans_a != CUBLAS_OP_N) ==
		(p->a.order == CUBLASLT_ORDER_COL) &&
	    (op->trans_b != CUBLAS_OP_N) == (p->b.order != CUBLASLT_ORDER_COL);
	bool any =
	    capability >= 100 && capability < 120 && p->a.type != R_4F_E2M1;

	if (capability < 89)
		return object_to(c, NOT_SUPPORTED, "floats of 8 bits here");
	if (!by_k && !any)
		return object_to(c, NOT_SUPPORTED,
				 "narrow floats whose k does not lie together");
	if (!is_aligned(&p->a) || !is_aligned(&p->b) || !is_aligned(&p->c) ||
	    !is_aligned(&p->d))
		return object_to(c, NOT_SUPPORTED,
				 "narrow floats at no multiples of 16 bytes");
	if (op->epilogue & (LT_BGRADA | LT_BGRADB))
		return object_to(c, NOT_SUPPORTED,
				 "sums over narrow floats of A or B");
	if (op->d_scale &&
	    (!lt_is_narrow(p->d.type) ||
	     op->d_out_mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0))
		return object_to(c, INVALID, "a scale of this D");
	if ((op->aux_scale || op->aux_amax) && p->aux_type != R_8F_E4M3 &&
	    p->aux_type != R_8F_E5M2)
		return object_to(c, INVALID,
				 "a scale of this auxiliary buffer");
	return check_scale_modes(c);
}

static cublasStatus_t check_scales(struct checking *c)
{
	const struct lt_matmul *op = &c->p->op;

	if (c->p->narrow)
		return check_narrow(c);
	if (op->a_scale || op->b_scale || op->c_scale || op->d_scale ||
	    op->amax_d || op->aux_scale || op->aux_amax || op->d_out ||
	    op->a_mode || op->b_mode || op->c_mode || op->d_mode ||
	    op->d_out_mode)
		return object_to(c, INVALID, "scales are for narrow floats");
	return OK;
}

cublasStatus_t lt_problem_of(const struct lt_request *r,
			     const struct lt_device *device, bool pointers,
			     struct lt_problem *ret, const char **ret_why)
{
	static cublasStatus_t (*const checks[])(struct checking *) = {
	    check_types,    check_shapes,       check_places,   check_batches,
	    check_epilogue, check_pointer_mode, check_integers, check_scales,
	};
	struct checking c = {ret, device, pointers, ""};
	cublasStatus_t status = OK;

	*ret_why = "";
	if (!r->op || !r->a || !r->b || !r->d) {
		*ret_why = "a descriptor is missing";
		return INVALID;
	}
	*ret = (struct lt_problem){.op = *r->op,
				   .a = *r->a,
				   .b = *r->b,
				   .c = r->c ? *r->c : *r->d,
				   .d = *r->d,
				   .aux_type = LT_NO_TYPE};
	for (size_t i = 0; !status && i < sizeof checks / sizeof *checks; i++)
		status = checks[i](&c);
	*ret_why = c.why;
	return status;
}

static int attribute_of(const struct native_driver *d, CUdevice device,
			CUdevice_attribute id)
{
	int value = 0;

	return d->cuDeviceGetAttribute(&value, id, device) ? 0 : value;
}

cublasStatus_t lt_find_device(struct lt_device *ret)
{
	const struct native_driver *d = native_driver();
	CUdevice device;

	if (!d || native_context() || d->cuCtxGetDevice(&device))
		return CUBLAS_STATUS_NOT_INITIALIZED;
	ret->capability =
	    attribute_of(d, device,
			 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *
		10 +
	    attribute_of(d, device,
			 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	ret->sm_count =
	    attribute_of(d, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	return OK;
}
