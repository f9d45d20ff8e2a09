/* SPDX-License-Identifier: Apache-2.0 */
/* profile_schema.c - owns the table of profile keys; see profile_yaml.h. */
#include "machine/words/profile_schema.h"
#include "base/str.h"
#include "machine/file/profile.h"
#include "yaml/yaml.h"

#include <stdio.h>
#include <string.h>

static const char *const brands[] = {
    "UNKNOWN",     "QUADRO",    "TESLA",      "NVS",        "GRID",
    "GEFORCE",     "TITAN",     "QUADRO_RTX", "NVIDIA_RTX", "NVIDIA",
    "GEFORCE_RTX", "TITAN_RTX", NULL};

static const char *const architectures[] = {
    "KEPLER", "MAXWELL", "PASCAL", "VOLTA",     "TURING",
    "AMPERE", "ADA",     "HOPPER", "BLACKWELL", NULL};

#define PLACE(member)                                                          \
	offsetof(struct gkf_profile, member),                                  \
	    sizeof(((struct gkf_profile *)0)->member)

const struct gkf_field gkf_fields[] = {
    {"inherits", GKF_FIELD_INHERITS, .optional = true, .help = "id or path"},
    {"source", GKF_FIELD_SOURCE, .help = "where the values come from"},
    {"year", GKF_FIELD_YEAR, .min = 1990, .max = 2100, .optional = true,
     .help = "when the board came out"},
    {"aliases", GKF_FIELD_ALIASES, .optional = true, .help = "other ids"},
    {"name", GKF_FIELD_TEXT, PLACE(name), .help = "as NVML returns it"},
    {"mark", GKF_FIELD_TEXT, PLACE(mark), .optional = true, .may_be_none = true,
     .help = "put before the name"},
    {"brand", GKF_FIELD_TEXT, PLACE(brand), .words = brands, .help = "brand"},
    {"architecture", GKF_FIELD_TEXT, PLACE(architecture),
     .words = architectures, .help = "architecture"},
    {"vbios", GKF_FIELD_TEXT, PLACE(vbios), .optional = true,
     .help = "VBIOS version"},
    {"board_part_number", GKF_FIELD_TEXT, PLACE(part_number), .optional = true,
     .may_be_none = true, .help = "board part number"},
    {"inforom_image", GKF_FIELD_TEXT, PLACE(inforom_image), .optional = true,
     .may_be_none = true, .help = "InfoROM image version"},
    {"inforom_oem", GKF_FIELD_TEXT, PLACE(inforom_oem), .optional = true,
     .may_be_none = true, .help = "version of the InfoROM's OEM object"},
    {"inforom_ecc", GKF_FIELD_TEXT, PLACE(inforom_ecc), .optional = true,
     .may_be_none = true, .help = "version of the InfoROM's ECC object"},
    {"mig_layout", GKF_FIELD_TEXT, PLACE(mig_layout), .optional = true,
     .may_be_none = true,
     .help = "MIG layout at the start, such as 3g.40gb+1g.10gb"},
    {"cuda_clock_mhz", GKF_FIELD_INTEGER, PLACE(cuda_clock_mhz), 0, 10000,
     .help = "clock rate that CUDA reports; 0: the highest"},
#define FIELD(member, yaml_key, low, high, text)                               \
	{yaml_key, GKF_FIELD_INTEGER, PLACE(member), low, high, .help = text},
    GKF_PROFILE_INTEGERS(FIELD)
#undef FIELD
};

/* The integers that may be missing, and the value that each then has. */
static const struct {
	const char *key;
	int64_t value;
} missing[] = {
    {"own_memory", 1},
    {"bar1_mib", 0},
    {"l2_cache_kib", 0},
    {"pci_subsystem_id", 0},
    {"pcie_generation", 0},
    {"pcie_width", 0},
    {"memory_power_idle_mw", -1},
    {"power_limit_mw", 0},
    {"power_min_mw", 0},
    {"power_max_mw", 0},
    {"temperature_slowdown_c", -1},
    {"temperature_shutdown_c", -1},
    {"temperature_max_operating_c", -1},
    {"temperature_target_c", -1},
    {"memory_temperature_max_c", -1},
    {"memory_temperature_idle_c", -1},
    {"memory_temperature_busy_c", -1},
    {"encoders", 0},
    {"decoders", 0},
    {"jpeg_engines", 0},
    {"optical_flow_engines", 0},
    {"ecc", -1},
    {"row_remap_banks", -1},
    {"mig", -1},
    {"nvlinks", 0},
    {"nvlink_version", 0},
    {"nvlink_mbps", 0},
    {"addressing_mode", 0},
    {"c2c", -1},
    {"gsp", -1},
    {"cuda_clock_mhz", 0},
};

bool gkf_field_may_be_missing(const struct gkf_field *field, int64_t *ret_value)
{
	*ret_value = 0;
	if (field->kind != GKF_FIELD_INTEGER)
		return field->optional;
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		if (!strcmp(missing[i].key, field->key)) {
			*ret_value = missing[i].value;
			return true;
		}
	return false;
}

const size_t gkf_field_count = sizeof gkf_fields / sizeof *gkf_fields;

_Static_assert(sizeof gkf_fields / sizeof *gkf_fields <= GKF_FIELDS_MAX,
	       "room for every key");

int gkf_field_find(const char *key)
{
	for (size_t i = 0; i < gkf_field_count; i++)
		if (!strcmp(gkf_fields[i].key, key))
			return (int)i;
	return -1;
}

const char *gkf_field_like(const char *key)
{
	const char *words[GKF_FIELDS_MAX + 1] = {0};

	for (size_t i = 0; i < gkf_field_count; i++)
		words[i] = gkf_fields[i].key;
	return gk_yaml_like(key, words);
}

void gkf_field_describe(const struct gkf_field *field, char *text, size_t cap)
{
	struct gk_buf words = {0};

	if (field->kind == GKF_FIELD_INTEGER || field->kind == GKF_FIELD_YEAR) {
		snprintf(text, cap, "an integer from %lld to %lld%s (%s)",
			 (long long)field->min, (long long)field->max,
			 field->min == -1 ? " or 'none'" : "", field->help);
		return;
	}
	for (size_t i = 0; field->words && field->words[i]; i++)
		gk_buf_printf(&words, "%s%s", i ? ", " : "one of ",
			      field->words[i]);
	if (words.data)
		snprintf(text, cap, "%s", words.data);
	else if (field->kind == GKF_FIELD_TEXT)
		snprintf(text, cap, "a text of 1 to %zu bytes%s (%s)",
			 field->size - 1,
			 field->may_be_none ? " or 'none'" : "", field->help);
	else
		snprintf(text, cap, "a text%s (%s)",
			 field->kind == GKF_FIELD_INHERITS
			     ? ""
			     : " or a list of texts",
			 field->help);
	gk_buf_free(&words);
}
