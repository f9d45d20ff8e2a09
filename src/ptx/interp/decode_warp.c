/* SPDX-License-Identifier: Apache-2.0 */
/* decode_warp.c - decodes shuffles, votes, matches, reductions, ldmatrix. */
#include "ptx/interp/decode.h"
#include "ptx/interp/warp_op.h"

#include <string.h>

/*
 * The first row whose word occurs in an instruction's name gives the kind of
 * the instruction.
 */
static const struct {
	const char *opcode, *word;
	enum gkf_warp_how how;
} hows[] = {
    {"shfl", ".up", GKF_SHUFFLE_UP},      {"shfl", ".down", GKF_SHUFFLE_DOWN},
    {"shfl", ".bfly", GKF_SHUFFLE_XOR},   {"shfl", ".idx", GKF_SHUFFLE_INDEX},
    {"vote", ".ballot", GKF_VOTE_BALLOT}, {"vote", ".all", GKF_VOTE_ALL},
    {"vote", ".any", GKF_VOTE_ANY},       {"vote", ".uni", GKF_VOTE_SAME},
    {"match", ".any", GKF_MATCH_ANY},     {"match", ".all", GKF_MATCH_ALL},
    {"redux", ".add", GKF_REDUCE_ADD},    {"redux", ".min", GKF_REDUCE_MIN_U},
    {"redux", ".max", GKF_REDUCE_MAX_U},  {"redux", ".and", GKF_REDUCE_AND},
    {"redux", ".or", GKF_REDUCE_OR},      {"redux", ".xor", GKF_REDUCE_XOR},
};

static enum gkf_warp_how find_how(const char *name, bool is_signed)
{
	size_t i = 0;

	while (strncmp(name, hows[i].opcode, strlen(hows[i].opcode)) ||
	       !strstr(name, hows[i].word))
		i++; /* every name in op.def has one of these words */
	if (is_signed && hows[i].how == GKF_REDUCE_MIN_U)
		return GKF_REDUCE_MIN_S;
	if (is_signed && hows[i].how == GKF_REDUCE_MAX_U)
		return GKF_REDUCE_MAX_S;
	return hows[i].how;
}

/*
 * Decodes d or d|p. *ret_more points to the place of p; it is NULL if there is
 * no p.
 */
static bool decode_results(struct gkf_decoder *d,
			   const struct gkf_ptx_operand *o, char letter,
			   uint32_t *ret_place, const uint32_t **ret_more)
{
	bool ok, ok_too = true;
	uint32_t *more = NULL;

	if (o->kind == GKF_PTX_OP_PAIR) {
		more = gkf_arena_get(&d->kernel->arena, sizeof *more);
		if (!more) {
			d->no_memory = true;
			return false;
		}
		*more = gkf_target(d, gkf_nested(d, o, 1), 'p', &ok_too);
		o = gkf_nested(d, o, 0);
	}
	*ret_place = gkf_target(d, o, letter, &ok);
	*ret_more = more;
	return ok && ok_too;
}

/*
 * Decodes the result, one value per letter and, with .sync, the member mask.
 * Older instructions without .sync have no mask.
 */
bool gkf_decode_lanes(struct gkf_decoder *d,
		      const struct gkf_ptx_instruction *i,
		      const struct gkf_form *form,
		      const struct gkf_modifiers *m)
{
	bool ballot = strstr(i->name, ".ballot") != NULL;
	bool votes = !strncmp(i->name, "vote", 4);
	bool shuffles = !strncmp(i->name, "shfl", 4);
	bool sync = strstr(i->name, ".sync") != NULL;
	const char *letters = votes ? "p" : shuffles ? "www" : "w";
	uint32_t place[3] = {GKF_TRUE, GKF_TRUE, GKF_TRUE}, target;
	uint32_t members = GKF_NOWHERE;
	const uint32_t *more;
	struct gkf_op *op;
	bool flip = false;

	if (!votes && !shuffles && gkf_ptx_types[m->type[0]].bytes == 8)
		letters = "l";
	if (i->count != strlen(letters) + 1 + sync ||
	    !decode_results(d, gkf_operand(d, i, 0),
			    votes && !ballot ? 'p' : 'w', &target, &more))
		return false;
	for (unsigned n = 0; letters[n]; n++) {
		const struct gkf_ptx_operand *o = gkf_operand(d, i, n + 1);

		place[n] = gkf_source(d, o, letters[n]);
		flip |= o->negated;
		if (place[n] == GKF_NOWHERE || (o->negated && !votes))
			return false;
	}
	if (sync)
		members = gkf_source(d, gkf_operand(d, i, i->count - 1U), 'w');
	if (sync && members == GKF_NOWHERE)
		return false;
	op = gkf_emit(d, form->run);
	op->d = target;
	op->places = more;
	op->a = place[0];
	op->b = place[1];
	op->c = place[2];
	op->e = members;
	op->flip_c = flip;
	op->imm = find_how(i->name, strstr(i->name, ".s32") != NULL);
	op->size = votes ? 0 : letters[0] == 'l' ? 8 : 4;
	return true;
}

