/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - takes snapshots of all devices, processes and the host. */
#include "core.h"

#include "base/clock.h"

#include <string.h>

/* Whether the values of a device are old, because it has stopped answering. */
static bool is_stale(const struct gk_device *device)
{
	return device->health == GK_HEALTH_STALE;
}

static PyObject *values_tuple(const struct gk_value *values,
			      const enum gk_metric *ids, size_t count)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)count);

	for (size_t i = 0; tuple && i < count; i++) {
		PyObject *value = value_object(values[ids ? ids[i] : i]);

		if (!value || PyTuple_SetItem(tuple, (Py_ssize_t)i, value)) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

/* A request for a snapshot. ids has the metrics in order; if count is 0, all
 * metrics are meant. */
struct request {
	unsigned with;
	enum gk_metric ids[GK_M_COUNT];
	size_t count;
	struct gk_metric_set only;
	uint64_t timeout_ns; /* 0: the common deadline */
};

static PyObject *args_list(const struct gk_process *p)
{
	PyObject *list = PyList_New(0);
	size_t at = 0;

	while (list && at < p->args_len) {
		size_t len = strnlen(p->args + at, p->args_len - at);
		PyObject *arg = PyUnicode_DecodeUTF8(
		    p->args + at, (Py_ssize_t)len, "surrogateescape");

		if (!arg || PyList_Append(list, arg)) {
			Py_XDECREF(arg);
			Py_DECREF(list);
			return NULL;
		}
		Py_DECREF(arg);
		at += len + 1;
	}
	return list;
}

/* Returns all values of a process. If it is stale, values from the driver are
 * absent. */
static PyObject *shares_tuple(const struct gk_process *p, bool stale)
{
	struct gk_value values[GK_PM_COUNT];

	for (int i = 0; i < GK_PM_COUNT; i++) {
		values[i] = p->m[i];
		if (stale && gk_process_metrics[i].tier < GK_TIER_HOST)
			values[i].why = GK_ABSENT_TIMEOUT;
	}
	return values_tuple(values, NULL, GK_PM_COUNT);
}

static PyObject *process_object(const struct gk_process *p, bool stale)
{
	char stat[2] = {p->stat, '\0'};
	PyObject *items[] = {
	    PyLong_FromLong(p->pid),
	    PyLong_FromUnsignedLong(p->device),
	    PyLong_FromUnsignedLong(p->types),
	    PyLong_FromLong(p->state),
	    shares_tuple(p, stale),
	    PyLong_FromLongLong(p->uid == (uid_t)-1 ? -1 : (long long)p->uid),
	    text_object(p->user),
	    text_object(p->name),
	    args_list(p),
	    PyLong_FromLong(p->parent),
	    text_object(stat),
	    PyLong_FromUnsignedLongLong(p->start_ticks),
	};

	return fill_struct(PyStructSequence_New(ProcessType), items,
			   sizeof items / sizeof *items);
}

static PyObject *load_object(const struct gk_value load[3])
{
	if (load[0].why)
		Py_RETURN_NONE;
	return Py_BuildValue("(LLL)", (long long)load[0].v,
			     (long long)load[1].v, (long long)load[2].v);
}

static PyObject *host_object(const struct gk_host *h)
{
	PyObject *items[] = {
	    text_object(h->hostname),
	    PyLong_FromUnsignedLongLong(h->boot_ns),
	    PyLong_FromUnsignedLong(h->cpus),
	    value_object(h->cpu_centipercent),
	    load_object(h->load_centi),
	    value_object(h->mem_total),
	    value_object(h->mem_available),
	    value_object(h->swap_total),
	    value_object(h->swap_free),
	};

	return fill_struct(PyStructSequence_New(HostType), items,
			   sizeof items / sizeof *items);
}

static PyObject *devices_list(const struct gk_snapshot *snap)
{
	PyObject *list = PyList_New((Py_ssize_t)snap->device_count);

	for (size_t i = 0; list && i < snap->device_count; i++)
		set_item(&list, i, device_object(&snap->devices[i]));
	return list;
}

static PyObject *device_values(const struct gk_device *device,
			       const struct request *request)
{
	static const struct gk_value late[GK_M_COUNT] = {
	    [0 ... GK_M_COUNT - 1] = {.why = GK_ABSENT_TIMEOUT}};
	bool all = !request->count;

	return values_tuple(is_stale(device) ? late : device->m,
			    all ? NULL : request->ids,
			    all ? GK_M_COUNT : request->count);
}

static PyObject *values_list(const struct gk_snapshot *snap,
			     const struct request *request)
{
	PyObject *list = PyList_New((Py_ssize_t)snap->device_count);

	for (size_t i = 0; list && i < snap->device_count; i++)
		set_item(&list, i, device_values(&snap->devices[i], request));
	return list;
}

static PyObject *age_object(const struct gk_snapshot *snap,
			    const struct gk_device *device)
{
	uint64_t age = gk_device_age(snap, device, GK_TIER_FAST);

	if (age == UINT64_MAX)
		Py_RETURN_NONE;
	return PyFloat_FromDouble((double)age / GK_NS_PER_S);
}

static PyObject *ages_list(const struct gk_snapshot *snap)
{
	PyObject *list = PyList_New((Py_ssize_t)snap->device_count);

	for (size_t i = 0; list && i < snap->device_count; i++)
		set_item(&list, i, age_object(snap, &snap->devices[i]));
	return list;
}

static PyObject *healths_list(const struct gk_snapshot *snap)
{
	PyObject *list = PyList_New((Py_ssize_t)snap->device_count);

	for (size_t i = 0; list && i < snap->device_count; i++)
		set_item(&list, i, PyLong_FromLong(snap->devices[i].health));
	return list;
}

static PyObject *processes_list(const struct gk_snapshot *snap)
{
	PyObject *list = PyList_New((Py_ssize_t)snap->process_count);

	for (size_t i = 0; list && i < snap->process_count; i++)
		set_item(
		    &list, i,
		    process_object(
			&snap->processes[i],
			is_stale(&snap->devices[snap->processes[i].device])));
	return list;
}

static PyObject *snapshot_object(const struct gk_snapshot *snap,
				 const struct request *request)
{
	PyObject *items[] = {
	    PyLong_FromUnsignedLongLong(snap->wall_ns),
	    PyLong_FromUnsignedLongLong(snap->mono_ns),
	    host_object(&snap->host),
	    devices_list(snap),
	    values_list(snap, request),
	    healths_list(snap),
	    processes_list(snap),
	    ages_list(snap),
	};

	return fill_struct(PyStructSequence_New(SnapshotType), items,
			   sizeof items / sizeof *items);
}

static int parse_request(PyObject *args, struct request *request)
{
	PyObject *ids = Py_None;
	Py_ssize_t count;
	double seconds = 0;

	*request = (struct request){0};
	if (!PyArg_ParseTuple(args, "|IOd", &request->with, &ids, &seconds))
		return -1;
	if (seconds > 0)
		request->timeout_ns = (uint64_t)(seconds * GK_NS_PER_S);
	if (ids == Py_None)
		return 0;
	count = parse_ids(ids, request->ids);
	if (count < 0)
		return -1;
	request->count = (size_t)count;
	gk_metric_set_add_all(&request->only, request->ids, request->count);
	return 0;
}

/*
 * Waits until no other thread takes a snapshot, then begins one. Returns 0 or
 * GK_ERR_TIMEOUT.
 */
static int begin_taking(struct session *s, uint64_t until_ns)
{
	struct timespec until = gk_timespec(until_ns);
	bool taking;

	pthread_mutex_lock(&s->lock);
	while (s->taking && gk_mono_ns() < until_ns)
		pthread_cond_timedwait(&s->taken, &s->lock, &until);
	taking = s->taking; /* true if the wait has timed out */
	s->taking = true;
	pthread_mutex_unlock(&s->lock);
	return taking ? GK_ERR_TIMEOUT : 0;
}

static void end_taking(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	s->taking = false;
	pthread_cond_signal(&s->taken);
	pthread_mutex_unlock(&s->lock);
}

/*
 * A thread that had to wait for another one has less time left for its own
 * snapshot. It always keeps some time, because the other thread may have been
 * waiting for a GPU all that while.
 */
static int take_within(struct session *s, uint64_t timeout_ns,
		       struct gk_snapshot **ret_snap)
{
	uint64_t began = gk_mono_ns(), waited, left;
	int r = begin_taking(s, began + timeout_ns + timeout_ns / 4);

	if (r)
		return r;
	left = timeout_ns / 4;
	waited = gk_mono_ns() - began;
	if (waited + left < timeout_ns)
		left = timeout_ns - waited;
	r = gk_snapshot_within(s->gk, left, ret_snap);
	end_taking(s);
	return r;
}

struct gk_snapshot *take_snapshot(unsigned with,
				  const struct gk_metric_set *only,
				  uint64_t timeout_ns)
{
	struct session *s = session_get(with, only);
	struct gk_snapshot *snap = NULL;
	PyThreadState *python;
	int r;

	if (!s)
		return NULL;
	python = PyEval_SaveThread();
	r = take_within(s, timeout_ns ? timeout_ns : session_deadline(), &snap);
	session_put(s);
	PyEval_RestoreThread(python);
	if (r)
		raise_error(r, 0);
	return snap;
}

static PyObject *py_snapshot(PyObject *self, PyObject *args)
{
	struct gk_snapshot *snap;
	struct request request;
	PyObject *o;

	(void)self;
	if (parse_request(args, &request))
		return NULL;
	snap = take_snapshot(request.with, request.count ? &request.only : NULL,
			     request.timeout_ns);
	if (!snap)
		return NULL;
	o = snapshot_object(snap, &request);
	gk_snapshot_free(snap);
	return o;
}

PyMethodDef snapshot_methods[] = {
    {"snapshot", py_snapshot, METH_VARARGS,
     "snapshot(with_=0, ids=None, timeout=0.0) -> Snapshot\n\nReads all GPUs "
     "at the same time, the metrics of a tuple of M_... or all, within "
     "timeout seconds (0: the deadline).\nwith_ is a sum of WITH_... and "
     "WITHOUT_..."},
    {NULL, NULL, 0, NULL},
};
