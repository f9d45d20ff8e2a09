/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - functions that choose devices: as CUDA does, or by gpukit's own
 * rules. */
#include "core.h"

#include "core/choose/pick.h"
#include "core/choose/select.h"

#include <stdlib.h>

static PyObject *address_object(const struct gk_device *d)
{
	return Py_BuildValue("(Ii)", d->index, d->mig_index);
}

static const struct gk_device *find_late(const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].health == GK_HEALTH_STALE)
			return &snap->devices[i];
	return NULL;
}

/* Takes a snapshot of these metrics. Returns NULL with an exception set on
 * failure. */
static struct gk_snapshot *
take_some(unsigned with, const enum gk_metric *metrics, size_t count)
{
	struct gk_metric_set only = {0};

	gk_metric_set_add_all(&only, metrics, count);
	return take_snapshot(with, &only, 0);
}

/*
 * Warns if a GPU is left out because it does not answer. Returns -1 if warnings
 * are errors; an exception is then set.
 */
static int warn_late(const struct gk_snapshot *snap)
{
	const struct gk_device *late = find_late(snap);

	return late ? PyErr_WarnFormat(PyExc_RuntimeWarning, 2,
				       "GPU %u does not answer: it is not "
				       "chosen",
				       late->index)
		    : 0;
}

/* ---- CUDA_VISIBLE_DEVICES ---- */

/*
 * Returns the addresses of the devices that `value` makes visible, and the
 * offset of the first bad entry in `value`.
 */
static PyObject *visible_object(const struct gk_snapshot *snap,
				const char *value, const char *order)
{
	size_t room = snap->device_count + 1, count, chosen_count = 0;
	struct gk_candidate *candidates = calloc(room, sizeof *candidates);
	unsigned *chosen = calloc(room, sizeof *chosen);
	unsigned *positions = calloc(room, sizeof *positions);
	PyObject *list = NULL;
	long bad = -1;
	int r = GK_ERR_NOMEM;

	if (candidates && chosen && positions) {
		count = gk_pick_candidates(snap, false, candidates, positions);
		r = gk_cuda_visible(value, gk_cuda_order(order), candidates,
				    count, chosen, &chosen_count, &bad);
	}
	if (r)
		raise_error(r, 0);
	else
		list = PyList_New((Py_ssize_t)chosen_count);
	for (size_t i = 0; list && i < chosen_count; i++)
		set_item(&list, i,
			 address_object(&snap->devices[positions[chosen[i]]]));
	free(candidates);
	free(chosen);
	free(positions);
	return list ? Py_BuildValue("(Nl)", list, bad) : NULL;
}

static PyObject *py_cuda_visible(PyObject *self, PyObject *args)
{
	static const enum gk_metric metrics[] = {GK_M_MIG_MODE,
						 GK_M_SM_CLOCK_MAX};
	const char *value, *order;
	struct gk_snapshot *snap;
	PyObject *o;

	(void)self;
	if (!PyArg_ParseTuple(args, "zz", &value, &order))
		return NULL;
	snap = take_some(GK_WITHOUT_PROCESSES | GK_WITHOUT_PROC, metrics, 2);
	if (!snap)
		return NULL;
	o = visible_object(snap, value, order);
	gk_snapshot_free(snap);
	return o;
}

/* ---- select ---- */

/*
 * Finds the position in a snapshot of each address in a list, in the order of
 * the list. Leaves out devices that no longer exist.
 */
static int find_pool(const struct gk_snapshot *snap, PyObject *list,
		     unsigned *pool, size_t *ret_count)
{
	Py_ssize_t size = PyList_Size(list);

	*ret_count = 0;
	for (Py_ssize_t i = 0; i < size; i++) {
		unsigned index;
		int mig;

		if (!PyArg_ParseTuple(PyList_GetItem(list, i), "Ii", &index,
				      &mig))
			return -1;
		for (size_t d = 0; d < snap->device_count; d++)
			if (snap->devices[d].index == index &&
			    snap->devices[d].mig_index == mig)
				pool[(*ret_count)++] = (unsigned)d;
	}
	return 0;
}

static PyObject *selection_object(const struct gk_snapshot *snap,
				  const struct gk_select *wanted)
{
	struct gk_selection selection;
	PyObject *list;
	int r = gk_select(snap, wanted, &selection);

	if (r)
		return raise_error(r, 0);
	list = PyList_New((Py_ssize_t)selection.chosen);
	for (size_t i = 0; list && i < selection.chosen; i++)
		set_item(
		    &list, i,
		    address_object(&snap->devices[selection.all[i].device]));
	gk_selection_free(&selection);
	return list;
}

struct choice {
	struct gk_select wanted;
	PyObject *devices,
	    *accounts;    /* borrowed lists; None: all devices, no accounts */
	PyObject **names; /* as UTF-8 */
	const char **accounts_utf8;
};

/* CPython's prototype lacks a const, although the function does not change the
 * names. */
