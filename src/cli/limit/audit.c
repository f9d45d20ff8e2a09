/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - `gpukit limit audit`: prints the differences, once or repeatedly.
 */
#include "cli/limit/audit.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/limit/table.h"
#include "cli/open.h"
#include "format/units.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const struct limit_column columns_of_rows[] = {
    {"GPU", true, 0},    {"PID", true, 0},      {"LEDGER", true, 0},
    {"DRIVER", true, 0}, {"COMMAND", false, 1}, {"", false, 2},
};

static void cell_bytes(struct limit_table *table, bool is_there, uint64_t bytes)
{
	char text[GK_UNITS_MAX];

	if (!is_there)
		limit_cell(table, "-");
	else if (bytes == LIMIT_AUDIT_UNTOLD)
		limit_cell(table, "?");
	else
		limit_cell(table, "%s", gk_human_size(text, (int64_t)bytes));
}

static const char *what_differs(const struct limit_audit_row *row)
{
	if (!row->in_ledger)
		return "it is not in the ledger";
	if (!row->pid)
		return "its pid is not visible here";
	if (!row->in_driver)
		return "the driver does not list it";
	if (row->driver == LIMIT_AUDIT_UNTOLD)
		return "the driver does not report its memory";
	return row->driver > row->ledger ? "the ledger counts too few bytes"
					 : "the ledger counts too many bytes";
}

static void put_rows(struct gk_buf *out, const struct limit_audit *audit,
		     size_t columns)
{
	struct limit_table table = {.columns = columns_of_rows,
				    .count = sizeof columns_of_rows /
					     sizeof *columns_of_rows};

	for (size_t i = 0; i < audit->count; i++) {
		const struct limit_audit_row *row = &audit->rows[i];

		limit_cell(&table, "%u", row->device);
		if (row->pid)
			limit_cell(&table, "%d", (int)row->pid);
		else
			limit_cell(&table, "?");
		cell_bytes(&table, row->in_ledger, row->ledger);
		cell_bytes(&table, row->in_driver, row->driver);
		limit_cell(&table, "%s", *row->command ? row->command : "?");
		limit_cell(&table, "%s", what_differs(row));
	}
	limit_table_end(&table, out, columns);
}

void limit_audit_text(struct gk_buf *out, const struct limit_audit *audit,
		      size_t columns)
{
	char a[GK_UNITS_MAX], b[GK_UNITS_MAX];
	uint64_t ledger = 0, driver = 0;

	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		ledger += audit->ledger[i];
		driver += audit->driver[i];
	}
	gk_buf_printf(out, "group %s: ledger %s, driver %s, %u process%s: %s\n",
		      audit->view.name, gk_human_size(a, (int64_t)ledger),
		      gk_human_size(b, (int64_t)driver), audit->processes,
		      audit->processes == 1 ? "" : "es",
		      audit->count ? "they differ" : "they agree");
	if (audit->count)
		put_rows(out, audit, columns);
}

static int open_driver(struct gk **ret_gk)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;

	options.with = GK_WITHOUT_COMMANDS | GK_WITHOUT_SLOW |
		       GK_WITHOUT_BOARD | GK_WITHOUT_PROCESS_UTIL;
	limit_ask_the_driver();
	return gk_cli_open("limit", &options, ret_gk);
}

/* Prints audits, each only if it differs from the previous one. */
struct printer {
	const struct limit_ask *ask;
	struct gk_buf before;
	bool differed;
};

static void print_audit(struct printer *p, const struct limit_audit *audit)
{
	struct gk_buf text = {0}, shown = {0};

	limit_audit_text(&text, audit, limit_columns());
	p->differed |= audit->count != 0;
	if (!p->before.data || text.len != p->before.len ||
	    memcmp(text.data, p->before.data, text.len)) {
		if (p->ask->json)
			limit_audit_json(&shown, audit, p->ask->follow);
		else
			gk_buf_puts(&shown, text.data ? text.data : "");
		fwrite(shown.data, 1, shown.len, stdout);
		fflush(stdout);
	}
	gk_buf_free(&p->before);
	gk_buf_free(&shown);
	p->before = text;
}

static int audit_once(struct printer *p, struct gk *gk)
{
	struct limit_audit audit;
	int err = limit_audit_read(p->ask->name, gk, &audit);

	if (err)
		return limit_tell(p->ask->name, err);
	print_audit(p, &audit);
	limit_audit_free(&audit);
	return ferror(stdout) ? limit_failure("cannot write the output: %s",
					      strerror(errno))
			      : GK_EXIT_OK;
}

/* Repeats until a signal arrives or the group is removed. */
static int follow_audit(struct printer *p, struct gk *gk)
{
	const struct itimerspec every = {
	    .it_value = gk_timespec(p->ask->interval_ns),
	    .it_interval = gk_timespec(p->ask->interval_ns),
	};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int code = timer < 0 || timerfd_settime(timer, 0, &every, NULL)
		       ? limit_failure("no timer: %s", strerror(errno))
		       : audit_once(p, gk);
	uint64_t times;

	while (!code && gk_interrupt_wait(timer, POLLIN) &&
	       read(timer, &times, sizeof times) > 0)
		code = audit_once(p, gk);
	if (timer >= 0)
		close(timer);
	return code;
}

int limit_audit(struct limit_ask *ask)
{
	struct printer printer = {.ask = ask};
	struct gk *gk;
	int code;

	if (ask->follow && gk_interrupt_catch())
		return limit_failure("signals cannot be caught");
	code = open_driver(&gk);
	if (code)
		return code;
	if (ask->follow)
		gk_interrupt_ready();
	code =
	    ask->follow ? follow_audit(&printer, gk) : audit_once(&printer, gk);
	gk_buf_free(&printer.before);
	if (!code && printer.differed)
		code = GK_EXIT_FAILURE;
	return gk_cli_close(gk, code);
}
