/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.h - the checks that every entry point of this NVML makes first: NVML is
 * initialised, the arguments are usable, the GPU exists. The call is also
 * counted, and delayed as the driver would delay it.
 *
 * Calls take no lock. The machine stays mapped even if another thread shuts
 * NVML down during a call; it is unmapped only after the process has opened
 * OPENED_MAX other machines (init.c).
 */
#ifndef GKF_NVML_FRONT_H
#define GKF_NVML_FRONT_H

#include "abi/nvml/nvml_abi.h"
#include "base/assert.h"
#include "fronts/common/generations.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"

#include <sys/stat.h>

/*
 * A number for each row of nvml.def; it is the index in calls[], refused[] and
 * extra_ns[].
 */
enum nvml_row {
#define NVML(symbol, ...) ROW_##symbol,
#include "abi/nvml/nvml.def"
#undef NVML
	ROW_COUNT
};

/* Versions of structs, named after their macros. */
enum front_struct {
#define STRUCT_SINCE(macro, major, minor) STRUCT_##macro,
#include "abi/nvml/nvml_struct_since.def"
#undef STRUCT_SINCE
	STRUCT_COUNT
};

/* A machine that this process has open. */
struct opened {
	struct gkf_machine *machine;
	const struct gkf_gate *gate;
	unsigned device_count;
	dev_t dev; /* dev and ino identify the file that was opened */
	ino_t ino;
};

/*
 * The machine and GPU of a call. enter_device() sets board and index; before
 * that, index is FRONT_NO_DEVICE.
 */
#define FRONT_NO_DEVICE UINT32_MAX
struct call {
	struct gkf_machine *machine;
	const struct gkf_gate *gate;
	const struct gkf_board *board;
	unsigned device_count;
	unsigned index;
	/* Instance of a MIG device; GKF_NO_INSTANCE: a GPU. */
	uint32_t instance;
	/* differs from that of a later instance with the same number */
	uint32_t life;
};

/*
 * A handle points into this table; only its index matters. Each entry has 64
 * bytes, so that programs may dereference a handle.
 */
struct nvmlDevice_st {
	unsigned char room[64];
};

extern struct nvmlDevice_st front_handles[GKF_DEVICES_MAX];

/* The machine in use; NULL while NVML is not initialised. */
extern _Atomic(struct opened *) front_current;

/* The driver generation that this library imitates (generation.c). */
extern __attribute__((visibility("hidden")))
const struct gkf_generation *const front_generation;

/* GKF_LEVEL() of the first driver that accepts a version of a struct. */
extern __attribute__((visibility("hidden")))
const unsigned front_struct_since[STRUCT_COUNT];

/* Converts a gk_err to NVML's return code. */
nvmlReturn_t front_error(int gk_err);

/* Makes the call take as long as the driver's (latency.c). */
void front_hold(const struct gkf_gate *gate, enum nvml_row row);

/*
 * Delays a call and applies the rules that users have set, which may make it
 * fail (fault.c).
 */
nvmlReturn_t front_disturb(const struct call *c, enum nvml_row row);

/*
 * The result of a call on a GPU with a fault. Depending on the fault, the
 * function returns late, or only after the fault has been cleared (fault.c).
 */
nvmlReturn_t front_broken(const struct call *c, enum nvml_row row);

/*
 * Sleeps as gkf_event_sleep() does, but at most until the next step of a
 * scenario (fault.c). After waking, call front_look().
 */
void front_sleep(struct gkf_machine *machine, uint32_t word, uint64_t ns);

/*
 * Applies the scenario steps that are due. Returns the word to pass to
 * front_sleep().
 */
uint32_t front_look(struct gkf_machine *machine);

/* Whether the handle of an existing GPU can be obtained (fault.c). */
nvmlReturn_t front_lookup(const struct call *c, unsigned index, bool by_pci);

/* The result of nvmlInit that the machine's faults cause (fault.c). */
nvmlReturn_t front_machine_fault(struct gkf_machine *machine);

/* Frees all event sets, as the last nvmlShutdown does (event.c). */
void front_drop_events(struct gkf_machine *machine);

/* Microseconds since 1970, as in NVML's samples. */
uint64_t front_wall_us(void);

/*
 * Copies a string of at most from_len bytes and appends a NUL. If it does not
 * fit in `len` bytes, returns INSUFFICIENT_SIZE and writes nothing.
 */
nvmlReturn_t front_copy(char *to, unsigned len, const char *from,
			size_t from_len);

/* Whether this driver accepts that version of a struct. */
static inline bool front_knows(enum front_struct row)
{
	return front_struct_since[row] <= front_generation->level;
}

/*
 * Whether the caller has set this version of a struct and this driver accepts
 * it, as in TAKES(p->version, nvmlMemory_v2). If no version matches, callers
 * return NVML_ERROR_ARGUMENT_VERSION_MISMATCH.
 */
#define TAKES(given, macro) ((given) == (macro) && front_knows(STRUCT_##macro))

