/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - throws dice for the arguments of NVML; see calls.h. */
#include "abi/nvml/nvml_abi.h"
#include "base/clock.h"
#include "base/mix.h"
#include "fronts/nvml/calls.h"
#include "fronts/nvml/params.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE        4096
#define PAGES       16 /* of a buffer */
#define LIST_MAX    48 /* elements of a list */
#define POOL        32 /* remembered handles of a kind */
#define WAIT_MAX_MS 2

/* Pointers within structs, and the word that counts what they point to. */
static const struct inner {
	const char *type;
	uint32_t pointer, count, size; /* offsets; the size of one in bytes */
} inners[] = {
#define INNER(type, pointer, count)                                            \
	{                                                                      \
#type, offsetof(type, pointer), offsetof(type, count),         \
		    sizeof(*((type *)0)->pointer)                              \
	}
    INNER(nvmlEccSramUniqueUncorrectedErrorCounts_t, entries, entryCount),
    INNER(nvmlSystemEventSetWaitRequest_t, data, dataSize),
    INNER(nvmlProcessDetailList_t, procArray, numProcArrayEntries),
    INNER(nvmlProcessesUtilizationInfo_t, procUtilArray, processSamplesCount),
    INNER(nvmlGetCPER_v1_t, buffer, bufferSize),
    INNER(nvmlPRMCounterList_v1_t, counters, numCounters),
    INNER(nvmlVgpuPlacementList_t, placementIds, count),
    INNER(nvmlVgpuInstancesUtilizationInfo_t, vgpuUtilArray, vgpuInstanceCount),
    INNER(nvmlVgpuProcessesUtilizationInfo_t, vgpuProcUtilArray,
	  vgpuProcessCount),
    INNER(nvmlVgpuTypeIdInfo_t, vgpuTypeIds, vgpuCount),
    INNER(nvmlActiveVgpuInstanceInfo_t, vgpuInstances, vgpuCount),
    INNER(nvmlVgpuCreatablePlacementInfo_t, placementIds, count),
#undef INNER
};

/* Handles within structs. */
static const struct held {
	const char *type;
	uint32_t offset;
	enum handle handle;
} helds[] = {
    {"nvmlSystemEventSetFreeRequest_t",
     offsetof(nvmlSystemEventSetFreeRequest_t, set), EVENT_SET},
    {"nvmlSystemRegisterEventRequest_t",
     offsetof(nvmlSystemRegisterEventRequest_t, set), EVENT_SET},
    {"nvmlSystemEventSetWaitRequest_t",
     offsetof(nvmlSystemEventSetWaitRequest_t, set), EVENT_SET},
    {"nvmlGpmMetricsGet_t", offsetof(nvmlGpmMetricsGet_t, sample1), GPM_SAMPLE},
    {"nvmlGpmMetricsGet_t", offsetof(nvmlGpmMetricsGet_t, sample2), GPM_SAMPLE},
};

/* Handles that NVML returned to all threads; some are stale. */
static void *_Atomic pool[HANDLES][POOL];

const char *calls_name(unsigned row)
{
	return functions[row].name;
}

unsigned calls_that_worked(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < function_count; i++)
		n += functions[i].worked;
	return n;
}

/* At the beginning every device is known. */
static void first_handles(void *library)
{
	void *at = dlsym(library, "nvmlInit_v2");
	void *by_index = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
	__typeof__(&nvmlInit_v2) init;
	__typeof__(&nvmlDeviceGetHandleByIndex_v2) get;
	nvmlDevice_t device = NULL;

	memcpy(&init, &at, sizeof at);
	memcpy(&get, &by_index, sizeof by_index);
	if (init())
		give_up("nvmlInit_v2", "failed");
	for (unsigned i = 0; i < POOL; i++) {
		if (get(i, &device) && get(i % 4, &device))
			give_up("nvmlDeviceGetHandleByIndex_v2", "failed");
		atomic_store(&pool[DEVICE][i], (void *)device);
	}
}

void calls_prepare(void *library)
{
	params_prepare(library);
	first_handles(library);
}

/* ---- dice ---- */

static uint64_t next(struct caller *c)
{
	c->dice = c->dice * 6364136223846793005ULL + 1442695040888963407ULL;
	return gkf_mix(c->dice);
}

