/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_op.c - decodes instructions for which a form's signature is not
 * enough.
 */
#include "ptx/interp/decode.h"

#include <string.h>

bool gkf_decode_test(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		     const struct gkf_form *form, const struct gkf_modifiers *m)
{
	const struct gkf_ptx_operand *target;
	unsigned wanted = m->bool_ ? 4 : 3;
	uint32_t p, q = GKF_NOWHERE, a, b, c = GKF_TRUE;
	bool ok, ok_too = true;
	struct gkf_op *op;

	if (i->count != wanted)
		return false;
	target = gkf_operand(d, i, 0);
	if (target->kind == GKF_PTX_OP_PAIR) {
		q = gkf_target(d, gkf_nested(d, target, 1), 'p', &ok_too);
		target = gkf_nested(d, target, 0);
	}
	p = gkf_target(d, target, 'p', &ok);
	a = gkf_source(d, gkf_operand(d, i, 1), d->form_text->signature[0]);
	b = gkf_source(d, gkf_operand(d, i, 2), d->form_text->signature[1]);
	if (m->bool_)
		c = gkf_source(d, gkf_operand(d, i, 3), 'p');
	if (!ok || !ok_too || a == GKF_NOWHERE || b == GKF_NOWHERE ||
	    c == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, form->run);
	op->d = p;
	op->e = q;
	op->a = a;
	op->b = b;
	op->c = c;
	op->bool_ = m->bool_;
	op->flip_c = m->bool_ && gkf_operand(d, i, 3)->negated;
	return true;
}

/* Whether the last operand is a cache policy, which has no effect here. */
static bool has_policy(const struct gkf_ptx_instruction *i)
{
	return strstr(i->name, ".L2::cache_hint") != NULL;
}

static bool decode_atomic(struct gkf_decoder *d,
			  const struct gkf_ptx_instruction *i,
			  const struct gkf_form *form,
			  const struct gkf_modifiers *m, unsigned first,
			  uint32_t target)
{
	char letter = d->form_text->signature[0];
	unsigned left = i->count - first - has_policy(i);
	bool swaps = strstr(d->form_text->pattern, "cas") != NULL;
	struct gkf_op where = {0}, *op;
	uint32_t b, c = GKF_TRUE;

	if (left != (swaps ? 3U : 2U) ||
	    !gkf_address(d, gkf_operand(d, i, first),
			 (enum gkf_ptx_space)m->space, &where))
		return false;
	b = gkf_source(d, gkf_operand(d, i, first + 1), letter);
	if (swaps)
		c = gkf_source(d, gkf_operand(d, i, first + 2), letter);
	if (b == GKF_NOWHERE || c == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, form->run);
	gkf_aim(op, &where);
	op->d = target;
	op->b = b;
	op->c = c;
	op->writes = true;
	op->size = letter == 'h' ? 2 : letter == 'w' || letter == 'f' ? 4 : 8;
	return true;
}

bool gkf_decode_atom(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		     const struct gkf_form *form, const struct gkf_modifiers *m)
{
	uint32_t target;
	bool ok;

	if (!i->count)
		return false;
	target = gkf_target(d, gkf_operand(d, i, 0), d->form_text->signature[0],
			    &ok);
	return ok && decode_atomic(d, i, form, m, 1, target);
}

bool gkf_decode_red(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		    const struct gkf_form *form, const struct gkf_modifiers *m)
{
	return decode_atomic(d, i, form, m, 0, GKF_NOWHERE);
}

/*
 * Emits one addition per element: PTX only promises that each of them is
 * atomic.
 */
bool gkf_decode_atom_vector(struct gkf_decoder *d,
			    const struct gkf_ptx_instruction *i,
			    const struct gkf_form *form,
			    const struct gkf_modifiers *m)
{
	const struct gkf_ptx_operand *target, *value;
	unsigned first = d->form_text->opcode[0] == 'a'; /* atom has a result */
	struct gkf_op where = {0}, *op;

	if (i->count != first + 2U + has_policy(i) ||
	    !gkf_address(d, gkf_operand(d, i, first),
			 (enum gkf_ptx_space)m->space, &where))
		return false;
	target = gkf_operand(d, i, 0);
	value = gkf_operand(d, i, first + 1);
	if (value->count != m->vector || (first && target->count != m->vector))
		return false;
	for (unsigned e = 0; e < m->vector; e++) {
		bool ok = true;
		uint32_t to = GKF_NOWHERE, b;

		b = gkf_source(d, gkf_nested(d, value, e), 'f');
		if (first)
			to = gkf_target(d, gkf_nested(d, target, e), 'f', &ok);
		if (!ok || b == GKF_NOWHERE)
			return false;
		op = gkf_emit(d, form->run);
		gkf_aim(op, &where);
		op->imm += 4 * e;
		op->d = to;
		op->b = b;
		op->c = GKF_TRUE;
		op->writes = true;
		op->size = 4;
	}
	return true;
}

