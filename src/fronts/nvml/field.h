/*
 * field.h - where the values by field id come from. A reader answers one kind
 * of question; its arg, from the id's row in fields.def, says which.
 */
#ifndef GKF_NVML_FIELD_H
#define GKF_NVML_FIELD_H

#include "fronts/nvml/front.h"

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
    field_limit_now,     /* the power limit in force, likewise */
    field_limit_fact,    /* offset in the profile, likewise */
    field_tlimit,        /* offset of a temperature in the profile */
    field_from_major,    /* compute capability from which it is 1 */
    field_pcie_corrected, /* unused: the sum of errors that PCIe corrects */
    field_clear_value;    /* enum gkf_value: back to 0; nothing is read */

/*
 * Power smoothing; arg: a parameter, whose profile is the scope, or how many
 * profiles there are.
 */
field_fn field_smoothing, field_smoothing_profiles;

/* field_memory.c; arg: */
field_fn field_ecc,   /* FIELD_ECC() */
    field_retired,    /* enum gkf_ecc_cause */
    field_retiring,   /* FIELD_CAUSE() bits: do pages wait? */
    field_rows,       /* enum gkf_ecc_cause: remapped, or waiting for it */
    field_rows_wait,  /* enum gkf_ecc_cause */
    field_rows_state, /* 0: do any wait? 1: has any failed? */
    field_recovery;   /* 0: what is advised; else: is it this? */

/* field_link.c; arg: FIELD_LINK(), what is */
field_fn field_link_errors,    /* enum gkf_link_error */
    field_link_errors_5,       /* the same, since NVLink 5 */
    field_link_crc,            /* unused: of both kinds */
    field_clear_link_errors,   /* enum gkf_link_error; nothing is read */
    field_link_counter,        /* number of a counter of traffic */
    field_link_kib,            /* enum gkf_way */
    field_link_raw_kib,        /* enum gkf_way */
    field_link_bytes,          /* enum gkf_way, since NVLink 5 */
    field_link_packets,        /* enum gkf_way, likewise */
    field_link_speed,          /* unused; all links: of those that are up */
    field_link_state,          /* unused */
    field_link_power,          /* unused */
    field_link_version,        /* unused */
    field_link_remote,         /* unused */
    field_link_switches,       /* arg unused */
    field_link_threshold,      /* arg unused */
    field_link_threshold_fact, /* arg: the fact, of links that sleep */
    field_link_sleeps;         /* arg unused */

/* Which link: a number, that of scopeId, or all; and what of it. */
#define FIELD_BY_SCOPE         0xfdu
#define FIELD_SCOPE_OR_ALL     0xfeu /* scopeId UINT32_MAX: all */
#define FIELD_ALL_LINKS        0xffu
#define FIELD_LINK(link, what) ((unsigned)(link) | (unsigned)(what) << 8)
#define FIELD_LINK_OF(arg)     ((arg)&0xffu)
#define FIELD_WHAT(arg)        ((arg) >> 8)

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
