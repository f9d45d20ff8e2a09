/* SPDX-License-Identifier: Apache-2.0 */
/* module.c - defines the extension module gpukit._core. */
#include "core.h"

static const struct {
	const char *name;
	int value;
} constants[] = {
#define METRIC(id, name, unit, kind, tier, least, most, help)                  \
	{"M_" #id, GK_M_##id},
#include <gpukit/metrics.def>
#undef METRIC
#define METRIC(id, name, unit, kind, tier, least, most, help)                  \
	{"PM_" #id, GK_PM_##id},
#include <gpukit/process_metrics.def>
#undef METRIC
    {"WITH_PCIE", GK_WITH_PCIE},
    {"WITHOUT_PROCESSES", GK_WITHOUT_PROCESSES},
    {"WITHOUT_COMMANDS", GK_WITHOUT_COMMANDS},
    {"WITHOUT_SLOW", GK_WITHOUT_SLOW},
    {"WITH_DETAIL", GK_WITH_DETAIL},
    {"WITHOUT_BOARD", GK_WITHOUT_BOARD},
    {"WITHOUT_PROCESS_UTIL", GK_WITHOUT_PROCESS_UTIL},
    {"WITHOUT_PROC", GK_WITHOUT_PROC},
    {"WITHOUT_HOST", GK_WITHOUT_HOST},
};

static PyMethodDef *const methods[] = {
    live_methods,  snapshot_methods, choose_methods, fact_methods,
    texts_methods, series_methods,   told_methods,
};

static int add_contents(PyObject *module)
{
	session_prepare();
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (PyModule_AddIntConstant(module, constants[i].name,
					    constants[i].value))
			return -1;
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (PyModule_AddFunctions(module, methods[i]))
			return -1;
	if (PyModule_AddStringConstant(module, "__version__", GPUKIT_VERSION))
		return -1;
	return values_init(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)add_contents},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "gpukit._core",
    .m_doc = "GPUs as libgpukit reads them: the base of gpukit's classes.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	return PyModuleDef_Init(&definition);
}
