/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted.h - runs libgpukit on the scripted driver library, with a /proc of
 * its own that has no process.
 */
#ifndef TESTS_CORE_SCRIPTED_H
#define TESTS_CORE_SCRIPTED_H

#include "base/clock.h"
#include "core/scripted_nvml.h"
#include "core/tree.h"

#include <gpukit/gpukit.h>

#include <dlfcn.h>

struct gk_snapshot;

#define SCRIPTED NVML_DIR "/libnvml-scripted.so"
#define OLD      NVML_DIR "/libnvml-old.so"

/* The state of a test: the script, the open library, its last snapshot. */
struct scripted {
	struct script *s;
	struct tree tree;
	struct gk_options options;
	struct gk *gk;
	struct gk_snapshot *snap;
};

static struct scripted t;

static inline void scripted_load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	script_of *get;

	if (!library)
		fail_msg("%s", dlerror());
	*(void **)&get = dlsym(library, "script");
	t.s = get();
	t.options.nvml_path = path;
}

/* A fresh script: gpus healthy GPUs of driver 580. */
static inline void scripted_reset(unsigned gpus)
{
	pthread_mutex_lock(&t.s->lock);
	memset((char *)t.s + offsetof(struct script, init), 0,
	       sizeof *t.s - offsetof(struct script, init));
	strcpy(t.s->driver, "580.65.06");
	t.s->stride = sizeof(nvmlProcessInfo_v2_t);
	t.s->gpu_count = gpus;
	for (unsigned i = 0; i < SCRIPT_GPUS; i++) {
		t.s->gpu[i].util = i;
		t.s->gpu[i].used = (i + 1) * (GIB / 2);
	}
	pthread_mutex_unlock(&t.s->lock);
}

static inline int scripted_setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof t);
	t.options = GK_OPTIONS_DEFAULT;
	tree_make(&t.tree);
	t.options.proc_fd = t.tree.fd;
	scripted_load(SCRIPTED);
	scripted_reset(2);
	return 0;
}

static inline int scripted_teardown(void **state)
{
	unsigned inits;

	(void)state;
	gk_snapshot_free(t.snap);
	if (t.gk)
		assert_int_equal(gk_close(t.gk), 0);
	pthread_mutex_lock(&t.s->lock);
	inits = t.s->inits;
	pthread_mutex_unlock(&t.s->lock);
	assert_int_equal(inits, 0);
	tree_remove(&t.tree);
	return 0;
}

static inline void scripted_open(void)
{
	assert_int_equal(gk_open(&t.options, NULL, &t.gk), 0);
}

/* Takes a new snapshot and frees the last one. */
static inline const struct gk_snapshot *scripted_take(void)
{
	gk_snapshot_free(t.snap);
	t.snap = NULL;
	assert_int_equal(gk_snapshot_take(t.gk, &t.snap), 0);
	return t.snap;
}

/* Changes the script under its lock: SCRIPT(t.s->gpu[0].util = 5). */
#define SCRIPT(...)                                                            \
	do {                                                                   \
		pthread_mutex_lock(&t.s->lock);                                \
		__VA_ARGS__;                                                   \
		pthread_cond_broadcast(&t.s->changed);                         \
		pthread_mutex_unlock(&t.s->lock);                              \
	} while (0)

/* Sets its result from now on; the function need not have been called yet. */
static inline void scripted_answer(const char *name, nvmlReturn_t answer)
{
	pthread_mutex_lock(&t.s->lock);
	for (int i = 0; i < SCRIPT_FUNCTIONS; i++) {
		if (!t.s->function[i].name)
			t.s->function[i].name = name;
		if (strcmp(t.s->function[i].name, name))
			continue;
		t.s->function[i].answer = answer;
		break;
	}
	pthread_mutex_unlock(&t.s->lock);
}

/* The caller holds the script's lock. */
static inline unsigned scripted_calls_locked(const char *name)
{
	for (int i = 0; i < SCRIPT_FUNCTIONS && t.s->function[i].name; i++)
		if (!strcmp(t.s->function[i].name, name))
			return t.s->function[i].calls;
	return 0;
}

static inline unsigned scripted_calls(const char *name)
{
	unsigned calls;

	pthread_mutex_lock(&t.s->lock);
	calls = scripted_calls_locked(name);
	pthread_mutex_unlock(&t.s->lock);
	return calls;
}

static inline void scripted_process(unsigned gpu, enum script_list which,
				    struct script_process process)
{
	struct script_gpu *g = &t.s->gpu[gpu];

	SCRIPT(g->process[which][g->process_count[which]++] = process);
}

/* Waits until a call on the GPU hangs. */
static inline void scripted_await_hang(unsigned gpu)
{
	pthread_mutex_lock(&t.s->lock);
	while (!t.s->gpu[gpu].inside)
		pthread_cond_wait(&t.s->changed, &t.s->lock);
	pthread_mutex_unlock(&t.s->lock);
}

/* Whether a metric is read without a bit of gk_with. */
static inline bool everyday(int metric)
{
	return gk_metrics[metric].tier != GK_TIER_ASKED &&
	       gk_metrics[metric].tier != GK_TIER_DETAIL &&
	       gk_metrics[metric].tier != GK_TIER_EVENT;
}

#define assert_value(value, want)                                              \
	do {                                                                   \
		assert_int_equal((value).why, GK_PRESENT);                     \
		assert_int_equal((value).v, (want));                           \
	} while (0)
#define assert_absent(value, reason)                                           \
	assert_int_equal((value).why, GK_ABSENT_##reason)

#define SCRIPTED_TEST(name)                                                    \
	cmocka_unit_test_setup_teardown(name, scripted_setup, scripted_teardown)

#endif
