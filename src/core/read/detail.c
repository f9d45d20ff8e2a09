/* SPDX-License-Identifier: Apache-2.0 */
/* detail.c - reads the texts and the NVLinks of a GPU from the driver. */
#include "core/read/detail.h"
#include "base/array.h"

#include "core/read/collect_row.h"
#include "core/read/detail_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

/* NVML's numbers and their names. Any other number is an error. */
struct name {
	unsigned number;
	const char *name;
};

static const struct name brands[] = {
    {NVML_BRAND_UNKNOWN, "Unknown"},
    {NVML_BRAND_QUADRO, "Quadro"},
    {NVML_BRAND_TESLA, "Tesla"},
    {NVML_BRAND_NVS, "NVS"},
    {NVML_BRAND_GRID, "Grid"},
    {NVML_BRAND_GEFORCE, "GeForce"},
    {NVML_BRAND_TITAN, "Titan"},
    {NVML_BRAND_NVIDIA_VAPPS, "NVIDIA Virtual Applications"},
    {NVML_BRAND_NVIDIA_VPC, "NVIDIA Virtual PC"},
    {NVML_BRAND_NVIDIA_VCS, "NVIDIA Virtual Compute Server"},
    {NVML_BRAND_NVIDIA_VWS, "NVIDIA RTX Virtual Workstation"},
    {NVML_BRAND_NVIDIA_CLOUD_GAMING, "NVIDIA Cloud Gaming"},
    {NVML_BRAND_QUADRO_RTX, "Quadro RTX"},
    {NVML_BRAND_NVIDIA_RTX, "NVIDIA RTX"},
    {NVML_BRAND_NVIDIA, "NVIDIA"},
    {NVML_BRAND_GEFORCE_RTX, "GeForce RTX"},
    {NVML_BRAND_TITAN_RTX, "Titan RTX"},
};

static const struct name architectures[] = {
    {NVML_DEVICE_ARCH_KEPLER, "Kepler"},
    {NVML_DEVICE_ARCH_MAXWELL, "Maxwell"},
    {NVML_DEVICE_ARCH_PASCAL, "Pascal"},
    {NVML_DEVICE_ARCH_VOLTA, "Volta"},
    {NVML_DEVICE_ARCH_TURING, "Turing"},
    {NVML_DEVICE_ARCH_AMPERE, "Ampere"},
    {NVML_DEVICE_ARCH_ADA, "Ada Lovelace"},
    {NVML_DEVICE_ARCH_HOPPER, "Hopper"},
    {NVML_DEVICE_ARCH_BLACKWELL, "Blackwell"},
    {NVML_DEVICE_ARCH_RUBIN, "Rubin"},
};

static nvmlReturn_t find_name_text(const struct name *names, size_t count,
				   unsigned number, char s[GK_NAME_MAX])
{
	for (size_t i = 0; i < count; i++) {
		if (names[i].number != number)
			continue;
		snprintf(s, GK_NAME_MAX, "%s", names[i].name);
		return NVML_SUCCESS;
	}
	return NVML_ERROR_UNKNOWN;
}

static nvmlReturn_t read_brand(const struct gk_nvml *nvml, nvmlDevice_t dev,
			       char s[GK_NAME_MAX])
{
	nvmlBrandType_t brand = NVML_BRAND_UNKNOWN;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetBrand, dev, &brand);

	return r ? r : find_name_text(brands, COUNT(brands), brand, s);
}

static nvmlReturn_t read_architecture(const struct gk_nvml *nvml,
				      nvmlDevice_t dev, char s[GK_NAME_MAX])
{
	nvmlDeviceArchitecture_t arch = NVML_DEVICE_ARCH_UNKNOWN;
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetArchitecture, dev, &arch);

	return r ? r
		 : find_name_text(architectures, COUNT(architectures), arch, s);
}

