/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoder.c - reports sessions of the video encoder and of frame buffer
 * capture.
 *
 * A process that uses the encoder has one session of 1920x1080, H.264; if it
 * also has graphics work, it captures what it encodes. The frame rate follows
 * from the load: a fully busy engine encodes ENGINE_FPS frames a second
 * (estimated; NVIDIA's Video Codec SDK states that order of magnitude for its
 * fast presets). Latency grows with the load. Boards without an encoder report
 * no sessions, as real ones do.
 */
#include "fronts/nvml/process/process.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"

#define ENGINE_FPS 600
#define WIDTH      1920
#define HEIGHT     1080

struct session {
	unsigned id, pid;
	unsigned fps, latency_us;
};

struct sessions {
	struct session *at;
	/*
	 * `count` may exceed `cap`; `at` then has only the first `cap`
	 * sessions.
	 */
	unsigned count, cap;
	uint64_t fps, latency_us; /* sums over all sessions */
};

/* A process's session in a bin. */
static struct session measure_session(const struct call *c,
				      const struct gkf_process *p,
				      const struct gkf_wave *wave, uint64_t bin,
				      uint32_t demand)
{
	struct gkf_share share = gkf_share_at(wave, bin, demand);
	int64_t busy = 0;
	struct session s = {.id = p->slot + 1, .pid = (unsigned)p->pid};

	read_device_value(c, GKF_V_ENC_UTIL, &busy);
	s.fps =
	    share.enc * ENGINE_FPS * (unsigned)c->board->profile.encoders / 100;
	if (s.fps)
		s.latency_us =
		    1000000 / ENGINE_FPS * (100 + (unsigned)busy) / 100;
	return s;
}

/* Reads the sessions of processes that have one of the types. */
static nvmlReturn_t read_sessions(const struct call *c, unsigned types,
				  struct session *at, unsigned cap,
				  struct sessions *ret)
{
	uint64_t now = gkf_machine_bin(c->machine), bin = now ? now - 1 : 0;
	uint32_t demand = gkf_demand_at(c->machine, c->index, bin);
	struct process_list l;
	nvmlReturn_t r = process_list_read(c, types, &l);

	*ret = (struct sessions){.at = at, .cap = cap};
	for (unsigned i = 0; !r && i < l.count; i++) {
		struct gkf_wave wave;
		struct session s;

		if (!gkf_process_wave(c->machine, &l.at[i], &wave) ||
		    !wave.encoder_permille || c->board->profile.encoders <= 0)
			continue;
		s = measure_session(c, &l.at[i], &wave, bin, demand);
		ret->fps += s.fps;
		ret->latency_us += s.latency_us;
		if (ret->count < cap)
			at[ret->count] = s;
		ret->count++;
	}
	process_list_free(&l);
	return r;
}

static unsigned mean_of_sessions(uint64_t sum, unsigned count)
{
	return count ? (unsigned)(sum / count) : 0;
}

