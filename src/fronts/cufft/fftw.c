/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fftw.c - opens FFTW3, caches its plans, and runs transforms with them. FFTW's
 * planner is not thread-safe, so one lock protects it and the list of plans.
 * The program may use the same planner. Therefore plans are made and destroyed
 * only in threads that call cuFFT, never in those that run kernels.
 */
#include "base/assert.h"
#include "fronts/cufft/front.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FFTW's struct and flags, as in its manual. */
struct dimension {
	ptrdiff_t n, is, os;
};

enum { DESTROY_INPUT = 1, UNALIGNED = 2, PRESERVE_INPUT = 16, ESTIMATE = 64 };

/*
 * The alignment in bytes that fast plans need. Device memory has this
 * alignment.
 */
#define ALIGNMENT 64

/* The number of plans to keep. There may be more while plans are in use. */
#define KEPT 64

/*
 * Complex and real numbers are declared as void, so that one type serves both
 * precisions.
 */
struct fftw {
	void *(*plan_guru64_dft)(int rank, const struct dimension *dims,
				 int many_rank, const struct dimension *many,
				 void *in, void *out, int sign, unsigned flags);
	void *(*plan_guru64_dft_r2c)(int rank, const struct dimension *dims,
				     int many_rank,
				     const struct dimension *many, void *in,
				     void *out, unsigned flags);
	void *(*plan_guru64_dft_c2r)(int rank, const struct dimension *dims,
				     int many_rank,
				     const struct dimension *many, void *in,
				     void *out, unsigned flags);
	void (*execute_dft)(void *plan, void *in, void *out);
	void (*execute_dft_r2c)(void *plan, void *in, void *out);
	void (*execute_dft_c2r)(void *plan, void *in, void *out);
	void (*destroy_plan)(void *plan);
};

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name)                                                         \
	{                                                                      \
#name, offsetof(struct fftw, name)                             \
	}
    FUNCTION(plan_guru64_dft),     FUNCTION(plan_guru64_dft_r2c),
    FUNCTION(plan_guru64_dft_c2r), FUNCTION(execute_dft),
    FUNCTION(execute_dft_r2c),     FUNCTION(execute_dft_c2r),
    FUNCTION(destroy_plan),
#undef FUNCTION
};

/* Indexed by is_double. */
static const struct {
	enum needed_id needed;
	const char *prefix;
} libraries[] = {{NEEDED_FFTW_SINGLE, "fftwf_"}, {NEEDED_FFTW_DOUBLE, "fftw_"}};

struct kept_plan {
	struct kept_plan *next;
	struct transform key;
	void *plan;
	unsigned users;
};

static struct {
	pthread_mutex_t lock;
	struct fftw fftw[2];
	bool opened[2];
	struct kept_plan *first; /* a list, most recently used first */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find_functions(int which, void *library)
{
	char symbol[64];

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *found;

		snprintf(symbol, sizeof symbol, "%s%s", libraries[which].prefix,
			 functions[i].name);
		found = dlsym(library, symbol);
		if (!found)
			return false;
		memcpy((char *)&state.fftw[which] + functions[i].offset, &found,
		       sizeof found);
	}
	return true;
}

bool fftw_ready(bool is_double)
{
	enum needed_id needed = libraries[is_double].needed;
	bool ready;

	pthread_mutex_lock(&state.lock);
	if (!state.opened[is_double]) {
		void *library = needed_open(needed);

		state.opened[is_double] =
		    library && find_functions(is_double, library);
	}
	ready = state.opened[is_double];
	pthread_mutex_unlock(&state.lock);
	return ready;
}

static unsigned choose_flags(const struct transform *t)
{
	unsigned flags = ESTIMATE;

	if (!t->aligned)
		flags |= UNALIGNED;
	if (t->kind == TO_REAL)
		flags |= t->rank == 1 && !t->in_place ? PRESERVE_INPUT
						      : DESTROY_INPUT;
	return flags;
}

/* Returns NULL if FFTW does not support this transform. */
static void *make_fftw_plan(const struct transform *t, void *in, void *out)
{
	const struct fftw *f = &state.fftw[t->is_double];
	struct dimension dims[RANK_MAX];
	struct dimension many = {t->batch, t->in.dist, t->out.dist};
	unsigned flags = choose_flags(t);

	for (int i = 0; i < t->rank; i++)
		dims[i] =
		    (struct dimension){t->n[i], transform_step(t, &t->in, i),
				       transform_step(t, &t->out, i)};
	if (t->kind == FROM_REAL)
		return f->plan_guru64_dft_r2c(t->rank, dims, 1, &many, in, out,
					      flags);
	if (t->kind == TO_REAL)
		return f->plan_guru64_dft_c2r(t->rank, dims, 1, &many, in, out,
					      flags);
	return f->plan_guru64_dft(t->rank, dims, 1, &many, in, out,
				  t->direction, flags);
}

/*
 * Removes a key's plan from the list and returns it. The caller holds
 * state.lock.
 */
static struct kept_plan *take_out(const struct transform *key)
{
	struct kept_plan **at = &state.first, *p;