static nvmlReturn_t read_board_part(const struct gk_nvml *nvml,
				    nvmlDevice_t dev, char s[GK_NAME_MAX])
{
	return GK_NVML_CALL(nvml, nvmlDeviceGetBoardPartNumber, dev, s,
			    GK_NAME_MAX);
}

/* NVML writes at most 64 bytes. */
static nvmlReturn_t read_gsp_version(const struct gk_nvml *nvml,
				     nvmlDevice_t dev, char s[GK_NAME_MAX])
{
	return GK_NVML_CALL(nvml, nvmlDeviceGetGspFirmwareVersion, dev, s);
}

static nvmlReturn_t read_inforom_image(const struct gk_nvml *nvml,
				       nvmlDevice_t dev, char s[GK_NAME_MAX])
{
	return GK_NVML_CALL(nvml, nvmlDeviceGetInforomImageVersion, dev, s,
			    GK_NAME_MAX);
}

#define INFOROM(name, object)                                                  \
	static nvmlReturn_t name(const struct gk_nvml *nvml, nvmlDevice_t dev, \
				 char s[GK_NAME_MAX])                          \
	{                                                                      \
		return GK_NVML_CALL(nvml, nvmlDeviceGetInforomVersion, dev,    \
				    object, s, GK_NAME_MAX);                   \
	}
INFOROM(read_inforom_oem, NVML_INFOROM_OEM)
INFOROM(read_inforom_ecc, NVML_INFOROM_ECC)
INFOROM(read_inforom_power, NVML_INFOROM_POWER)
#undef INFOROM

/* Formats 16 bytes as 8-4-4-4-12 digits. */
static nvmlReturn_t read_fabric_cluster(const struct gk_nvml *nvml,
					nvmlDevice_t dev, char s[GK_NAME_MAX])
{
	nvmlGpuFabricInfo_v2_t fabric = {.version = nvmlGpuFabricInfo_v2};
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetGpuFabricInfoV, dev,
				      (nvmlGpuFabricInfoV_t *)&fabric);
	size_t len = 0;

	for (int i = 0; i < NVML_GPU_FABRIC_UUID_LEN; i++)
		len += (size_t)snprintf(
		    s + len, GK_NAME_MAX - len, "%s%02x",
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		    fabric.clusterUuid[i]);
	return r;
}

static nvmlReturn_t read_chassis(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 char s[GK_NAME_MAX])
{
	nvmlPlatformInfo_v2_t info = {.version = nvmlPlatformInfo_v2};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetPlatformInfo, dev, &info);

	memcpy(s, info.chassisSerialNumber, sizeof info.chassisSerialNumber);
	s[sizeof info.chassisSerialNumber] = '\0';
	return r;
}

static nvmlReturn_t read_fabric_guid(const struct gk_nvml *nvml,
				     nvmlDevice_t dev, char s[GK_NAME_MAX])
{
	nvmlPlatformInfo_v2_t info = {.version = nvmlPlatformInfo_v2};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetPlatformInfo, dev, &info);
	uint64_t guid;

	memcpy(&guid, info.ibGuid, sizeof guid);
	snprintf(s, GK_NAME_MAX, "0x%016" PRIx64, guid);
	return r;
}

static nvmlReturn_t read_hostname(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  char s[GK_NAME_MAX])
{
	nvmlHostname_v1_t name = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetHostname_v1, dev, &name);

	snprintf(s, GK_NAME_MAX, "%.*s", (int)sizeof name.value, name.value);
	return r;
}

typedef nvmlReturn_t text_reader(const struct gk_nvml *nvml, nvmlDevice_t dev,
				 char s[GK_NAME_MAX]);

