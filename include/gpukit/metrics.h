/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - what libgpukit can read of a GPU, a process and a link: names,
 * units, valid ranges, and values that may be absent. Included by gpukit.h.
 */
#ifndef GPUKIT_METRICS_H
#define GPUKIT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GK_API __attribute__((visibility("default")))

/* The errors. Functions that can fail return one of these; gk_strerror()
 * returns its text. */
enum gk_err {
	GK_OK = 0,
#define GK_ERR(name, number, text) name = number,
#include <gpukit/errors.def>
#undef GK_ERR
};

/* Returns a static text for any int, never NULL. */
GK_API const char *gk_strerror(int err);

/* The units of the integers in which metrics are stored. */
enum gk_unit {
	GK_UNIT_NONE,         /* a count, a state, a generation */
	GK_UNIT_PERCENT,      /* 1 = 1 % */
	GK_UNIT_CENTIPERCENT, /* 100 = 1 % */
	GK_UNIT_BYTES,
	GK_UNIT_MILLIWATT,
	GK_UNIT_MILLIJOULE,
	GK_UNIT_CELSIUS,
	GK_UNIT_HERTZ,
	GK_UNIT_NANOSECOND,
};

/*
 * GAUGE: goes up and down; COUNTER: only grows; STATE: a number or bits as NVML
 * defines them.
 */
enum gk_kind { GK_KIND_GAUGE, GK_KIND_COUNTER, GK_KIND_STATE };

/* When a value is read, and from where. */
enum gk_tier {
	GK_TIER_FAST,   /* utilisation, memory, clocks, power */
	GK_TIER_MEDIUM, /* process lists, and values that cost more than 100
			 * us */
	GK_TIER_SLOW,   /* limits, modes, ECC, links */
	/* reading it blocks the driver; only with GK_WITH_PCIE */
	GK_TIER_ASKED,
	GK_TIER_DETAIL, /* rarely needed; only with GK_WITH_DETAIL */
	GK_TIER_EVENT,  /* reported when it happens; only with GK_WITH_EVENTS */
	GK_TIER_HOST,   /* from /proc instead of the driver */
	/* also from /proc, but only if a bit of gk_with requests it */
	GK_TIER_HOST_ASKED,
	GK_TIER_COUNT
};

/*
 * The metrics of a device; metrics.def has the name, unit and meaning of each.
 */
enum gk_metric {
#define METRIC(id, name, unit, kind, tier, least, most, help) GK_M_##id,
#include <gpukit/metrics.def>
#undef METRIC
	GK_M_COUNT
};

/*
 * Arrays in this header have spare elements for later versions, so that
 * programs compiled with an older header keep working. Elements from
 * GK_..._COUNT on are unused. For the same reason numbers never change, and
 * structs have spare members at their end.
 */
#define GK_M_ROOM    384
#define GK_PM_ROOM   32
#define GK_T_ROOM    32
#define GK_L_ROOM    16
#define GK_TIER_ROOM 16

/* A set of metrics. A zeroed set is empty. */
struct gk_metric_set {
	uint64_t bits[GK_M_ROOM / 64];
};

/* Adds a metric to a set. */
static inline void gk_metric_set_add(struct gk_metric_set *set,
				     enum gk_metric metric)
{
	set->bits[metric / 64] |= (uint64_t)1 << metric % 64;
}

/* Adds all metrics of a list to a set. */
static inline void gk_metric_set_add_all(struct gk_metric_set *set,
					 const enum gk_metric *metrics,
					 size_t count)
{
	for (size_t i = 0; i < count; i++)
		gk_metric_set_add(set, metrics[i]);
}

/* Whether a metric is in a set. */
static inline bool gk_metric_set_has(const struct gk_metric_set *set,
				     enum gk_metric metric)
{
	return set->bits[metric / 64] >> metric % 64 & 1;
}

/* The metrics of a process on one device; process_metrics.def has the meaning
 * of each. */
enum gk_process_metric {
#define METRIC(id, name, unit, kind, tier, least, most, help) GK_PM_##id,
#include <gpukit/process_metrics.def>
#undef METRIC
	GK_PM_COUNT
};

