/* snapshot.c - takes snapshots of all devices, processes and the host. */
#include "core.h"

#include <string.h>

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

/* What is asked for: the metrics of a snapshot in their order; count 0: all. */
struct request {
	unsigned with;
	enum gk_metric ids[GK_M_COUNT];
	size_t count;
	struct gk_metric_set only;
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

static PyObject *process_object(const struct gk_process *p)
{
	char stat[2] = {p->stat, '\0'};
	PyObject *items[] = {
	    PyLong_FromLong(p->pid),
	    PyLong_FromUnsignedLong(p->device),
	    PyLong_FromUnsignedLong(p->types),
	    PyLong_FromLong(p->state),
	    values_tuple(p->m, NULL, GK_PM_COUNT),
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

static PyObject *values_list(const struct gk_snapshot *snap,
			     const struct request *request)
{
	PyObject *list = PyList_New((Py_ssize_t)snap->device_count);
	bool all = !request->count;

	for (size_t i = 0; list && i < snap->device_count; i++)
		set_item(&list, i,
			 values_tuple(snap->devices[i].m,
				      all ? NULL : request->ids,
				      all ? GK_M_COUNT : request->count));
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
		set_item(&list, i, process_object(&snap->processes[i]));
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
	};

	return fill_struct(PyStructSequence_New(SnapshotType), items,
			   sizeof items / sizeof *items);
}

static int parse_request(PyObject *args, struct request *request)
{
	PyObject *ids = Py_None;
	Py_ssize_t count;

	*request = (struct request){0};
	if (!PyArg_ParseTuple(args, "|IO", &request->with, &ids))
		return -1;
	if (ids == Py_None)
		return 0;
	count = parse_ids(ids, request->ids);
	if (count < 0)
		return -1;
	request->count = (size_t)count;
	gk_metric_set_add_all(&request->only, request->ids, request->count);
	return 0;
}

struct gk_snapshot *take_snapshot(unsigned with,
				  const struct gk_metric_set *only)
{
	struct session *s = session_get(with, only);
	struct gk_snapshot *snap = NULL;
	PyThreadState *python;
	int r;

	if (!s)
		return NULL;
	python = PyEval_SaveThread();
	pthread_mutex_lock(&s->taking);
	r = gk_snapshot_take(s->gk, &snap);
	pthread_mutex_unlock(&s->taking);
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
	snap =
	    take_snapshot(request.with, request.count ? &request.only : NULL);
	if (!snap)
		return NULL;
	o = snapshot_object(snap, &request);
	gk_snapshot_free(snap);
	return o;
}

PyMethodDef snapshot_methods[] = {
    {"snapshot", py_snapshot, METH_VARARGS,
     "snapshot(with_=0, ids=None) -> Snapshot\n\nReads all GPUs at the same "
     "time, the metrics of a tuple of M_... or all.\nwith_ is a sum of "
     "WITH_... "
     "and WITHOUT_..."},
    {NULL, NULL, 0, NULL},
};