static text_reader *const texts[GK_T_COUNT] = {
    [GK_T_BRAND] = read_brand,
    [GK_T_ARCHITECTURE] = read_architecture,
    [GK_T_BOARD_PART] = read_board_part,
    [GK_T_GSP_VERSION] = read_gsp_version,
    [GK_T_INFOROM_IMAGE] = read_inforom_image,
    [GK_T_INFOROM_OEM] = read_inforom_oem,
    [GK_T_INFOROM_ECC] = read_inforom_ecc,
    [GK_T_INFOROM_POWER] = read_inforom_power,
    [GK_T_FABRIC_CLUSTER] = read_fabric_cluster,
    [GK_T_CHASSIS_SERIAL] = read_chassis,
    [GK_T_FABRIC_GUID] = read_fabric_guid,
    [GK_T_GPU_HOSTNAME] = read_hostname,
};

static nvmlReturn_t read_texts(const struct gk_nvml *nvml, nvmlDevice_t dev,
			       struct gk_text facts[GK_T_COUNT])
{
	for (int i = 0; i < GK_T_COUNT; i++) {
		nvmlReturn_t r = texts[i](nvml, dev, facts[i].s);

		if (gk_nvml_is_lost(r))
			return r;
		facts[i].s[GK_NAME_MAX - 1] = '\0';
		facts[i].why = gk_nvml_absence(r);
		if (facts[i].why)
			facts[i].s[0] = '\0';
	}
	return NVML_SUCCESS;
}

/* ---- links ---- */

/* Other kinds of devices at the end of a link are reported as unknown. */
static const struct {
	nvmlIntNvLinkDeviceType_t type;
	enum gk_link_end end;
} ends[] = {
    {NVML_NVLINK_DEVICE_TYPE_GPU, GK_LINK_END_GPU},
    {NVML_NVLINK_DEVICE_TYPE_SWITCH, GK_LINK_END_SWITCH},
    {NVML_NVLINK_DEVICE_TYPE_IBMNPU, GK_LINK_END_CPU},
};

enum gk_link_end gk_link_end_read(const struct gk_nvml *nvml, nvmlDevice_t dev,
				  unsigned link, char ret_bus_id[32])
{
	nvmlIntNvLinkDeviceType_t type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
	nvmlPciInfo_t pci = {0};

	memset(ret_bus_id, 0, 32);
	if (!GK_NVML_CALL(nvml, nvmlDeviceGetNvLinkRemotePciInfo_v2, dev, link,
			  &pci))
		memcpy(ret_bus_id, pci.busId, 31);
	if (GK_NVML_CALL(nvml, nvmlDeviceGetNvLinkRemoteDeviceType, dev, link,
			 &type))
		return GK_LINK_END_UNKNOWN;
	for (size_t i = 0; i < COUNT(ends); i++)
		if (ends[i].type == type)
			return ends[i].end;
	return GK_LINK_END_UNKNOWN;
}

static void put_result(struct gk_link *link, enum gk_link_metric metric,
		       nvmlReturn_t r, int64_t v)
{
	enum gk_absence why = gk_nvml_absence(r);
	struct gk_value value = {.v = why ? 0 : v, .why = why};

	link->m[metric] = gk_gate(value, &gk_link_metric_ranges[metric]);
}

static const struct {
	enum gk_link_metric gives;
	nvmlNvLinkErrorCounter_t counter;
} errors[] = {
    {GK_L_REPLAY, NVML_NVLINK_ERROR_DL_REPLAY},
    {GK_L_RECOVERY, NVML_NVLINK_ERROR_DL_RECOVERY},
    {GK_L_CRC_FLIT, NVML_NVLINK_ERROR_DL_CRC_FLIT},
    {GK_L_CRC_DATA, NVML_NVLINK_ERROR_DL_CRC_DATA},
    {GK_L_ECC_DATA, NVML_NVLINK_ERROR_DL_ECC_DATA},
};

/* Reads all values of a link except field values. */
static void read_link(const struct gk_nvml *nvml, nvmlDevice_t dev,
		      struct gk_link *link)
{
	unsigned version = 0;
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetNvLinkVersion, dev,
				      link->index, &version);

	put_result(link, GK_L_VERSION, r, version);
	link->end =
	    gk_link_end_read(nvml, dev, link->index, link->remote_bus_id);
	for (size_t i = 0; i < COUNT(errors); i++) {
		unsigned long long count = 0;

		r = GK_NVML_CALL(nvml, nvmlDeviceGetNvLinkErrorCounter, dev,
				 link->index, errors[i].counter, &count);
		put_result(link, errors[i].gives, r, GK_ROW_NUMBER(count, 1));
	}
}

