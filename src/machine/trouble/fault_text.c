/* SPDX-License-Identifier: Apache-2.0 */
/* fault_text.c - parses and prints faults; see fault_text.h. */
#include "machine/trouble/fault_text.h"
#include "base/err.h"
#include "base/str.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/trouble/cuda_fault.h"
#include "machine/trouble/fault.h"

#include <stdio.h>
#include <string.h>

static int parse_pcie(const char *text, uint64_t *ret_argument)
{
	char generation[4] = "";
	const char *x = strchr(text, 'x');
	int64_t gen, width;

	if (!x || (size_t)(x - text) >= sizeof generation)
		return GK_ERR_INVALID;
	memcpy(generation, text, (size_t)(x - text));
	if (gk_parse_int(generation, &gen) || gk_parse_int(x + 1, &width) ||
	    gen < 0 || gen > 255 || width < 0 || width > 255)
		return GK_ERR_INVALID;
	*ret_argument = (uint64_t)gen << 8 | (uint64_t)width;
	return 0;
}

/* Parses "ERROR[@KERNEL][+N]". */
static int parse_error(const char *text, uint64_t *ret_argument)
{
	size_t word = strcspn(text, "@+"), name = 0;
	uint64_t argument = gkf_cuda_fault_find(text, (unsigned)word);
	int64_t after = 0;

	if (!argument)
		return GK_ERR_INVALID;
	text += word;
	if (*text == '@') {
		name = strcspn(++text, "+");
		if (!name)
			return GK_ERR_INVALID;
		argument |= (uint64_t)gkf_cuda_fault_hash(text, (unsigned)name)
			    << 32;
		text += name;
	}
	if (*text == '+' && (gk_parse_int(text + 1, &after) || after < 0 ||
			     after > GKF_CUDA_FAULT_AFTER_MAX))
		return GK_ERR_INVALID;
	*ret_argument = argument | (uint64_t)after << 16;
	return 0;
}

static int parse_argument(const struct gkf_fault_info *info, const char *text,
			  uint64_t *ret_argument)
{
	int64_t number;

	switch (info->argument) {
	case GKF_ARGUMENT_NOTHING:
		return GK_ERR_INVALID;
	case GKF_ARGUMENT_TIME:
		return gk_parse_duration(text, ret_argument);
	case GKF_ARGUMENT_PCIE:
		return parse_pcie(text, ret_argument);
	case GKF_ARGUMENT_ERROR:
		return parse_error(text, ret_argument);
	case GKF_ARGUMENT_NUMBER:
	case GKF_ARGUMENT_LINK:
		break;
	}
	if (gk_parse_int(text, &number) || number < 0)
		return GK_ERR_INVALID;
	*ret_argument = (uint64_t)number;
	return 0;
}

static void say_allowed(const struct gkf_fault_info *info, char *ret)
{
	switch (info->argument) {
	case GKF_ARGUMENT_NOTHING:
		gk_str_copy(ret, GKF_FAULT_TEXT_MAX, "it takes no argument");
		return;
	case GKF_ARGUMENT_TIME:
		gk_str_copy(ret, GKF_FAULT_TEXT_MAX,
			    "a time up to 1h, such as 200ms");
		return;
	case GKF_ARGUMENT_PCIE:
		gk_str_copy(ret, GKF_FAULT_TEXT_MAX,
			    "a PCIe generation 1 to 6 and a width 1 to 16, "
			    "such as 1x4");
		return;
	case GKF_ARGUMENT_ERROR:
		gk_str_copy(ret, GKF_FAULT_TEXT_MAX,
			    info->most > UINT16_MAX
				? "an error such as illegal-address, "
				  "launch-failed@KERNEL or assert+3"
				: "an error such as illegal-address, "
				  "launch-failed or assert");
		return;
	case GKF_ARGUMENT_NUMBER:
	case GKF_ARGUMENT_LINK:
		break;
	}
	snprintf(ret, GKF_FAULT_TEXT_MAX, "%llu to %llu",
		 (unsigned long long)info->least,
		 (unsigned long long)info->most);
}

/* Writes "one of 13, 31, 48...". */
static void say_xids(char *ret)
{
	size_t n = 0;

	for (unsigned i = 0; i < gkf_xid_count && n < GKF_FAULT_TEXT_MAX; i++)
		n += (size_t)snprintf(ret + n, GKF_FAULT_TEXT_MAX - n, "%s%u",
				      i ? ", " : "one of ", gkf_xids[i].number);
}

/* Parses "GI/CI". */
static int parse_instance(const char *text, uint32_t *ret_instance)
{
	char gi_text[8] = "";
	size_t len = strcspn(text, "/");
	int64_t gi, ci;

	if (!text[len] || len >= sizeof gi_text)
		return GK_ERR_INVALID;
	memcpy(gi_text, text, len);
	if (gk_parse_int(gi_text, &gi) || gk_parse_int(text + len + 1, &ci) ||
	    gi < 0 || gi > 0xff || ci < 0 || ci > 0xff)
		return GK_ERR_INVALID;
	*ret_instance = GKF_INSTANCE(gi, ci);
	return 0;
}

