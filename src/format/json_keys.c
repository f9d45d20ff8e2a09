/* SPDX-License-Identifier: Apache-2.0 */
/* json_keys.c - owns the tables of keys and words in a snapshot's JSON. */
#include "format/json_keys.h"

const char *const gk_json_types[GK_JSON_TYPES] = {"compute", "graphics", "mps"};

const char *const gk_json_tiers[GK_JSON_TIERS] = {
    [GK_TIER_FAST] = "fast",     [GK_TIER_MEDIUM] = "medium",
    [GK_TIER_SLOW] = "slow",     [GK_TIER_ASKED] = "asked",
    [GK_TIER_DETAIL] = "detail",
};

#define AT(member) offsetof(struct gk_host, member)
const struct gk_json_value gk_json_host_values[GK_JSON_HOST_VALUES] = {
    {"cpu_percent", GK_UNIT_CENTIPERCENT, AT(cpu_centipercent)},
    {"load_average_1m", GK_UNIT_CENTIPERCENT, AT(load_centi[0])},
    {"load_average_5m", GK_UNIT_CENTIPERCENT, AT(load_centi[1])},
    {"load_average_15m", GK_UNIT_CENTIPERCENT, AT(load_centi[2])},
    {"memory_total_bytes", GK_UNIT_BYTES, AT(mem_total)},
    {"memory_available_bytes", GK_UNIT_BYTES, AT(mem_available)},
    {"swap_total_bytes", GK_UNIT_BYTES, AT(swap_total)},
    {"swap_free_bytes", GK_UNIT_BYTES, AT(swap_free)},
};
