/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - parses the command line of `gpukit plot`. */
#include "cli/plot/options.h"

#include "base/array.h"
#include "cli/arg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	KEY_SHOW = 0x400,
	KEY_TERM,
	KEY_SUMMARY,
	KEY_JSON,
	KEY_FROM,
	KEY_TO,
	KEY_GPU,
	KEY_PID,
	KEY_PER_PID,
	KEY_PER_GPU,
	KEY_ALL,
	KEY_COMPARE,
	KEY_CPU,
	KEY_UTIL,
	KEY_POWER,
	KEY_TEMPERATURE,
	KEY_SIZE,
	KEY_TITLE,
	KEY_DARK,
};

/* The most used options come first: argp sorts by the last number. */
static const struct argp_option options[] = {
    {"output", 'o', "PICTURE", 0,
     "Picture to write: .png, .svg or .pdf (FILE.png in the current directory)",
     1},
    {"term", KEY_TERM, 0, 0, "Draw in the terminal, as lanes", 2},
    {"show", KEY_SHOW, 0, 0, "In a window", 3},
    {"summary", KEY_SUMMARY, 0, 0,
     "Print figures of each GPU and process instead of a picture", 4},
    {"json", KEY_JSON, 0, 0, "--summary as JSON", 5},
    {"from", KEY_FROM, "TIME", 0,
     "Start here: 21:30, 2026-11-28T21:30, 10m (after the start), -10m (before "
     "the end)",
     6},
    {"to", KEY_TO, "TIME", 0, "End here", 7},
    {"gpu", KEY_GPU, "INDEX,...", 0, "Only these GPUs", 8},
    {"pid", KEY_PID, "PID,...", 0, "Only these processes", 9},
    {"column", 'c', "NAME,...", 0,
     "These panels instead of the default ones: busy, memory, power, "
     "temperature, host, cpu, or any recorded column",
     10},
    {"per-pid", KEY_PER_PID, 0, 0, "Split memory and time by process", 11},
    {"per-gpu", KEY_PER_GPU, 0, 0, "One curve per GPU (the default)", 11},
    {"compare", KEY_COMPARE, 0, 0, "Overlay the files, aligned at their starts",
     12},
    {"all", KEY_ALL, 0, 0, "All GPUs, 16 per page", 13},
    {"cpu", KEY_CPU, 0, 0, "Also a panel of CPU time", 14},
    {"util", KEY_UTIL, 0, 0,
     "Also a panel of utilisation, even if none was recorded", 15},
    {"power", KEY_POWER, 0, 0, "The same for power", 16},
    {"temperature", KEY_TEMPERATURE, 0, 0, "The same for temperature", 17},
    {"dark", KEY_DARK, 0, 0, "Dark background", 18},
    {"size", KEY_SIZE, "WxH", 0,
     "Size in pixels; texts and lines scale with it", 19},
    {"title", KEY_TITLE, "TEXT", 0, "Title instead of host, GPUs and time", 20},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

static const struct {
	const char *suffix;
	enum gk_plot_form form;
} suffixes[] = {
    {".png", GK_PLOT_PNG},
    {".svg", GK_PLOT_SVG},
    {".pdf", GK_PLOT_PDF},
};

static const struct {
	int key;
	enum gk_plot_quantity quantity;
} panel_keys[] = {
    {KEY_CPU, GK_PLOT_CPU},
    {KEY_UTIL, GK_PLOT_BUSY},
    {KEY_POWER, GK_PLOT_POWER},
    {KEY_TEMPERATURE, GK_PLOT_TEMPERATURE},
};

/* Short names of panels. */
static const struct {
	const char *name;
	enum gk_plot_quantity quantity;
} panel_names[] = {
    {"busy", GK_PLOT_BUSY},
    {"util", GK_PLOT_BUSY},
    {"memory", GK_PLOT_MEMORY},
    {"power", GK_PLOT_POWER},
    {"temperature", GK_PLOT_TEMPERATURE},
    {"host", GK_PLOT_HOST_MEMORY},
    {"cpu", GK_PLOT_CPU},
};

const char *plot_panel_name(size_t i)
{
	return i < COUNT(panel_names) ? panel_names[i].name : NULL;
}

static void choose_way(struct argp_state *state, enum plot_way way)
{
	struct plot_options *o = state->input;

	if (o->chosen)
		argp_error(
		    state,
		    "choose one of --output, --show, --term and --summary");
	o->chosen = true;
	o->way = way;
}

static void set_output(struct argp_state *state, const char *arg)
{
	struct plot_options *o = state->input;
	const char *path = gk_arg_path(state, "--output", arg);
	size_t len = strlen(path);

	for (size_t i = 0; i < COUNT(suffixes); i++)
		if (len > 4 && path[len - 5] != '/' &&
		    !strcasecmp(path + len - 4, suffixes[i].suffix)) {
			choose_way(state, PLOT_TO_FILE);
			o->look.form = suffixes[i].form;
			o->output = path;
			return;
		}
	argp_error(state, "--output must end in .png, .svg or .pdf, not '%s'",
		   path);
}

static void set_files(struct argp_state *state)
{
	struct plot_options *o = state->input;

	o->file_count = (unsigned)(state->argc - state->next);
	o->files = calloc(o->file_count, sizeof *o->files);
	if (!o->files)
		gk_arg_no_memory(state);
	for (unsigned i = 0; i < o->file_count; i++)
		o->files[i] = gk_arg_path(state, "file",
					  state->argv[state->next + (int)i]);
}

static void set_size(struct argp_state *state, const char *text)
{
	struct plot_options *o = state->input;
	char end;

	if (sscanf(text, "%5ux%5u%c", &o->look.width, &o->look.height, &end) !=
		2 ||
	    o->look.width < 200 || o->look.height < 100 ||
	    o->look.width > 20000 || o->look.height > 20000)
		argp_error(state,
			   "--size must be from 200x100 to 20000x20000 pixels, "
			   "not '%s'",
			   text);
}

static void set_when(struct argp_state *state, const char *option,
		     const char *text, struct gk_plot_when *when)
{
	if (gk_plot_parse_when(text, when))
		argp_error(state,
			   "%s must be a time such as 21:30, 2026-11-28T21:30, "
			   "10m or -10m, not '%s'",
			   option, text);
}

/*
 * Appends words separated by commas to those of earlier options with the same
 * name.
 */
static void add_words(struct argp_state *state, const char *option,
		      const char *text, struct plot_list *list)
{
	size_t old = 0, len = strlen(text), count = 0;
	char *next;

	for (size_t i = 0; i < list->count; i++)
		old += strlen(list->words[i]) + 1;
	next = malloc(old + len + 1);
	list->words =
	    realloc(list->words, (list->count + len + 1) * sizeof *list->words);
	if (!next || !list->words)
		gk_arg_no_memory(state);
	memcpy(next, list->text ? list->text : "", old);
	strcpy(next + old, text);
	for (char *p = next; p < next + old; p += strlen(p) + 1)
		list->words[count++] = p;
	for (char *p = strtok(next + old, ","); p; p = strtok(NULL, ","))
		list->words[count++] = p;
	if (count == list->count)
		argp_error(state, "%s must be names separated by commas",
			   option);
	free(list->text);
	list->text = next;
	list->count = count;
}

static void add_panel(struct plot_options *o, enum gk_plot_quantity panel)
{
	for (unsigned i = 0; i < o->wish.panel_count; i++)
		if (o->wish.panels[i] == panel)
			return;
	if (o->wish.panel_count < GK_PLOT_PANELS)
		o->wish.panels[o->wish.panel_count++] = panel;
}

static bool find_panel(const char *name, enum gk_plot_quantity *ret)
{
	double factor;

	for (size_t i = 0; i < COUNT(panel_names); i++)
		if (!strcmp(panel_names[i].name, name)) {
			*ret = panel_names[i].quantity;
			return true;
		}
	return gk_plot_known_column(name, ret, &factor) && *ret < GK_PLOT_ASKED;
}

/* Puts the panels of --column before those of options like --cpu. */
static void name_panels(struct argp_state *state)
{
	struct plot_options *o = state->input;
	struct gk_plot_wish before = o->wish;

	o->wish.panel_count = 0;
	for (size_t i = 0; i < o->columns.count; i++) {
		enum gk_plot_quantity panel;

		if (find_panel(o->columns.words[i], &panel)) {
			add_panel(o, panel);
			continue;
		}
		if (o->asked.count == GK_PLOT_ASKED_MAX)
			argp_error(state,
				   "--column takes at most %d column names",
				   GK_PLOT_ASKED_MAX);
		add_panel(
		    o, (enum gk_plot_quantity)(GK_PLOT_ASKED + o->asked.count));
		o->asked.names[o->asked.count++] = o->columns.words[i];
	}
	o->wish.more = !o->columns.count;
	for (unsigned i = 0; i < before.panel_count; i++)
		add_panel(o, before.panels[i]);
}

static void check_options(struct argp_state *state)
{
	struct plot_options *o = state->input;

	name_panels(state);
	if (o->json && o->way != PLOT_SUMMARY)
		argp_error(state, "--json needs --summary");
	if (o->file_count > GK_PLOT_FILES_MAX)
		argp_error(state, "at most %d files", GK_PLOT_FILES_MAX);
	if (o->compare && (o->file_count < 2 || o->file_count > 3))
		argp_error(state, "--compare needs two or three files");
}

static error_t parse_choice(int key, char *arg, struct argp_state *state)
{
	struct plot_options *o = state->input;

	switch (key) {
	case KEY_FROM:
		set_when(state, "--from", arg, &o->from);
		return 0;
	case KEY_TO:
		set_when(state, "--to", arg, &o->to);
		return 0;
	case KEY_GPU:
		add_words(state, "--gpu", arg, &o->gpus);
		return 0;
	case KEY_PID:
		add_words(state, "--pid", arg, &o->pids);
		return 0;
	case 'c':
		add_words(state, "--column", arg, &o->columns);
		return 0;
	case KEY_PER_PID:
	case KEY_PER_GPU:
		o->wish.by_owner = key == KEY_PER_PID;
		return 0;
	case KEY_ALL:
		o->wish.all = true;
		return 0;
	case KEY_COMPARE:
		o->compare = true;
		return 0;
	default:
		break;
	}
	for (size_t i = 0; i < COUNT(panel_keys); i++)
		if (panel_keys[i].key == key) {
			add_panel(o, panel_keys[i].quantity);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_plot_option(int key, char *arg, struct argp_state *state)
{
	struct plot_options *o = state->input;

	switch (key) {
	case 'o':
		set_output(state, arg);
		return 0;
	case KEY_SHOW:
		choose_way(state, PLOT_TO_WINDOW);
		o->look.form = GK_PLOT_WINDOW;
		return 0;
	case KEY_TERM:
		choose_way(state, PLOT_TO_TERMINAL);
		return 0;
	case KEY_SUMMARY:
		choose_way(state, PLOT_SUMMARY);
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case KEY_SIZE:
		set_size(state, arg);
		return 0;
	case KEY_TITLE:
		o->look.title = arg;
		return 0;
	case KEY_DARK:
		o->look.dark = true;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARGS:
		set_files(state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(
		    state,
		    "no recording; give its file, or - for standard input");
		return 0;
	case ARGP_KEY_END:
		check_options(state);
		return 0;
	default:
		return parse_choice(key, arg, state);
	}
}

const struct argp plot_argp = {
    .options = options,
    .parser = parse_plot_option,
    .args_doc = "FILE...",
    .doc =
	"Draws recordings of `gpukit record`: utilisation, memory, power and "
	"temperature of GPUs over time, as far as they were recorded.\vExit "
	"status: 0; 1 after a failure; 2 for a wrong option.",
};

void plot_options_parse(int argc, char **argv, struct plot_options *ret)
{
	gk_arg_parse(&plot_argp, 0, argc, argv, ret);
}

void plot_options_free(struct plot_options *o)
{
	struct plot_list *lists[] = {&o->gpus, &o->pids, &o->columns};

	free(o->files);
	for (size_t i = 0; i < COUNT(lists); i++) {
		free(lists[i]->text);
		free(lists[i]->words);
	}
}
