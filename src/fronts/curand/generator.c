/* SPDX-License-Identifier: Apache-2.0 */
/* generator.c - owns the list of generators. */
#include "base/assert.h"
#include "fronts/curand/front.h"

#include <stdlib.h>

static struct {
	pthread_mutex_t lock;
	struct curandGenerator_st *first;
	uint64_t last_id;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

curandStatus_t generator_new(int type, bool host, curandGenerator_t *ret)
{
	struct curandGenerator_st *g = calloc(1, sizeof *g);

	if (!g)
		return CURAND_STATUS_ALLOCATION_FAILED;
	g->host = host;
	g->settings = (struct settings){
	    .type = type,
	    .ordering = state_pseudo(type) ? CURAND_ORDERING_PSEUDO_DEFAULT
					   : CURAND_ORDERING_QUASI_DEFAULT,
	    .dimensions = 1};
	g->settings_number = 1;
	pthread_mutex_init(&g->lock, NULL);
	pthread_mutex_lock(&list.lock);
	g->id = ++list.last_id;
	g->next = list.first;
	list.first = g;
	pthread_mutex_unlock(&list.lock);
	*ret = g;
	return CURAND_STATUS_SUCCESS;
}

bool generator_lives(const struct curandGenerator_st *g)
{
	const struct curandGenerator_st *at;

	pthread_mutex_lock(&list.lock);
	for (at = list.first; at && at != g; at = at->next)
		;
	pthread_mutex_unlock(&list.lock);
	return at != NULL;
}

struct curandGenerator_st *generator_use(uint64_t id)
{
	struct curandGenerator_st *g;

	pthread_mutex_lock(&list.lock);
	for (g = list.first; g && g->id != id; g = g->next)
		;
	if (g)
		g->users++;
	pthread_mutex_unlock(&list.lock);
	return g;
}

static void free_generator(struct curandGenerator_st *g)
{
	state_free(g->state);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void generator_leave(struct curandGenerator_st *g)
{
	bool last;

	pthread_mutex_lock(&list.lock);
	GK_ASSERT(g->users);
	last = --g->users == 0 && g->gone;
	pthread_mutex_unlock(&list.lock);
	if (last)
		free_generator(g);
}

void generator_free(struct curandGenerator_st *g)
{
	struct curandGenerator_st **at = &list.first;
	bool last;

	pthread_mutex_lock(&list.lock);
	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
	g->gone = true;
	last = g->users == 0;
	pthread_mutex_unlock(&list.lock);
	if (last)
		free_generator(g);
}

static bool set_up(struct curandGenerator_st *g, const struct settings *s,
		   uint64_t number)
{
	if (g->state && g->state_number == number)
		return true;
	state_free(g->state);
	g->state = state_new(s);
	g->state_number = number;
	return g->state != NULL;
}

bool generator_run(struct curandGenerator_st *g, const struct settings *s,
		   uint64_t number, const struct call *call, void *to,
		   bool (*stopped)(void))
{
	bool done;

	pthread_mutex_lock(&g->lock);
	done =
	    set_up(g, s, number) && state_generate(g->state, call, to, stopped);
	pthread_mutex_unlock(&g->lock);
	return done;
}
