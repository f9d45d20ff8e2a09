/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - functions that read one device now. */
#include "core.h"

#include "abi/nvml/nvml_base.h"
#include "base/clock.h"
#include "core/driver/live.h"

#include <stdlib.h>

#define DEADLINE_MIN_S 0.001
#define DEADLINE_MAX_S (365.0 * 24 * 3600)

Py_ssize_t parse_ids(PyObject *tuple, enum gk_metric ids[GK_M_COUNT])
{
	Py_ssize_t count = PyTuple_Size(tuple);

	if (count > GK_M_COUNT) {
		PyErr_SetString(PyExc_ValueError, "too many metrics");
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		long id = PyLong_AsLong(PyTuple_GetItem(tuple, i));

		if (id < 0 || id >= GK_M_COUNT) {
			if (!PyErr_Occurred())
				PyErr_SetString(PyExc_ValueError,
						"no such metric");
			return -1;
		}
		ids[i] = (enum gk_metric)id;
	}
	return count;
}

/* The arguments and results of read() and explain(). */
struct question {
	unsigned index;
	int mig_index;
	Py_ssize_t count;
	enum gk_metric ids[GK_M_COUNT];
	struct gk_value values[GK_M_COUNT];
	int nvml[GK_M_COUNT];
};

static int ask(PyObject *args, struct question *q)
{
	PyThreadState *python;
	struct session *s;
	PyObject *tuple;
	int r;

	if (!PyArg_ParseTuple(args, "IiO!", &q->index, &q->mig_index,
			      &PyTuple_Type, &tuple))
		return -1;
	q->count = parse_ids(tuple, q->ids);
	if (q->count < 0)
		return -1;
	s = session_live();
	if (!s)
		return -1;
	python = PyEval_SaveThread();
	r = gk_read(s->gk, q->index, q->mig_index, q->ids, (size_t)q->count,
		    q->values, q->nvml);
	session_put(s);
	PyEval_RestoreThread(python);
	if (r)
		raise_error(r, q->mig_index < 0 ? NVML_ERROR_INVALID_ARGUMENT
						: NVML_ERROR_NOT_FOUND);
	return r;
}

