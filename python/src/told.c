/* SPDX-License-Identifier: Apache-2.0 */
/* told.c - makes the host's facts about a process for a snapshot, and their
 * texts. */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* Indices of fields in a Process (see values.c). */
enum { VALUES = 4, USER = 6, NAME = 7, ARGS = 8, STAT = 10 };

#define DAY 86400.0
/* Characters that need no quotes. */
#define BARE_LETTERS                                                           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"                 \
	"0123456789-_=+./,:@%"

enum key {
	CMDLINE,
	COMMAND,
	CPU_PERCENT,
	HOST_MEMORY,
	HOST_MEMORY_HUMAN,
	IS_RUNNING,
	MEMORY_PERCENT,
	PROCESS_NAME,
	USERNAME,
	STATUS,
	SECONDS,
	RUNNING_TIME,
	RUNNING_TIME_HUMAN,
	KEYS,
};

static const char *const key_names[KEYS] = {
    [CMDLINE] = "cmdline",
    [COMMAND] = "command",
    [CPU_PERCENT] = "cpu_percent",
    [HOST_MEMORY] = "host_memory",
    [HOST_MEMORY_HUMAN] = "host_memory_human",
    [IS_RUNNING] = "is_running",
    [MEMORY_PERCENT] = "memory_percent",
    [PROCESS_NAME] = "name",
    [USERNAME] = "username",
    [STATUS] = "status",
    [SECONDS] = "running_time_in_seconds",
    [RUNNING_TIME] = "running_time",
    [RUNNING_TIME_HUMAN] = "running_time_human",
};

/* The Python objects from which texts are made. */
struct words {
	PyObject *absent, *states, *join, *timedelta;
};

static PyObject *new_ref(PyObject *o)
{
	Py_INCREF(o);
	return o;
}

static PyObject *text_or(PyObject *text, PyObject *absent)
{
	return new_ref(PyUnicode_GetLength(text) ? text : absent);
}

static PyObject *duration_text(double seconds)
{
	long long whole = (long long)seconds;
	char text[64];

	if (seconds >= 4 * DAY) {
		char *days =
		    PyOS_double_to_string(seconds / DAY, 'f', 1, 0, NULL);
		PyObject *o =
		    days ? PyUnicode_FromFormat("%s days", days) : NULL;

		PyMem_Free(days);
		return o;
	}
	if (whole >= 3600)
		snprintf(text, sizeof text, "%lld:%02d:%02d", whole / 3600,
			 (int)(whole % 3600 / 60), (int)(whole % 60));
	else
		snprintf(text, sizeof text, "%lld:%02d", whole / 60,
			 (int)(whole % 60));
	return PyUnicode_FromString(text);
}

static void tell_time(PyObject *run, const struct words *w, PyObject **items)
{
	double seconds;

	if (run == Py_None) {
		for (int i = SECONDS; i <= RUNNING_TIME_HUMAN; i++)
			items[i] = new_ref(w->absent);
		return;
	}
	seconds = PyLong_AsDouble(run) / 1e9;
	items[SECONDS] = PyFloat_FromDouble(seconds);
	items[RUNNING_TIME] =
	    PyObject_CallFunction(w->timedelta, "id", 0, seconds);
	items[RUNNING_TIME_HUMAN] = duration_text(seconds);
}

static void tell_memory(PyObject *rss, PyObject *total, const struct words *w,
			PyObject **items)
{
	double part, whole = total == Py_None ? 0 : PyLong_AsDouble(total);

	if (rss == Py_None) {
		items[HOST_MEMORY] = new_ref(w->absent);
		items[HOST_MEMORY_HUMAN] = new_ref(w->absent);
		items[MEMORY_PERCENT] = new_ref(w->absent);
		return;
	}
	part = PyLong_AsDouble(rss);
	items[HOST_MEMORY] = new_ref(rss);
	items[HOST_MEMORY_HUMAN] = size_text(part, 1);
	items[MEMORY_PERCENT] = whole > 0
				    ? PyFloat_FromDouble(100.0 * part / whole)
				    : new_ref(w->absent);
}

static bool is_bare(PyObject *arg)
{
	Py_ssize_t length = PyUnicode_GetLength(arg);

	for (Py_ssize_t i = 0; i < length; i++) {
		Py_UCS4 c = PyUnicode_ReadChar(arg, i);

		if (c >= 128 || !c || !strchr(BARE_LETTERS, (int)c))
			return false;
	}
	return length > 0;
}

/* Joins arguments into one text. Calls `join` only if some argument needs
 * quotes. */
