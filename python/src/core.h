/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - internal interface between the files of the extension module
 * gpukit._core.
 *
 * The module uses the stable ABI of CPython 3.9, so that one file serves all
 * later versions. It releases the GIL while it waits for the driver, for /proc
 * or for a lock.
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
 * An open driver library. There is a session for each kind of snapshot; all
 * other calls use the first session. A forked child opens new sessions.
 */
struct session {
	struct gk *gk;
	/* Only one thread at a time may take a snapshot. */
	pthread_mutex_t lock;
	pthread_cond_t taken;
	bool taking;
	unsigned refs;
	/* with: the bits of gk_with that were requested. choosy: read only the
	 * metrics in `only`. */
	unsigned with;
	bool choosy;
	struct gk_metric_set only;
};

/* Registers handlers for forks; call it once per process. */
void session_prepare(void);

/*
 * Returns a session that reads what `with` and `only` (NULL: all metrics)
 * select; opens it if there is none. Call it with the GIL held; release the
 * session with session_put(). Returns NULL with a Python exception set on
 * failure.
 */
struct session *session_get(unsigned with, const struct gk_metric_set *only);
/* Returns the session for calls other than snapshots. */
struct session *session_live(void);
void session_put(struct session *session);

/* Closes all sessions that are not in use. */
void session_close_all(void);

/*
 * The deadline in ns for GPUs, in all sessions. Any thread may call these
 * functions without holding the GIL.
 */
uint64_t session_deadline(void);
void session_set_deadline(uint64_t ns);

/* Returns for how many ns a GPU has kept any session waiting. 0: none waits for
 * it. */
uint64_t session_silence(unsigned index);

/* ---- exceptions ---- */

/*
 * Sets the Python exception for a gk_err and NVML's return code (0 if there is
 * none): NVMLError, MemoryError, TimeoutError or OSError. Returns NULL.
 */
PyObject *raise_error(int err, int nvml);

/* ---- values ---- */

/*
 * Makes the types of structs with named fields. Returns 0, or -1 with an
 * exception set.
 */
extern PyTypeObject *DeviceType, *ProcessType, *HostType, *SnapshotType,
    *UseType;
int values_init(PyObject *module);

/*
 * These functions return new references, or NULL with an exception set. An
 * absent value becomes None.
 */
PyObject *value_object(struct gk_value value);
PyObject *text_object(const char *text); /* invalid UTF-8 becomes surrogates */
PyObject *size_text(double bytes, double min_unit); /* "1.50GiB" */
/* Steals references to o and all items. Each may be NULL if an exception is
 * set. */
PyObject *fill_struct(PyObject *o, PyObject *const *items, size_t count);
/*
 * Stores an item in a list. Returns 0. On failure, frees the list and sets
 * *list to NULL.
 */
int set_item(PyObject **list, size_t at, PyObject *item);
PyObject *device_object(const struct gk_device *device);

/*
 * Reads a tuple of metric ids. Returns their number, or -1 with an exception
 * set.
 */
Py_ssize_t parse_ids(PyObject *tuple, enum gk_metric ids[GK_M_COUNT]);

/*
 * Takes a snapshot of what `with` and `only` (NULL: all metrics) select. Waits
 * at most timeout_ns (0: the common deadline). Free it with gk_snapshot_free().
 * Returns NULL with an exception set on failure.
 */
struct gk_snapshot *take_snapshot(unsigned with,
				  const struct gk_metric_set *only,
				  uint64_t timeout_ns);

/* ---- functions of the module, by file ---- */

extern PyMethodDef live_methods[], snapshot_methods[], choose_methods[],
    fact_methods[], texts_methods[], series_methods[], told_methods[];

#endif
