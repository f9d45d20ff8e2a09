/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_torch.c - reads what PyTorch programs reported about their memory
 * (python/gpukit/fake/torch/report.py), and finds the smallest GPU that would
 * have been sufficient.
 */
#include "cli/fake/report/report_torch.h"
#include "cli/fake/fake.h"
#include "cli/where.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/store/board.h"
#include "machine/store/machine.h"
#include "machine/words/profile_yaml.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define GIB (1024.0 * 1024 * 1024)

/*
 * Memory that may be needed beyond the allocator's peak: unusable gaps in its
 * segments, workspaces of cuBLAS and cuDNN, and the kernels' code.
 */
#define MORE_PERCENT 10
#define MORE_BYTES   (512 * MIB)

static const char *const phases[] = {"forward", "backward", "optimizer"};
static const struct {
	const char *key, *says;
} categories[] = {
    {"parameters", "parameters"}, {"gradients", "gradients"},
    {"optimizer", "optimizer"},   {"activations", "activations and work areas"},
    {"other", "other"},           {"rounding", "rounding"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

int report_torch_begin(char *ret_folder, size_t cap)
{
	const char *above = getenv("TMPDIR");

	if ((size_t)snprintf(ret_folder, cap, "%s/gpukit-report-XXXXXX",
			     above && *above == '/' ? above : "/tmp") >= cap ||
	    !mkdtemp(ret_folder)) {
		*ret_folder = '\0';
		return fake_failure("--report: no folder for PyTorch's part: "
				    "%s; set TMPDIR",
				    strerror(errno));
	}
	return setenv("GPUKIT_TORCH_REPORT", ret_folder, 1)
		   ? fake_failure("out of memory")
		   : 0;
}

static int is_file(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

void report_torch_end(const char *folder)
{
	struct dirent **entries;
	char path[2 * PATH_MAX];
	int n = *folder ? scandir(folder, &entries, is_file, NULL) : -1;

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", folder,
			 entries[i]->d_name);
		unlink(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	if (*folder)
		rmdir(folder);
}

/* ---- which GPU is large enough ---- */

struct need {
	uint64_t bytes; /* memory that programs used, without the context */
	/* Lowest compute capability for which PyTorch has code; 70 for 7.0. */
	int64_t capability;
};

static bool is_sufficient(const struct gkf_profile *p, const struct need *need)
{
	int64_t room = p->memory_mib - p->reserved_mib - p->context_mib;

	return !*p->mig_layout &&
	       p->compute_major * 10 + p->compute_minor >= need->capability &&
	       room > 0 && (uint64_t)room * MIB >= need->bytes;
}

/*
 * Finds the sufficient profile with the least memory. Returns false if there is
 * none.
 */
static bool find_smallest(const struct need *need, struct gkf_profile *ret)
{
	char dir[PATH_MAX], message[FAKE_MESSAGE_MAX], *rest;
	struct gk_buf ids = {0};
	struct gkf_profile p;
	bool found = false;

	if (gk_where_profiles(dir, sizeof dir))
		return false;
	gkf_profile_list(dir, &ids);
	for (char *id = ids.data ? strtok_r(ids.data, ", ", &rest) : NULL; id;
	     id = strtok_r(NULL, ", ", &rest)) {
		if (gkf_profile_load(dir, id, &p, message, sizeof message) ||
		    !is_sufficient(&p, need) ||
		    (found && p.memory_mib >= ret->memory_mib))
			continue;
		*ret = p;
		found = true;
	}
	gk_buf_free(&ids);
	return found;
}

static json_t *smallest_json(uint64_t bytes, int64_t capability)
{
	struct gkf_profile p;

	return find_smallest(&(struct need){bytes, capability}, &p)
		   ? json_string(p.name)
		   : json_null();
}

static void put_fit(json_t *row, json_int_t allocated, json_int_t reserved,
		    json_int_t capability)
{
	uint64_t most =
	    (uint64_t)reserved * (100 + MORE_PERCENT) / 100 + MORE_BYTES;

	json_object_set_new(row, "needed_least_bytes", json_integer(allocated));
	json_object_set_new(row, "needed_most_bytes",
			    json_integer((json_int_t)most));
	json_object_set_new(row, "smallest_gpu",
			    smallest_json(most, capability));
	json_object_set_new(row, "smallest_gpu_perhaps",
			    smallest_json((uint64_t)allocated, capability));
}

/* ---- what programs reported ---- */

/*
 * Copies the numbers with the given keys. Returns NULL unless all of them
 * exist.
 */
static json_t *copy_numbers(const json_t *from, const char *const *keys,
			    size_t n)
{
	json_t *to = json_object();

	for (size_t i = 0; i < n; i++) {
		json_t *one = json_object_get(from, keys[i]);

		if (!json_is_integer(one) || json_integer_value(one) < 0) {
			json_decref(to);
			return NULL;
		}
		json_object_set(to, keys[i], one);
	}
	return to;
}

static json_t *categories_of(const json_t *from)
{
	const char *keys[COUNT(categories)];

	for (size_t i = 0; i < COUNT(categories); i++)
		keys[i] = categories[i].key;
	return copy_numbers(from, keys, COUNT(categories));
}

static json_t *device_of(struct gkf_machine *m, const char *uuid)
{
	for (unsigned i = 0; i < gkf_device_count(m); i++)
		if (!strcmp(gkf_board(m, i)->uuid, uuid))
			return json_integer((json_int_t)i);
	return json_null(); /* no GPU has this UUID: it is a MIG device's */
}

static bool is_phase(const char *name)
{
	for (size_t i = 0; i < COUNT(phases); i++)
		if (!strcmp(name, phases[i]))
			return true;
	return false;
}

/* Adds a row for one GPU of one process, or nothing if a member is missing. */
static void add_row(struct gkf_machine *m, json_t *list, json_t *told,
		    json_t *of)
{
	json_int_t pid, capability, allocated, reserved;
	const char *version, *uuid, *phase;
	json_t *by_phase, *by_category, *row;
	char clean[128];

	if (json_unpack(told, "{s:I, s:s, s:I}", "pid", &pid, "version",
			&version, "capability", &capability) ||
	    json_unpack(of, "{s:s, s:I, s:I, s:s}", "device", &uuid,
			"allocated_peak_bytes", &allocated,
			"reserved_peak_bytes", &reserved, "phase", &phase) ||
	    allocated < 0 || reserved < 0 || !is_phase(phase))
		return;
	by_phase =
	    copy_numbers(json_object_get(of, "phases"), phases, COUNT(phases));
	by_category = categories_of(json_object_get(of, "categories"));
	gk_str_clean(clean, sizeof clean, version, strlen(version));
	row =
	    by_phase && by_category
		? json_pack("{s:I, s:s, s:o, s:I, s:I, s:s, s:O, s:O}", "pid",
			    pid, "version", clean, "device", device_of(m, uuid),
			    "allocated_peak_bytes", allocated,
			    "reserved_peak_bytes", reserved, "phase", phase,
			    "phases", by_phase, "categories", by_category)
		: NULL;
	json_decref(by_phase);
	json_decref(by_category);
	if (!row)
		return;
	put_fit(row, allocated, reserved, capability);
	json_array_append_new(list, row);
}

static int is_told(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".json");
}

static void read_file(struct gkf_machine *m, json_t *list, const char *folder,
		      const char *name)
{
	char path[2 * PATH_MAX];
	json_t *told, *of;
	size_t i;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	told = json_load_file(path, 0, NULL);
	json_array_foreach(json_object_get(told, "devices"), i, of)
	    add_row(m, list, told, of);
	json_decref(told);
}

json_t *report_torch_read(struct gkf_machine *m, const char *folder)
{
	struct dirent **entries;
	json_t *list = json_array();
	int n = *folder ? scandir(folder, &entries, is_told, alphasort) : -1;

	for (int i = 0; i < n; i++) {
		read_file(m, list, folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return list;
}

/* ---- the list as text ---- */

static double read_gib(const json_t *from, const char *key)
{
	return (double)json_integer_value(json_object_get(from, key)) / GIB;
}

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "none of gpukit's";
}

static void put_row(const json_t *row, struct gk_buf *buf)
{
	const json_t *device = json_object_get(row, "device");
	const json_t *made = json_object_get(row, "categories");
	const json_t *when = json_object_get(row, "phases");

	gk_buf_printf(buf, "PyTorch %s, process %d", text_of(row, "version"),
		      (int)json_integer_value(json_object_get(row, "pid")));
	if (json_is_integer(device))
		gk_buf_printf(buf, ", GPU %d", (int)json_integer_value(device));
	gk_buf_printf(buf, ": %.3f GiB at the peak, %.3f reserved\n",
		      read_gib(row, "allocated_peak_bytes"),
		      read_gib(row, "reserved_peak_bytes"));
	for (size_t i = 0; i < COUNT(categories); i++)
		gk_buf_printf(buf, "%s%s %.3f", i ? ", " : "  of it ",
			      categories[i].says,
			      read_gib(made, categories[i].key));
	for (size_t i = 0; i < COUNT(phases); i++)
		gk_buf_printf(buf, "%s%s %.3f",
			      i ? ", " : "\n  peaks: ", phases[i],
			      read_gib(when, phases[i]));
	gk_buf_printf(
	    buf, "\n  needs %.3f to %.3f GiB and a context: fits on %s",
	    read_gib(row, "needed_least_bytes"),
	    read_gib(row, "needed_most_bytes"), text_of(row, "smallest_gpu"));
	if (!json_equal(json_object_get(row, "smallest_gpu"),
			json_object_get(row, "smallest_gpu_perhaps")))
		gk_buf_printf(buf, ", perhaps on %s",
			      text_of(row, "smallest_gpu_perhaps"));
	gk_buf_putc(buf, '\n');
}

void report_torch_text(const json_t *list, struct gk_buf *buf)
{
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row) put_row(row, buf);
}
