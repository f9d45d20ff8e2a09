/*
 * subject.h - whose values these are: a GPU of a file, a process on one, or the
 * host; its lines, what happened to it, and sums over its time.
 */
#ifndef GK_PLOT_SUBJECT_H
#define GK_PLOT_SUBJECT_H

#include "plot/sheet.h"
#include "plot/track.h"

enum gk_plot_kind { GK_PLOT_GPU, GK_PLOT_PROCESS, GK_PLOT_HOST };

/* What happened; each has a sign of its own. */
enum gk_plot_event {
	GK_PLOT_BY_POWER, /* clocks held back by the power limit, or a brake */
	GK_PLOT_BY_HEAT,
	GK_PLOT_LOST,
	GK_PLOT_XID_CAME,
	GK_PLOT_ECC_CAME,
	GK_PLOT_EVENTS
};

struct gk_plot_run {
	enum gk_plot_event event;
	int64_t from_ms, to_ms;
	int number; /* of an Xid */
};

/* Reasons that hold clocks back: bits of nvmlClocksEventReasons. */
struct gk_plot_reason {
	unsigned bit;
	const char *name, *words;
};

#define GK_PLOT_REASON_COUNT 5
extern const struct gk_plot_reason gk_plot_reasons[GK_PLOT_REASON_COUNT];

/* Busy below this many percent is idle. */
#define GK_PLOT_BUSY_LEAST 5

/* Zero it to start. */
struct gk_plot_subject {
	uint64_t hash;
	enum gk_plot_kind kind;
	unsigned file; /* index */
	char *label;   /* "GPU 0", or pid and command: any byte but NUL */
	char *model;   /* NULL: not known */
	struct gk_plot_subject *gpu; /* of a process; else NULL */
	struct gk_plot_track *tracks[GK_PLOT_QUANTITIES]; /* NULL: no value */
	struct gk_plot_run *runs;
	size_t run_count, run_cap;
	bool seen;   /* has had a moment */
	bool lost;   /* at the end */
	bool chosen; /* a process that was asked for is on it */
	int64_t first_ms, last_ms;
	/* Sums, in seconds but for watt_seconds. */
	double seconds, idle, throttled, by_reason[GK_PLOT_REASON_COUNT];
	double watt_seconds; /* of a process: its part by SM time, a guess */
	/* The next fields belong to the moment at hand. */
	bool touched, lost_now;
	uint32_t filled; /* quantities that have a value */
	double now[GK_PLOT_QUANTITIES];
	double busy_of_processes;
	bool allocated;
};

void gk_plot_subject_free(struct gk_plot_subject *subject);

/* The track of a quantity, or NULL. */
static inline const struct gk_plot_track *
gk_plot_track_of(const struct gk_plot_subject *subject,
		 enum gk_plot_quantity quantity)
{
	return subject->tracks[quantity];
}

/* A moment of all subjects: its time, its weight, how wide bins are. */
struct gk_plot_moment {
	int64_t ms, before_ms; /* of the one before it */
	double seconds;
	unsigned shift;
	bool processes_known; /* the file tells which there are */
	bool process_lines;   /* lines of processes are wanted */
};

/*
 * Ends a moment: its values become lines and sums. Processes come first, their
 * GPUs after them; gk_plot_subject_share() comes last, for processes. 0 or
 * GK_ERR_NOMEM.
 */
int gk_plot_subject_end(struct gk_plot_subject *subject,
			const struct gk_plot_moment *moment);
void gk_plot_subject_share(struct gk_plot_subject *process,
			   const struct gk_plot_moment *moment);
void gk_plot_subject_clear(struct gk_plot_subject *subject);

/* Watt-hours; NaN: not known. */
double gk_plot_subject_energy(const struct gk_plot_subject *subject);

#endif
