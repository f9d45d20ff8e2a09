/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - `gpukit select`: its options, and the run. */
#ifndef GK_CLI_SELECT_H
#define GK_CLI_SELECT_H

#include "base/str.h"
#include "cli/page.h"
#include "cli/timings_opt.h"
#include "core/choose/reserve.h"
#include "core/choose/select.h"
#include "format/selection.h"

enum gk_select_exit {
	GK_SELECT_NO_DRIVER = 1,
	GK_SELECT_NONE = 1, /* no device meets the conditions */
	GK_SELECT_NVML = 2, /* the driver returned an error; also wrong usage */
	GK_SELECT_VISIBLE = 3,    /* CUDA_VISIBLE_DEVICES is invalid */
	GK_SELECT_NOT_ENOUGH = 4, /* fewer devices than asked for */
};

enum gk_inherit { GK_INHERIT_NOT, GK_INHERIT_ENV, GK_INHERIT_GIVEN };

struct gk_select_run {
	struct gk_select wanted;
	/*
	 * The user gave a minimum count. Otherwise it is 1, or 0 with
	 * allow_empty.
	 */
	bool least_given;
	bool allow_empty;
	enum gk_inherit inherit;
	const char *inherited;
	const char **free_users; /* owned array of borrowed names */
	enum gk_select_ids ids;
	const char *separator;
	size_t separator_len;
	bool null_ended;
	bool json;
	bool also_reserved;
	bool wait;
	uint64_t wait_ns; /* 0: no limit */
	bool reserve;
	char **command; /* NULL-terminated; only with reserve */
	struct gk_options machine;
	struct gk_timings_opt timings;
};

/*
 * Selects devices. Returns a gk_select_exit, or does not return if it runs a
 * command.
 */
int gk_select_run(struct gk_select_run *run);

/*
 * Appends a description of what blocks the reservations in a file, of the
 * file's owner, and of the fix.
 */
void gk_select_bar_text(struct gk_buf *out, const char *path,
			const struct gk_reserve_bar *bar);

/* The options, for the manual. */
extern const struct argp gk_select_argp;

#endif
