/*
 * boxed_devices.c - the table of GPUs: two lines each in three columns of 31,
 * 22 and 22, and bars to the right where there is room.
 */
#include "format/bar.h"
#include "format/boxed_part.h"
#include "format/names.h"
#include "format/units.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BARS_FROM       100 /* columns from which there are bars */
#define TWO_BARS_FROM   123
#define TABLE_WIDTH     79
#define BAR_COLUMNS_MAX 2

static const int columns[] = {31, 22, 22};

struct table {
	struct gk_box *box;
	int bars[BAR_COLUMNS_MAX]; /* columns between two borders */
	int bar_count;
	bool mig; /* a GPU can be split */
};

/* A rule through all columns; right stands where the bars begin and end. */
struct rule {
	const char *line, *left, *cross, *right, *bars_left, *bars_cross,
	    *bars_right;
};

static const struct rule under_title = {"─", "├", "┬", "┤", NULL, NULL, NULL};
static const struct rule under_head = {"═", "╞", "╪", "╡", "╪", "╤", "╕"};
static const struct rule between = {"─", "├", "┼", "┤", "┼", "┼", "┤"};
static const struct rule bottom = {"═", "╘", "╧", "╛", "╧", "╧", "╛"};

static void add_rule(const struct table *t, const struct rule *rule)
{
	struct gk_buf *out = t->box->out;
	bool bars = t->bar_count && rule->bars_left;

	gk_buf_puts(out, rule->left);
	for (int i = 0; i < 3; i++) {
		gk_box_repeat(out, rule->line, columns[i]);
		if (i < 2)
			gk_buf_puts(out, rule->cross);
	}
	gk_buf_puts(out, bars ? rule->bars_left : rule->right);
	for (int i = 0; bars && i < t->bar_count; i++) {
		gk_box_repeat(out, rule->line, t->bars[i]);
		gk_buf_puts(out, i + 1 < t->bar_count ? rule->bars_cross
						      : rule->bars_right);
	}
	gk_buf_putc(out, '\n');
}

/* Texts of values; "N/A" where they are absent. */
struct texts {
	char size[2][GK_UNITS_MAX], fan[GK_UNITS_MAX], temp[GK_UNITS_MAX];
	char pstate[GK_UNITS_MAX], power[2 * GK_UNITS_MAX];
	char memory[2 * GK_UNITS_MAX], util[GK_UNITS_MAX], ecc[GK_UNITS_MAX];
};

static void set(char *dst, struct gk_value value, const char *before,
		const char *after)
{
	if (value.why == GK_PRESENT)
		snprintf(dst, GK_UNITS_MAX, "%s%" PRId64 "%s", before, value.v,
			 after);
	else
		gk_str_copy(dst, GK_UNITS_MAX, "N/A");
}

static const char *size_or_na(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? gk_human_size(dst, value.v) : "N/A";
}

static const char *watts_or_na(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? gk_human_watts(dst, value.v) : "N/A";
}

static void fill(struct texts *x, const struct gk_device *d)
{
	const struct gk_value *m = d->m;

	set(x->fan, m[GK_M_FAN], "", "%");
	if (m[GK_M_FAN].why == GK_PRESENT && m[GK_M_FAN].v >= 100)
		gk_str_copy(x->fan, sizeof x->fan, "MAX");
	set(x->temp, m[GK_M_TEMP], "", "C");
	set(x->pstate, m[GK_M_PSTATE], "P", "");
	set(x->util, m[GK_M_GPU_UTIL], "", "%");
	set(x->ecc, m[GK_M_ECC_UNCORRECTED], "", "");
	snprintf(x->power, sizeof x->power, "%s / %s",
		 watts_or_na(x->size[0], m[GK_M_POWER]),
		 watts_or_na(x->size[1], m[GK_M_POWER_LIMIT]));
	snprintf(x->memory, sizeof x->memory, "%s / %*s",
		 size_or_na(x->size[0], m[GK_M_MEM_USED]),
		 d->mig_index < 0 ? 0 : 8,
		 size_or_na(x->size[1], m[GK_M_MEM_TOTAL]));
}

/* The word of a state: the table's, else "N/A". */
static const char *word(struct gk_value value, const char *const *words,
			int count)
{
	if (value.why != GK_PRESENT || value.v < 0 || value.v >= count ||
	    !words[value.v])
		return "N/A";
	return words[value.v];
}

static const char *const off_on[] = {"Off", "On"};
static const char *const disabled_enabled[] = {"Disabled", "Enabled"};
static const char *const compute_modes[] = {"Default", "E. Thread",
					    "Prohibited", "E. Process"};