static int parse_choice(PyObject *args, PyObject *kwargs, struct choice *c)
{
	static const char *const names[] = {
	    "devices",      "least",     "most",
	    "min_free",     "min_total", "max_gpu_util",
	    "max_mem_util", "tolerance", "free_accounts",
	    "sort",         NULL};
	long long free_ = -1, total = -1, gpu = -1, mem = -1, tolerance = 0;
	Py_ssize_t least = 0, most = -1;
	int sort = 1;

	*c = (struct choice){
	    .wanted = GK_SELECT_ANY, .devices = Py_None, .accounts = Py_None};
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OnnLLLLLOp",
					 (char **)(uintptr_t)names, &c->devices,
					 &least, &most, &free_, &total, &gpu,
					 &mem, &tolerance, &c->accounts, &sort))
		return -1;
	c->wanted.least = least > 0 ? (size_t)least : 0;
	if (most >= 0)
		c->wanted.most = (size_t)most;
	c->wanted.min_free = free_;
	c->wanted.min_total = total;
	c->wanted.max_gpu_util = gpu;
	c->wanted.max_mem_util = mem;
	c->wanted.tolerance = tolerance;
	c->wanted.unsorted = !sort;
	return 0;
}

static void free_accounts(struct choice *c)
{
	for (size_t i = 0; i < c->wanted.free_user_count; i++)
		Py_DECREF(c->names[i]);
	free(c->names);
	free(c->accounts_utf8);
}

static int take_accounts(struct choice *c)
{
	Py_ssize_t count =
	    c->accounts == Py_None ? 0 : PyList_Size(c->accounts);

	/* counts the names that are added below */
	c->wanted.free_user_count = 0;
	if (count <= 0)
		return count < 0 ? -1 : 0;
	c->names = calloc((size_t)count, sizeof *c->names);
	c->accounts_utf8 = calloc((size_t)count, sizeof *c->accounts_utf8);
	if (!c->names || !c->accounts_utf8) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *name =
		    PyUnicode_AsUTF8String(PyList_GetItem(c->accounts, i));

		if (!name)
			return -1;
		c->names[c->wanted.free_user_count] = name;
		c->accounts_utf8[c->wanted.free_user_count++] =
		    PyBytes_AsString(name);
	}
	c->wanted.free_users = c->accounts_utf8;
	return 0;
}

static PyObject *choose(struct choice *c)
{
	static const enum gk_metric metrics[] = {GK_M_MEM_FREE,  GK_M_MEM_USED,
						 GK_M_MEM_TOTAL, GK_M_GPU_UTIL,
						 GK_M_MEM_UTIL,  GK_M_MIG_MODE};
	unsigned with =
	    GK_WITHOUT_BOARD | GK_WITHOUT_COMMANDS | GK_WITHOUT_PROCESS_UTIL;
	struct gk_snapshot *snap;
	unsigned *pool = NULL;
	PyObject *o = NULL;

	if (!c->wanted.free_user_count)
		with |= GK_WITHOUT_PROCESSES | GK_WITHOUT_PROC;
	snap = take_some(with, metrics, sizeof metrics / sizeof *metrics);
	if (!snap)
		return NULL;
	if (c->devices != Py_None) {
		pool = calloc((size_t)PyList_Size(c->devices) *
				      (snap->device_count + 1) +
				  1,
			      sizeof *pool);
		if (!pool ||
		    find_pool(snap, c->devices, pool, &c->wanted.pool_count)) {
			if (!pool)
				PyErr_NoMemory();
			goto out;
		}
		c->wanted.pool = pool;
	}
	if (!warn_late(snap))
		o = selection_object(snap, &c->wanted);
out:
	free(pool);
	gk_snapshot_free(snap);
	return o;
}

static PyObject *py_select(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct choice c;
	PyObject *o = NULL;

	(void)self;
	if (parse_choice(args, kwargs, &c))
		return NULL;
	if (!take_accounts(&c))
		o = choose(&c);
	free_accounts(&c);
	return o;
}

PyMethodDef choose_methods[] = {
    {"cuda_visible", py_cuda_visible, METH_VARARGS,
     "cuda_visible(value, order) -> (addresses, bad)\n\nThe devices that "
     "CUDA sees with these values of CUDA_VISIBLE_DEVICES (None: unset) and "
     "CUDA_DEVICE_ORDER, as (index, mig_index) pairs, and the offset of the "
     "entry that ended the list, or -1."},
    {"select", (PyCFunction)(void (*)(void))py_select,
     METH_VARARGS | METH_KEYWORDS,
     "select(*, devices=None, least=0, most=-1, min_free=-1, min_total=-1, "
     "max_gpu_util=-1, max_mem_util=-1, tolerance=0, free_accounts=None, "
     "sort=True) -> addresses\n\nThe devices (index, mig_index) that meet the "
     "constraints, best first; devices: a list of candidates, None: all."},
    {NULL, NULL, 0, NULL},
};
