/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - statistics of values over time. A buffer is a bytearray that
 * contains series. Python owns the buffer, and knows the index of each key's
 * series.
 */
#include "core.h"

#include <math.h>
#include <string.h>

/* C's NAN and INFINITY are floats; these are doubles. */
#define NOTHING ((double)NAN)
#define ENDLESS ((double)INFINITY)

/*
 * A value counts until the next one, and the first value from the start of the
 * buffer on. If a sample is missed, the time of the value before it ends.
 */
struct series {
	/* The last known value, and its time. The time is nan if the value is
	 * missing now. */
	double time, last;
	double area, known; /* integral over time, and time with a value */
	double min, max;
};

static void advance(struct series *s, double before, double after,
		    double seconds)
{
	s->area += 0.5 * (before + after) * seconds;
	s->known += seconds;
}

static void add_value(struct series *s, double value, double start, double now)
{
	if (isnan(value)) {
		s->time = NOTHING;
		return;
	}
	if (isnan(s->last))
		advance(s, value, value, now - start);
	else if (!isnan(s->time))
		advance(s, s->last, value, now - s->time);
	s->time = now;
	s->last = value;
	s->min = fmin(s->min, value);
	s->max = fmax(s->max, value);
}

/* The mean over the time in which the value was known. */
static double mean_of(const struct series *s, double now)
{
	double area = s->area, known = s->known;

	if (!isnan(s->time)) {
		area += s->last * (now - s->time);
		known += now - s->time;
	}
	return known > 0 ? area / known : s->last;
}

/* The struct in the buffer may be unaligned. */
static int load_series(PyObject *state, Py_ssize_t place, struct series *s)
{
	Py_ssize_t count = PyByteArray_Size(state) / (Py_ssize_t)sizeof *s;

	if (place < 0 || place >= count) {
		PyErr_SetString(PyExc_IndexError, "no such series");
		return -1;
	}
	memcpy(s, PyByteArray_AsString(state) + (size_t)place * sizeof *s,
	       sizeof *s);
	return 0;
}

static void store_series(PyObject *state, Py_ssize_t place,
			 const struct series *s)
{
	memcpy(PyByteArray_AsString(state) + (size_t)place * sizeof *s, s,
	       sizeof *s);
}

static PyObject *py_series_new(PyObject *self, PyObject *args)
{
	static const struct series none = {
	    .time = NOTHING, .last = NOTHING, .min = ENDLESS, .max = -ENDLESS};
	PyObject *state;
	Py_ssize_t count, more;

	(void)self;
	if (!PyArg_ParseTuple(args, "O!n", &PyByteArray_Type, &state, &more))
		return NULL;
	count = PyByteArray_Size(state) / (Py_ssize_t)sizeof none;
	if (PyByteArray_Resize(state, (count + more) * (Py_ssize_t)sizeof none))
		return NULL;
	for (Py_ssize_t i = count; i < count + more; i++)
		store_series(state, i, &none);
	Py_RETURN_NONE;
}

static PyObject *py_series_add(PyObject *self, PyObject *args)
{
	PyObject *state, *places, *values;
	double start, now;

	(void)self;
	if (!PyArg_ParseTuple(args, "O!O!O!dd", &PyByteArray_Type, &state,
			      &PyTuple_Type, &places, &PyList_Type, &values,
			      &start, &now))
		return NULL;
	for (Py_ssize_t i = 0; i < PyTuple_Size(places); i++) {
		Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GetItem(places, i));
		PyObject *value = PyList_GetItem(values, i);
		double number = value ? PyFloat_AsDouble(value) : 0;
		struct series s;

		if (PyErr_Occurred() || load_series(state, place, &s))
			return NULL;
		add_value(&s, number, start, now);
		store_series(state, place, &s);
	}
	Py_RETURN_NONE;
}

static PyObject *row_of(const struct series *s, double now)
{
	if (isnan(s->last))
		return Py_BuildValue("(dddd)", NOTHING, NOTHING, NOTHING,
				     NOTHING);
	return Py_BuildValue("(dddd)", mean_of(s, now), s->min, s->max,
			     s->last);
}

static PyObject *py_series_rows(PyObject *self, PyObject *args)
{
	PyObject *state, *list;
	Py_ssize_t count;
	double now;

	(void)self;
	if (!PyArg_ParseTuple(args, "O!d", &PyByteArray_Type, &state, &now))
		return NULL;
	count = PyByteArray_Size(state) / (Py_ssize_t)sizeof(struct series);
	list = PyList_New(count);
	for (Py_ssize_t i = 0; list && i < count; i++) {
		struct series s;

		if (load_series(state, i, &s)) {
			Py_DECREF(list);
			return NULL;
		}
		set_item(&list, (size_t)i, row_of(&s, now));
	}
	return list;
}

PyMethodDef series_methods[] = {
    {"series_new", py_series_new, METH_VARARGS,
     "series_new(state, count)\n\nAppends count series without values to "
     "a bytearray."},
    {"series_add", py_series_add, METH_VARARGS,
     "series_add(state, places, values, start, now)\n\nAdds a list of floats, "
     "nan for missed ones, to the series at these places of state; the first "
     "value counts from the time start."},
    {"series_rows", py_series_rows, METH_VARARGS,
     "series_rows(state, now) -> list of (mean, min, max, last)\n\nnan for a "
     "series without values."},
    {NULL, NULL, 0, NULL},
};
