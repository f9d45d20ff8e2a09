/*
 * private.h - what the files of the machine's core share among themselves.
 */
#ifndef GKF_PRIVATE_H
#define GKF_PRIVATE_H

#include "machine/model/model.h"

/* Who a process is to the others; 0 where /proc does not tell. */
struct gkf_identity {
	int32_t pid;
	uint64_t pid_ns, start;
	uint64_t stack; /* another one after exec; 0: not known */
};

/* What this process knows of itself; gone in a forked child. */
struct gkf_own {
	_Atomic uint32_t ready;
	_Atomic int32_t pid;
	_Atomic uint64_t pid_ns, start, stack;
};

struct gkf_machine {
	struct gkf_file *file;
	struct gkf_own *own; /* NULL: to be looked up each time */
	int proc;            /* /proc, opened once; -1 without */
	int lock_kind; /* what glibc notes of a lock such as the writers' */
	unsigned device_count;
	unsigned steps, texts; /* of its scenario; see scenario_state.h */
	size_t size;           /* of the mapping */
	bool scratch;
	/* A thread that applies a step, and the step's time + 1 or 0. */
	_Atomic pid_t applier;
	_Atomic uint64_t applied_ns;
	struct gkf_topology topology;
	struct gkf_board boards[]; /* device_count of them */
};

/*
 * While a thread applies a step of the scenario it holds the writers' lock,
 * and the clock shows it the time of the step. pid_t: of gettid(), so that
 * no thread of a forked child is taken for it.
 */
bool gkf_is_applier(const struct gkf_machine *m);
static inline bool gkf_applying(const struct gkf_machine *m)
{
	return __builtin_expect(atomic_load_explicit(&m->applied_ns,
						     memory_order_acquire) != 0,
				0) &&
	       gkf_is_applier(m);
}
void gkf_apply_at(struct gkf_machine *m, uint64_t machine_ns);
void gkf_apply_end(struct gkf_machine *m);

/*
 * The file of a new machine. size: bytes that it takes, or GK_ERR_TOO_MANY.
 * init: fills that many zeroed bytes.
 */
int gkf_file_size(const struct gkf_machine_spec *spec, size_t *ret_size);
int gkf_file_init(struct gkf_file *f, const struct gkf_machine_spec *spec);

/* A robust lock between processes; what glibc notes in one of this kind. */
int gkf_lock_init(pthread_mutex_t *lock);
int gkf_lock_kind(int *ret_kind);

/* The identity of the calling process; right again after a fork. */
struct gkf_identity gkf_self(const struct gkf_machine *m);

/* A page that a fork empties, or NULL where the kernel has none such. */
struct gkf_own *gkf_own_new(void);
void gkf_own_free(struct gkf_own *own);

/* Is the slot in use, and by this process? Cheap. */
bool gkf_owns(const struct gkf_machine *m, const struct gkf_slot *slot);

/* The pid namespace of this process; 0 when /proc does not tell. */
uint64_t gkf_own_namespace(const struct gkf_machine *m);

/*
 * Whether an owner is alive: a zombie is not, nor a process that has taken
 * over the pid, nor one that runs another program since. Owners of another pid
 * namespace than own_ns count as alive.
 */
bool gkf_alive(const struct gkf_machine *m, uint64_t own_ns,
	       const struct gkf_identity *owner);

/*
 * A live slot copied out; false when it is free or changed meanwhile, or when
 * it names no device of this machine.
 */
bool gkf_slot_read(struct gkf_machine *m, unsigned index,
		   struct gkf_slot *ret_slot, uint64_t *ret_life);

/* The same, and cheap for the slots of other devices. */
static inline bool gkf_slot_read_on(struct gkf_machine *m, unsigned index,
				    unsigned device, struct gkf_slot *ret_slot)
{
	return __atomic_load_n(&m->file->slot[index].device,
			       __ATOMIC_RELAXED) == device &&
	       gkf_slot_read(m, index, ret_slot, NULL) &&
	       ret_slot->device == device;
}

/* What it takes of its device. */
static inline uint64_t gkf_slot_held(const struct gkf_slot *slot)
{
	return atomic_load_explicit(&slot->bytes, memory_order_relaxed) +
	       atomic_load_explicit(&slot->managed, memory_order_relaxed);
}

/*
 * Frees a slot, which takes all that it holds with it. The caller holds the
 * writers' lock.
 */
int gkf_slot_free(struct gkf_machine *m, unsigned index, unsigned device);

/* Number of slots that may be in use. */
unsigned gkf_slots_high(const struct gkf_machine *m);

/* What a fault dictates of a value, else what is set, else GKF_UNSET. */
int64_t gkf_value_forced(struct gkf_machine *m, unsigned device,
			 enum gkf_value value);

/* That of all values. */
void gkf_values_forced(struct gkf_machine *m, unsigned device,
		       int64_t ret_set[GKF_V_COUNT]);

/* One word of the model's state, as gkf_state_now() gives them all. */
int64_t gkf_state_word(struct gkf_machine *m, unsigned device, size_t offset);

/* The bin that the state of a device is to be computed for next. */
static inline uint64_t gkf_state_bin(const struct gkf_machine *m,
				     unsigned device)
{
	const struct gkf_device *dev = &m->file->device[device];
	uint64_t seq =
	    atomic_load_explicit(&dev->state_seq, memory_order_acquire);

	return __atomic_load_n(&dev->state[seq % 2].bin, __ATOMIC_RELAXED);
}

/* Bytes that GPU instances hold without any process: one, all of a device. */
uint64_t gkf_instance_holds(unsigned slices);
uint64_t gkf_instances_hold(struct gkf_machine *m, unsigned device);

/*
 * What the dead had running on a device has ended, with the last bin that is
 * computed. The caller holds the lock.
 */
void gkf_reap_busy(struct gkf_machine *m, unsigned device);

/* Brings the state of a device up to now. The caller holds the lock. */
void gkf_state_advance(struct gkf_machine *m, unsigned device);

#endif