static const char *short_name(const struct gk_device *d)
{
	static const char maker[] = "NVIDIA ";

	return strncmp(d->name, maker, sizeof maker - 1)
		   ? d->name
		   : d->name + sizeof maker - 1;
}

static void name_cell(const struct table *t, const struct gk_device *d)
{
	char trouble[GK_NAME_MAX], text[GK_NAME_MAX + 8];

	gk_device_trouble(trouble, t->box->snap, d);
	snprintf(text, sizeof text, "ERROR: %s", trouble);
	if (d->health == GK_HEALTH_OK ||
	    (d->health == GK_HEALTH_STALE && *d->name))
		gk_cell_tail(t->box->out, short_name(d), 19, "..");
	else
		gk_cell(t->box->out, text, 19, GK_LEFT, "..");
}

static void cell_start(const struct table *t, enum gk_color color)
{
	gk_buf_puts(t->box->out, "│");
	gk_color_start(t->box->out, t->box->o->color, color);
}

/* Ends the last cell and starts the next one. */
static void cell_next(const struct table *t, enum gk_color color)
{
	gk_color_end(t->box->out, t->box->o->color, color);
	cell_start(t, color);
}

static void cell_end(const struct table *t, enum gk_color color)
{
	gk_color_end(t->box->out, t->box->o->color, color);
	gk_buf_puts(t->box->out, "│");
}

static void first_line(const struct table *t, const struct gk_device *d,
		       const struct texts *x, enum gk_color color)
{
	struct gk_buf *out = t->box->out;
	const struct gk_value *m = d->m;

	cell_start(t, color);
	gk_buf_printf(out, " %3u  ", d->index);
	name_cell(t, d);
	gk_buf_printf(out, " %4s ", word(m[GK_M_PERSISTENCE], off_on, 2));
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, *d->bus_id ? d->bus_id : "N/A", 16, GK_LEFT, "");
	gk_buf_printf(out, " %3s ", word(m[GK_M_DISPLAY_ACTIVE], off_on, 2));
	cell_next(t, color);
	if (t->mig)
		gk_buf_printf(out, " %8s  ",
			      word(m[GK_M_MIG_MODE], disabled_enabled, 2));
	else
		gk_buf_putc(out, ' ');
	gk_cell(out, x->ecc, t->mig ? 10 : 20, GK_RIGHT, "..");
	gk_buf_putc(out, ' ');
	cell_end(t, color);
}

/* The compute mode, or for a GPU that does not answer since when. */
static void mode_cell(const struct table *t, const struct gk_device *d)
{
	uint64_t age = gk_device_age(t->box->snap, d, GK_TIER_FAST);
	char stale[GK_UNITS_MAX] = "stale";

	if (d->health == GK_HEALTH_STALE && age != UINT64_MAX)
		snprintf(stale, sizeof stale, "stale %.0fs", (double)age / 1e9);
	gk_cell(t->box->out,
		d->health == GK_HEALTH_STALE
		    ? stale
		    : word(d->m[GK_M_COMPUTE_MODE], compute_modes, 4),
		11, GK_RIGHT, "");
}

