/* SPDX-License-Identifier: Apache-2.0 */
/* decode_plain.c - decodes instructions by the signatures of their forms. */
#include "ptx/interp/decode.h"

#include <string.h>

bool gkf_decode_plain(struct gkf_decoder *d,
		      const struct gkf_ptx_instruction *i,
		      const struct gkf_form *form,
		      const struct gkf_modifiers *m)
{
	(void)m;
	gkf_emit(d, form->run);
	return !i->count;
}

bool gkf_decode_nothing(struct gkf_decoder *d,
			const struct gkf_ptx_instruction *i,
			const struct gkf_form *form,
			const struct gkf_modifiers *m)
{
	(void)d;
	(void)i;
	(void)form;
	(void)m;
	return true;
}

static uint32_t negate_predicate(struct gkf_decoder *d, uint32_t predicate)
{
	struct gkf_op *op = gkf_emit(d, gkf_op_not_pred);

	op->a = predicate;
	return op->d = gkf_temporary(d, sizeof(uint32_t));
}

/*
 * Decodes a result and up to four values, each of which must have the type of
 * its letter in the signature.
 */
bool gkf_decode_signature(struct gkf_decoder *d,
			  const struct gkf_ptx_instruction *i,
			  const struct gkf_form *form,
			  const struct gkf_modifiers *m)
{
	const char *letters = d->form_text->signature + 2;
	uint32_t place[4] = {GKF_TRUE, GKF_TRUE, GKF_TRUE, GKF_NOWHERE};
	struct gkf_op *op;
	bool flip = false, ok;
	uint32_t target;

	if (i->count != strlen(letters) + 1)
		return false;
	target = gkf_target(d, gkf_operand(d, i, 0), d->form_text->signature[0],
			    &ok);
	if (!ok || target == GKF_NOWHERE)
		return ok;
	for (unsigned n = 0; letters[n]; n++) {
		const struct gkf_ptx_operand *o = gkf_operand(d, i, n + 1);

		place[n] = gkf_source(d, o, letters[n]);
		if (place[n] == GKF_NOWHERE ||
		    (o->negated && letters[n] != 'p'))
			return false;
		if (o->negated && n == 2)
			flip = true;
		else if (o->negated)
			place[n] = negate_predicate(d, place[n]);
	}
	op = gkf_emit(d, form->run);
	op->d = target;
	op->a = place[0];
	op->b = place[1];
	op->c = place[2];
	op->e = place[3];
	op->flip_c = flip;
	op->round = m->round;
	return true;
}
