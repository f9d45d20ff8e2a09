/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - draws a GPU's memory and time as layers, one per process. */
#include "plot/page.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 2400
#define REST       GK_PLOT_OWNERS /* the layer for all other owners */

static bool can_be_cut(enum gk_plot_quantity quantity)
{
	return quantity == GK_PLOT_MEMORY || quantity == GK_PLOT_BUSY ||
	       quantity == GK_PLOT_CPU;
}

/*
 * Returns the weight by which processes are sorted: their memory or, if that is
 * unknown, the shown quantity.
 */
static double weight_of(const struct gk_plot_subject *process,
			enum gk_plot_quantity quantity)
{
	const struct gk_plot_track *memory = process->tracks[GK_PLOT_MEMORY];

	return memory ? memory->max : process->tracks[quantity]->max;
}

void gk_plot_owners(const struct gk_plot_chart *chart,
		    const struct gk_plot_subject *gpu,
		    enum gk_plot_quantity quantity,
		    struct gk_plot_owners *ret_owners)
{
	struct gk_plot_owners owners = {.count = 0};

	for (size_t i = 0; i < chart->subject_count; i++) {
		const struct gk_plot_subject *s = &chart->subjects[i];
		size_t at = owners.count;

		if (s->gpu != gpu || !s->tracks[quantity])
			continue;
		owners.all++;
		while (at && weight_of(owners.of[at - 1], quantity) <
				 weight_of(s, quantity))
			at--;
		if (at == GK_PLOT_OWNERS)
			continue;
		if (owners.count < GK_PLOT_OWNERS)
			owners.count++;
		memmove(&owners.of[at + 1], &owners.of[at],
			(owners.count - 1 - at) * sizeof *owners.of);
		owners.of[at] = s;
	}
	*ret_owners = owners;
}

bool gk_plot_is_stacked(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	enum gk_plot_quantity q = page->picture->panels[cell->panel];
	struct gk_plot_owners owners;

	if (!page->picture->by_owner || !can_be_cut(q) ||
	    gk_plot_cell_lines(page, cell, lines) != 1)
		return false;
	gk_plot_owners(page->picture->chart, lines[0], q, &owners);
	return owners.count > 0;
}

/* A stack that is being made: the value of each owner at each point in time. */
struct stack {
	struct gk_plot_owners owners;
	const struct gk_plot_subject *gpu;
	enum gk_plot_quantity quantity;
	size_t points;
	double step_ms;
	double *values; /* REST + 1 rows of `points` values each */
};

static void sample_track(const struct gk_plot_page *page,
			 const struct stack *stack,
			 const struct gk_plot_subject *of, double *to)
{
	gk_plot_series_sample(&of->tracks[stack->quantity]->series,
			      page->picture->chart->first_ms, stack->step_ms,
			      page->gap_ms, stack->points, to);
}

/*
 * Sets the top layer: the part of the GPU's value that does not belong to an
 * owner with a colour.
 */
static void set_rest(struct stack *stack)
{
	double *rest = stack->values + REST * stack->points;

	for (size_t i = 0; i < stack->points; i++) {
		double sum = 0;

		for (size_t o = 0; o < stack->owners.count; o++) {
			double value = stack->values[o * stack->points + i];

			sum += isnan(value) ? 0 : value;
		}
		rest[i] = rest[i] > sum ? rest[i] - sum : 0;
	}
}

static bool fill_stack(const struct gk_plot_page *page,
		       const struct gk_plot_cell *cell, struct stack *stack)
{
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	double width = (cell->right - cell->left) * page->scale;

	stack->quantity = page->picture->panels[cell->panel];
	gk_plot_cell_lines(page, cell, lines);
	stack->gpu = lines[0];
	gk_plot_owners(page->picture->chart, stack->gpu, stack->quantity,
		       &stack->owners);
	stack->points = (size_t)fmin(width, POINTS_MAX);
	stack->step_ms = gk_plot_span(page) * 1000 / (double)stack->points;
	stack->values =
	    calloc((REST + 1) * stack->points, sizeof *stack->values);
	if (!stack->values)
		return false;
	for (size_t o = 0; o < stack->owners.count; o++)
		sample_track(page, stack, stack->owners.of[o],
			     stack->values + o * stack->points);
	sample_track(page, stack, stack->gpu,
		     stack->values + REST * stack->points);
	set_rest(stack);
	return true;
}

