/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - reads the parameters of NVML; see params.h. */
#include "abi/nvml/nvml_abi.h"
#include "fronts/nvml/params.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const handle_types[HANDLES] = {
    "nvmlDevice_t",   "nvmlGpuInstance_t", "nvmlComputeInstance_t",
    "nvmlEventSet_t", "nvmlGpmSample_t",   "nvmlUnit_t",
};

static const struct type types[] = {
#define TYPE(type)           {#type, sizeof(type), {0}},
#define VERSIONED(type, ...) {#type, sizeof(type), {__VA_ARGS__}},
#include "fronts/nvml/types.def"
#undef TYPE
#undef VERSIONED
    {"unsigned int", sizeof(unsigned), {0}},
    {"unsigned long", sizeof(unsigned long), {0}},
    {"unsigned long long", sizeof(unsigned long long), {0}},
    {"int", sizeof(int), {0}},
};
#define TYPES (sizeof types / sizeof *types)

/* Functions without a suffix whose struct was shorter. */
static const struct {
	const char *function;
	uint32_t size;
} shorter[] = {
    {"nvmlDeviceGetPciInfo", 52},
    {"nvmlDeviceGetPciInfo_v2", 52},
    {"nvmlDeviceGetNvLinkRemotePciInfo", 52},
    {"nvmlEventSetWait", offsetof(nvmlEventData_t, gpuInstanceId)},
    {"nvmlDeviceGetAttributes", 24},
    {"nvmlComputeInstanceGetInfo", 24},
};

/*
 * Functions whose list comes without its size: there must be room for the
 * maximum, and the count is only returned.
 */
static const char *const roomy[] = {
    "nvmlDeviceGetGpuInstancePossiblePlacements",
    "nvmlDeviceGetGpuInstancePossiblePlacements_v2",
    "nvmlDeviceGetGpuInstances",
    "nvmlGpuInstanceGetComputeInstancePossiblePlacements",
    "nvmlGpuInstanceGetComputeInstances",
};

struct function functions[] = {
#define NVML(symbol, major, minor, core, mig, limit, refused, params_)         \
	{.name = #symbol, .params = #params_},
#include "abi/nvml/nvml.def"
#undef NVML
};

const unsigned function_count = sizeof functions / sizeof *functions;

void give_up(const char *what, const char *text)
{
	fprintf(stderr, "nvml_calls: %s: %s\n", what, text);
	abort();
}

static bool is_count(const char *name)
{
	size_t n = strlen(name);

	return n >= 5 && !strcmp(name + n - 5 + 1, "ount") &&
	       strchr("cC", name[n - 5]);
}

static const struct type *find_type(const char *name)
{
	for (size_t i = 0; i < TYPES; i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	give_up("no such type in types.def", name);
	return NULL;
}

static int find_handle(const char *type)
{
	for (int h = 0; h < HANDLES; h++)
		if (!strcmp(handle_types[h], type))
			return h;
	return -1;
}

/* "const nvmlUUID_t *uuid" */
static void parse_param(struct param *p, char *text)
{
	char *name, *star = strchr(text, '*');
	bool constant = !strncmp(text, "const ", 6);

	if (constant)
		text += 6;
	name = strrchr(text, star ? '*' : ' ');
	if (!name)
		give_up("not understood", text);
	*name++ = '\0';
	while (*text && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	snprintf(p->name, sizeof p->name, "%s", name);
	p->counted_by = -1;
	p->handle = find_handle(text);
	if (!star) {
		p->kind = p->handle >= 0 ? HANDLE : SCALAR;
	} else if (!strcmp(text, "char")) {
		p->kind = constant ? TEXT_IN : TEXT_OUT;
		p->size = 1;
	} else {
		p->kind = THING;
		p->type = find_type(text);
		p->size = p->type->size;
	}
}

static bool says_length(const struct param *p)
{
	static const char *const names[] = {"length",      "size",
					    "bufferSize",  "cpuSetSize",
					    "nodeSetSize", "valuesCount"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(p->name, names[i]))
			return true;
	return p->kind == THING && p->size == sizeof(unsigned) &&
	       is_count(p->name);
}

static bool may_be_list(const struct param *p)
{
	return p->kind == TEXT_OUT ||
	       (p->kind == THING && strncmp(p->name, "average", 7) &&
		strcmp(p->name, "sampleValType") && !p->counts &&
		strcmp(p->name, "branchInfo") && strcmp(p->name, "vmIdType"));
}

/*
 * Finds the parameter that is the length of another one: next to it, or two
 * away.
 */
static void find_lists(struct function *f)
{
	for (unsigned i = 0; i < f->count; i++) {
		struct param *count = &f->param[i];

		if (!says_length(count))
			continue;
		for (unsigned k = 0; k < f->count; k++) {
			struct param *p = &f->param[k];
			bool near = k + 1 == i || k == i + 1 ||
				    (k == i + 2 && p[-1].counted_by == (int)i);

			if (k == i || !near || !may_be_list(p) ||
			    says_length(p) || p->counted_by >= 0)
				continue;
			count->counts = true;
			p->counted_by = (int)i;
			p->counts_bytes = !strcmp(f->param[i].name, "size");
			if (p->kind == THING)
				p->kind = LIST;
		}
	}
}

static void parse(struct function *f)
{
	char text[512], *save = NULL;

	snprintf(text, sizeof text, "%s", f->params + 1);
	text[strlen(text) - 1] = '\0';
	for (char *word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		word += *word == ' ';
		if (!strcmp(word, "void"))
			break;
		if (f->count == CALLS_PARAMS)
			give_up("too many parameters", f->name);
		parse_param(&f->param[f->count++], word);
	}
	find_lists(f);
	for (unsigned k = 0; k < f->count; k++)
		if (f->param[k].kind == TEXT_OUT &&
		    f->param[k].counted_by < 0 &&
		    strcmp(f->name, "nvmlDeviceGetGspFirmwareVersion"))
			give_up("a text of unknown length", f->name);
	for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
		for (unsigned k = 0; k < f->count; k++)
			if (!strcmp(f->name, shorter[i].function) &&
			    f->param[k].kind == THING)
				f->param[k].size = shorter[i].size;
	for (size_t i = 0; i < sizeof roomy / sizeof *roomy; i++)
		f->roomy |= !strcmp(f->name, roomy[i]);
}

void params_prepare(void *library)
{
	for (unsigned i = 0; i < function_count; i++) {
		void *at = dlsym(library, functions[i].name);

		/*
		 * It is newer than the driver of this front: there is nothing
		 * to call.
		 */
		memcpy(&functions[i].call, &at, sizeof at);
		parse(&functions[i]);
	}
}