/* A row of gk_metrics or gk_process_metrics. */
struct gk_metric_info {
	const char *name;
	const char *help;
	enum gk_unit unit;
	enum gk_kind kind;
	enum gk_tier tier;
};

/*
 * The rows of metrics.def and process_metrics.def, in the order of the enums.
 */
GK_API extern const struct gk_metric_info gk_metrics[GK_M_ROOM];
GK_API extern const struct gk_metric_info gk_process_metrics[GK_PM_ROOM];

/* Why a value is absent. An absent value is never 0 and never guessed. */
enum gk_absence {
	GK_PRESENT,
	GK_ABSENT_NOT_READ,      /* not read yet, or not requested */
	GK_ABSENT_NOT_SUPPORTED, /* this GPU or driver has no such value */
	GK_ABSENT_NO_FUNCTION,   /* the driver library lacks the function */
	GK_ABSENT_PERMISSION,
	GK_ABSENT_LOST,    /* the GPU fell off the bus or was lost */
	GK_ABSENT_TIMEOUT, /* the driver did not answer in time */
	GK_ABSENT_ERROR,   /* any other NVML error */
	GK_ABSENT_HIDDEN,  /* /proc does not show it (hidepid, container) */
	GK_ABSENT_ONE_SNAPSHOT, /* rates need two snapshots */
	GK_ABSENT_RESET,        /* the GPU must be reset first */
	/* read, but there is no such value for this process or device */
	GK_ABSENT_NONE,
	GK_ABSENT_NONSENSE, /* reported, but outside the metric's valid range */
	GK_ABSENCE_COUNT
};

/* Returns a short text such as "not supported", never NULL. */
GK_API const char *gk_absence_text(enum gk_absence why);

/*
 * A value, which is valid only if `why` is GK_PRESENT. If `why` is
 * GK_ABSENT_NONSENSE, v is the reported number, for use by gk_reason():
 * INT64_MIN if it was not a number, INT64_MAX or -INT64_MAX if it did not fit
 * in 64 bits.
 */
struct gk_value {
	int64_t v;
	enum gk_absence why;
};

/* The size of the buffer for gk_reason(). */
#define GK_REASON_MAX 64

/*
 * Writes to dst why a value is absent, and returns dst, which has GK_REASON_MAX
 * bytes. If the reported number was out of range, the text contains it, in the
 * unit in which the metric's name ends: "nonsense: 250".
 */
GK_API const char *gk_reason(char *dst, struct gk_value value,
			     enum gk_unit unit);

/* The range of valid values, both ends included, in the same unit as
 * gk_value.v. */
struct gk_range {
	int64_t least, most;
};

/* The facts about a GPU that are texts. */
enum gk_fact {
#define TEXT(id, name, help) GK_T_##id,
#include <gpukit/texts.def>
#undef TEXT
	GK_T_COUNT
};

/* Values of one NVLink. */
enum gk_link_metric {
#define LINK(id, name, unit, kind, least, most, help) GK_L_##id,
#include <gpukit/links.def>
#undef LINK
	GK_L_COUNT
};

/* A row of gk_facts. */
struct gk_fact_info {
	const char *name, *help;
};

/* The rows of texts.def and links.def, in the order of the enums. */
GK_API extern const struct gk_fact_info gk_facts[GK_T_ROOM];
GK_API extern const struct gk_metric_info gk_link_metrics[GK_L_ROOM];

/*
 * gk_metric_range(), gk_process_metric_range() and gk_link_metric_range()
 * return the valid range of a metric; NULL if there is no such metric. A value
 * out of range is always absent, with the reason GK_ABSENT_NONSENSE, no matter
 * who reported it.
 */
GK_API const struct gk_range *gk_metric_range(enum gk_metric metric);
GK_API const struct gk_range *
gk_process_metric_range(enum gk_process_metric metric);
GK_API const struct gk_range *gk_link_metric_range(enum gk_link_metric metric);

#ifdef __cplusplus
}
#endif

#endif