/*
 * Counts a call and finds its machine. Returns UNINITIALIZED, or GPU_IS_LOST if
 * the machine's file was truncated.
 */
static inline nvmlReturn_t begin_call(struct call *c, enum nvml_row row)
{
	const struct opened *o;

	o = atomic_load_explicit(&front_current, memory_order_acquire);
	if (__builtin_expect(!o, 0))
		return NVML_ERROR_UNINITIALIZED;
	c->machine = o->machine;
	c->gate = o->gate;
	c->device_count = o->device_count;
	c->index = FRONT_NO_DEVICE;
	gkf_machine_follow(c->machine);
	gkf_gate_look(c->machine, c->gate);
	atomic_fetch_add_explicit(&c->gate->calls[row], 1,
				  memory_order_relaxed);
	return gkf_gate_whole(c->machine, c->gate) ? NVML_SUCCESS
						   : NVML_ERROR_GPU_IS_LOST;
}

/* Delays the call. Returns an error if a rule makes the call fail. */
static inline nvmlReturn_t hold_device(const struct call *c, enum nvml_row row)
{
	const struct gkf_gate *g = c->gate;
	uint64_t unusual = gkf_gate_word(g->latency) | gkf_gate_word(g->rules) |
			   gkf_gate_word(&g->extra_ns[row]);

	return __builtin_expect(unusual != 0, 0) ? front_disturb(c, row)
						 : NVML_SUCCESS;
}

/* The error caused by faults of the call's device, if any. */
static inline nvmlReturn_t check_faults(const struct call *c, enum nvml_row row)
{
	uint64_t faults;

	GK_ASSERT(c->index < c->device_count);
	faults = gkf_gate_word(c->gate->device[c->index].faults);
	return __builtin_expect(faults != 0, 0) ? front_broken(c, row)
						: NVML_SUCCESS;
}

/* The index of a handle; at least GKF_DEVICES_MAX if it is not a GPU's handle.
 */
static inline size_t handle_index(nvmlDevice_t handle)
{
	size_t offset = (uintptr_t)handle - (uintptr_t)front_handles;

	return offset % sizeof(*front_handles)
		   ? SIZE_MAX
		   : offset / sizeof(*front_handles);
}

/* Enters a call that does not concern a device. */
static inline nvmlReturn_t enter_call(struct call *c, enum nvml_row row,
				      bool arguments_ok)
{
	nvmlReturn_t r = begin_call(c, row);

	if (r)
		return r;
	if (!arguments_ok)
		return NVML_ERROR_INVALID_ARGUMENT;
	return hold_device(c, row);
}

static inline nvmlReturn_t admit_call(const struct call *c, enum nvml_row row)
{
	nvmlReturn_t r = hold_device(c, row);

	return r ? r : check_faults(c, row);
}

/* Like enter_device(), for a handle that is not a GPU's (mig_handle.c). */
nvmlReturn_t front_enter_mig(struct call *c, enum nvml_row row,
			     nvmlDevice_t handle, bool arguments_ok);

/*
 * Whether the function is refused on the call's GPU, which is in MIG mode
 * (mig_handle.c).
 */
bool front_mig_refuses(const struct call *c, enum nvml_row row);

/* Whether the call's GPU is in MIG mode. */
static inline bool is_split(const struct call *c)
{
	GK_ASSERT(c->index < c->device_count);
	return gkf_gate_split(c->gate, c->index);
}

/* Enters a call on a GPU or a MIG device, and fills in *c. */
static inline nvmlReturn_t enter_device(struct call *c, enum nvml_row row,
					nvmlDevice_t handle, bool arguments_ok)
{
	size_t index = handle_index(handle);
	nvmlReturn_t r = begin_call(c, row);

	if (r)
		return r;
	if (__builtin_expect(index >= c->device_count, 0)) {
		r = front_enter_mig(c, row, handle, arguments_ok);
		GK_ASSERT(r || arguments_ok);
		return r;
	}
	if (!arguments_ok)
		return NVML_ERROR_INVALID_ARGUMENT;
	c->index = (unsigned)index;
	c->instance = GKF_NO_INSTANCE;
	c->board = gkf_board(c->machine, c->index);
	if (!gkf_gate_lists(c->gate, c->index))
		return NVML_ERROR_INVALID_ARGUMENT;
	r = admit_call(c, row);
	if (!r && __builtin_expect(is_split(c), 0) && front_mig_refuses(c, row))
		r = NVML_ERROR_NOT_SUPPORTED;
	return r;
}

/* Declare `c` and enter the call; if that fails, return from the function. */
#define ENTER(symbol, arguments_ok)                                            \
	struct call c;                                                         \
	nvmlReturn_t entered = enter_call(&c, ROW_##symbol, (arguments_ok));   \
	if (entered)                                                           \
	return entered
#define ENTER_DEVICE(symbol, handle, arguments_ok)                             \
	struct call c;                                                         \
	nvmlReturn_t entered =                                                 \
	    enter_device(&c, ROW_##symbol, (handle), (arguments_ok));          \
	if (entered)                                                           \
	return entered

#endif