	GK_ASSERT(gk_lock_held(&state.lock));
	while (*at && memcmp(&(*at)->key, key, sizeof *key))
		at = &(*at)->next;
	p = *at;
	if (p)
		*at = p->next;
	return p;
}

/* Destroys unused plans beyond the first KEPT. The caller holds state.lock. */
static void drop_old(void)
{
	struct kept_plan **at = &state.first;

	GK_ASSERT(gk_lock_held(&state.lock));
	for (unsigned seen = 0; *at; seen++) {
		struct kept_plan *p = *at;

		if (seen < KEPT || p->users) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		state.fftw[p->key.is_double].destroy_plan(p->plan);
		free(p);
	}
}

static struct kept_plan *new_kept_plan(const struct transform *key, void *in,
				       void *out)
{
	struct kept_plan *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->key = *key;
	p->plan = make_fftw_plan(key, in, out);
	if (p->plan)
		return p;
	free(p);
	return NULL;
}

/*
 * Finds or makes a key's plan and moves it to the front of the list. Returns
 * NULL if FFTW does not support the transform. The caller holds state.lock.
 */
static struct kept_plan *find_plan(const struct transform *key, void *in,
				   void *out)
{
	struct kept_plan *p = take_out(key);

	GK_ASSERT(gk_lock_held(&state.lock));
	if (!p)
		p = new_kept_plan(key, in, out);
	if (p) {
		p->next = state.first;
		state.first = p;
	}
	return p;
}

/* Describes the same transform, but with a copy of the input as its input. */
static struct transform from_copy(const struct transform *t)
{
	struct transform copied = *t;

	copied.in_place = false;
	copied.aligned = false;
	return copied;
}

bool fftw_prepare(struct transform *t, CUdeviceptr in, CUdeviceptr out)
{
	/*
	 * With ESTIMATE, the planner looks at the addresses but reads no data.
	 */
	void *from = (void *)(uintptr_t)in, *to = (void *)(uintptr_t)out;
	bool found;

	t->aligned = (in | out) % ALIGNMENT == 0;
	pthread_mutex_lock(&state.lock);
	GK_ASSERT(state.opened[t->is_double]);
	found = find_plan(t, from, to) != NULL;
	if (!found && t->in_place) {
		struct transform copied = from_copy(t);

		found = find_plan(&copied, NULL, to) != NULL;
	}
	drop_old();
	pthread_mutex_unlock(&state.lock);
	return found;
}

static struct kept_plan *use_plan(const struct transform *key, void *in,
				  void *out)
{
	struct kept_plan *p;

	pthread_mutex_lock(&state.lock);
	p = find_plan(key, in, out);
	if (p)
		p->users++;
	pthread_mutex_unlock(&state.lock);
	return p;
}

static void leave_plan(struct kept_plan *p)
{
	pthread_mutex_lock(&state.lock);
	p->users--;
	pthread_mutex_unlock(&state.lock);
}

static bool execute_plan(const struct transform *t, void *in, void *out)
{
	const struct fftw *f = &state.fftw[t->is_double];
	struct kept_plan *p = use_plan(t, in, out);

	if (!p)
		return false;
	if (t->kind == FROM_REAL)
		f->execute_dft_r2c(p->plan, in, out);
	else if (t->kind == TO_REAL)
		f->execute_dft_c2r(p->plan, in, out);
	else
		f->execute_dft(p->plan, in, out);
	leave_plan(p);
	return true;
}

/*
 * Executes a plan on a copy of the input, because FFTW cannot transform some
 * layouts in place.
 */
static bool execute_from_copy(const struct transform *t, const void *in,
			      void *out, size_t size)
{
	struct transform copied = from_copy(t);
	void *copy = malloc(size);
	bool done = false;

	if (copy) {
		memcpy(copy, in, size);
		done = execute_plan(&copied, copy, out);
	}
	free(copy);
	return done;
}

/*
 * The usual estimate: 5 n log2(n) operations for complex input, half that for
 * real input.
 */
static uint64_t count_operations(const struct transform *t)
{
	uint64_t n = (uint64_t)t->n[0] * (uint64_t)(t->rank > 1 ? t->n[1] : 1) *
		     (uint64_t)(t->rank > 2 ? t->n[2] : 1);
	uint64_t twice =
	    (t->kind == COMPLEX ? 10 : 5) * (uint64_t)(63 - __builtin_clzll(n));

	return n * twice / 2 * (uint64_t)t->batch;
}

CUresult fftw_run(struct gpukit_run *run)
{
	const struct transform_run *p = run->params;
	const struct transform *t = &p->transform;
	size_t size = (size_t)transform_in_bytes(t);
	void *in = run->memory(run, t->in_place ? GPUKIT_WRITES : GPUKIT_READS,
			       p->in, size);
	void *out = run->memory(run, GPUKIT_WRITES, p->out,
				(size_t)transform_out_bytes(t));

	if (!in || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	run->operations += count_operations(t);
	if (!execute_plan(t, in, out) &&
	    !(t->in_place && execute_from_copy(t, in, out, size)))
		return CUDA_ERROR_LAUNCH_FAILED;
	return CUDA_SUCCESS;
}
