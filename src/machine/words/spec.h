/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.h - parses GPUs and loads: "h100:4,t4:2", "0-3", "train:0-3,mem=60GiB".
 * For the command only.
 *
 * All return 0, or a gk_err and one line in ret_message (GKF_SPEC_MESSAGE_MAX)
 * that says what is wrong and what is allowed. `key` is how that line names the
 * text: "--gpus".
 */
#ifndef GKF_SPEC_H
#define GKF_SPEC_H

#include "machine/file/numbers.h"
#include "machine/words/profile_yaml.h"

struct gkf_wave;

#define GKF_SPEC_MESSAGE_MAX GKF_PROFILE_MESSAGE_MAX

/*
 * Parses "h100:4,t4:2", "FILE.yaml:2" or "none" into at most GKF_DEVICES_MAX
 * profiles. dir is the directory of profiles.
 */
int gkf_spec_gpus(const char *key, const char *dir, const char *text,
		  struct gkf_profile *ret_profiles, unsigned *ret_count,
		  char *ret_message);

/* Parses "all", "3", "0-3", "0+2+5"; ',' works like '+'. */
int gkf_spec_list(const char *text, unsigned count, uint64_t *ret_mask,
		  char *ret_message);

/* A requested load. */
struct gkf_load_spec {
	enum gkf_wave_kind kind;
	uint64_t gpus; /* bit mask */
	/*
	 * MIG devices that are listed as well: for each GPU, a bit per index.
	 */
	uint8_t mig[GKF_DEVICES_MAX];
	unsigned n;   /* processes per GPU */
	uint64_t mem; /* bytes per process; 0: a share of the GPU */
	unsigned util, membw, enc, dec, jpg, ofa; /* percent */
	uint64_t period_ns;
};

/* Parses "train:0-3,mem=60GiB", "infer:0:1" (MIG device 1 of GPU 0). */
int gkf_spec_load(const char *key, const char *spec, unsigned count,
		  struct gkf_load_spec *ret, char *ret_message);

/* Bytes that a process of a load takes on a GPU with room_mib of memory. */
uint64_t gkf_spec_bytes(const struct gkf_load_spec *load, uint64_t room_mib,
			const struct gkf_profile *profile);

/* The wave of one process of a load, without start and stop. */
struct gkf_wave gkf_spec_wave(const struct gkf_load_spec *load, uint32_t seed);

/*
 * Parses a number in a unit of gkf_values: "250W", "250000", "250000mW"; bytes
 * and KiB also as sizes; bit masks also as 0x14. The caller checks the range.
 */
int gkf_spec_value(const char *text, const char *unit, int64_t *ret_value);

/* Parses the speed of machine time, 0.001 to 1000 times real time. */
int gkf_speed_parse(const char *text, uint64_t *ret_permille);

#endif
