/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visible.c - interprets CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER as the CUDA
 * driver does. Source: CUDA C++ Programming Guide, "CUDA Environment
 * Variables". Programs also rely on the following: numbers are read by their
 * leading digits, UUIDs may be unique prefixes, the first invalid entry ends
 * the list, and a repeated entry empties it.
 */
#include <gpukit/gpukit.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The maximum number of devices that a process can see. */
#define VISIBLE_MAX 1024

struct list {
	const struct gk_candidate *all;
	size_t count;
	unsigned *order; /* whole GPUs in CUDA's order, as indices in `all` */
	size_t gpus;
	unsigned *chosen;
	size_t chosen_count;
};

enum gk_cuda_order gk_cuda_order(const char *value)
{
	return value && !strcmp(value, "PCI_BUS_ID") ? GK_ORDER_PCI_BUS_ID
						     : GK_ORDER_FASTEST_FIRST;
}

static int compare_places(const struct gk_candidate *a,
			  const struct gk_candidate *b)
{
	if (a->pci_domain != b->pci_domain)
		return a->pci_domain < b->pci_domain ? -1 : 1;
	if (a->pci_bus != b->pci_bus)
		return a->pci_bus < b->pci_bus ? -1 : 1;
	if (a->pci_device != b->pci_device)
		return a->pci_device < b->pci_device ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Insertion sort: GPUs are nearly always in this order already. */
static void sort_by_place(struct list *l)
{
	for (size_t i = 1; i < l->gpus; i++) {
		unsigned position = l->order[i];
		size_t k = i;

		while (k && compare_places(&l->all[l->order[k - 1]],
					   &l->all[position]) > 0) {
			l->order[k] = l->order[k - 1];
			k--;
		}
		l->order[k] = position;
	}
}

/* Makes the fastest GPU number 0; the others keep their order. */
static void put_fastest_first(struct list *l)
{
	size_t fastest = 0;
	unsigned position;

	for (size_t i = 1; i < l->gpus; i++)
		if (l->all[l->order[i]].speed > l->all[l->order[fastest]].speed)
			fastest = i;
	if (!l->gpus)
		return;
	position = l->order[fastest];
	memmove(l->order + 1, l->order, fastest * sizeof *l->order);
	l->order[0] = position;
}

static void number_gpus(struct list *l, enum gk_cuda_order order)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->all[i].mig_index < 0)
			l->order[l->gpus++] = (unsigned)i;
	sort_by_place(l);
	if (order == GK_ORDER_FASTEST_FIRST)
		put_fastest_first(l);
}

/*
 * Returns the first MIG device of a GPU that is split, or the GPU itself if it
 * is not; -1 if the GPU is split but has no MIG device.
 */
static long usable_device(const struct list *l, unsigned position)
{
	const struct gk_candidate *gpu = &l->all[position];

	if (!gpu->mig_enabled)
		return (long)position;
	for (size_t i = 0; i < l->count; i++)
		if (l->all[i].index == gpu->index && l->all[i].mig_index >= 0)
			return (long)i;
	return -1;
}

/* An entry of the list, without surrounding blanks. */
struct entry {
	const char *text;
	size_t len;
};

static struct entry next_entry(const char **at)
{
	struct entry e = {*at, strcspn(*at, ",")};

	*at += e.len;
	if (**at == ',')
		(*at)++;
	while (e.len && isspace((unsigned char)*e.text)) {
		e.text++;
		e.len--;
	}
	while (e.len && isspace((unsigned char)e.text[e.len - 1]))
		e.len--;
	return e;
}

static bool begins_with_prefix(struct entry e, const char *prefix)
{
	size_t len = strlen(prefix);

	return e.len >= len && !strncmp(e.text, prefix, len);
}

/*
 * Finds a GPU by its number in CUDA's order. Like strtoul(), reads "1gpu" as 1.
 */
static long find_by_number(const struct list *l, struct entry e)
{
	unsigned long long number;
	size_t i = e.len && *e.text == '+';

	if (i == e.len || !isdigit((unsigned char)e.text[i]))
		return -1;
	for (number = 0; i < e.len && isdigit((unsigned char)e.text[i]) &&
			 number < VISIBLE_MAX;
	     i++)
		number = number * 10 + (unsigned)(e.text[i] - '0');
	return number < l->gpus ? usable_device(l, l->order[number]) : -1;
}

/* Finds the only device whose UUID begins with this prefix. */
static long by_uuid(const struct list *l, struct entry e)
{
	long found = -1;

	for (size_t i = 0; i < l->count; i++) {
		if (strncasecmp(l->all[i].uuid, e.text, e.len))
			continue;
		if (found >= 0)
			return -1;
		found = (long)i;
	}
	return found >= 0 ? usable_device(l, (unsigned)found) : -1;
}

enum form { NUMBER, GPU_UUID, MIG_UUID };

static enum form entry_form(struct entry e)
{
	return begins_with_prefix(e, "GPU-")   ? GPU_UUID
	       : begins_with_prefix(e, "MIG-") ? MIG_UUID
					       : NUMBER;
}

static bool is_chosen(const struct list *l, unsigned position)
{
	for (size_t i = 0; i < l->chosen_count; i++)
		if (l->chosen[i] == position)
			return true;
	return false;
}

/* Applies the list. Returns the offset of the entry that ended it, or -1. */
static long choose_entries(struct list *l, const char *value)
{
	const char *at = value;
	enum form form = NUMBER;

	for (bool first = true; *at; first = false) {
		struct entry e = next_entry(&at);
		long position;

		if (first)
			form = entry_form(e);
		position = entry_form(e) != form ? -1
			   : form == NUMBER      ? find_by_number(l, e)
						 : by_uuid(l, e);
		if (position < 0)
			return e.text - value;
		if (is_chosen(l, (unsigned)position)) {
			l->chosen_count = 0;
			return e.text - value;
		}
		l->chosen[l->chosen_count++] = (unsigned)position;
	}
	return -1;
}

static void choose_all(struct list *l)
{
	for (size_t i = 0; i < l->gpus; i++) {
		long position = usable_device(l, l->order[i]);

		if (position >= 0)
			l->chosen[l->chosen_count++] = (unsigned)position;
	}
}

/* A process that sees a MIG device sees no other device. */
static void keep_one_mig(struct list *l)
{
	for (size_t i = 0; i < l->chosen_count; i++) {
		if (l->all[l->chosen[i]].mig_index < 0)
			continue;
		l->chosen[0] = l->chosen[i];
		l->chosen_count = 1;
	}
}

int gk_cuda_visible(const char *value, enum gk_cuda_order order,
		    const struct gk_candidate *candidates, size_t count,
		    unsigned *ret_chosen, size_t *ret_count, long *ret_bad)
{
	struct list l = {.all = candidates, .count = count};
	long bad = -1;

	if (count > VISIBLE_MAX)
		return GK_ERR_TOO_MANY;
	l.order = calloc(2 * count + 1, sizeof *l.order);
	if (!l.order)
		return GK_ERR_NOMEM;
	l.chosen = l.order + count;
	number_gpus(&l, order);
	if (value)
		bad = choose_entries(&l, value);
	else
		choose_all(&l);
	keep_one_mig(&l);
	if (l.chosen_count)
		memcpy(ret_chosen, l.chosen,
		       l.chosen_count * sizeof *ret_chosen);
	*ret_count = l.chosen_count;
	if (ret_bad)
		*ret_bad = bad;
	free(l.order);
	return 0;
}