static bool emit_one_to_one(struct gkf_decoder *d,
			    const struct gkf_ptx_instruction *i, gkf_op_fn *run,
			    char to, char from, struct gkf_op **ret_op)
{
	uint32_t target, source;
	bool ok;

	if (i->count != 2)
		return false;
	target = gkf_target(d, gkf_operand(d, i, 0), to, &ok);
	source = gkf_source(d, gkf_operand(d, i, 1), from);
	if (!ok || target == GKF_NOWHERE || source == GKF_NOWHERE)
		return false;
	*ret_op = gkf_emit(d, run);
	(*ret_op)->d = target;
	(*ret_op)->a = source;
	return true;
}

bool gkf_decode_mov_pred(struct gkf_decoder *d,
			 const struct gkf_ptx_instruction *i,
			 const struct gkf_form *form,
			 const struct gkf_modifiers *m)
{
	struct gkf_op *op;

	(void)m;
	if (!emit_one_to_one(d, i, form->run, 'p', 'p', &op))
		return false;
	op->flip_c = gkf_operand(d, i, 1)->negated;
	return true;
}

bool gkf_decode_not_pred(struct gkf_decoder *d,
			 const struct gkf_ptx_instruction *i,
			 const struct gkf_form *form,
			 const struct gkf_modifiers *m)
{
	struct gkf_op *op;

	(void)m;
	return emit_one_to_one(d, i, form->run, 'p', 'p', &op) &&
	       !gkf_operand(d, i, 1)->negated;
}

/*
 * Returns the places of a vector's elements, which must all have the type
 * `letter`, or NULL.
 */
static const uint32_t *element_places(struct gkf_decoder *d,
				      const struct gkf_ptx_operand *v,
				      char letter, bool targets)
{
	uint32_t *places =
	    gkf_arena_get(&d->kernel->arena, v->count * sizeof *places);
	bool ok = true;

	if (!places) {
		d->no_memory = true;
		return NULL;
	}
	for (unsigned n = 0; n < v->count; n++) {
		const struct gkf_ptx_operand *o = gkf_nested(d, v, n);

		if (targets)
			places[n] = gkf_target(d, o, letter, &ok);
		else
			places[n] = gkf_source(d, o, letter);
		if (!ok || (!targets && places[n] == GKF_NOWHERE))
			return NULL;
	}
	return places;
}

/* Decodes mov.b64 d, {a, b} and mov.b64 {a, b}, d. */
static bool decode_pack(struct gkf_decoder *d,
			const struct gkf_ptx_instruction *i, unsigned bytes,
			bool unpacks)
{
	const struct gkf_ptx_operand *v = gkf_operand(d, i, unpacks ? 0 : 1);
	const struct gkf_ptx_operand *o = gkf_operand(d, i, unpacks ? 1 : 0);
	const uint32_t *places;
	struct gkf_op *op;
	unsigned each;
	uint32_t whole;
	bool ok = true;

	if ((v->count != 2 && v->count != 4) || bytes / v->count < 1 ||
	    bytes > 8)
		return false;
	each = bytes / v->count;
	places = element_places(d, v, gkf_letter(each), unpacks);
	whole = unpacks ? gkf_source(d, o, gkf_letter(bytes))
			: gkf_target(d, o, gkf_letter(bytes), &ok);
	if (!places || whole == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, unpacks ? gkf_op_unpack : gkf_op_pack);
	op->a = op->d = whole;
	op->places = places;
	op->count = (uint8_t)v->count;
	op->size = (uint8_t)each;
	op->wide = (uint8_t)bytes;
	return true;
}

