/* SPDX-License-Identifier: Apache-2.0 */
/* decode_operand.c - turns operands into places, and addresses into ops. */
#include "base/assert.h"
#include "ptx/interp/decode.h"
#include "ptx/interp/lanes.h"
#include "ptx/interp/special.h"

#include <stdlib.h>
#include <string.h>

#define POOL_MAX (1U << (GKF_AREA_SHIFT - 1))

char gkf_letter(unsigned bytes)
{
	return bytes == 1 ? 'b' : bytes == 2 ? 'h' : bytes == 4 ? 'w' : 'l';
}

char gkf_type_letter(enum gkf_ptx_type type)
{
	if (type == GKF_PTX_T_f32)
		return 'f';
	if (type == GKF_PTX_T_f64)
		return 'd';
	return type == GKF_PTX_T_pred ? 'p'
				      : gkf_letter(gkf_ptx_types[type].bytes);
}

static unsigned bytes_of_letter(char letter)
{
	switch (letter) {
	case 'b':
		return 1;
	case 'h':
		return 2;
	case 'w':
	case 'f':
	case 'p':
		return 4;
	default:
		return 8;
	}
}

/* Appends `size` bytes to the pool of constants; NULL: out of memory. */
static void *pool_room(struct gkf_decoder *d, size_t size)
{
	struct gkf_ptx_kernel *k = d->kernel;

	while (d->pool_size + size > d->pool_room) {
		size_t room = d->pool_room ? d->pool_room * 2 : 4096;
		unsigned char *grown =
		    room <= POOL_MAX ? aligned_alloc(64, room) : NULL;

		if (!grown) {
			d->no_memory = true;
			return NULL;
		}
		if (k->pool)
			memcpy(grown, k->pool, d->pool_size);
		free(k->pool);
		k->pool = grown;
		d->pool_room = room;
	}
	d->pool_size += size;
	return k->pool + d->pool_size - size;
}

static uint32_t *probe_table(const struct gkf_decoder *d, unsigned bytes,
			     uint64_t value)
{
	uint64_t h = (value + bytes) * 0x9e3779b97f4a7c15U;

	for (h ^= h >> 32;; h++) {
		uint32_t *slot =
		    &d->constant_table[h & (d->constant_slots - 1)];

		if (!*slot || (d->constants[*slot - 1].value == value &&
			       d->constants[*slot - 1].bytes == bytes))
			return slot;
	}
}

/*
 * Returns the hash table's slot for a constant, which may be free, or NULL when
 * out of memory.
 */
static uint32_t *constant_slot(struct gkf_decoder *d, unsigned bytes,
			       uint64_t value)
{
	size_t slots = d->constant_slots ? d->constant_slots : 32;

	if (d->constant_count * 2 >= d->constant_slots) {
		uint32_t *table =
		    gkf_arena_get(&d->scratch, slots * 2 * sizeof *table);

		if (!table) {
			d->no_memory = true;
			return NULL;
		}
		d->constant_table = table;
		d->constant_slots = slots * 2;
		for (size_t i = 0; i < d->constant_count; i++)
			*probe_table(d, d->constants[i].bytes,
				     d->constants[i].value) = (uint32_t)i + 1;
	}
	return probe_table(d, bytes, value);
}

