/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - makes values and texts for snapshots from the core's numbers. */
#include "core.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KIB (1LL << 10)
#define MIB (1LL << 20)
#define GIB (1LL << 30)
#define TIB (1LL << 40)
#define PIB (1LL << 50)

/* How to show sizes below `limit` bytes: the unit, its digits and its name. */
static const struct {
	long long limit, unit;
	int digits;
	const char *name;
} sizes[] = {
    {KIB, 1, 0, "B"},
    {MIB, KIB, 0, "KiB"},
    {100 * MIB, MIB, 2, "MiB"},
    {1000 * MIB, MIB, 1, "MiB"},
    {20 * GIB, MIB, 0, "MiB"},
    {100 * GIB, GIB, 2, "GiB"},
    {1000 * GIB, GIB, 1, "GiB"},
    {100 * TIB, TIB, 2, "TiB"},
    {1000 * TIB, TIB, 1, "TiB"},
    {100 * PIB, PIB, 2, "PiB"},
    {INT64_MAX, PIB, 1, "PiB"},
};

PyObject *size_text(double bytes, double min_unit)
{
	size_t i = 0;
	char text[400], *number;

	while (i + 1 < sizeof sizes / sizeof *sizes &&
	       (bytes >= (double)sizes[i].limit ||
		(double)sizes[i].unit < min_unit))
		i++;
	/* printf() is not used, because it may write a decimal comma. */
	number = PyOS_double_to_string(bytes / (double)sizes[i].unit, 'f',
				       sizes[i].digits, 0, NULL);
	if (!number)
		return NULL;
	snprintf(text, sizeof text, "%s%s", number, sizes[i].name);
	PyMem_Free(number);
	return PyUnicode_FromString(text);
}

static PyObject *py_size_text(PyObject *self, PyObject *args)
{
	double bytes, min_unit = 1;

	(void)self;
	if (!PyArg_ParseTuple(args, "d|d", &bytes, &min_unit))
		return NULL;
	return size_text(bytes, min_unit);
}

/*
 * Converts a value as `make` says. None: the value is unchanged. A number: the
 * value is divided by it, rounding down. A dict: the value is looked up in it.
 */
static PyObject *made(PyObject *value, PyObject *make, PyObject *absent)
{
	PyObject *found = value;

	if (value == Py_None) {
		found = absent;
	} else if (PyLong_Check(make)) {
		return PyNumber_FloorDivide(value, make);
	} else if (make != Py_None) {
		found = PyDict_GetItemWithError(make, value);
		if (!found && PyErr_Occurred())
			return NULL;
		if (!found)
			found = absent;
	}
	Py_INCREF(found);
	return found;
}

static PyObject *py_fill(PyObject *self, PyObject *args)
{
	PyObject *items, *plan, *values, *absent;
	Py_ssize_t count, known;

	(void)self;
	if (!PyArg_ParseTuple(args, "O!O!O!O", &PyDict_Type, &items,
			      &PyTuple_Type, &plan, &PyTuple_Type, &values,
			      &absent))
		return NULL;
	count = PyTuple_Size(plan);
	known = PyTuple_Size(values);
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *name, *make, *value;
		Py_ssize_t at;
		int r;

		if (!PyArg_ParseTuple(PyTuple_GetItem(plan, i), "OnO", &name,
				      &at, &make))
			return NULL;
		if (at < 0 || at >= known)
			return PyErr_Format(PyExc_IndexError, "no value %zd",
					    at);
		value = made(PyTuple_GetItem(values, at), make, absent);
		if (!value)
			return NULL;
		r = PyDict_SetItem(items, name, value);
		Py_DECREF(value);
		if (r)
			return NULL;
	}
	Py_RETURN_NONE;
}

PyMethodDef texts_methods[] = {
    {"size_text", py_size_text, METH_VARARGS,
     "size_text(bytes, min_unit=1) -> str\n\nA size with its unit."},
    {"fill", py_fill, METH_VARARGS,
     "fill(items, plan, values, absent)\n\nPuts values into a dict. A row of "
     "the plan is (name, position in values, how); how is None: unchanged; a "
     "number: divided by it, rounded down; a dict: looked up there. absent "
     "replaces None, and values that the dict lacks."},
    {NULL, NULL, 0, NULL},
};
