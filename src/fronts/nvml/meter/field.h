/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - functions that read values by field id. Their `arg` comes from the
 * id's row in fields.def; its meaning depends on the function.
 */
#ifndef GKF_NVML_FIELD_H
#define GKF_NVML_FIELD_H

#include "fronts/nvml/front.h"

/* scope: the caller's scopeId, which is a link or a part of the board. */
typedef nvmlReturn_t field_fn(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number);

/* Functions of field_board.c, with the meaning of their `arg`: */
field_fn field_value,    /* enum gkf_value */
    field_profile,       /* offset of an integer in the profile; < 1: absent */
    field_count,         /* offset of a sum in struct gkf_state */
    field_reasons,       /* mask of clock event reasons; reads their time */
    field_power_average, /* unused; the scope says what to measure */
    field_power_instant, /* unused; the scope says what to measure */
    field_limit,         /* enum gkf_value; the scope must be the whole GPU */
    /* arg unused; reads the limit in force; the scope must be the whole GPU */
    field_limit_now,
    field_limit_fact,     /* offset in the profile; scope: the whole GPU */
    field_tlimit,         /* offset of a temperature in the profile */
    field_from_major,     /* lowest major compute capability that reports 1 */
    field_pcie_corrected, /* unused; reads the errors that PCIe corrects */
    field_clear_value;    /* enum gkf_value to reset */

/*
 * Power smoothing. field_smoothing reads the parameter `arg` of the profile
 * whose number is the scope; field_smoothing_profiles reads the number of
 * profiles (arg is unused), field_smoothing_value the enum gkf_value `arg`.
 */
field_fn field_smoothing, field_smoothing_profiles, field_smoothing_value;

/* Functions of field_memory.c, with the meaning of their `arg`: */
field_fn field_ecc,   /* FIELD_ECC() */
    field_retired,    /* enum gkf_ecc_cause */
    field_retiring,   /* FIELD_CAUSE() bits; reads whether pages are pending */
    field_rows,       /* enum gkf_ecc_cause; also counts pending rows */
    field_rows_wait,  /* enum gkf_ecc_cause; counts only pending rows */
    field_rows_state, /* 0: whether rows are pending; 1: whether one failed */
    field_recovery;   /* 0: reads the action; else whether `arg` is advised */

/*
 * Functions of field_link.c. Their `arg` is FIELD_LINK(link, what). The
 * comments give the meaning of `what`:
 */
field_fn field_link_errors,    /* enum gkf_link_error */
    field_link_errors_5,       /* the same, since NVLink 5 */
    field_link_crc,            /* unused; sums CRC errors of both kinds */
    field_clear_link_errors,   /* enum gkf_link_error to reset */
    field_link_counter,        /* number of a traffic counter */
    field_link_kib,            /* enum gkf_way */
    field_link_raw_kib,        /* enum gkf_way */
    field_link_bytes,          /* enum gkf_way, since NVLink 5 */
    field_link_packets,        /* enum gkf_way, since NVLink 5 */
    field_link_speed,          /* unused; for all links, reads one that is up */
    field_link_state,          /* unused */
    field_link_power,          /* unused */
    field_link_version,        /* unused */
    field_link_remote,         /* unused */
    field_link_switches,       /* arg unused */
    field_link_threshold,      /* arg unused */
    field_link_threshold_fact, /* the number to return if links can sleep */
    field_link_sleeps;         /* arg unused */

/*
 * Packs the link (a number, the one in the caller's scopeId, or all links) and
 * what to read.
 */
#define FIELD_BY_SCOPE         0xfdu
#define FIELD_SCOPE_OR_ALL     0xfeu /* scopeId UINT32_MAX: all */
#define FIELD_ALL_LINKS        0xffu
#define FIELD_LINK(link, what) ((unsigned)(link) | (unsigned)(what) << 8)
#define FIELD_LINK_OF(arg)     ((arg)&0xffu)
#define FIELD_WHAT(arg)        ((arg) >> 8)

/* Errors of a type and counter at a location; MEMORY_LOCATION_COUNT: at all
 * locations. */
#define FIELD_ECC(type, counter, location)                                     \
	((unsigned)(type) | (unsigned)(counter) << 4 |                         \
	 (unsigned)(location) << 8)
#define FIELD_CAUSE(cause) (1U << (cause))

struct field {
	/* `clear` is NULL if the field cannot be cleared. */
	field_fn *read, *clear;
	nvmlValueType_t type;
	unsigned arg;
};

#endif
