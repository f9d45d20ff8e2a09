/*
 * front.h - the room that every entry point of this NVML goes through: is
 * NVML initialised, count the call, are the arguments usable, is the GPU
 * there, how long would the driver take.
 *
 * A call reads without a lock: what it works on stays mapped even when another
 * thread shuts NVML down under it, and until this process has opened more
 * machines than it keeps.
 */
#ifndef GKF_NVML_FRONT_H
#define GKF_NVML_FRONT_H

#include "abi/nvml_abi.h"
#include "fronts/common/generations.h"
#include "machine/file/numbers.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"

#include <sys/stat.h>

/* Rows of nvml.def: indices of calls[], refused[] and extra_ns[]. */
enum nvml_row {
#define NVML(symbol, params) ROW_##symbol,
#include "abi/nvml.def"
#undef NVML
	ROW_COUNT
};

/* Versions of structs, by the name of their macro. */
enum front_struct {
#define STRUCT_SINCE(macro, major, minor) STRUCT_##macro,
#include "abi/nvml_struct_since.def"
#undef STRUCT_SINCE
	STRUCT_COUNT
};

/* A machine that this process has open. */
struct opened {
	struct gkf_machine *machine;
	const struct gkf_gate *gate;
	unsigned device_count;
	dev_t dev; /* what the path led to when it was opened */
	ino_t ino;
};

/*
 * The machine and GPU of a call; board and index only after enter_device(),
 * before it index is FRONT_NO_DEVICE.
 */
#define FRONT_NO_DEVICE UINT32_MAX
struct call {
	struct gkf_machine *machine;
	const struct gkf_gate *gate;
	const struct gkf_board *board;
	unsigned device_count;
	unsigned index;
	uint32_t instance; /* of a MIG device's handle, else GKF_NO_INSTANCE */
	uint32_t life;     /* of that instance */
};

/*
 * A handle points into this table; its place is all it says. Callers that
 * read through it find 64 bytes of their own.
 */
struct nvmlDevice_st {
	unsigned char room[64];
};

extern struct nvmlDevice_st front_handles[GKF_DEVICES_MAX];

/* The machine in use; NULL while NVML is not initialised. */
extern _Atomic(struct opened *) front_current;

/* Which driver this library is; generation.c. */
extern __attribute__((visibility("hidden")))
const struct gkf_generation *const front_generation;

/* GKF_LEVEL() of the first driver that takes a version of a struct. */
extern __attribute__((visibility("hidden")))
const unsigned front_struct_since[STRUCT_COUNT];

/*
 * The machine that nvmlInit would open, opened; it stays the front's. 0 or a
 * gk_err.
 */
int front_machine(struct opened **ret_opened);

/* Converts a gk_err into NVML's return code. */
nvmlReturn_t front_error(int gk_err);

/* Takes as long as the driver would; latency.c. */
void front_hold(const struct gkf_gate *gate, enum nvml_row row);

/* Disturbs a call: it takes its time, and rules may make it fail; fault.c. */
nvmlReturn_t front_disturb(const struct call *c, enum nvml_row row);

/* The answer of a call on a broken GPU, maybe late or never; fault.c. */
nvmlReturn_t front_broken(const struct call *c);

/*
 * Sleeps as gkf_event_sleep() does, no longer than until the next step of a
 * scenario; fault.c. Who wakes looks with front_look() for what is due.
 */
void front_sleep(struct gkf_machine *machine, uint32_t word, uint64_t ns);
uint32_t front_look(struct gkf_machine *machine);

/* The answer of looking up a GPU's handle, if that succeeds; fault.c. */
nvmlReturn_t front_lookup(const struct call *c, unsigned index, bool by_pci);

/* The answer of initialising NVML on a machine; fault.c. */
nvmlReturn_t front_machine_fault(struct gkf_machine *machine);

/*
 * Counts a call that nobody answers; the body of every default. device NULL:
 * it is about none.
 */
nvmlReturn_t front_refuse(enum nvml_row row, nvmlDevice_t device);

/* Forgets all event sets, as the last nvmlShutdown does; event.c. */
void front_drop_events(struct gkf_machine *machine);

/* Microseconds since the epoch, as NVML stamps its samples. */
uint64_t front_wall_us(void);

/*
 * Copies a string whole or, when len is too small, not at all. It ends after
 * from_len bytes at the latest.
 */
nvmlReturn_t front_copy(char *to, unsigned len, const char *from,
			size_t from_len);

/* Does this driver take that version of a struct? */
static inline bool front_knows(enum front_struct row)
{
	return front_struct_since[row] <= front_generation->level;
}

/*
 * Has a caller asked for a version of a struct, and does this driver take it?
 * If not: NVML_ERROR_ARGUMENT_VERSION_MISMATCH. TAKES(p->version,
 * nvmlMemory_v2).
 */
#define TAKES(given, macro) ((given) == (macro) && front_knows(STRUCT_##macro))

/*
 * Counts a call and finds its machine: UNINITIALIZED, or GPU_IS_LOST for a
 * machine whose file was cut off.
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
	gkf_gate_look(c->machine, c->gate);
	atomic_fetch_add_explicit(&c->gate->calls[row], 1,
				  memory_order_relaxed);
	return gkf_gate_whole(c->machine, c->gate) ? NVML_SUCCESS
						   : NVML_ERROR_GPU_IS_LOST;
}

/* Makes the call take its time; the answer of a rule that lets it fail. */
static inline nvmlReturn_t hold_device(const struct call *c, enum nvml_row row)
{
	const struct gkf_gate *g = c->gate;
	uint64_t unusual = gkf_gate_word(g->latency) | gkf_gate_word(g->rules) |
			   gkf_gate_word(&g->extra_ns[row]);

	return __builtin_expect(unusual != 0, 0) ? front_disturb(c, row)
						 : NVML_SUCCESS;
}

/* The answer that the faults of the call's device give. */
static inline nvmlReturn_t broken(const struct call *c)
{
	uint64_t faults = gkf_gate_word(c->gate->device[c->index].faults);

	return __builtin_expect(faults != 0, 0) ? front_broken(c)
						: NVML_SUCCESS;
}

/* The place of a handle, or a number that is no device. */
static inline size_t handle_index(nvmlDevice_t handle)
{
	size_t offset = (uintptr_t)handle - (uintptr_t)front_handles;

	return offset % sizeof(*front_handles)
		   ? SIZE_MAX
		   : offset / sizeof(*front_handles);
}

/* Enters a call that is about no device. */
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

	return r ? r : broken(c);
}

/* enter_device() with what is no GPU's handle; mig_handle.c. */
nvmlReturn_t front_enter_mig(struct call *c, enum nvml_row row,
			     nvmlDevice_t handle, bool arguments_ok);

/* Is the function refused on a GPU whose MIG mode is on? mig_handle.c. */
bool front_mig_refuses(const struct call *c, enum nvml_row row);

/* Is the MIG mode of the call's GPU on? */
static inline bool is_split(const struct call *c)
{
	return gkf_gate_split(c->gate, c->index);
}

/* Enters a call about a GPU or a MIG device, and sets its fields of *c. */
static inline nvmlReturn_t enter_device(struct call *c, enum nvml_row row,
					nvmlDevice_t handle, bool arguments_ok)
{
	size_t index = handle_index(handle);
	nvmlReturn_t r = begin_call(c, row);

	if (r)
		return r;
	if (__builtin_expect(index >= c->device_count, 0))
		return front_enter_mig(c, row, handle, arguments_ok);
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

/* Declare `c` and leave the function with an error unless all is well. */
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