static void second_line(const struct table *t, const struct gk_device *d,
			const struct texts *x, enum gk_color color)
{
	struct gk_buf *out = t->box->out;

	cell_start(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->fan, 3, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	gk_cell(out, x->temp, 4, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	gk_cell(out, x->pstate, 4, GK_CENTER, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->power, 13, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->memory, 20, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->util, 7, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	mode_cell(t, d);
	gk_buf_putc(out, ' ');
	cell_end(t, color);
}

/* The last word of "NVIDIA A100-SXM4-80GB MIG 1g.10gb". */
static const char *mig_profile(const struct gk_device *d)
{
	const char *blank = strrchr(d->name, ' ');

	return blank ? blank + 1 : d->name;
}

static void mig_line(const struct table *t, const struct gk_device *d,
		     const struct texts *x, enum gk_color color)
{
	struct gk_value share =
	    gk_tenths(d->m[GK_M_BAR1_USED], d->m[GK_M_BAR1_TOTAL]);
	char label[GK_NAME_MAX], used[GK_UNITS_MAX], percent[16] = "N/A";
	struct gk_buf *out = t->box->out;

	if (share.why == GK_PRESENT)
		snprintf(percent, sizeof percent,
			 share.v < 1000 ? "%d%%" : "MAX",
			 (int)((share.v + 5) / 10));
	cell_start(t, color);
	gk_cell(out, gk_device_label(label, d), 4, GK_RIGHT, "");
	gk_cell(out, mig_profile(d), 13, GK_RIGHT, "..");
	gk_buf_printf(out, " @ GI/CI:%2d/%-2d", d->gpu_instance,
		      d->compute_instance);
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->memory, 20, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_printf(out, " BAR1: %8s / %-3s ",
		      size_or_na(used, d->m[GK_M_BAR1_USED]), percent);
	cell_end(t, color);
}

enum bar_kind { BAR_MEM, BAR_MBW, BAR_UTL, BAR_PWR, BAR_NONE };

/* Fills *ret_bar; its text lies in text. */
static enum gk_intensity bar_of(const struct gk_boxed_options *o,
				const struct gk_device *d, enum bar_kind kind,
				char *text, struct gk_bar *ret_bar)
{
	static const char *const titles[] = {
	    "MEM: ", "MBW: ", "UTL: ", "PWR: "};
	const struct gk_value *m = d->m;
	struct gk_value clock =
	    m[kind == BAR_MBW ? GK_M_MEM_CLOCK : GK_M_SM_CLOCK];
	struct gk_bar bar = {.title = titles[kind], .text = text};

	*text = '\0';
	if (kind == BAR_MEM) {
		bar.tenths = gk_tenths(m[GK_M_MEM_USED], m[GK_M_MEM_TOTAL]);
		gk_str_copy(text, GK_UNITS_MAX,
			    size_or_na(text, m[GK_M_MEM_USED]));
	} else if (kind == BAR_PWR) {
		bar.tenths = gk_tenths(m[GK_M_POWER], m[GK_M_POWER_LIMIT]);
		gk_str_copy(text, GK_UNITS_MAX,
			    watts_or_na(text, m[GK_M_POWER]));
	} else {
		bar.tenths = gk_tenths_of_percent(
		    m[kind == BAR_MBW ? GK_M_MEM_UTIL : GK_M_GPU_UTIL]);
		if (clock.why == GK_PRESENT)
			snprintf(text, GK_UNITS_MAX, "@ %" PRId64 "MHz",
				 clock.v / 1000000);
	}
	if (bar.tenths.why != GK_PRESENT)
		*text = '\0';
	bar.whole = kind == BAR_UTL || kind == BAR_MBW;
	bar.text_first = *text && (kind == BAR_MEM || kind == BAR_PWR);
	*ret_bar = bar;
	return kind == BAR_MEM || kind == BAR_MBW
		   ? gk_memory_intensity(o, bar.tenths)
		   : gk_gpu_intensity(o, bar.tenths);
}

static void add_bars(const struct table *t, const struct gk_device *d,
		     enum bar_kind left, enum bar_kind right)
{
	enum bar_kind kinds[] = {left, right};
	struct gk_buf *out = t->box->out;
	char text[GK_UNITS_MAX];

	for (int i = 0; i < t->bar_count; i++) {
		struct gk_bar bar;
		enum gk_color color;

		if (kinds[i] == BAR_NONE) {
			gk_buf_pad(out, ' ', (size_t)t->bars[i]);
			gk_buf_puts(out, "│");
			continue;
		}
		color = gk_intensity_color(
		    bar_of(t->box->o, d, kinds[i], text, &bar));
		color = d->health == GK_HEALTH_OK ? color : GK_RED;
		gk_buf_putc(out, ' ');
		gk_color_start(out, t->box->o->color, color);
		gk_format_bar(out, &bar, t->bars[i] - 2);
		gk_color_end(out, t->box->o->color, color);
		gk_buf_puts(out, " │");
	}
	gk_buf_putc(out, '\n');
}

/* A GPU in one line: what does not fit is left to the full table. */
static void compact_line(const struct table *t, const struct gk_device *d,
			 const struct texts *x, enum gk_color color)
{
	struct gk_buf *out = t->box->out;

	cell_start(t, color);
	gk_buf_printf(out, " %3u ", d->index);
	gk_cell(out, x->fan, 3, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->temp, 4, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->pstate, 3, GK_CENTER, "");
	gk_buf_putc(out, ' ');
	gk_cell(out, x->power, 12, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->memory, 20, GK_RIGHT, "");
	gk_buf_putc(out, ' ');
	cell_next(t, color);
	gk_buf_putc(out, ' ');
	gk_cell(out, x->util, 7, GK_RIGHT, "");
	gk_buf_puts(out, "  ");
	mode_cell(t, d);
	gk_buf_putc(out, ' ');
	cell_end(t, color);
}

static void add_device(const struct table *t, const struct gk_device *d)
{
	enum gk_color color = gk_device_color(t->box->o, d);
	struct texts x;

	fill(&x, d);
	if (d->mig_index >= 0) {
		mig_line(t, d, &x, color);
		add_bars(t, d, BAR_MEM, BAR_NONE);
		return;
	}
	if (t->box->o->compact) {
		compact_line(t, d, &x, color);
		add_bars(t, d, BAR_MEM, BAR_UTL);
		return;
	}
	first_line(t, d, &x, color);
	add_bars(t, d, BAR_MEM, BAR_MBW);
	second_line(t, d, &x, color);
	add_bars(t, d, BAR_UTL, BAR_PWR);
}

/* Three texts with the room between them shared out. */
static void add_title(struct gk_box *box)
{
	const struct gk_snapshot *snap = box->snap;
	char parts[3][GK_NAME_MAX + 32], cuda[GK_UNITS_MAX];
	char driver[21] = "N/A"; /* more does not fit */
	int room = TABLE_WIDTH - 4;

	snprintf(parts[0], sizeof parts[0], "GPUKIT %s", GPUKIT_VERSION);
	if (*snap->driver_version)
		gk_str_clean(driver, sizeof driver, snap->driver_version,
			     strlen(snap->driver_version));
	snprintf(parts[1], sizeof parts[1], "Driver Version: %s", driver);
	snprintf(parts[2], sizeof parts[2], "CUDA Driver Version: %s",
		 gk_cuda_version(cuda, snap->cuda_version));
	for (int i = 0; i < 3; i++)
		room -= (int)gk_columns(parts[i], strlen(parts[i]));
	room = room > 2 ? room : 2;
	gk_buf_printf(box->out, "│ %s%*s%s%*s%s │\n", parts[0], room / 2, "",
		      parts[1], room - room / 2, "", parts[2]);
}

static void add_head(const struct table *t)
{
	struct gk_buf *out = t->box->out;

	add_rule(t, &under_title);
	if (t->box->o->compact) {
		gk_buf_puts(out, "│ GPU Fan Temp Perf Pwr:Usg/Cap │"
				 "         Memory-Usage │"
				 " GPU-Util  Compute M. │\n");
		add_rule(t, &under_head);
		return;
	}
	gk_buf_puts(out, "│ GPU  Name        Persistence-M"
			 "│ Bus-Id        Disp.A ");
	gk_buf_puts(out, t->mig ? "│ MIG M.   Uncorr. ECC │\n"
				: "│ Volatile Uncorr. ECC │\n");
	gk_buf_puts(out, "│ Fan  Temp  Perf  Pwr:Usage/Cap"
			 "│         Memory-Usage "
			 "│ GPU-Util  Compute M. │\n");
	add_rule(t, &under_head);
}

static void measure(struct table *t)
{
	int room = t->box->width - TABLE_WIDTH;

	if (t->box->width >= TWO_BARS_FROM) {
		t->bar_count = 2;
		t->bars[0] = (room - 3) / 2;
		t->bars[1] = room - 2 - t->bars[0];
	} else if (t->box->width >= BARS_FROM) {
		t->bar_count = 1;
		t->bars[0] = room - 1;
	}
	for (size_t i = 0; i < t->box->snap->device_count; i++)
		t->mig |=
		    t->box->snap->devices[i].m[GK_M_MIG_MODE].why == GK_PRESENT;
}

static void no_devices(struct gk_box *box)
{
	struct gk_box narrow = *box;

	narrow.width = TABLE_WIDTH;
	gk_box_line(&narrow, "╞", "═", "╡");
	gk_buf_puts(box->out, "│  ");
	gk_cell(box->out, GK_NO_DEVICES, TABLE_WIDTH - 4, GK_LEFT, "");
	gk_buf_puts(box->out, "│\n");
	gk_box_line(&narrow, "╘", "═", "╛");
}

void gk_box_devices(struct gk_box *box)
{
	const struct gk_snapshot *snap = box->snap;
	struct gk_box narrow = *box;
	struct table t = {.box = box};

	measure(&t);
	narrow.width = TABLE_WIDTH;
	gk_box_line(&narrow, "╒", "═", "╕");
	add_title(box);
	if (!snap->device_count) {
		no_devices(box);
		return;
	}
	add_head(&t);
	for (size_t i = 0; i < snap->device_count; i++) {
		if (i)
			add_rule(&t, &between);
		add_device(&t, &snap->devices[i]);
	}
	add_rule(&t, &bottom);
}
