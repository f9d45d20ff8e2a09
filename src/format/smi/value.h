/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - formats one value of a snapshot as nvidia-smi does, without its
 * unit. Tables name such a function in each row.
 */
#ifndef GK_FORMAT_SMI_VALUE_H
#define GK_FORMAT_SMI_VALUE_H

#include "base/str.h"

#include "format/smi/form.h"

#include <gpukit/gpukit.h>

/*
 * The object whose value is shown. The members after `device` are set only when
 * such objects are listed.
 */
struct gk_smi_at {
	const struct gk_snapshot *snap;
	const struct gk_device *device;
	const struct gk_process *process;
	const struct gk_account *account;
	/* NULL: the GPU has no pages of this cause */
	const struct gk_page *page;
	enum gk_page_cause cause;
	const struct gk_clock *clock;
	unsigned gpus; /* whole GPUs of the machine, even those not shown */
};

/*
 * Adds a value. `what` is a metric or a fact; each function defines the meaning
 * of arg. Returns GK_PRESENT, or the reason why nothing was added.
 */
typedef enum gk_absence gk_smi_show(struct gk_buf *out,
				    const struct gk_smi_at *at, int what,
				    int64_t arg);

/* The function that shows the value of a row, and its arguments. */
struct gk_smi_source {
	gk_smi_show *show;
	int what;
	int64_t arg;
};

/* The sets of words that represent numbers. */
enum gk_smi_words {
	GK_SMI_ENABLED,
	GK_SMI_YES,
	GK_SMI_ADDRESSING,
	GK_SMI_COMPUTE,
	GK_SMI_RECOVERY,
	GK_SMI_FABRIC,
	GK_SMI_PEER,
	GK_SMI_VIRTUAL,
	GK_SMI_WORDS_COUNT
};

gk_smi_show gk_smi_number, gk_smi_mib, gk_smi_mib_left, gk_smi_watts,
    gk_smi_mhz, gk_smi_ms, gk_smi_us, gk_smi_kilo, gk_smi_centi, gk_smi_hex,
    gk_smi_byte, gk_smi_word, gk_smi_bit, gk_smi_fact, gk_smi_none;
gk_smi_show gk_smi_timestamp, gk_smi_driver, gk_smi_count, gk_smi_name,
    gk_smi_serial, gk_smi_uuid, gk_smi_bus_id, gk_smi_pci, gk_smi_index,
    gk_smi_minor, gk_smi_vbios, gk_smi_capability, gk_smi_pstate;
gk_smi_show gk_smi_fabric, gk_smi_fabric_status, gk_smi_fabric_uuid,
    gk_smi_fabric_health, gk_smi_valid, gk_smi_chassis, gk_smi_placed,
    gk_smi_placed_fact, gk_smi_ecc, gk_smi_egm, gk_smi_gone, gk_smi_supported,
    gk_smi_reset_required, gk_smi_drain_recommended, gk_smi_recovery_action,
    gk_smi_rows_inactive, gk_smi_margin, gk_smi_retired_list;

/* Adds to a set the metrics that a source needs. */
void gk_smi_want(const struct gk_smi_source *source, struct gk_metric_set *set);
/*
 * Whether a source shows a fact of gk_detail, and whether it shows one that
 * GK_WITHOUT_BOARD omits.
 */
bool gk_smi_is_fact(const struct gk_smi_source *source);
bool gk_smi_is_board(const struct gk_smi_source *source);

/* Sources, as arguments of a table's rows. */
#define NUMBER(metric)          gk_smi_number, GK_M_##metric, 0
#define MIBS(metric)            gk_smi_mib, GK_M_##metric, 0
#define WATTS(metric)           gk_smi_watts, GK_M_##metric, 0
#define MHZ(metric)             gk_smi_mhz, GK_M_##metric, 0
#define US(metric)              gk_smi_us, GK_M_##metric, 0
#define MS(metric)              gk_smi_ms, GK_M_##metric, 0
#define KILO(metric)            gk_smi_kilo, GK_M_##metric, 0
#define HEX(metric, digits)     gk_smi_hex, GK_M_##metric, digits
#define BYTE_OF(metric, n)      gk_smi_byte, GK_M_##metric, n
#define WORD(metric, words)     gk_smi_word, GK_M_##metric, GK_SMI_##words
#define BIT(metric, mask)       gk_smi_bit, GK_M_##metric, mask
#define FACT(fact)              gk_smi_fact, GK_T_##fact, 0
#define THIS(function)          gk_smi_##function, -1, 0
#define THIS_OF(function, n)    gk_smi_##function, -1, n
#define OF(function, metric)    gk_smi_##function, GK_M_##metric, 0
#define NEVER                   gk_smi_none, -1, 0
#define GONE                    gk_smi_gone, -1, 0
#define LEFT(metric, total)     gk_smi_mib_left, GK_M_##metric, GK_M_##total
#define LOW_HEX(metric)         gk_smi_hex, GK_M_##metric, 0
#define FACT_OF(function, fact) gk_smi_##function, GK_T_##fact, 0
#define HEALTH(metric, field)   gk_smi_fabric_health, GK_M_FABRIC_##metric, field
#define PLACED(metric, words)   gk_smi_placed, GK_M_PLATFORM_##metric, words
#define ECC(metric)             gk_smi_ecc, GK_M_##metric, -1
#define ECC_WORD(metric)        gk_smi_ecc, GK_M_##metric, GK_SMI_YES

/* Converts bytes to MiB as the nvidia-smi of this driver does. */
int64_t gk_smi_to_mib(const struct gk_snapshot *snap, int64_t bytes);

/*
 * Return the text for an absent value, such as "[N/A]" or "[GPU is lost]". The
 * second function leaves out the brackets, as -q does. Never NULL.
 */
const char *gk_smi_absent(enum gk_absence why);
const char *gk_smi_absent_bare(enum gk_absence why);

/*
 * Adds a GPU's text, replacing unprintable bytes. For an empty text, adds the
 * reason for its absence, without brackets.
 */
void gk_smi_text(struct gk_buf *out, const struct gk_device *d,
		 const char *text);

#define GK_SMI_DEPRECATED "Requested functionality has been deprecated"

/* Writes local time as 2026/07/14 08:12:38.696. dst must have 32 bytes. */
void gk_smi_time(char *dst, uint64_t wall_ns);
/* Writes local time as Tue Jul 14 08:12:53 2026. dst must have 32 bytes. */
void gk_smi_date(char *dst, uint64_t wall_ns);

/*
 * Adds a process's first argument or, if there is none, its name, replacing
 * unprintable bytes.
 */
void gk_smi_process_name(struct gk_buf *out, const struct gk_process *process);

/* Returns "C", "G", "C+G", "M" or "M+C". */
const char *gk_smi_process_type(const struct gk_process *process);

/* A line for a GPU that is not in a snapshot. A list ends with a NULL line. */
struct gk_smi_absent {
	unsigned index;
	const char *line;
};

/*
 * Adds the lines of absent GPUs before an index, and advances *absent past
 * them.
 */
void gk_smi_add_absent(struct gk_buf *out, const struct gk_smi_absent **absent,
		       unsigned before);

/* Returns the number of whole GPUs in a snapshot. */
unsigned gk_smi_gpus(const struct gk_snapshot *snap);

#endif
