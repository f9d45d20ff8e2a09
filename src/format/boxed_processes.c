/* boxed_processes.c - the table of processes, by GPU. */
#include "format/bar.h"
#include "format/boxed_part.h"
#include "format/names.h"
#include "format/units.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Columns, borders and blanks but for the time and the command. */
#define OTHERS_WIDTH 59
#define TIME_WIDTH   5

/* What stands in place of the command of a process that is not running. */
static const struct {
	const char *text;
	enum gk_color color;
} states[] = {
    [GK_PROCESS_RUNNING] = {NULL, GK_PLAIN},
    [GK_PROCESS_GONE] = {"No Such Process", GK_RED},
    [GK_PROCESS_ZOMBIE] = {"Zombie Process", GK_YELLOW},
    [GK_PROCESS_NO_PERMISSION] = {"No Permissions", GK_YELLOW},
};

static const char *command_of(const struct gk_process *p)
{
	if (states[p->state].text)
		return states[p->state].text;
	return *p->command ? p->command : p->name;
}

static const char *time_of(char *dst, const struct gk_process *p)
{
	struct gk_value time = p->m[GK_PM_RUN_TIME];

	return time.why == GK_PRESENT ? gk_human_time(dst, time.v, 4) : "N/A";
}

static int time_width(const struct gk_snapshot *snap)
{
	char text[GK_UNITS_MAX];
	int widest = TIME_WIDTH;

	for (size_t i = 0; i < snap->process_count; i++) {
		int width = (int)strlen(time_of(text, &snap->processes[i])) + 1;

		widest = width > widest ? width : widest;
	}
	return widest;
}

int gk_box_processes_width(const struct gk_snapshot *snap)
{
	int widest = 0;

	for (size_t i = 0; i < snap->process_count; i++) {
		const char *command = command_of(&snap->processes[i]);
		int width = (int)gk_columns(command, strlen(command));

		widest = width > widest ? width : widest;
	}
	return widest + OTHERS_WIDTH + time_width(snap);
}

/* A share with one decimal in 5 columns: "12.5", "1200", "9999+". */
static void add_share(struct gk_buf *out, struct gk_value tenths)
{
	if (tenths.why != GK_PRESENT)
		gk_buf_puts(out, "   N/A");
	else if (tenths.v >= 99995)
		gk_buf_puts(out, " 9999+");
	else if (tenths.v >= 10000)
		gk_buf_printf(out, " %5" PRId64, (tenths.v + 5) / 10);
	else
		gk_buf_printf(out, " %5.1f", (double)tenths.v / 10.0);
}

static void add_percent(struct gk_buf *out, struct gk_value value, size_t width)
{
	char text[GK_UNITS_MAX] = "N/A";

	if (value.why == GK_PRESENT)
		gk_number(text, value.v, GK_UNIT_PERCENT);
	gk_buf_putc(out, ' ');
	gk_cell(out, text, width, GK_RIGHT, "+");
}

/* The columns from the driver: the row in color, the GPU in its own. */
static void add_driver_part(struct gk_box *box, const struct gk_process *p,
			    enum gk_color color)
{
	const struct gk_device *d = &box->snap->devices[p->device];
	enum gk_color busy = gk_device_color(box->o, d);
	struct gk_value mem = p->m[GK_PM_GPU_MEM];
	char text[GK_NAME_MAX];

	gk_buf_putc(box->out, ' ');
	gk_color_start(box->out, box->o->color, busy);
	gk_cell(box->out, gk_device_label(text, d), 3, GK_RIGHT, "");
	gk_color_end(box->out, box->o->color, busy);
	gk_color_start(box->out, box->o->color, color);
	gk_buf_putc(box->out, ' ');
	snprintf(text, sizeof text, "%d", (int)p->pid);
	gk_cell(box->out, text, 7, GK_RIGHT, ".");
	gk_buf_printf(box->out, " %s ", gk_process_type_letter(p->types));
	gk_cell(box->out, *p->user ? p->user : "N/A", 7, GK_RIGHT, "+");
	gk_buf_putc(box->out, ' ');
	gk_cell(box->out,
		mem.why == GK_PRESENT ? gk_human_size(text, mem.v) : "N/A", 8,
		GK_RIGHT, "");
	add_percent(box->out, p->m[GK_PM_SM_UTIL], 3);
	add_percent(box->out, p->m[GK_PM_MEM_UTIL], 5);
}