static int parse_xid(const char *text, struct gkf_breakage *ret, char *allowed)
{
	size_t len = strcspn(text, "@");
	uint32_t instance = GKF_NO_INSTANCE;
	char number_text[8] = "";
	const struct gkf_xid_info *xid = NULL;
	int64_t number;

	if (len < sizeof number_text)
		memcpy(number_text, text, len);
	if (!gk_parse_int(number_text, &number) && number >= 0 &&
	    number <= UINT16_MAX)
		xid = gkf_xid_find((unsigned)number);
	if (!xid) {
		say_xids(allowed);
		return GK_ERR_INVALID;
	}
	if (text[len] &&
	    (xid->becomes >= 0 || parse_instance(text + len + 1, &instance))) {
		gk_str_copy(allowed, GKF_FAULT_TEXT_MAX,
			    "of a program in an instance, such as xid=31@1/0");
		return GK_ERR_INVALID;
	}
	*ret = (struct gkf_breakage){
	    .is_xid = true, .xid = xid->number, .instance = instance};
	return 0;
}

int gkf_fault_parse(const char *text, struct gkf_breakage *ret_breakage,
		    char *ret_allowed)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	const struct gkf_fault_info *info;
	char name[64];
	uint64_t argument;
	int fault;

	if (len >= sizeof name)
		return GK_ERR_NOT_FOUND;
	memcpy(name, text, len);
	name[len] = '\0';
	if (!strcmp(name, "xid"))
		return parse_xid(equals ? equals + 1 : "", ret_breakage,
				 ret_allowed);
	fault = gkf_fault_by_name(name);
	if (fault < 0)
		return GK_ERR_NOT_FOUND;
	info = &gkf_faults[fault];
	argument = info->usual;
	if ((equals && parse_argument(info, equals + 1, &argument)) ||
	    !gkf_fault_takes(info, argument)) {
		say_allowed(info, ret_allowed);
		return GK_ERR_INVALID;
	}
	*ret_breakage = (struct gkf_breakage){.fault = (enum gkf_fault)fault,
					      .argument = argument};
	return 0;
}

int gkf_break(struct gkf_machine *m, unsigned device,
	      const struct gkf_breakage *breakage)
{
	if (!breakage->is_xid)
		return gkf_fault_begin(m, device, breakage->fault,
				       breakage->argument);
	return breakage->instance == GKF_NO_INSTANCE
		   ? gkf_xid(m, device, breakage->xid)
		   : gkf_xid_in(m, device, breakage->xid, breakage->instance);
}

static void print_links(uint64_t links, char *text, size_t cap)
{
	size_t n = 0;

	for (unsigned i = 0; i < 64 && n < cap; i++)
		if (links >> i & 1)
			n += (size_t)snprintf(text + n, cap - n, "%s%u",
					      n ? "," : "", i);
}

/* Prints "..." for a kernel, as only the hash of its name is known. */
static void print_error(uint64_t argument, char *text, size_t cap)
{
	const char *word = gkf_cuda_fault_word(GKF_CUDA_FAULT_RESULT(argument));
	unsigned after = GKF_CUDA_FAULT_AFTER(argument);
	int n = snprintf(text, cap, "%s%s", word ? word : "?",
			 GKF_CUDA_FAULT_NAME(argument) ? "@..." : "");

	if (after)
		snprintf(text + n, cap - (size_t)n, "+%u", after);
}

void gkf_fault_print(struct gkf_machine *m, unsigned device,
		     enum gkf_fault fault, char *ret_text, size_t cap)
{
	const struct gkf_fault_info *info = &gkf_faults[fault];
	uint64_t argument = gkf_fault_argument(m, device, fault);
	char text[GKF_FAULT_TEXT_MAX] = "";

	switch (info->argument) {
	case GKF_ARGUMENT_NOTHING:
		break;
	case GKF_ARGUMENT_TIME:
		snprintf(text, sizeof text, "%gms", (double)argument / 1e6);
		break;
	case GKF_ARGUMENT_PCIE:
		snprintf(text, sizeof text, "%ux%u", (unsigned)argument >> 8,
			 (unsigned)argument & 0xff);
		break;
	case GKF_ARGUMENT_ERROR:
		print_error(argument, text, sizeof text);
		break;
	case GKF_ARGUMENT_LINK:
		print_links(argument, text, sizeof text);
		break;
	case GKF_ARGUMENT_NUMBER:
		snprintf(text, sizeof text, "%llu",
			 (unsigned long long)argument);
		break;
	}
	snprintf(ret_text, cap, "%s%s%s", info->name, *text ? "=" : "", text);
}