uint32_t calls_below(struct caller *c, uint32_t n)
{
	return (uint32_t)(((next(c) >> 32) * n) >> 32);
}

static bool one_in(struct caller *c, uint32_t n)
{
	return !calls_below(c, n);
}

void calls_buffers(struct caller *c)
{
	for (int i = 0; i < CALLS_PARAMS * 2; i++) {
		unsigned char *all = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (all == MAP_FAILED ||
		    mprotect(all + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE))
			give_up("mmap", "no memory");
		c->buffers[i].pages = all + PAGE;
	}
}

/* Small numbers, limits of types, anything. */
static uint64_t number(struct caller *c)
{
	static const uint64_t borders[] = {
	    UINT64_MAX, INT64_MAX, UINT32_MAX, INT32_MAX, 0x80000000ULL,
	    1000,       0x10000,   255,        100,       0xffff,
	};

	switch (calls_below(c, 8)) {
	case 0:
		return borders[calls_below(c,
					   sizeof borders / sizeof *borders)];
	case 1:
		return next(c);
	default:
		return calls_below(c, 24);
	}
}

static void fill(struct caller *c, unsigned char *at, uint32_t size)
{
	static const unsigned char patterns[] = {0x00, 0xff, 0xa5};
	uint32_t n;

	memset(at, patterns[calls_below(c, sizeof patterns)], size);
	if (size < sizeof(uint32_t))
		return;
	for (n = calls_below(c, 4); n; n--) {
		uint32_t word = (uint32_t)number(c);
		uint32_t places = size / sizeof word;
		uint32_t place =
		    calls_below(c, places < 16 || one_in(c, 4) ? places : 16);

		memcpy(at + place * sizeof word, &word, sizeof word);
	}
}

/*
 * A buffer of size bytes: its end, or seldom its start, touches a forbidden
 * page.
 */
static unsigned char *buffer(struct caller *c, uint32_t size)
{
	struct caller_buffer *b = &c->buffers[c->used++];

	if (size > PAGES * PAGE)
		give_up("too long", functions[c->row].name);
	b->size = size;
	b->at = b->pages + (one_in(c, 8) ? 0 : PAGES * PAGE - size);
	fill(c, b->at, size);
	return b->at;
}

static void *handle(struct caller *c, int kind)
{
	void *good = atomic_load(&pool[kind][calls_below(c, POOL)]);

	switch (calls_below(c, 24)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(uintptr_t)next(c);
	case 2:
		return (void *)((uintptr_t)good + number(c) % 200);
	case 3:
		return atomic_load(
		    &pool[calls_below(c, HANDLES)][calls_below(c, POOL)]);
	default:
		return good;
	}
}

static unsigned char *text_in(struct caller *c)
{
	static const char *const texts[] = {
	    "",
	    "GPU-",
	    "00000000:07:00.0",
	    "0000:0F:00.0",
	    "0:17:0",
	    "GPU-00000000-0000-0000-0000-000000000000",
	    "MIG-00000000-0000-0000-0000-000000000000",
	    "MIG-GPU-00000000-0000-0000-0000-000000000000/1/0",
	    "%s%n%s%n%s%n",
	    "1320000000000",
	    "\xff\xfe\x80",
	};
	char word[300];
	size_t n;
	unsigned char *at;

	if (one_in(c, 4)) {
		n = calls_below(c, sizeof word);
		memset(word, 'A' + (int)calls_below(c, 26), n);
		word[n] = '\0';
	} else {
		snprintf(word, sizeof word, "%s",
			 texts[calls_below(c, sizeof texts / sizeof *texts)]);
	}
	n = strlen(word) + 1;
	at = buffer(c, (uint32_t)n);
	memcpy(at, word, n);
	return at;
}

/* ---- what pointers lead to ---- */