bool gkf_decode_mov(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		    const struct gkf_form *form, const struct gkf_modifiers *m)
{
	enum gkf_ptx_type type = (enum gkf_ptx_type)m->type[0];
	char letter = gkf_type_letter(type);
	unsigned bytes = gkf_ptx_types[type].bytes;
	struct gkf_op *op;

	(void)form;
	if (i->count != 2)
		return false;
	if (gkf_operand(d, i, 0)->kind == GKF_PTX_OP_VECTOR ||
	    gkf_operand(d, i, 1)->kind == GKF_PTX_OP_VECTOR)
		return decode_pack(d, i, bytes,
				   gkf_operand(d, i, 0)->kind ==
				       GKF_PTX_OP_VECTOR);
	if (bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	return emit_one_to_one(d, i,
			       bytes == 2   ? gkf_op_mov16
			       : bytes == 4 ? gkf_op_mov32
					    : gkf_op_mov64,
			       letter, letter, &op);
}

/*
 * Returns the place of an operand with exactly its type's width; a wider
 * register is truncated first.
 */
static uint32_t cvt_source(struct gkf_decoder *d,
			   const struct gkf_ptx_operand *o,
			   enum gkf_ptx_type type)
{
	unsigned wanted = gkf_ptx_types[type].bytes, bytes;
	struct gkf_op *op;
	uint32_t place;

	if (o->kind == GKF_PTX_OP_REG && gkf_register(d, o, &place, &bytes)) {
		if (bytes == wanted)
			return place;
		if (bytes < wanted || bytes > 8)
			return GKF_NOWHERE;
		op = gkf_emit(d, gkf_bits_cast(wanted, bytes, false));
		op->a = place;
		op->d = gkf_temporary(d, wanted);
		return op->d;
	}
	return gkf_source(d, o, gkf_type_letter(type));
}

static bool is_float(enum gkf_ptx_type type)
{
	return gkf_ptx_types[type].kind == GKF_PTX_FLOAT;
}

bool gkf_decode_cvt(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		    const struct gkf_form *form, const struct gkf_modifiers *m)
{
	enum gkf_ptx_type to = (enum gkf_ptx_type)m->type[0];
	enum gkf_ptx_type from = (enum gkf_ptx_type)m->type[1];
	unsigned bytes, wide = gkf_ptx_types[to].bytes;
	uint32_t source, target, result;
	struct gkf_op *op;
	gkf_op_fn *run;
	bool sat = strstr(i->name, ".sat") != NULL;

	(void)form;
	run = gkf_convert_find(to, from, sat, m->has_integral);
	if (i->count != 2 || !run || (m->has_round && m->has_integral) ||
	    (is_float(from) && !is_float(to) && !m->has_integral) ||
	    !gkf_register(d, gkf_operand(d, i, 0), &target, &bytes) ||
	    bytes < wide || bytes > 8 || (is_float(to) && bytes != wide))
		return false;
	source = cvt_source(d, gkf_operand(d, i, 1), from);
	if (source == GKF_NOWHERE)
		return false;
	result = bytes == wide ? target : gkf_temporary(d, wide);
	op = gkf_emit(d, run);
	op->a = source;
	op->d = result;
	op->round = m->has_integral ? m->integral : m->round;
	op->flush = strstr(i->name, ".ftz") != NULL;
	op->saturate = sat;
	if (result != target) {
		op = gkf_emit(
		    d, gkf_bits_cast(bytes, wide,
				     gkf_ptx_types[to].kind == GKF_PTX_SIGNED));
		op->a = result;
		op->d = target;
	}
	return true;
}

bool gkf_decode_cvta(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		     const struct gkf_form *form, const struct gkf_modifiers *m)
{
	struct gkf_op *op;

	if (gkf_ptx_types[m->type[0]].bytes != 8 ||
	    !emit_one_to_one(d, i, form->run, 'l', 'l', &op))
		return false;
	op->space = m->space;
	return true;
}

bool gkf_decode_cvta_to(struct gkf_decoder *d,
			const struct gkf_ptx_instruction *i,
			const struct gkf_form *form,
			const struct gkf_modifiers *m)
{
	return gkf_decode_cvta(d, i, form, m);
}

bool gkf_decode_isspacep(struct gkf_decoder *d,
			 const struct gkf_ptx_instruction *i,
			 const struct gkf_form *form,
			 const struct gkf_modifiers *m)
{
	struct gkf_op *op;

	if (!emit_one_to_one(d, i, form->run, 'p', 'l', &op))
		return false;
	op->space = m->space;
	return m->space != GKF_PTX_CONST;
}

/* Registers that are loaded or stored may be wider than the type in memory. */
const uint32_t *gkf_value_places(struct gkf_decoder *d,
				 const struct gkf_ptx_operand *o,
				 unsigned count, enum gkf_ptx_type type,
				 bool targets, uint8_t *ret_wide)
{
	uint32_t *places =
	    gkf_arena_get(&d->kernel->arena, count * sizeof *places);
	unsigned wanted = gkf_ptx_types[type].bytes, bytes;

	if (!places) {
		d->no_memory = true;
		return NULL;
	}
	*ret_wide = 0;
	for (unsigned n = 0; n < count; n++) {
		const struct gkf_ptx_operand *e =
		    count > 1 ? gkf_nested(d, o, n) : o;

		if (targets && e->kind == GKF_PTX_OP_SINK) {
			places[n] = GKF_NOWHERE;
			continue;
		}
		if (!gkf_register(d, e, &places[n], &bytes)) {
			places[n] =
			    targets ? GKF_NOWHERE
				    : gkf_source(d, e, gkf_type_letter(type));
			bytes = wanted;
			if (places[n] == GKF_NOWHERE)
				return NULL;
		}
		if (bytes < wanted || bytes > 8 ||
		    (*ret_wide && *ret_wide != bytes))
			return NULL;
		*ret_wide = (uint8_t)bytes;
	}
	if (!*ret_wide)
		*ret_wide = (uint8_t)wanted;
	return places;
}

static bool decode_transfer(struct gkf_decoder *d,
			    const struct gkf_ptx_instruction *i,
			    const struct gkf_modifiers *m, bool loads)
{
	enum gkf_ptx_type type = (enum gkf_ptx_type)m->type[0];
	unsigned bytes = gkf_ptx_types[type].bytes;
	unsigned count = m->vector ? m->vector : 1;
	const struct gkf_ptx_operand *value, *address;
	struct gkf_op where = {0}, *op;
	const uint32_t *places;
	uint8_t wide;

	if (i->count != 2U + has_policy(i) || bytes > 8 ||
	    type == GKF_PTX_T_pred)
		return false;
	value = gkf_operand(d, i, loads ? 0 : 1);
	address = gkf_operand(d, i, loads ? 1 : 0);
	if (value->kind == GKF_PTX_OP_VECTOR && value->count == 1)
		value = gkf_nested(d, value, 0); /* {a} means a */
	if ((value->kind == GKF_PTX_OP_VECTOR) != (count > 1) ||
	    (count > 1 && value->count != count))
		return false;
	places = gkf_value_places(d, value, count, type, loads, &wide);
	if (!places ||
	    !gkf_address(d, address, (enum gkf_ptx_space)m->space, &where) ||
	    (!loads &&
	     (where.space == GKF_PTX_PARAM || where.space == GKF_PTX_CONST)))
		return false;
	op = gkf_emit(d, loads ? gkf_op_ld : gkf_op_st);
	op->writes = !loads;
	gkf_aim(op, &where);
	op->places = places;
	op->count = (uint8_t)count;
	op->size = (uint8_t)bytes;
	op->wide = wide;
	op->is_signed = gkf_ptx_types[type].kind == GKF_PTX_SIGNED;
	return true;
}

bool gkf_decode_ld(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		   const struct gkf_form *form, const struct gkf_modifiers *m)
{
	(void)form;
	return decode_transfer(d, i, m, true);
}

bool gkf_decode_st(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		   const struct gkf_form *form, const struct gkf_modifiers *m)
{
	(void)form;
	return decode_transfer(d, i, m, false);
}

/* Cache policies have no effect here, so every policy is 0. */
bool gkf_decode_policy(struct gkf_decoder *d,
		       const struct gkf_ptx_instruction *i,
		       const struct gkf_form *form,
		       const struct gkf_modifiers *m)
{
	uint32_t target;
	struct gkf_op *op;
	bool ok;

	(void)m;
	if (!i->count)
		return false;
	target = gkf_target(d, gkf_operand(d, i, 0), 'l', &ok);
	if (!ok || target == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, form->run);
	op->d = target;
	op->a = gkf_constant(d, 8, 0);
	return true;
}

bool gkf_decode_fence(struct gkf_decoder *d,
		      const struct gkf_ptx_instruction *i,
		      const struct gkf_form *form,
		      const struct gkf_modifiers *m)
{
	return gkf_decode_plain(d, i, form, m);
}
