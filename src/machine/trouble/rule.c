/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c - owns the rules that make single functions fail; see rule.h. */
#include "machine/trouble/rule.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/mix.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/event.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <stddef.h>

#define MILLION 1000000

static struct gkf_rule *rule_at(const struct gkf_machine *m, unsigned index)
{
	return &m->file->rules.rule[index];
}

#define LOAD(member) __atomic_load_n(&rule->member, __ATOMIC_RELAXED)
#define STORE(member, value)                                                   \
	__atomic_store_n(&rule->member, (value), __ATOMIC_RELAXED)

/* Copies a rule; false if it is not in force or changed during the copy. */
static bool read_rule(struct gkf_rule *rule, struct gkf_rule_spec *ret_spec)
{
	uint64_t life = atomic_load_explicit(&rule->life, memory_order_acquire);

	if (!(life & 1))
		return false;
	*ret_spec = (struct gkf_rule_spec){
	    .gpus = LOAD(gpus),
	    .function = LOAD(function),
	    .answer = LOAD(answer),
	    .after = LOAD(after),
	    .times = LOAD(times),
	    .seed = LOAD(seed),
	    .per_million = LOAD(per_million),
	};
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&rule->life, memory_order_relaxed) ==
		   life &&
	       ret_spec->function < GKF_FUNCTIONS_MAX;
}

bool gkf_rule_read(struct gkf_machine *m, unsigned index,
		   struct gkf_rule_spec *ret_spec, uint64_t *ret_calls,
		   uint64_t *ret_failed)
{
	struct gkf_rule *rule = rule_at(m, index);

	GK_ASSERT(index < GKF_RULES_MAX);
	if (!read_rule(rule, ret_spec))
		return false;
	*ret_calls = atomic_load(&rule->calls);
	*ret_failed = atomic_load(&rule->failed);
	return true;
}

/* Counts the rules in force. While there are none, calls read only the count.
 */
static void recount_rules(struct gkf_machine *m)
{
	struct gkf_rule_spec spec;
	uint64_t count = 0;

	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		count += read_rule(rule_at(m, i), &spec);
	atomic_store(&m->file->rules.count, count);
}

static void drop_rule(struct gkf_rule *rule)
{
	if (atomic_load(&rule->life) & 1)
		atomic_fetch_add(&rule->life, 1);
}

static void take_out(struct gkf_rule *rule, uint64_t gpus)
{
	uint64_t left = LOAD(gpus) & ~gpus;

	drop_rule(rule);
	if (!left)
		return;
	STORE(gpus, left);
	atomic_fetch_add(&rule->life, 1);
}

/*
 * Returns an entry for a rule: the entry of the rule that it replaces, or a
 * free one.
 */
static struct gkf_rule *place_for(struct gkf_machine *m,
				  const struct gkf_rule_spec *spec)
{
	struct gkf_rule *free_one = NULL;
	struct gkf_rule_spec there;

	for (unsigned i = 0; i < GKF_RULES_MAX; i++) {
		struct gkf_rule *rule = rule_at(m, i);

		if (!read_rule(rule, &there)) {
			drop_rule(rule); /* in case the entry was overwritten */
			if (!free_one)
				free_one = rule;
		} else if (there.function == spec->function &&
			   there.gpus == spec->gpus) {
			drop_rule(rule);
			return rule;
		}
	}
	return free_one;
}

int gkf_rule_add(struct gkf_machine *m, const struct gkf_rule_spec *spec)
{
	struct gkf_rule *rule;
	int r;

	if (spec->function >= GKF_FUNCTIONS_MAX || spec->per_million > MILLION)
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	rule = place_for(m, spec);
	/*
	 * The count is set first: if this process is killed before the rule is
	 * added, calls only read the rules needlessly.
	 */
	atomic_store(&m->file->rules.count, GKF_RULES_MAX);
	if (rule) {
		STORE(gpus, spec->gpus);
		STORE(function, spec->function);
		STORE(answer, spec->answer);
		STORE(after, spec->after);
		STORE(times, spec->times);
		STORE(seed, spec->seed);
		STORE(per_million, spec->per_million);
		atomic_store(&rule->calls, 0);
		atomic_store(&rule->failed, 0);
		atomic_fetch_add(&rule->life, 1);
	}
	recount_rules(m);
	gkf_unlock(m);
	gkf_event_wake(m);
	return rule ? 0 : GK_ERR_TOO_MANY;
}

int gkf_rules_drop(struct gkf_machine *m, int function, uint64_t gpus)
{
	struct gkf_rule_spec spec;
	int r = gkf_lock(m);

	if (r)
		return r;
	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		if (read_rule(rule_at(m, i), &spec) && spec.gpus & gpus &&
		    (function < 0 || spec.function == (unsigned)function))
			take_out(rule_at(m, i), gpus);
	recount_rules(m);
	gkf_unlock(m);
	gkf_event_wake(m);
	return 0;
}

static bool is_about(const struct gkf_rule_spec *spec, unsigned function,
		     int device)
{
	if (spec->function != function)
		return false;
	return device < 0 ? spec->gpus == ~0ULL : spec->gpus >> device & 1;
}

/* Uses up one of the failures left in a rule; false: none is left. */
static bool take_failure(struct gkf_rule *rule, uint64_t times)
{
	uint64_t failed = atomic_load(&rule->failed);

	do {
		if (times && failed >= times)
			return false;
	} while (
	    !atomic_compare_exchange_weak(&rule->failed, &failed, failed + 1));
	return true;
}

/* Whether a call fails, which depends only on its number and the seed. */
static bool fails_call(struct gkf_rule *rule, const struct gkf_rule_spec *spec)
{
	uint64_t call = atomic_fetch_add(&rule->calls, 1);

	if (call < spec->after)
		return false;
	if (spec->per_million < MILLION &&
	    gkf_mix(gkf_mix(spec->seed) + call) % MILLION >= spec->per_million)
		return false;
	return take_failure(rule, spec->times);
}

bool gkf_rule_applies(struct gkf_machine *m, unsigned function, int device,
		      int *ret_answer)
{
	struct gkf_rule_spec spec;
	bool applies = false;

	for (unsigned i = 0; i < GKF_RULES_MAX; i++) {
		struct gkf_rule *rule = rule_at(m, i);

		if (!read_rule(rule, &spec) ||
		    !is_about(&spec, function, device) ||
		    !fails_call(rule, &spec) || applies)
			continue;
		*ret_answer = spec.answer;
		applies = true;
	}
	return applies;
}

bool gkf_rule_holds(struct gkf_machine *m, unsigned function, int device,
		    int *ret_answer)
{
	struct gkf_rule_spec spec;

	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		if (read_rule(rule_at(m, i), &spec) &&
		    is_about(&spec, function, device)) {
			*ret_answer = spec.answer;
			return true;
		}
	return false;
}
