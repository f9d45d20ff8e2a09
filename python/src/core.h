/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - what the files of the extension module gpukit._core share.
 *
 * The module uses the stable ABI of CPython 3.9, so that one file serves all
 * later versions. It releases the GIL while it waits for the driver, /proc or a
 * lock.
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
 * An open driver library. Each kind of snapshot has its own session; all other
 * calls use the first session. Forked children open new ones.
 */
struct session {
	struct gk *gk;
	/* Only one thread at a time takes a snapshot. */
	pthread_mutex_t lock;
	pthread_cond_t taken;
	bool taking;
	unsigned refs;
	/* with: bits of gk_with that the session reads. choosy: it reads only
	 * the metrics in `only`. */
	unsigned with;
	bool choosy;
	struct gk_metric_set only;
};

/* Prepares for forks; call once per process. */
void session_prepare(void);

/*
 * Returns a session that reads what `with` and `only` (NULL: all metrics)
 * select, and opens it if needed. Call it with the GIL held; release the
 * session with session_put(). NULL: a Python exception is set.
 */
struct session *session_get(unsigned with, const struct gk_metric_set *only);
/* Returns the session for all calls except snapshots. */
struct session *session_live(void);
void session_put(struct session *session);

/* Closes all sessions not in use. */
void session_close_all(void);

/*
 * The deadline for GPUs in all sessions, in ns. Any thread may call these
 * functions, without the GIL.
 */
uint64_t session_deadline(void);
void session_set_deadline(uint64_t ns);

/* For how many ns a GPU has kept any session waiting; 0: it answers. */
uint64_t session_silence(unsigned index);

/* ---- exceptions ---- */

/*
 * Sets the Python exception for a gk_err and a return code of NVML (0 if none):
 * an NVMLError, MemoryError, TimeoutError or OSError. Returns NULL.
 */
PyObject *raise_error(int err, int nvml);

/* ---- values ---- */

/*
 * Structs with named fields. values_init() makes them; it returns 0, or -1 if
 * an exception is set.
 */
extern PyTypeObject *DeviceType, *ProcessType, *HostType, *SnapshotType,
    *UseType;
int values_init(PyObject *module);

/*
 * These return new references; NULL: an exception is set. An absent value is
 * None.
 */
PyObject *value_object(struct gk_value value);
PyObject *text_object(const char *text); /* invalid UTF-8 becomes surrogates */
PyObject *size_text(double bytes, double min_unit); /* "1.50GiB" */
/* Steals o and all items. Each may be NULL if an exception is set. */
PyObject *fill_struct(PyObject *o, PyObject *const *items, size_t count);
/*
 * Stores an item in a list. Returns 0; on failure, frees the list and sets
 * *list to NULL.
 */
int set_item(PyObject **list, size_t at, PyObject *item);
PyObject *device_object(const struct gk_device *device);

/*
 * Reads a tuple of metric ids. Returns how many there are; -1: an exception is
 * set.
 */
Py_ssize_t parse_ids(PyObject *tuple, enum gk_metric ids[GK_M_COUNT]);

/*
 * Takes a snapshot of what `with` and `only` (NULL: all metrics) select, within
 * timeout_ns (0: the common deadline). Free it with gk_snapshot_free(). NULL:
 * an exception is set.
 */
struct gk_snapshot *take_snapshot(unsigned with,
				  const struct gk_metric_set *only,
				  uint64_t timeout_ns);

/* ---- functions of the module, by file ---- */

extern PyMethodDef live_methods[], snapshot_methods[], choose_methods[],
    fact_methods[], texts_methods[], series_methods[], told_methods[];

#endif