/* Reports the free encoder capacity, in percent. */
nvmlReturn_t nvmlDeviceGetEncoderCapacity(nvmlDevice_t device,
					  nvmlEncoderType_t encoderQueryType,
					  unsigned int *encoderCapacity)
{
	const struct gkf_profile *p;
	int64_t busy;

	ENTER_DEVICE(nvmlDeviceGetEncoderCapacity, device,
		     encoderCapacity &&
			 (unsigned)encoderQueryType <= NVML_ENCODER_QUERY_AV1);
	p = &c.board->profile;
	if (p->encoders <= 0 || !read_device_value(&c, GKF_V_ENC_UTIL, &busy))
		return NVML_ERROR_NOT_SUPPORTED;
	/* AV1 encoders came with Ada, compute capability 8.9. */
	if (encoderQueryType == NVML_ENCODER_QUERY_AV1 &&
	    p->compute_major * 10 + p->compute_minor < 89)
		return NVML_ERROR_NOT_SUPPORTED;
	*encoderCapacity = 100 - (unsigned)busy;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device,
				       unsigned int *sessionCount,
				       unsigned int *averageFps,
				       unsigned int *averageLatency)
{
	struct sessions all;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetEncoderStats, device,
		     sessionCount && averageFps && averageLatency);
	r = read_sessions(&c, PROCESS_ANY_TYPE, NULL, 0, &all);
	if (r)
		return r;
	*sessionCount = all.count;
	*averageFps = mean_of_sessions(all.fps, all.count);
	*averageLatency = mean_of_sessions(all.latency_us, all.count);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device,
				   nvmlFBCStats_t *fbcStats)
{
	struct sessions all;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetFBCStats, device, fbcStats != NULL);
	r = read_sessions(&c, GKF_GRAPHICS, NULL, 0, &all);
	if (r)
		return r;
	*fbcStats = (nvmlFBCStats_t){
	    .sessionsCount = all.count,
	    .averageFPS = mean_of_sessions(all.fps, all.count),
	    .averageLatency = mean_of_sessions(all.latency_us, all.count),
	};
	return NVML_SUCCESS;
}

typedef void put_fn(void *records, unsigned i, const struct session *s);

static void put_encoder(void *records, unsigned i, const struct session *s)
{
	((nvmlEncoderSessionInfo_t *)records)[i] = (nvmlEncoderSessionInfo_t){
	    .sessionId = s->id,
	    .pid = s->pid,
	    .codecType = NVML_ENCODER_QUERY_H264,
	    .hResolution = WIDTH,
	    .vResolution = HEIGHT,
	    .averageFps = s->fps,
	    .averageLatency = s->latency_us,
	};
}

static void put_capture(void *records, unsigned i, const struct session *s)
{
	((nvmlFBCSessionInfo_t *)records)[i] = (nvmlFBCSessionInfo_t){
	    .sessionId = s->id,
	    .pid = s->pid,
	    .sessionType = NVML_FBC_SESSION_TYPE_HWENC,
	    .hMaxResolution = WIDTH,
	    .vMaxResolution = HEIGHT,
	    .hResolution = WIDTH,
	    .vResolution = HEIGHT,
	    .averageFPS = s->fps,
	    .averageLatency = s->latency_us,
	};
}

/* The maximum number of sessions to report; boards run fewer. */
#define SESSIONS_MAX 256

/* *count is the capacity of `records`, and becomes the number of sessions. If
 * it is 0, only the number is returned, without an error. */
static nvmlReturn_t give_sessions(const struct call *c, unsigned types,
				  unsigned *count, void *records, put_fn *put)
{
	struct session room[SESSIONS_MAX];
	struct sessions all;
	nvmlReturn_t r = read_sessions(c, types, room, SESSIONS_MAX, &all);
	bool asked = *count == 0;

	if (r)
		return r;
	if (all.count > SESSIONS_MAX)
		all.count = SESSIONS_MAX;
	if (!asked && *count < all.count)
		r = NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; !r && !asked && i < all.count; i++)
		put(records, i, &room[i]);
	*count = all.count;
	return r;
}

nvmlReturn_t nvmlDeviceGetEncoderSessions(nvmlDevice_t device,
					  unsigned int *sessionCount,
					  nvmlEncoderSessionInfo_t *infos)
{
	ENTER_DEVICE(nvmlDeviceGetEncoderSessions, device,
		     sessionCount && (infos || !*sessionCount));
	return give_sessions(&c, PROCESS_ANY_TYPE, sessionCount, infos,
			     put_encoder);
}

nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device,
				      unsigned int *sessionCount,
				      nvmlFBCSessionInfo_t *infos)
{
	ENTER_DEVICE(nvmlDeviceGetFBCSessions, device,
		     sessionCount && (infos || !*sessionCount));
	return give_sessions(&c, GKF_GRAPHICS, sessionCount, infos,
			     put_capture);
}
