/*
 * field.h - where the values by field id come from. A reader answers one kind
 * of question; its arg, from the id's row in fields.def, says which.
 */
#ifndef GKF_NVML_FIELD_H
#define GKF_NVML_FIELD_H

#include "fake/nvml/front.h"

/* scope: the caller's scopeId, a link or a part of the board. */
typedef nvmlReturn_t field_fn(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number);

/* field_board.c; arg: */
field_fn field_value,    /* enum gkf_value */
    field_profile,       /* offset of an integer; absent below 1 */
    field_count,         /* offset of a sum in struct gkf_state */
    field_reasons,       /* bits of clocks event reasons: the time under them */
    field_power_average, /* of the scope; arg unused */
    field_power_instant, /* the same */
    field_limit,         /* enum gkf_value, of the whole GPU alone */
    field_limit_fact,    /* offset in the profile, likewise */
    field_tlimit,        /* offset of a temperature in the profile */
    field_from_major;    /* compute capability from which it is 1 */

/* field_memory.c; arg: */
field_fn field_ecc,   /* FIELD_ECC() */
    field_retired,    /* enum gkf_ecc_cause */
    field_retiring,   /* FIELD_CAUSE() bits: do pages wait? */
    field_rows,       /* enum gkf_ecc_cause: remapped, or waiting for it */
    field_rows_wait,  /* enum gkf_ecc_cause */
    field_rows_state, /* 0: do any wait? 1: has any failed? */
    field_recovery;   /* 0: what is advised; else: is it this? */

/* Errors of a type and counter at a location; COUNT of those: everywhere. */
#define FIELD_ECC(type, counter, location)                                     \
	((unsigned)(type) | (unsigned)(counter) << 4 |                         \
	 (unsigned)(location) << 8)
#define FIELD_CAUSE(cause) (1U << (cause))

struct field {
	field_fn *read, *clear; /* clear NULL: it cannot be */
	nvmlValueType_t type;
	unsigned arg;
};

#endif
