/* owner.c - tells whose the memory of a GPU is, and names its model. */
#include "tui/lanes/state.h"

#include "tui/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than this without a process is hardly the driver's. */
#define DRIVER_MOST ((int64_t)2 << 30)

enum ink lanes_owner_ink(int owner)
{
	return (enum ink)(INK_OWNER + owner);
}

char lanes_owner_letter(int owner)
{
	return owner < LANES_OWNERS ? (char)('a' + owner) : 'x';
}

/* ---- the owner of a process ---- */

/* The how many-th a process is of its device, by the time of its start. */
static int rank_of(const struct gk_snapshot *snap, const struct gk_process *p)
{
	int before = 0;

	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *q = &snap->processes[i];

		before +=
		    q->device == p->device &&
		    (q->start_ticks < p->start_ticks ||
		     (q->start_ticks == p->start_ticks && q->pid < p->pid));
	}
	return before;
}

/* With one user only, it is the processes that are told apart. */
int lanes_owner(const struct tui *t, const struct gk_process *p)
{
	const struct lanes *l = &t->lanes;
	int rank;

	if (l->owner_count < 2) {
		rank = rank_of(t->snap, p);
		return rank < LANES_OWNERS ? rank : LANES_OWNERS;
	}
	for (int i = 0; i < l->owner_count; i++)
		if (!strcmp(l->owners[i], p->user))
			return i;
	return LANES_OWNERS;
}

/* ---- shares of the memory ---- */

static const char *share_name(const struct tui *t, const struct gk_process *p,
			      int owner)
{
	if (owner == LANES_OWNERS)
		return "others";
	return t->lanes.owner_count < 2 ? p->name : p->user;
}

static void add_share(const struct tui *t, const struct gk_process *p,
		      struct lanes_share *shares, int *count)
{
	int owner = lanes_owner(t, p), i = 0;
	struct gk_value bytes = p->m[GK_PM_GPU_MEM];

	while (i < *count && shares[i].owner != owner)
		i++;
	if (i == *count)
		shares[(*count)++] = (struct lanes_share){
		    .owner = owner, .name = share_name(t, p, owner)};
	shares[i].bytes += bytes.why == GK_PRESENT ? bytes.v : 0;
	shares[i].processes++;
}

static int more_first(const void *a, const void *b)
{
	const struct lanes_share *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->owner - y->owner;
}

/* Adds what no process holds. */
static int add_rest(const struct gk_device *d, struct lanes_share *shares,
		    int count)
{
	struct gk_value used = d->m[GK_M_MEM_USED];
	int64_t rest = used.why == GK_PRESENT ? used.v : 0;

	for (int i = 0; i < count; i++)
		rest -= shares[i].bytes;
	if (rest <= 0)
		return count;
	for (int i = 0; i < count; i++)
		if (shares[i].owner == LANES_OWNERS) {
			shares[i].bytes += rest;
			return count;
		}
	shares[count] = (struct lanes_share){
	    .owner = LANES_OWNERS,
	    .name = rest > DRIVER_MOST ? "others" : "driver",
	    .bytes = rest};
	return count + 1;
}

int lanes_shares(const struct tui *t, size_t device,
		 struct lanes_share shares[LANES_SHARES])
{
	const struct gk_snapshot *snap = t->snap;
	const struct gk_device *d = &snap->devices[device];
	int count = 0;

	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (p->device == device ||
		    (d->mig_index < 0 &&
		     snap->devices[p->device].parent == (int)device))
			add_share(t, p, shares, &count);
	}
	qsort(shares, (size_t)count, sizeof *shares, more_first);
	return add_rest(d, shares, count);
}

/* ---- models ---- */

static const char *const makers[] = {"NVIDIA ", "GeForce ", "Tesla ", NULL};

/* Words that say no more than the form, then those that say the size. */
static const char *const forms[] = {"SXM", "PCI", "HBM", "NVL", NULL};

static const char *bare_name(const char *name)
{
	for (int i = 0; makers[i]; i++)
		if (!strncmp(name, makers[i], strlen(makers[i])))
			name += strlen(makers[i]);
	return name;
}

static bool is_dropped(const char *word, size_t len, int level)
{
	for (int i = 0; level > 0 && forms[i]; i++)
		if (!strncmp(word, forms[i], strlen(forms[i])))
			return true;
	if (level > 1 && len > 2 && !strncmp(word + len - 2, "GB", 2))
		return true;
	return level > 2 && len == 3 &&
	       (!strncmp(word, "RTX", 3) || !strncmp(word, "GTX", 3));
}

/* The name without the words that a level drops. */
static void name_at(const char *name, int level, char dst[GK_NAME_MAX])
{
	size_t len = 0;

	*dst = '\0';
	name = bare_name(name);
	while (*name) {
		size_t word = strcspn(name, " -");

		if (!is_dropped(name, word, level) || (!len && !name[word]))
			len += (size_t)snprintf(dst + len, GK_NAME_MAX - len,
						"%s%.*s",
						!len              ? ""
						: name[-1] == '-' ? "-"
								  : " ",
						(int)word, name);
		name += word + (name[word] != '\0');
	}
}

/* Whether models that differ have different names at a level. */
static bool tells_apart(const struct gk_snapshot *snap, int level)
{
	char a[GK_NAME_MAX], b[GK_NAME_MAX];

	for (size_t i = 0; i < snap->device_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct gk_device *x = &snap->devices[i];
			const struct gk_device *y = &snap->devices[k];

			if (x->mig_index >= 0 || y->mig_index >= 0 ||
			    !strcmp(x->name, y->name))
				continue;
			name_at(x->name, level, a);
			name_at(y->name, level, b);
			if (!strcmp(a, b))
				return false;
		}
	return true;
}

char *lanes_model(const struct tui *t, const struct gk_device *d, int width,
		  char dst[GK_NAME_MAX])
{
	for (int level = 0; level <= 3; level++) {
		if (level && !tells_apart(t->snap, level))
			break;
		name_at(d->name, level, dst);
		if (lanes_width(dst) <= width)
			break;
	}
	return dst;
}

bool lanes_one_model(const struct tui *t)
{
	const char *name = NULL;

	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];

		if (d->mig_index >= 0)
			continue;
		if (name && strcmp(name, d->name) != 0)
			return false;
		name = d->name;
	}
	return name != NULL;
}