uint32_t gkf_constant(struct gkf_decoder *d, unsigned bytes, uint64_t value)
{
	struct gkf_constant *list;
	unsigned char *room;
	uint32_t place, *slot;

	GK_ASSERT(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
	slot = constant_slot(d, bytes, value);
	if (!slot)
		return GKF_TRUE;
	if (*slot)
		return d->constants[*slot - 1].place;
	place = GKF_PLACE(GKF_AREA_POOL, d->pool_size);
	room = pool_room(d, (size_t)bytes * GKF_LANES);
	list = gkf_arena_grow(&d->scratch, d->constants, d->constant_count,
			      &d->constant_room, sizeof *list);
	if (!room || !list) {
		d->no_memory = true;
		return GKF_TRUE;
	}
	for (unsigned l = 0; l < GKF_LANES; l++)
		memcpy(room + (size_t)l * bytes, &value, bytes);
	d->constants = list;
	list[d->constant_count++] =
	    (struct gkf_constant){value, place, (uint8_t)bytes};
	*slot = (uint32_t)d->constant_count;
	return place;
}

uint32_t gkf_temporary(struct gkf_decoder *d, unsigned bytes)
{
	uint32_t place = (d->frame_size + 63) & ~63U;

	d->frame_size = place + bytes * GKF_LANES;
	if (d->frame_size >= 1U << (GKF_AREA_SHIFT - 1))
		d->no_memory = true;
	return place;
}

bool gkf_register(const struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		  uint32_t *ret_place, unsigned *ret_bytes)
{
	enum gkf_ptx_type type;

	if (o->kind != GKF_PTX_OP_REG)
		return false;
	type = (enum gkf_ptx_type)d->function->registers[o->index].type;
	if (type == GKF_PTX_T_pred)
		return false;
	*ret_place = d->register_places[o->index];
	*ret_bytes = gkf_ptx_types[type].bytes;
	return true;
}

static uint32_t decode_register(const struct gkf_decoder *d,
				const struct gkf_ptx_operand *o, char letter)
{
	bool is_predicate =
	    d->function->registers[o->index].type == GKF_PTX_T_pred;
	uint32_t place = d->register_places[o->index];
	unsigned bytes;

	if (letter == 'p' || is_predicate)
		return letter == 'p' && is_predicate ? place : GKF_NOWHERE;
	if (!gkf_register(d, o, &place, &bytes) ||
	    bytes != bytes_of_letter(letter))
		return GKF_NOWHERE;
	return place;
}

/*
 * Returns a number literal's bits as an operand of the given letter. The bits
 * of a 0f literal stay unchanged even for a double, as with NVIDIA's assembler.
 */
static uint64_t bits_as(const struct gkf_ptx_operand *o, char letter)
{
	uint64_t value = (uint64_t)o->value;

	if (o->kind == GKF_PTX_OP_INT && letter == 'f')
		return bits32((float)o->value);
	if (o->kind == GKF_PTX_OP_INT && letter == 'd')
		return bits64((double)o->value);
	if (o->kind == GKF_PTX_OP_F64 && bytes_of_letter(letter) == 4)
		return bits32((float)float64(value));
	return value;
}

static uint32_t decode_number(struct gkf_decoder *d,
			      const struct gkf_ptx_operand *o, char letter)
{
	unsigned bytes = bytes_of_letter(letter);
	uint64_t value = bits_as(o, letter);

	if (letter == 'p')
		value = value ? UINT32_MAX : 0;
	if (bytes < 8)
		value &= ((uint64_t)1 << bytes * 8) - 1;
	return gkf_constant(d, bytes, value);
}

static uint32_t local_address(struct gkf_decoder *d, uint64_t offset,
			      unsigned bytes)
{
	struct gkf_op *op = gkf_emit(d, gkf_op_local_address);

	op->d = gkf_temporary(d, bytes);
	op->imm = (int64_t)offset;
	op->size = (uint8_t)bytes;
	return op->d;
}

/*
 * Returns the place of a constant whose value is the variable's address in its
 * state space.
 */
static uint32_t decode_variable(struct gkf_decoder *d,
				const struct gkf_ptx_operand *o, char letter)
{
	const struct gkf_ptx_variable *v = &d->module->variables[o->index];
	unsigned bytes = bytes_of_letter(letter);

	if (bytes < 4)
		return GKF_NOWHERE;
	switch ((enum gkf_ptx_space)v->space) {
	case GKF_PTX_GLOBAL:
	case GKF_PTX_CONST:
		if (bytes != 8)
			return GKF_NOWHERE;
		return gkf_constant(
		    d, 8, d->addresses[o->index] + (uint64_t)o->value);
	case GKF_PTX_SHARED:
		return gkf_constant(d, bytes,
				    d->shared[o->index] + (uint64_t)o->value);
	case GKF_PTX_LOCAL:
		return local_address(d, v->offset + (uint64_t)o->value, bytes);
	case GKF_PTX_PARAM:
		if (!v->is_kernel_param)
			return GKF_NOWHERE;
		return gkf_constant(d, bytes, v->offset + (uint64_t)o->value);
	case GKF_PTX_REG:
	case GKF_PTX_GENERIC:
		break;
	}
	return GKF_NOWHERE;
}

static uint32_t decode_special(struct gkf_decoder *d, const char *name,
			       char letter)
{
	uint32_t bit = 0, place = gkf_special_find(name, &bit);
	unsigned bytes = 0;
	enum gkf_clock_kind which;
	struct gkf_op *op;

	d->kernel->specials |= bit;
	if (place != GKF_NOWHERE)
		return bytes_of_letter(letter) == 4 ? place : GKF_NOWHERE;
	which = gkf_clock_find(name, &bytes);
	if (which == GKF_CLOCK_KINDS || bytes_of_letter(letter) != bytes)
		return GKF_NOWHERE;
	op = gkf_emit(d, gkf_op_clock);
	op->d = gkf_temporary(d, bytes);
	op->imm = which;
	op->size = (uint8_t)bytes;
	return op->d;
}

static uint32_t decode_cast(struct gkf_decoder *d, uint32_t place, unsigned to,
			    unsigned from, bool is_signed)
{
	struct gkf_op *op;

	if (place == GKF_NOWHERE || to == from)
		return place;
	op = gkf_emit(d, gkf_bits_cast(to, from, is_signed));
	op->a = place;
	return op->d = gkf_temporary(d, to);
}

/* Emits an op with two operands and returns the place of its result. */
static uint32_t emit_binary(struct gkf_decoder *d, gkf_op_fn *run, uint32_t a,
			    uint32_t b, unsigned bytes)
{
	struct gkf_op *op = gkf_emit(d, run);

	op->a = a;
	op->b = b;
	return op->d = gkf_temporary(d, bytes);
}

/*
 * Emits ops that turn an index in a register into an element's byte offset, and
 * returns the offset's place. The index is treated as an unsigned 32-bit
 * number, as in NVIDIA's assembler.
 */
static uint32_t decode_distance(struct gkf_decoder *d,
				const struct gkf_ptx_operand *o, unsigned bytes)
{
	const struct gkf_ptx_operand *by = gkf_nested(d, o, 1);
	const struct gkf_ptx_type_facts *type =
	    &gkf_ptx_types[d->function->registers[by->index].type];
	uint32_t index;

	if (type->kind > GKF_PTX_SIGNED || type->bytes < 2 || type->bytes > 8)
		return GKF_NOWHERE;
	index = gkf_source(d, by, gkf_letter(type->bytes));
	index =
	    decode_cast(d, index, 4, type->bytes, type->kind == GKF_PTX_SIGNED);
	if (by->value && index != GKF_NOWHERE)
		index = emit_binary(d, gkf_op_add32, index,
				    gkf_constant(d, 4, (uint32_t)by->value), 4);
	index = decode_cast(d, index, bytes, 4, false);
	return emit_binary(d, bytes == 8 ? gkf_op_mul_lo64 : gkf_op_mul_lo32,
			   index, gkf_constant(d, bytes, (uint64_t)o->value),
			   bytes);
}

/* Returns the place of an array element's address in its state space. */
static uint32_t decode_element(struct gkf_decoder *d,
			       const struct gkf_ptx_operand *o, char letter)
{
	unsigned bytes = bytes_of_letter(letter);
	uint32_t from = decode_variable(d, gkf_nested(d, o, 0), letter), by;

	if (from == GKF_NOWHERE || o->count == 1)
		return from;
	by = decode_distance(d, o, bytes);
	if (by == GKF_NOWHERE)
		return by;
	return emit_binary(d, bytes == 8 ? gkf_op_add64 : gkf_op_add32, from,
			   by, bytes);
}

uint32_t gkf_source(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		    char letter)
{
	switch ((enum gkf_ptx_operand_kind)o->kind) {
	case GKF_PTX_OP_REG:
		return decode_register(d, o, letter);
	case GKF_PTX_OP_INT:
	case GKF_PTX_OP_F32:
	case GKF_PTX_OP_F64:
		return decode_number(d, o, letter);
	case GKF_PTX_OP_VARIABLE:
		return decode_variable(d, o, letter);
	case GKF_PTX_OP_SPECIAL:
		return decode_special(d, o->name, letter);
	case GKF_PTX_OP_ELEMENT:
		return decode_element(d, o, letter);
	case GKF_PTX_OP_FUNCTION:
	case GKF_PTX_OP_LABEL:
	case GKF_PTX_OP_SINK:
	case GKF_PTX_OP_PAIR:
	case GKF_PTX_OP_VECTOR:
	case GKF_PTX_OP_LIST:
	case GKF_PTX_OP_ADDRESS:
	case GKF_PTX_OP_ADDRESSES:
	case GKF_PTX_OP_MINUS:
		break;
	}
	return GKF_NOWHERE;
}

uint32_t gkf_target(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		    char letter, bool *ret_ok)
{
	uint32_t place = GKF_NOWHERE;

	if (o->kind == GKF_PTX_OP_REG && !o->negated)
		place = decode_register(d, o, letter);
	*ret_ok = place != GKF_NOWHERE || o->kind == GKF_PTX_OP_SINK;
	return place;
}

/*
 * Adds a variable's address to op and sets op's space. Returns false if the
 * instruction cannot access that space.
 */
static bool variable_address(struct gkf_decoder *d,
			     const struct gkf_ptx_operand *base,
			     enum gkf_ptx_space space, struct gkf_op *op)
{
	const struct gkf_ptx_variable *v = &d->module->variables[base->index];
	enum gkf_ptx_space own = (enum gkf_ptx_space)v->space;
	uint64_t at = (uint64_t)op->imm + (uint64_t)base->value;

	if (space != GKF_PTX_GENERIC && space != own &&
	    !(own == GKF_PTX_CONST && space == GKF_PTX_GLOBAL))
		return false;
	op->space = (uint8_t)own;
	op->a = gkf_constant(d, 8, 0);
	if (own == GKF_PTX_GLOBAL || own == GKF_PTX_CONST)
		at += d->addresses[base->index];
	else if (own == GKF_PTX_SHARED)
		at += d->shared[base->index];
	else
		at += v->offset;
	op->imm = (int64_t)at;
	if (own == GKF_PTX_LOCAL ||
	    (own == GKF_PTX_PARAM && !v->is_kernel_param)) {
		op->space = GKF_PTX_LOCAL;
		op->framed = true;
	}
	return own != GKF_PTX_REG;
}

static bool element_address(struct gkf_decoder *d,
			    const struct gkf_ptx_operand *o,
			    enum gkf_ptx_space space, struct gkf_op *op)
{
	if (!variable_address(d, gkf_nested(d, o, 0), space, op))
		return false;
	if (o->count > 1)
		op->a = decode_distance(d, o, 8);
	return op->a != GKF_NOWHERE;
}

bool gkf_address(struct gkf_decoder *d, const struct gkf_ptx_operand *o,
		 enum gkf_ptx_space space, struct gkf_op *ret_op)
{
	const struct gkf_ptx_operand *base;
	unsigned bytes;

	if (o->kind == GKF_PTX_OP_ELEMENT)
		return element_address(d, o, space, ret_op);
	if (o->kind != GKF_PTX_OP_ADDRESS)
		return false;
	base = gkf_nested(d, o, 0);
	ret_op->space = (uint8_t)space;
	ret_op->imm = o->value;
	if (base->kind == GKF_PTX_OP_VARIABLE)
		return variable_address(d, base, space, ret_op);
	if (base->kind == GKF_PTX_OP_INT) {
		ret_op->a = gkf_constant(d, 8, (uint64_t)base->value);
		return true;
	}
	if (!gkf_register(d, base, &ret_op->a, &bytes) || bytes < 4 ||
	    bytes > 8)
		return false;
	ret_op->narrow_address = bytes == 4;
	return true;
}