/* Writes one row per point: its time, and the upper edge of each layer. */
unsigned gk_plot_stack_data(struct gk_plot_page *page,
			    const struct gk_plot_cell *cell)
{
	double factor = page->panels[cell->panel].unit.factor;
	struct stack stack = {.points = 0};

	if (!fill_stack(page, cell, &stack)) {
		page->out->failed = true;
		return page->data;
	}
	gk_buf_printf(page->out, "$d%u << END\n", page->data);
	for (size_t i = 0; i < stack.points; i++) {
		double sum = 0;

		gk_buf_printf(page->out, "%.3f 0",
			      stack.step_ms * ((double)i + 0.5) / 1000);
		for (size_t o = 0; o <= REST; o++) {
			double value = stack.values[o * stack.points + i];

			sum += isnan(value) ? 0 : value / factor;
			gk_buf_printf(page->out, " %.6g", sum);
		}
		gk_buf_putc(page->out, '\n');
	}
	gk_buf_puts(page->out, "END\n");
	free(stack.values);
	return page->data++;
}

void gk_plot_stack_terms(const struct gk_plot_page *page,
			 const struct gk_plot_cell *cell, unsigned first)
{
	(void)cell;
	for (unsigned o = 0; o <= REST; o++)
		gk_buf_printf(page->out,
			      ", $d%u using 1:%u:%u with filledcurves "
			      "fillcolor rgb '%s' fillstyle transparent "
			      "solid 0.7 noborder",
			      first, o + 2, o + 3,
			      o == REST ? page->colors->owner_rest
					: page->colors->owner[o]);
}

/* Writes one line of text beside a stack. */
static void add_stack_end(const struct gk_plot_page *page,
			  const struct gk_plot_cell *cell, size_t line,
			  enum gk_plot_weight weight, const char *color,
			  const char *text)
{
	gk_plot_text(page, cell->right + 7, cell->top + 7 + 15 * (double)line,
		     "left", 8, weight, color, text);
}

/* Writes the names of the owners, as many as there is space for. */
void gk_plot_stack_ends(const struct gk_plot_page *page,
			const struct gk_plot_cell *cell)
{
	const struct gk_plot_unit *unit = &page->panels[cell->panel].unit;
	enum gk_plot_quantity q = page->picture->panels[cell->panel];
	const struct gk_plot_subject *lines[GK_PLOT_CELL_LINES];
	size_t room = (size_t)((cell->bottom - cell->top) / 15), line = 0;
	struct gk_plot_owners owners;
	char text[128], name[24];

	gk_plot_cell_lines(page, cell, lines);
	gk_plot_owners(page->picture->chart, lines[0], q, &owners);
	if (lines[0]->lost)
		add_stack_end(page, cell, line++, GK_PLOT_BOLD,
			      page->colors->fail, "lost");
	for (size_t o = 0; o < owners.count && line < room; o++) {
		gk_str_copy(name, sizeof name, owners.of[o]->label);
		if (!page->picture->strips)
			name[strcspn(name, " ")] = '\0';
		snprintf(text, sizeof text, "%.*f  %s", unit->decimals,
			 owners.of[o]->tracks[q]->max / unit->factor, name);
		add_stack_end(page, cell, line++, GK_PLOT_BOLD,
			      page->colors->owner[o], text);
	}
	if (owners.all <= owners.count || line >= room)
		return;
	snprintf(text, sizeof text, "and %zu more", owners.all - owners.count);
	add_stack_end(page, cell, line, GK_PLOT_PLAIN, page->colors->owner_rest,
		      text);
}