bool gkf_decode_active(struct gkf_decoder *d,
		       const struct gkf_ptx_instruction *i,
		       const struct gkf_form *form,
		       const struct gkf_modifiers *m)
{
	uint32_t target;
	bool ok;

	(void)m;
	if (i->count != 1)
		return false;
	target = gkf_target(d, gkf_operand(d, i, 0), 'w', &ok);
	if (ok && target != GKF_NOWHERE)
		gkf_emit(d, form->run)->d = target;
	return ok;
}

/* Decodes bar.warp.sync membermask. */
bool gkf_decode_warp(struct gkf_decoder *d, const struct gkf_ptx_instruction *i,
		     const struct gkf_form *form, const struct gkf_modifiers *m)
{
	uint32_t members = i->count == 1
			       ? gkf_source(d, gkf_operand(d, i, 0), 'w')
			       : GKF_NOWHERE;

	(void)m;
	if (members == GKF_NOWHERE)
		return false;
	gkf_emit(d, form->run)->e = members;
	return true;
}

static unsigned count_matrices(const char *name)
{
	return strstr(name, ".x4") ? 4 : strstr(name, ".x2") ? 2 : 1;
}

/*
 * Sets op->b to the number of matrices, and op->c to whether they are
 * transposed.
 */
static bool decode_matrix(struct gkf_decoder *d,
			  const struct gkf_ptx_instruction *i,
			  const struct gkf_form *form, bool loads)
{
	enum gkf_ptx_space space =
	    strstr(i->name, ".shared") ? GKF_PTX_SHARED : GKF_PTX_GENERIC;
	const struct gkf_ptx_operand *value, *address;
	unsigned count = count_matrices(i->name);
	struct gkf_op where = {0}, *op;
	const uint32_t *places;
	uint8_t wide;

	if (i->count != 2)
		return false;
	value = gkf_operand(d, i, !loads);
	address = gkf_operand(d, i, loads);
	if (value->kind == GKF_PTX_OP_VECTOR ? value->count != count
					     : count > 1)
		return false;
	if (value->kind == GKF_PTX_OP_VECTOR && count == 1)
		value = gkf_nested(d, value, 0);
	places = gkf_value_places(d, value, count, GKF_PTX_T_b32, loads, &wide);
	if (!places || wide != 4 || !gkf_address(d, address, space, &where))
		return false;
	op = gkf_emit(d, form->run);
	gkf_aim(op, &where);
	op->places = places;
	op->size = 16; /* bytes of a row */
	op->count = 1;
	op->writes = !loads;
	op->b = count;
	op->c = strstr(i->name, ".trans") != NULL;
	return true;
}

bool gkf_decode_ldmatrix(struct gkf_decoder *d,
			 const struct gkf_ptx_instruction *i,
			 const struct gkf_form *form,
			 const struct gkf_modifiers *m)
{
	(void)m;
	return decode_matrix(d, i, form, true);
}

/* stmatrix needs sm_90 (PTX ISA). */
bool gkf_decode_stmatrix(struct gkf_decoder *d,
			 const struct gkf_ptx_instruction *i,
			 const struct gkf_form *form,
			 const struct gkf_modifiers *m)
{
	(void)m;
	return d->module->target >= 90 && decode_matrix(d, i, form, false);
}