static void add_process(struct gk_box *box, const struct gk_process *p,
			int time_columns)
{
	int command_width = box->width - OTHERS_WIDTH - time_columns;
	bool foreign = box->o->uid && p->uid != box->o->uid;
	enum gk_color color = foreign ? GK_DIM : GK_PLAIN;
	enum gk_color word =
	    states[p->state].text ? states[p->state].color : color;
	struct gk_value cpu = p->m[GK_PM_CPU];
	char time[GK_UNITS_MAX];

	cpu.v /= 10;
	gk_buf_puts(box->out, "│");
	add_driver_part(box, p, color);
	add_share(box->out, cpu);
	add_share(box->out,
		  gk_tenths(p->m[GK_PM_RSS], box->snap->host.mem_total));
	gk_buf_printf(box->out, " %*s  ", time_columns, time_of(time, p));
	gk_color_end(box->out, box->o->color, color);
	gk_color_start(box->out, box->o->color, word);
	gk_cell(box->out, command_of(p), (size_t)command_width, GK_LEFT, "..");
	gk_color_end(box->out, box->o->color, word);
	gk_buf_puts(box->out, " │\n");
}

static void add_who(struct gk_box *box)
{
	const struct gk_boxed_options *o = box->o;
	const char *user = o->user ? o->user : "";
	const char *host = box->snap->host.hostname;
	int room = box->width - 4 - (int)strlen("Processes:") -
		   (int)gk_columns(user, strlen(user)) -
		   (int)gk_columns(host, strlen(host)) - (*user ? 1 : 0);

	gk_buf_puts(box->out, "│ Processes:");
	gk_buf_pad(box->out, ' ', room > 0 ? (size_t)room : 0);
	gk_color_start(box->out, o->color,
		       o->uid ? GK_BOLD_MAGENTA : GK_BOLD_YELLOW);
	gk_add_clean(box->out, user, strlen(user));
	gk_color_end(box->out, o->color,
		     o->uid ? GK_BOLD_MAGENTA : GK_BOLD_YELLOW);
	gk_buf_puts(box->out, *user ? "@" : "");
	gk_color_start(box->out, o->color, GK_BOLD_GREEN);
	gk_add_clean(box->out, host, strlen(host));
	gk_color_end(box->out, o->color, GK_BOLD_GREEN);
	gk_buf_puts(box->out, " │\n");
}

static void add_titles(struct gk_box *box, int time_columns)
{
	gk_buf_puts(box->out, "│ GPU     PID      USER  GPU-MEM %SM %GMBW  "
			      "%CPU  %MEM");
	gk_buf_printf(box->out, " %*s  ", time_columns, "TIME");
	gk_cell(box->out, "COMMAND",
		(size_t)(box->width - OTHERS_WIDTH - time_columns), GK_LEFT,
		"");
	gk_buf_puts(box->out, " │\n");
}

void gk_box_processes(struct gk_box *box)
{
	const struct gk_snapshot *snap = box->snap;
	int time_columns = time_width(snap);

	gk_box_line(box, "╒", "═", "╕");
	add_who(box);
	add_titles(box, time_columns);
	gk_box_line(box, "╞", "═", "╡");
	for (size_t i = 0; i < snap->process_count; i++) {
		if (i &&
		    snap->processes[i].device != snap->processes[i - 1].device)
			gk_box_line(box, "├", "─", "┤");
		add_process(box, &snap->processes[i], time_columns);
	}
	if (!snap->process_count) {
		gk_buf_puts(box->out, "│  ");
		gk_cell(box->out, gk_no_processes_text(snap),
			(size_t)box->width - 4, GK_LEFT, "");
		gk_buf_puts(box->out, "│\n");
	}
	gk_box_line(box, "╘", "═", "╛");
}
