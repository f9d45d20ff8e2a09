/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_run.h - questions to one device, and the functions that a thread of the
 * library runs to answer them.
 */
#ifndef GK_CORE_LIVE_RUN_H
#define GK_CORE_LIVE_RUN_H

#include "base/apart.h"
#include "core/driver/ask.h"
#include "core/read/device.h"

#include <pthread.h>
#include <stdatomic.h>

/* The result for one metric. */
struct gk_answer {
	struct gk_value value;
	int nvml;
};

/*
 * The results of gk_read() so far. values and nvml are set only for the metrics
 * in `given`. `told` repeats the results in the order of the question's
 * metrics. The caller reads nothing else, because data that is close together
 * moves quickly between processors.
 */
struct gk_answers {
	struct gk_answer told[GK_M_COUNT];
	struct gk_value values[GK_M_COUNT];
	int nvml[GK_M_COUNT];
	struct gk_metric_set given, fields;
	bool with_fields;
};

/*
 * A question to a device, with its answer. The caller and the thread write a
 * shared member only if it changes: fetching a changed cache line from another
 * processor may take a quarter of a microsecond.
 */
struct gk_question {
	GK_APART struct gk *gk;
	unsigned index;
	int mig_index;
	/* The metrics to read, without duplicates. */
	size_t count;
	enum gk_metric metrics[GK_M_COUNT];
	/* Set by the thread: the number of metrics that it has read. */
	GK_APART atomic_size_t done;
	GK_APART int result; /* result and nvml: answers to the caller */
	int nvml;
	union {
		struct gk_answers read;
		struct gk_device device;
		struct {
			struct gk_link all[NVML_NVLINK_MAX_LINKS];
			size_t count;
		} links;
		struct {
			struct gk_use *all; /* free() it */
			size_t count;
		} uses;
		unsigned slots;
		nvmlDevice_t handle;
	};
};

/* The state of a GPU. Only the owner of the GPU's question (see ask.h) uses
 * it. */
struct gk_live {
	nvmlDevice_t handle; /* NULL: not opened yet */
	bool made;           /* `gpu` is initialised */
	struct gk_gpu gpu;
	struct gk_question question;
	/* The GPU's last known identity, guarded by lock, for callers that
	 * cannot ask the GPU now. */
	pthread_mutex_t lock;
	bool known;
	struct gk_device device;
};

/* Whether a metric is a field value. All field values are read in one call,
 * after the other metrics. */
bool gk_is_field(enum gk_metric metric);

/* The functions of each kind of question; arg is a struct gk_question. */
extern const struct gk_ask_calls gk_run_identify, gk_run_read, gk_run_links,
    gk_run_processes, gk_run_slots, gk_run_handle;

#endif