/* The field values of a link. The scope of a query is the link's number. */
static const struct {
	enum gk_link_metric gives;
	unsigned id;
	int64_t scale;
} fields[] = {
    {GK_L_SPEED, NVML_FI_DEV_NVLINK_GET_SPEED, MHZ}, /* in MB/s */
    {GK_L_TX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, KIB},
    {GK_L_RX, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, KIB},
};

nvmlReturn_t gk_link_fields(const struct gk_nvml *nvml, nvmlDevice_t dev,
			    struct gk_link *links, size_t link_count)
{
	nvmlFieldValue_t asked[NVML_NVLINK_MAX_LINKS * COUNT(fields)] = {0};
	unsigned count = (unsigned)(link_count * COUNT(fields));
	nvmlReturn_t r;

	for (unsigned i = 0; i < count; i++) {
		asked[i].fieldId = fields[i % COUNT(fields)].id;
		asked[i].scopeId = links[i / COUNT(fields)].index;
	}
	r = GK_NVML_CALL(nvml, nvmlDeviceGetFieldValues, dev, (int)count,
			 asked);
	if (gk_nvml_is_lost(r))
		return r;
	for (unsigned i = 0; i < count; i++) {
		unsigned field = i % COUNT(fields);

		links[i / COUNT(fields)].m[fields[field].gives] =
		    gk_gate(gk_field_value(&asked[i], r, fields[field].scale),
			    &gk_link_metric_ranges[fields[field].gives]);
	}
	return NVML_SUCCESS;
}

/* Drivers return these codes for the index after the last link, or for a GPU
 * without links. */
bool gk_link_is_last(nvmlReturn_t r, unsigned index)
{
	return r == NVML_ERROR_INVALID_ARGUMENT ||
	       r == NVML_ERROR_FUNCTION_NOT_FOUND ||
	       (!index && r == NVML_ERROR_NOT_SUPPORTED);
}

static nvmlReturn_t read_links(const struct gk_nvml *nvml, nvmlDevice_t dev,
			       struct gk_detail *detail)
{
	for (unsigned i = 0; i < GK_LINKS_MAX; i++) {
		struct gk_link *link = &detail->links[detail->link_count];
		nvmlEnableState_t active = NVML_FEATURE_DISABLED;
		nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetNvLinkState,
					      dev, i, &active);

		if (gk_nvml_is_lost(r))
			return r;
		if (gk_link_is_last(r, i))
			break;
		if (r == NVML_ERROR_NOT_SUPPORTED)
			continue;
		link->index = i;
		put_result(link, GK_L_ACTIVE, r, (int64_t)active);
		read_link(nvml, dev, link);
		detail->link_count++;
	}
	if (!detail->link_count)
		return NVML_SUCCESS;
	return gk_link_fields(nvml, dev, detail->links, detail->link_count);
}

nvmlReturn_t gk_detail_read(struct gk_gpu *gpu)
{
	struct gk_detail *detail = calloc(1, sizeof *detail);
	nvmlReturn_t r;

	if (!detail)
		return NVML_SUCCESS;
	r = read_texts(gpu->nvml, gpu->units[0].handle, detail->facts);
	if (!r)
		r = read_links(gpu->nvml, gpu->units[0].handle, detail);
	if (!r && gpu->with & GK_WITH_LISTS)
		r = gk_detail_lists_read(gpu->nvml, gpu->units[0].handle,
					 &detail);
	if (r) {
		free(detail);
		return r;
	}
	free(gpu->detail);
	gpu->detail = detail;
	return NVML_SUCCESS;
}
