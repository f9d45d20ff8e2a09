/*
 * core.h - what the files of the extension module gpukit._core share.
 *
 * It is built for the stable ABI of CPython 3.9, so that one file serves all
 * later versions. The GIL is not held while the driver, /proc or a lock is
 * waited for.
 */
#ifndef GPUKIT_PYTHON_CORE_H
#define GPUKIT_PYTHON_CORE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <gpukit/gpukit.h>

#include <pthread.h>

/* ---- sessions ---- */

/*
 * An open driver library. There is one for each way in which snapshots are
 * taken; all else goes through the first one. Forked children open anew.
 */
struct session {
	struct gk *gk;
	pthread_mutex_t taking; /* a snapshot: one at a time */
	unsigned refs;
	unsigned with; /* bits of gk_with, and the metrics read */
	bool choosy;
	struct gk_metric_set only;
};

/* Prepares for forks, once in the life of a process. */
void session_prepare(void);

/*
 * A session that reads what with and only (NULL: all) say; opened if there is
 * none. Call with the GIL. NULL: a Python exception is set. Give it back with
 * session_put().
 */
struct session *session_get(unsigned with, const struct gk_metric_set *only);
/* The one for all that is not a snapshot. */
struct session *session_live(void);
void session_put(struct session *session);

/* Closes all that nobody is using. */
void session_close_all(void);

/* ---- exceptions ---- */

/*
 * Sets the Python exception of a gk_err and the nvmlReturn_t with it, 0
 * without: an NVMLError, MemoryError, TimeoutError or OSError. Returns NULL.
 */
PyObject *raise_error(int err, int nvml);

/* ---- values ---- */

/* Structs of named fields, made by values_init(): 0, or -1 with an exception.
 */
extern PyTypeObject *DeviceType, *ProcessType, *HostType, *SnapshotType,
    *UseType;
int values_init(PyObject *module);

/* New references; NULL with an exception. An absent value is None. */
PyObject *value_object(struct gk_value value);
PyObject *text_object(const char *text);            /* not UTF-8: surrogates */
PyObject *size_text(double bytes, double min_unit); /* 1.50GiB */
/* Takes over o and items, any of which may be NULL after an exception. */
PyObject *fill_struct(PyObject *o, PyObject *const *items, size_t count);
/* Puts an item into a list. 0; else *list is gone and NULL. */
int set_item(PyObject **list, size_t at, PyObject *item);
PyObject *device_object(const struct gk_device *device);

/* Metric ids of a tuple; the number of them, or -1 with an exception. */
Py_ssize_t parse_ids(PyObject *tuple, enum gk_metric ids[GK_M_COUNT]);

/*
 * Takes a snapshot of what with and only (NULL: all) say. NULL with an
 * exception; free it with gk_snapshot_free().
 */
struct gk_snapshot *take_snapshot(unsigned with,
				  const struct gk_metric_set *only);

/* ---- functions of the module, by file ---- */

extern PyMethodDef live_methods[], snapshot_methods[], choose_methods[],
    fact_methods[], texts_methods[], series_methods[], told_methods[];

#endif
