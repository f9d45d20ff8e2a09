/*
 * select.h - `gpukit select`: what its options chose, and the run.
 */
#ifndef GK_CLI_SELECT_H
#define GK_CLI_SELECT_H

#include "base/str.h"
#include "cli/timings_opt.h"
#include "core/reserve.h"
#include "core/select.h"
#include "format/selection.h"

enum gk_select_exit {
	GK_SELECT_NO_DRIVER = 1,
	GK_SELECT_NONE = 1,       /* no device meets what was asked for */
	GK_SELECT_NVML = 2,       /* the driver refuses; also wrong usage */
	GK_SELECT_VISIBLE = 3,    /* a bad CUDA_VISIBLE_DEVICES */
	GK_SELECT_NOT_ENOUGH = 4, /* fewer devices than asked for */
};

enum gk_inherit { GK_INHERIT_NOT, GK_INHERIT_ENV, GK_INHERIT_GIVEN };

struct gk_select_run {
	struct gk_select wanted;
	bool least_given; /* else one at least, unless */
	bool allow_empty;
	enum gk_inherit inherit;
	const char *inherited;
	const char **free_users; /* the options' own list */
	enum gk_select_ids ids;
	const char *separator;
	size_t separator_len;
	bool null_ended;
	bool json;
	bool also_reserved;
	bool wait;
	uint64_t wait_ns; /* 0: no end */
	bool reserve;
	char **command; /* NULL-terminated, with reserve */
	struct gk_options machine;
	struct gk_timings_opt timings;
};

/* Selects; a gk_select_exit. Does not return when a command is run. */
int gk_select_run(struct gk_select_run *run);

/* Adds what is in the way of the reservations in a file, whose, the cure. */
void gk_select_bar_text(struct gk_buf *out, const char *path,
			const struct gk_reserve_bar *bar);

#endif
