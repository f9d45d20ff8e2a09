/* SPDX-License-Identifier: Apache-2.0 */
/* fact.c - functions that describe metrics, reasons, errors and timings. */
#include "core.h"

#include "abi/nvml/nvml_base.h"
#include "base/trace.h"

#include <stdlib.h>

static const char *unit_name(enum gk_unit unit)
{
	static const char *const names[] = {
	    [GK_UNIT_NONE] = "",
	    [GK_UNIT_PERCENT] = "%",
	    [GK_UNIT_CENTIPERCENT] = "0.01 %",
	    [GK_UNIT_BYTES] = "B",
	    [GK_UNIT_MILLIWATT] = "mW",
	    [GK_UNIT_MILLIJOULE] = "mJ",
	    [GK_UNIT_CELSIUS] = "C",
	    [GK_UNIT_HERTZ] = "Hz",
	    [GK_UNIT_NANOSECOND] = "ns",
	};

	return names[unit];
}

static PyObject *info_list(const struct gk_metric_info *infos, size_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);

	for (size_t i = 0; list && i < count; i++)
		set_item(&list, i,
			 Py_BuildValue("(sssi)", infos[i].name,
				       unit_name(infos[i].unit), infos[i].help,
				       (int)infos[i].tier));
	return list;
}

static PyObject *py_metrics(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return info_list(gk_metrics, GK_M_COUNT);
}

static PyObject *py_process_metrics(PyObject *self, PyObject *args)
{
	(void)self;
	(void)args;
	return info_list(gk_process_metrics, GK_PM_COUNT);
}

static PyObject *py_reason(PyObject *self, PyObject *arg)
{
	long reason = PyLong_AsLong(arg);

	(void)self;
	if (reason == -1 && PyErr_Occurred())
		return NULL;
	return text_object(gk_absence_text((enum gk_absence)reason));
}

static const struct {
	int code;
	const char *name, *text;
} answers[] = {
#define NVML_RETURN(name, value, text) {value, #name, text},
#include "abi/nvml/nvml_return.def"
#undef NVML_RETURN
};

static PyObject *py_nvml_errors(PyObject *self, PyObject *args)
{
	size_t count = sizeof answers / sizeof *answers;
	PyObject *list = PyList_New((Py_ssize_t)count);

	(void)self;
	(void)args;
	for (size_t i = 0; list && i < count; i++)
		set_item(&list, i,
			 Py_BuildValue("(iss)", answers[i].code,
				       answers[i].name, answers[i].text));
	return list;
}

/*
 * The class is made by Python code, so that only programs that raise the error
 * import it.
 */
static PyObject *raise_nvml(int code)
{
	PyObject *module = PyImport_ImportModule("gpukit._errors");
	PyObject *error = NULL;

	if (module)
		error = PyObject_CallMethod(module, "error_of", "i", code);
	Py_XDECREF(module);
	if (error)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	Py_XDECREF(error);
	return NULL;
}

PyObject *raise_error(int err, int nvml)
{
	switch (err) {
	case GK_ERR_NOMEM:
		return PyErr_NoMemory();
	case GK_ERR_NO_DRIVER:
		return raise_nvml(NVML_ERROR_LIBRARY_NOT_FOUND);
	case GK_ERR_NOT_FOUND:
		return raise_nvml(nvml ? nvml : NVML_ERROR_NOT_FOUND);
	case GK_ERR_TIMEOUT:
		return raise_nvml(NVML_ERROR_TIMEOUT);
	case GK_ERR_LOST:
		return raise_nvml(nvml ? nvml : NVML_ERROR_GPU_IS_LOST);
	case GK_ERR_DRIVER:
		return raise_nvml(nvml ? nvml : NVML_ERROR_UNKNOWN);
	default:
		PyErr_SetString(PyExc_RuntimeError, gk_strerror(err));
		return NULL;
	}
}

/* ---- timings ---- */

static PyObject *py_trace(PyObject *self, PyObject *arg)
{
	int on = PyObject_IsTrue(arg);

	(void)self;
	if (on < 0)
		return NULL;
	if (on)
		gk_trace_start(false);
	else
		gk_trace_stop();
	Py_RETURN_NONE;
}

static PyObject *py_trace_rows(PyObject *self, PyObject *args)
{
	struct gk_trace_row *rows = NULL;
	size_t count = gk_trace_rows(&rows);
	PyObject *list = PyList_New((Py_ssize_t)count);

	(void)self;
	(void)args;
	for (size_t i = 0; list && i < count; i++)
		set_item(&list, i,
			 Py_BuildValue("(sKKKK)", rows[i].name, rows[i].calls,
				       rows[i].self_ns, rows[i].total_ns,
				       rows[i].max_ns));
	free(rows);
	return list;
}

PyMethodDef fact_methods[] = {
    {"metrics", py_metrics, METH_NOARGS,
     "metrics() -> list of (name, unit, help, tier), by M_..."},
    {"process_metrics", py_process_metrics, METH_NOARGS,
     "process_metrics() -> list of (name, unit, help, tier), by PM_..."},
    {"reason", py_reason, METH_O,
     "reason(number) -> str\n\nWhy a value is absent, in words."},
    {"nvml_errors", py_nvml_errors, METH_NOARGS,
     "nvml_errors() -> list of (code, name, text)"},
    {"trace", py_trace, METH_O,
     "trace(on)\n\nStarts or stops counting where the time goes."},
    {"trace_rows", py_trace_rows, METH_NOARGS,
     "trace_rows() -> list of (name, calls, self_ns, total_ns, max_ns)"},
    {NULL, NULL, 0, NULL},
};