static void fill_inner(struct caller *c, const struct type *type,
		       unsigned char *at, uint32_t size)
{
	for (size_t i = 0; i < sizeof inners / sizeof *inners; i++) {
		const struct inner *in = &inners[i];
		uint32_t count = calls_below(c, LIST_MAX);
		unsigned char *list = NULL;

		if (strcmp(in->type, type->name) ||
		    size < in->pointer + sizeof list ||
		    size < in->count + sizeof count)
			continue;
		if (!one_in(c, 6))
			list = buffer(c, count * in->size);
		memcpy(at + in->pointer, &list, sizeof list);
		memcpy(at + in->count, &count, sizeof count);
	}
	for (size_t i = 0; i < sizeof helds / sizeof *helds; i++) {
		void *held;

		if (strcmp(helds[i].type, type->name) ||
		    size < helds[i].offset + sizeof held)
			continue;
		held = handle(c, helds[i].handle);
		memcpy(at + helds[i].offset, &held, sizeof held);
	}
	if (!strcmp(type->name, "nvmlSystemEventSetWaitRequest_t") &&
	    size > offsetof(nvmlSystemEventSetWaitRequest_t, set)) {
		uint32_t ms = calls_below(c, WAIT_MAX_MS);

		memcpy(at +
			   offsetof(nvmlSystemEventSetWaitRequest_t, timeoutms),
		       &ms, sizeof ms);
	}
}

/* A struct of any valid version, or of an invalid one: then a word. */
static unsigned char *versioned(struct caller *c, const struct type *type)
{
	uint32_t word, size, which = calls_below(c, VERSIONS_MAX);
	unsigned char *at;

	while (!type->versions[which])
		which--;
	word = type->versions[which];
	size = word & 0xffffff;
	if (one_in(c, 8)) {
		word = (uint32_t)number(c);
		size = sizeof(void *); /* the alignment of structs */
	}
	at = buffer(c, size);
	fill_inner(c, type, at, size);
	memcpy(at, &word, sizeof word);
	return at;
}

/* Exactly as many metrics as requested. */
static unsigned char *metrics(struct caller *c, const struct type *type)
{
	uint32_t n = calls_below(c, LIST_MAX), version = !one_in(c, 8);
	uint32_t size = offsetof(nvmlGpmMetricsGet_t, metrics) +
			n * (uint32_t)sizeof(nvmlGpmMetric_t);
	unsigned char *at = buffer(c, size);

	fill_inner(c, type, at, size);
	memcpy(at + offsetof(nvmlGpmMetricsGet_t, version), &version,
	       sizeof version);
	memcpy(at + offsetof(nvmlGpmMetricsGet_t, numMetrics), &n, sizeof n);
	return at;
}

static unsigned char *thing(struct caller *c, const struct param *p)
{
	unsigned char *at;

	if (p->type->versions[0])
		return versioned(c, p->type);
	if (!strcmp(p->type->name, "nvmlGpmMetricsGet_t"))
		return metrics(c, p->type);
	at = buffer(c, p->size);
	fill_inner(c, p->type, at, p->size);
	return at;
}

/* ---- a call ---- */

static uint64_t scalar(struct caller *c, const struct param *p)
{
	if (!strcmp(p->name, "timeoutms"))
		return calls_below(c, WAIT_MAX_MS);
	if (!strcmp(p->name, "lastSeenTimeStamp") && one_in(c, 2))
		return gk_wall_ns() / GK_NS_PER_US - calls_below(c, 2000000);
	if (!strcmp(p->name, "pid") && one_in(c, 2))
		return (uint64_t)getpid();
	return number(c);
}

/* Lengths come first, since the lists are made from them. */
static void throw_counts(struct caller *c, const struct function *f, long *args)
{
	for (unsigned i = 0; i < f->count; i++) {
		const struct param *p = &f->param[i];
		uint32_t n = calls_below(c, LIST_MAX);
		unsigned char *at;

		if (!p->counts)
			continue;
		if (p->kind == SCALAR) {
			args[i] = (long)n;
			continue;
		}
		if (one_in(c, 16))
			continue; /* NULL */
		at = buffer(c, sizeof n);
		memcpy(at, &n, sizeof n);
		args[i] = (long)at;
	}
}

static uint32_t list_bytes(const struct function *f, const struct param *p,
			   const long *args)
{
	const struct param *by = &f->param[p->counted_by];
	uint32_t n = (uint32_t)args[p->counted_by];

	if (f->roomy)
		return LIST_MAX * 2 * p->size;
	if (by->kind != SCALAR && !args[p->counted_by])
		return 0;
	if (by->kind != SCALAR)
		memcpy(&n, (void *)args[p->counted_by], sizeof n);
	return p->counts_bytes ? n - n % p->size : n * p->size;
}

