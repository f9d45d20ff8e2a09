/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - makes Python objects from libgpukit's structs. */
#include "core.h"

#include <string.h>

PyTypeObject *DeviceType, *ProcessType, *HostType, *SnapshotType, *UseType;

static PyStructSequence_Field device_fields[] = {
    {"index", "NVML index of the GPU"},
    {"mig_index", "index of the MIG device in it, -1 for a whole GPU"},
    {"name", "product name"},
    {"uuid", "GPU-... or MIG-..."},
    {"bus_id", "PCI address, 00000000:01:00.0"},
    {"serial", "serial number of the board"},
    {"vbios", "version of the video BIOS"},
    {"minor", "/dev/nvidia<minor>, -1 if unknown"},
    {"compute_major", "compute capability, -1 if unknown"},
    {"compute_minor", "compute capability, -1 if unknown"},
    {"gpu_instance", "id of the GPU instance, -1 for a whole GPU"},
    {"compute_instance", "id of the compute instance, -1 for a whole GPU"},
    {"nvml_error", "the nvmlReturn_t that made it unusable, or 0"},
    {NULL, NULL},
};

static PyStructSequence_Field use_fields[] = {
    {"pid", "process id"},
    {"types", "1 compute, 2 graphics, 4 compute by the MPS server; a sum"},
    {"mig_index", "MIG device that it is on, -1 for none"},
    {"gpu_memory", "bytes of device memory, or None"},
    {"sm_utilization", "percent, or None"},
    {"memory_utilization", "percent, or None"},
    {"encoder_utilization", "percent, or None"},
    {"decoder_utilization", "percent, or None"},
    {NULL, NULL},
};

static PyStructSequence_Field process_fields[] = {
    {"pid", "process id"},
    {"device", "position of its device in the snapshot"},
    {"types", "1 compute, 2 graphics, 4 compute by the MPS server; a sum"},
    {"state", "0 running, 1 gone, 2 zombie, 3 no permission"},
    {"values", "by PM_...: numbers, None where absent"},
    {"uid", "user id, -1 if unknown"},
    {"user", "user name"},
    {"name", "name of the program"},
    {"args", "list of arguments"},
    {"parent", "parent process, 0 if unknown"},
    {"stat", "state letter of /proc, '' if unknown"},
    {"start_ticks", "start since boot in clock ticks, 0 if unknown"},
    {NULL, NULL},
};

static PyStructSequence_Field host_fields[] = {
    {"hostname", "name of the machine"},
    {"boot_ns", "time since boot"},
    {"cpus", "number of CPUs"},
    {"cpu_centipercent", "of all CPUs, 10000 = all busy, or None"},
    {"load_centi", "load averages times 100, or None"},
    {"mem_total", "bytes, or None"},
    {"mem_available", "bytes, or None"},
    {"swap_total", "bytes, or None"},
    {"swap_free", "bytes, or None"},
    {NULL, NULL},
};

static PyStructSequence_Field snapshot_fields[] = {
    {"wall_ns", "nanoseconds since 1970"},
    {"mono_ns", "CLOCK_MONOTONIC at the same moment"},
    {"host", "the host"},
    {"devices", "list of devices: MIG devices follow their GPU"},
    {"values", "list of tuples, one per device: the metrics asked for, or all "
	       "by M_...; None where absent"},
    {"healths", "list: 0 well, 1 lost, 2 does not answer, 3 unusable"},
    {"processes", "list of processes, by device, then pid"},
    {"ages", "list: seconds since the device last answered, None: never. "
	     "The values of a device that does not answer are None"},
    {NULL, NULL},
};

#define FIELDS(fields) ((int)(sizeof(fields) / sizeof *(fields)) - 1)

static const struct {
	PyTypeObject **type;
	PyStructSequence_Desc desc;
} types[] = {
    {&DeviceType,
     {"gpukit._core.DeviceFacts", "The identity of a device.", device_fields,
      FIELDS(device_fields)}},
    {&UseType,
     {"gpukit._core.Use", "A process on a device, as the driver lists it.",
      use_fields, FIELDS(use_fields)}},
    {&ProcessType,
     {"gpukit._core.Process", "A process on a device of a snapshot.",
      process_fields, FIELDS(process_fields)}},
    {&HostType,
     {"gpukit._core.Host", "The machine around the GPUs.", host_fields,
      FIELDS(host_fields)}},
    {&SnapshotType,
     {"gpukit._core.Snapshot", "Everything at one moment.", snapshot_fields,
      FIELDS(snapshot_fields)}},
};

int values_init(PyObject *module)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		PyStructSequence_Desc desc = types[i].desc;
		PyObject *type = (PyObject *)PyStructSequence_NewType(&desc);

		if (!type)
			return -1;
		*types[i].type = (PyTypeObject *)type;
		Py_INCREF(type);
		if (PyModule_AddObject(module, strrchr(desc.name, '.') + 1,
				       type)) {
			Py_DECREF(type);
			return -1;
		}
	}
	return 0;
}

PyObject *value_object(struct gk_value value)
{
	if (value.why)
		Py_RETURN_NONE;
	return PyLong_FromLongLong(value.v);
}

PyObject *text_object(const char *text)
{
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text),
				    "surrogateescape");
}

PyObject *device_object(const struct gk_device *d)
{
	PyObject *o = PyStructSequence_New(DeviceType);
	PyObject *items[] = {
	    PyLong_FromUnsignedLong(d->index),
	    PyLong_FromLong(d->mig_index),
	    text_object(d->name),
	    text_object(d->uuid),
	    text_object(d->bus_id),
	    text_object(d->serial),
	    text_object(d->vbios),
	    PyLong_FromLong(d->minor),
	    PyLong_FromLong(d->compute_major),
	    PyLong_FromLong(d->compute_minor),
	    PyLong_FromLong(d->gpu_instance),
	    PyLong_FromLong(d->compute_instance),
	    PyLong_FromLong(d->nvml_error),
	};

	return fill_struct(o, items, sizeof items / sizeof *items);
}

PyObject *fill_struct(PyObject *o, PyObject *const *items, size_t count)
{
	bool whole = o != NULL;

	for (size_t i = 0; i < count; i++)
		whole &= items[i] != NULL;
	for (size_t i = 0; i < count; i++)
		if (whole)
			PyStructSequence_SetItem(o, (Py_ssize_t)i, items[i]);
		else
			Py_XDECREF(items[i]);
	if (whole)
		return o;
	Py_XDECREF(o);
	return NULL;
}

int set_item(PyObject **list, size_t at, PyObject *item)
{
	if (item && !PyList_SetItem(*list, (Py_ssize_t)at, item))
		return 0;
	Py_DECREF(*list);
	*list = NULL;
	return -1;
}