static PyObject *join_arguments(PyObject *args, PyObject *join)
{
	Py_ssize_t count = PyList_Size(args);
	PyObject *blank, *text;

	for (Py_ssize_t i = 0; i < count; i++)
		if (count == 1 || !is_bare(PyList_GetItem(args, i)))
			return PyObject_CallFunctionObjArgs(join, args, NULL);
	blank = PyUnicode_FromString(" ");
	text = blank ? PyUnicode_Join(blank, args) : NULL;
	Py_XDECREF(blank);
	return text;
}

static void tell_command(PyObject *row, const char *status,
			 const struct words *w, PyObject **items)
{
	PyObject *args = PyStructSequence_GetItem(row, ARGS);

	items[CMDLINE] = PyList_Size(args)
			     ? new_ref(args)
			     : Py_BuildValue("[s]", strcmp(status, "zombie")
							? "No Such Process"
							: "Zombie Process");
	if (items[CMDLINE])
		items[COMMAND] = join_arguments(items[CMDLINE], w->join);
}

/* Steals references to all items. Some may be NULL if an exception is set. */
static PyObject *dict_of(PyObject *const *keys, PyObject **items)
{
	PyObject *dict = PyDict_New();

	for (int i = 0; i < KEYS; i++) {
		if (dict &&
		    (!items[i] || PyDict_SetItem(dict, keys[i], items[i]))) {
			Py_DECREF(dict);
			dict = NULL;
		}
		Py_XDECREF(items[i]);
	}
	return dict;
}

static PyObject *tell_all(PyObject *row, PyObject *total, PyObject *status,
			  const struct words *w, PyObject *const *keys)
{
	PyObject *values = PyStructSequence_GetItem(row, VALUES);
	PyObject *cpu = PyTuple_GetItem(values, GK_PM_CPU);
	PyObject *items[KEYS] = {NULL}, *bytes;

	bytes = PyUnicode_AsUTF8String(status);
	if (!bytes)
		return NULL;
	tell_command(row, PyBytes_AsString(bytes), w, items);
	items[IS_RUNNING] =
	    PyBool_FromLong(strcmp(PyBytes_AsString(bytes), "terminated") != 0);
	Py_DECREF(bytes);
	items[STATUS] = new_ref(status);
	items[CPU_PERCENT] =
	    cpu == Py_None ? new_ref(w->absent)
			   : PyFloat_FromDouble(PyLong_AsDouble(cpu) / 100);
	tell_memory(PyTuple_GetItem(values, GK_PM_RSS), total, w, items);
	tell_time(PyTuple_GetItem(values, GK_PM_RUN_TIME), w, items);
	items[PROCESS_NAME] =
	    text_or(PyStructSequence_GetItem(row, NAME), w->absent);
	items[USERNAME] =
	    text_or(PyStructSequence_GetItem(row, USER), w->absent);
	return dict_of(keys, items);
}

/* Interned once and never freed, because they are few and do not change. */
static PyObject *const *all_keys(void)
{
	static PyObject *keys[KEYS];

	for (int i = 0; i < KEYS; i++)
		if (!keys[i])
			keys[i] = PyUnicode_InternFromString(key_names[i]);
	for (int i = 0; i < KEYS; i++)
		if (!keys[i])
			return NULL;
	return keys;
}

static PyObject *py_told(PyObject *self, PyObject *args)
{
	PyObject *row, *total, *status, *const *keys = all_keys();
	struct words w;

	(void)self;
	if (!keys || !PyArg_ParseTuple(args, "O!OOO!OO", ProcessType, &row,
				       &total, &w.absent, &PyDict_Type,
				       &w.states, &w.join, &w.timedelta))
		return NULL;
	status = PyDict_GetItemWithError(w.states,
					 PyStructSequence_GetItem(row, STAT));
	if (status)
		return tell_all(row, total, status, &w, keys);
	if (PyErr_Occurred())
		return NULL;
	status = PyUnicode_FromString("terminated");
	row = status ? tell_all(row, total, status, &w, keys) : NULL;
	Py_XDECREF(status);
	return row;
}

PyMethodDef told_methods[] = {
    {"told", py_told, METH_VARARGS,
     "told(row, total, absent, states, join, timedelta) -> dict\n\nThe "
     "host's facts of a snapshot's Process, formatted. total: the host's "
     "memory; states: the words for the letters of /proc/PID/stat; "
     "join(args): quotes and joins arguments."},
    {NULL, NULL, 0, NULL},
};