static long throw_one(struct caller *c, const struct function *f,
		      const struct param *p, const long *args)
{
	if (p->kind == SCALAR)
		return (long)scalar(c, p);
	if (p->kind == HANDLE)
		return (long)handle(c, p->handle);
	if (one_in(c, 16))
		return 0;
	if (p->kind == TEXT_IN)
		return (long)text_in(c);
	if (p->counted_by >= 0)
		return (long)buffer(c, list_bytes(f, p, args));
	if (p->kind == TEXT_OUT)
		return (long)buffer(c, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE);
	return (long)thing(c, p);
}

/* Keeps the bytes that a refused call must leave alone. */
static void keep(struct caller *c)
{
	for (unsigned i = 0; i < c->used; i++) {
		struct caller_buffer *b = &c->buffers[i];

		b->kept =
		    b->size < sizeof b->before ? b->size : sizeof b->before;
		memcpy(b->before, b->at, b->kept);
	}
}

/* Both report the result of each entry, whatever they return. */
static bool tells_by_entry(const char *name)
{
	return !strcmp(name, "nvmlDeviceGetFieldValues") ||
	       !strcmp(name, "nvmlDeviceClearFieldValues");
}

static void compare(struct caller *c, long result)
{
	if (tells_by_entry(functions[c->row].name))
		return;
	if (result != NVML_ERROR_INVALID_ARGUMENT &&
	    result != NVML_ERROR_UNINITIALIZED &&
	    result != NVML_ERROR_NOT_SUPPORTED &&
	    result != NVML_ERROR_NO_PERMISSION &&
	    result != NVML_ERROR_GPU_IS_LOST &&
	    result != NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
		return;
	for (unsigned i = 0; i < c->used; i++)
		if (memcmp(c->buffers[i].before, c->buffers[i].at,
			   c->buffers[i].kept) &&
		    !*c->wrong)
			snprintf(c->wrong, sizeof c->wrong,
				 "seed %llu, call %llu: %s answered %ld and "
				 "wrote all the same",
				 (unsigned long long)c->seed,
				 (unsigned long long)c->done,
				 functions[c->row].name, result);
}

/* Whether a handle fits into the target of an argument. */
static bool has_room(const struct caller *c, long arg)
{
	for (unsigned i = 0; i < c->used; i++)
		if (c->buffers[i].at == (unsigned char *)arg)
			return c->buffers[i].size >= sizeof(void *);
	return false;
}

/* Keeps the handles that a call returned. */
static void harvest(struct caller *c, const struct function *f,
		    const long *args)
{
	for (unsigned i = 0; i < f->count; i++) {
		const struct param *p = &f->param[i];
		void *got;

		if ((p->kind != THING && p->kind != LIST) || p->handle < 0 ||
		    !has_room(c, args[i]))
			continue;
		memcpy(&got, (void *)args[i], sizeof got);
		atomic_store(&pool[p->handle][calls_below(c, POOL)], got);
	}
	if (!strcmp(f->name, "nvmlSystemEventSetCreate"))
		atomic_store(
		    &pool[EVENT_SET][calls_below(c, POOL)],
		    ((nvmlSystemEventSetCreateRequest_t *)args[0])->set);
}

static bool is_return(long result)
{
	static const int known[] = {
#define NVML_RETURN(name, value, text) value,
#include "abi/nvml/nvml_return.def"
#undef NVML_RETURN
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i] == (int)result)
			return true;
	return false;
}

void calls_once(struct caller *c)
{
	long args[CALLS_PARAMS] = {0}, result;
	struct function *f;

	do {
		c->row = calls_below(c, function_count);
		f = &functions[c->row];
	} while (!f->call);
	c->used = 0;
	throw_counts(c, f, args);
	for (unsigned i = 0; i < f->count; i++)
		if (!f->param[i].counts)
			args[i] = throw_one(c, f, &f->param[i], args);
	keep(c);
	result = (int)f->call(args[0], args[1], args[2], args[3], args[4],
			      args[5], args[6], args[7]);
	if (!is_return(result) && !*c->wrong)
		snprintf(c->wrong, sizeof c->wrong, "%s answered %ld", f->name,
			 result);
	compare(c, result);
	if (result == NVML_SUCCESS) {
		c->succeeded++;
		atomic_store_explicit(&f->worked, true, memory_order_relaxed);
		harvest(c, f, args);
	}
	__atomic_store_n(&c->done, c->done + 1, __ATOMIC_RELAXED);
}
