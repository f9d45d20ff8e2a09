/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtd.c - declares the elements of -q -x. A name is declared once, although
 * several groups may have an element with that name.
 */
#include "format/smi/dtd.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS_MAX = 512, CHILDREN_MAX = 80, DEPTH_MAX = 8 };

struct element {
	const char *name;
	bool text;  /* the element can contain a text instead of elements */
	bool loose; /* the element's children differ between its occurrences */
	struct {
		const char *name;
		char times;
	} child[CHILDREN_MAX];
	size_t children;
};

struct dtd {
	struct element element[ELEMENTS_MAX];
	size_t count;
	struct element *open[DEPTH_MAX]; /* the parents, by depth */
	bool full;
};

static const struct {
	gk_smi_log_list *list;
	/* the element's depth is relative to that of the list */
	struct gk_smi_log_element element;
} listed[] = {
    {gk_smi_log_mig_devices, {0, "mig_devices", true, true, '?', NULL}},
    {gk_smi_log_supported_clocks,
     {0, "supported_clocks", true, true, '?', NULL}},
    {gk_smi_log_supported_clocks,
     {1, "supported_mem_clock", true, false, '*', NULL}},
    {gk_smi_log_supported_clocks, {2, "value", false, false, 0, NULL}},
    {gk_smi_log_supported_clocks,
     {2, "supported_graphics_clock", false, false, '*', NULL}},
    {gk_smi_log_accounted, {0, "accounted_processes", false, false, '?', NULL}},
    {gk_smi_log_processes, {0, "processes", true, false, '?', NULL}},
    {gk_smi_log_processes, {1, "process_info", true, false, '*', NULL}},
    {gk_smi_log_processes, {2, "gpu_instance_id", false, false, '?', NULL}},
    {gk_smi_log_processes, {2, "compute_instance_id", false, false, '?', NULL}},
    {gk_smi_log_processes, {2, "pid", false, false, '?', NULL}},
    {gk_smi_log_processes, {2, "type", false, false, '?', NULL}},
    {gk_smi_log_processes, {2, "process_name", false, false, '?', NULL}},
    {gk_smi_log_processes, {2, "used_memory", false, false, '?', NULL}},
};

/* Returns the element with a name. If there is no room, returns the last
 * element. */
static struct element *declare(struct dtd *dtd, const char *name)
{
	for (size_t i = 0; i < dtd->count; i++)
		if (!strcmp(dtd->element[i].name, name))
			return &dtd->element[i];
	dtd->full |= dtd->count == ELEMENTS_MAX - 1;
	if (!dtd->full)
		dtd->count++;
	dtd->element[dtd->count - 1].name = name;
	return &dtd->element[dtd->count - 1];
}

static void add_child(struct dtd *dtd, struct element *parent, const char *name,
		      char times)
{
	for (size_t i = 0; i < parent->children; i++)
		if (!strcmp(parent->child[i].name, name))
			return;
	dtd->full |= parent->children == CHILDREN_MAX;
	if (parent->children == CHILDREN_MAX)
		return;
	parent->child[parent->children].name = name;
	parent->child[parent->children++].times = times;
}

static void add_element(struct dtd *dtd, const struct gk_smi_log_element *e)
{
	struct element *element = declare(dtd, e->name);

	if (e->depth)
		add_child(dtd, dtd->open[e->depth - 1], e->name, e->times);
	element->text |= !e->group || e->collapses;
	element->loose |= e->group && element->children > 0;
	/*
	 * A row that is nested below a row with a text becomes a sibling of
	 * that row's element in the XML.
	 */
	dtd->open[e->depth] = e->group ? element : dtd->open[e->depth - 1];
}

static void add_elements(void *arg, const struct gk_smi_log_element *e)
{
	if (e->name)
		add_element(arg, e);
	for (size_t i = 0; e->list && i < COUNT(listed); i++) {
		struct gk_smi_log_element in_list = listed[i].element;

		in_list.depth += e->depth;
		if (listed[i].list == e->list)
			add_element(arg, &in_list);
	}
}

static void add_declaration(struct gk_buf *out, const struct element *e)
{
	const char *between = e->text || e->loose ? " | " : ", ";

	gk_buf_printf(out, "<!ELEMENT %s (", e->name);
	if (e->text || !e->children)
		gk_buf_printf(out, "#PCDATA%s", e->children ? between : "");
	for (size_t i = 0; i < e->children; i++) {
		gk_buf_printf(out, "%s%s", i ? between : "", e->child[i].name);
		if (e->child[i].times && !e->text && !e->loose)
			gk_buf_putc(out, e->child[i].times);
	}
	gk_buf_printf(out, ")%s>\n",
		      e->children && (e->text || e->loose) ? "*" : "");
}

/* The comment is the only part of the tool's own DTD that a published output
 * shows. */
static void add_declarations(struct gk_buf *out, struct dtd *dtd,
			     const struct gk_snapshot *snap)
{
	gk_smi_log_elements(snap, add_elements, dtd);
	gk_buf_printf(out, "<!-- nvsmi_device_v%d.dtd -->\n",
		      gk_smi_log_dtd_version(snap));
	for (size_t i = 0; i < dtd->count; i++)
		add_declaration(out, &dtd->element[i]);
	gk_buf_puts(out, "<!ATTLIST gpu id CDATA #REQUIRED>\n");
}

void gk_smi_dtd(struct gk_buf *out, const struct gk_snapshot *snap)
{
	struct dtd *dtd = calloc(1, sizeof *dtd);

	if (dtd)
		add_declarations(out, dtd, snap);
	out->failed |= !dtd || dtd->full;
	free(dtd);
}