static PyObject *py_read(PyObject *self, PyObject *args)
{
	struct question q;
	PyObject *tuple;

	(void)self;
	if (ask(args, &q))
		return NULL;
	tuple = PyTuple_New(q.count);
	for (Py_ssize_t i = 0; tuple && i < q.count; i++) {
		PyObject *value = value_object(q.values[i]);

		if (!value || PyTuple_SetItem(tuple, i, value)) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

static PyObject *py_explain(PyObject *self, PyObject *args)
{
	struct question q;
	PyObject *tuple;

	(void)self;
	if (ask(args, &q))
		return NULL;
	tuple = PyTuple_New(q.count);
	for (Py_ssize_t i = 0; tuple && i < q.count; i++) {
		PyObject *pair =
		    Py_BuildValue("(ii)", (int)q.values[i].why, q.nvml[i]);

		if (!pair || PyTuple_SetItem(tuple, i, pair)) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

/* A device, and the session through which to read it. */
struct address {
	unsigned index;
	int mig_index;
	struct session *session;
};

static int parse_address(PyObject *args, struct address *a)
{
	a->mig_index = -1;
	if (!PyArg_ParseTuple(args, "I|i", &a->index, &a->mig_index))
		return -1;
	a->session = session_live();
	return a->session ? 0 : -1;
}

/* Makes a call in the session of `a` without holding the GIL, then releases the
 * session. */
#define WITHOUT_GIL(a, call)                                                   \
	do {                                                                   \
		PyThreadState *python_ = PyEval_SaveThread();                  \
		r = (call);                                                    \
		session_put((a).session);                                      \
		PyEval_RestoreThread(python_);                                 \
	} while (0)

static PyObject *py_count(PyObject *self, PyObject *args)
{
	struct session *s = session_live();
	size_t count;

	(void)self;
	(void)args;
	if (!s)
		return NULL;
	count = gk_gpu_count(s->gk);
	session_put(s);
	return PyLong_FromSize_t(count);
}

static PyObject *py_identify(PyObject *self, PyObject *args)
{
	struct gk_device device;
	struct address a;
	int nvml = 0, r;

	(void)self;
	if (parse_address(args, &a))
		return NULL;
	WITHOUT_GIL(a, gk_identify(a.session->gk, a.index, a.mig_index, &device,
				   &nvml));
	return r ? raise_error(r, nvml) : device_object(&device);
}

static PyObject *identity_list(const struct gk_device *devices,
			       const int *errors, const int *nvml, size_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);

	/* An error without a code of NVML means that no thread could be started
	 * to ask this GPU. */
	for (size_t i = 0; list && i < count; i++)
		set_item(&list, i,
			 errors[i] ? PyLong_FromLong(
					 nvml[i] ? nvml[i] : NVML_ERROR_UNKNOWN)
				   : device_object(&devices[i]));
	return list;
}

static PyObject *py_identify_all(PyObject *self, PyObject *args)
{
	struct session *s = session_live();
	size_t count = s ? gk_gpu_count(s->gk) : 0;
	struct gk_device *devices = calloc(count + 1, sizeof *devices);
	int *answers = calloc(2 * count + 1, sizeof *answers);
	PyThreadState *python;
	PyObject *list = NULL;

	(void)self;
	(void)args;
	if (s) {
		python = PyEval_SaveThread();
		if (devices && answers)
			gk_identify_all(s->gk, devices, answers,
					answers + count);
		session_put(s);
		PyEval_RestoreThread(python);
		list = devices && answers
			   ? identity_list(devices, answers, answers + count,
					   count)
			   : PyErr_NoMemory();
	}
	free(devices);
	free(answers);
	return list;
}

static PyObject *py_silence(PyObject *self, PyObject *arg)
{
	unsigned long index = PyLong_AsUnsignedLong(arg);

	(void)self;
	if (PyErr_Occurred())
		return NULL;
	return PyFloat_FromDouble((double)session_silence((unsigned)index) /
				  GK_NS_PER_S);
}

static PyObject *py_deadline(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return PyFloat_FromDouble((double)session_deadline() / GK_NS_PER_S);
}

static PyObject *py_set_deadline(PyObject *self, PyObject *arg)
{
	double seconds = PyFloat_AsDouble(arg);
	PyThreadState *python;

	(void)self;
	if (PyErr_Occurred())
		return NULL;
	if (!(seconds >= DEADLINE_MIN_S && seconds <= DEADLINE_MAX_S)) {
		PyErr_SetString(PyExc_ValueError,
				"deadline must be a millisecond to a year");
		return NULL;
	}
	python = PyEval_SaveThread();
	session_set_deadline((uint64_t)(seconds * GK_NS_PER_S));
	PyEval_RestoreThread(python);
	Py_RETURN_NONE;
}

static PyObject *py_mig_slots(PyObject *self, PyObject *args)
{
	struct address a;
	unsigned slots = 0;
	int nvml = 0, r;

	(void)self;
	if (parse_address(args, &a))
		return NULL;
	WITHOUT_GIL(a, gk_mig_slots(a.session->gk, a.index, &slots, &nvml));
	return r ? raise_error(r, nvml) : PyLong_FromUnsignedLong(slots);
}

static PyObject *py_handle(PyObject *self, PyObject *args)
{
	struct address a;
	void *handle = NULL;
	int nvml = 0, r;

	(void)self;
	if (parse_address(args, &a))
		return NULL;
	WITHOUT_GIL(a, gk_nvml_handle(a.session->gk, a.index, a.mig_index,
				      &handle, &nvml));
	return r ? raise_error(r, nvml) : PyLong_FromVoidPtr(handle);
}

static PyObject *link_object(const struct gk_link *link)
{
	return Py_BuildValue(
	    "(INNN)", link->index, value_object(link->m[GK_L_SPEED]),
	    value_object(link->m[GK_L_TX]), value_object(link->m[GK_L_RX]));
}

static PyObject *py_links(PyObject *self, PyObject *args)
{
	struct gk_link links[GK_LINKS_MAX];
	struct address a;
	size_t count = 0;
	PyObject *list;
	int nvml = 0, r;

	(void)self;
	if (parse_address(args, &a))
		return NULL;
	WITHOUT_GIL(
	    a, gk_read_links(a.session->gk, a.index, links, &count, &nvml));
	if (r)
		return raise_error(r, nvml);
	list = PyList_New((Py_ssize_t)count);
	for (size_t i = 0; list && i < count; i++)
		if (set_item(&list, i, link_object(&links[i])))
			return NULL;
	return list;
}

static PyObject *use_object(const struct gk_use *use)
{
	PyObject *items[] = {
	    PyLong_FromLong(use->pid),
	    PyLong_FromUnsignedLong(use->types),
	    PyLong_FromLong(use->mig_index),
	    value_object(use->m[GK_PM_GPU_MEM]),
	    value_object(use->m[GK_PM_SM_UTIL]),
	    value_object(use->m[GK_PM_MEM_UTIL]),
	    value_object(use->m[GK_PM_ENC_UTIL]),
	    value_object(use->m[GK_PM_DEC_UTIL]),
	};

	return fill_struct(PyStructSequence_New(UseType), items,
			   sizeof items / sizeof *items);
}

static PyObject *py_processes(PyObject *self, PyObject *args)
{
	struct gk_use *uses = NULL;
	struct address a;
	size_t count = 0;
	PyObject *list;
	int nvml = 0, r;

	(void)self;
	if (parse_address(args, &a))
		return NULL;
	WITHOUT_GIL(a, gk_read_processes(a.session->gk, a.index, a.mig_index,
					 &uses, &count, &nvml));
	if (r)
		return raise_error(r, nvml);
	list = PyList_New((Py_ssize_t)count);
	for (size_t i = 0; list && i < count; i++)
		if (set_item(&list, i, use_object(&uses[i])))
			break;
	free(uses);
	return list;
}

static PyObject *py_versions(PyObject *self, PyObject *args)
{
	struct session *s = session_live();
	const char *driver, *nvml;
	PyObject *tuple;
	int cuda;

	(void)self;
	(void)args;
	if (!s)
		return NULL;
	gk_versions(s->gk, &driver, &nvml, &cuda);
	tuple = Py_BuildValue("(ssi)", driver, nvml, cuda);
	session_put(s);
	return tuple;
}

static PyObject *py_open(PyObject *self, PyObject *args)
{
	struct session *s = session_live();

	(void)self;
	(void)args;
	if (!s)
		return NULL;
	session_put(s);
	Py_RETURN_NONE;
}

static PyObject *py_close(PyObject *self, PyObject *args)
{
	PyThreadState *python = PyEval_SaveThread();

	(void)self;
	(void)args;
	session_close_all();
	PyEval_RestoreThread(python);
	Py_RETURN_NONE;
}

PyMethodDef live_methods[] = {
    {"open", py_open, METH_NOARGS,
     "open()\n\nOpens the driver library. All other functions do so, too.\n"
     "Raises NVMLError without a driver."},
    {"close", py_close, METH_NOARGS,
     "close()\n\nCloses the driver library; the next call opens it again."},
    {"count", py_count, METH_NOARGS, "count() -> int\n\nThe number of GPUs."},
    {"versions", py_versions, METH_NOARGS,
     "versions() -> (driver, nvml, cuda)\n\ncuda is 13000 for 13.0; '' and 0 "
     "mean unknown."},
    {"identify", py_identify, METH_VARARGS,
     "identify(index, mig_index=-1) -> DeviceFacts\n\nRaises NVMLError if "
     "the GPU is lost or missing."},
    {"identify_all", py_identify_all, METH_NOARGS,
     "identify_all() -> list\n\nDeviceFacts of each GPU, or NVML's error "
     "code. Waits for all silent GPUs together."},
    {"silence", py_silence, METH_O,
     "silence(index) -> float\n\nFor how many seconds a GPU has not "
     "answered; 0.0: it answers."},
    {"deadline", py_deadline, METH_NOARGS,
     "deadline() -> float\n\nSeconds that a call waits for GPUs."},
    {"set_deadline", py_set_deadline, METH_O,
     "set_deadline(seconds)\n\nApplies to all threads from now on."},
    {"read", py_read, METH_VARARGS,
     "read(index, mig_index, ids) -> tuple\n\nReads the metrics of a tuple of "
     "M_... now: numbers in the base unit, None where absent."},
    {"explain", py_explain, METH_VARARGS,
     "explain(index, mig_index, ids) -> tuple of (reason, nvml)\n\nReads them "
     "as read() does; returns why each is absent (0: present) and what NVML "
     "answered."},
    {"links", py_links, METH_VARARGS,
     "links(index) -> list of (link, speed, tx, rx)\n\nBytes per second, and "
     "bytes in total; None where absent."},
    {"processes", py_processes, METH_VARARGS,
     "processes(index, mig_index=-1) -> list of Use"},
    {"mig_slots", py_mig_slots, METH_VARARGS,
     "mig_slots(index) -> int\n\nHow many MIG devices the GPU can have; "
     "NVMLError if it supports none."},
    {"handle", py_handle, METH_VARARGS,
     "handle(index, mig_index=-1) -> int\n\nThe nvmlDevice_t of a device."},
    {NULL, NULL, 0, NULL},
};
