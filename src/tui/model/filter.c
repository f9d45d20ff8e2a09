/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - parses the words of a filter and tests whether processes match
 * them.
 */
#include "tui/model/filter.h"

#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- matching ---- */

static bool has_text(const struct tui_filter_word *w,
		     const struct gk_snapshot *snap, const struct gk_process *p)
{
	char pid[16];

	(void)snap;
	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	return strcasestr(p->command, w->text) ||
	       strcasestr(p->name, w->text) || strstr(pid, w->text);
}

static bool has_name(const struct tui_filter_word *w,
		     const struct gk_snapshot *snap, const struct gk_process *p)
{
	(void)snap;
	return !regexec(w->regex, p->command, 0, NULL, 0) ||
	       !regexec(w->regex, p->name, 0, NULL, 0);
}

static bool has_user(const struct tui_filter_word *w,
		     const struct gk_snapshot *snap, const struct gk_process *p)
{
	const char *at = w->text;
	size_t len = strlen(p->user);

	(void)snap;
	while (*at) {
		size_t n = strcspn(at, ",");

		if (n == len && !strncmp(at, p->user, n))
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

/*
 * Parses "3" or "3-5" at *text, and moves *text past it. Returns false if there
 * is neither.
 */
static bool next_range(const char **text, unsigned long *ret_first,
		       unsigned long *ret_last)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*ret_first = *ret_last = strtoul(*text, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*ret_last = strtoul(end + 1, &end, 10);
	*text = end;
	return *ret_first <= *ret_last && (!*end || *end == ',');
}

/* Whether a number is in a list such as "0-3,5", which must be valid. */
static bool is_among(const char *text, uint64_t number)
{
	unsigned long first, last;

	while (next_range(&text, &first, &last)) {
		if (number >= first && number <= last)
			return true;
		text += *text == ',';
	}
	return false;
}

static bool is_on_gpu(const struct tui_filter_word *w,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p)
{
	return is_among(w->text, snap->devices[p->device].index);
}

static bool has_rank(const struct tui_filter_word *w,
		     const struct gk_snapshot *snap, const struct gk_process *p)
{
	struct gk_value rank = p->m[GK_PM_RANK];

	(void)snap;
	return rank.why == GK_PRESENT && is_among(w->text, (uint64_t)rank.v);
}

static bool is_in_container(const struct tui_filter_word *w,
			    const struct gk_snapshot *snap,
			    const struct gk_process *p)
{
	(void)snap;
	return !strncmp(p->container, w->text, strlen(w->text));
}

static bool is_in_pod(const struct tui_filter_word *w,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p)
{
	(void)snap;
	return !strncmp(p->pod, w->text, strlen(w->text));
}

static bool is_in_directory(const struct tui_filter_word *w,
			    const struct gk_snapshot *snap,
			    const struct gk_process *p)
{
	(void)snap;
	return strstr(p->cwd, w->text);
}

static bool has_state(const struct tui_filter_word *w,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p)
{
	(void)snap;
	return p->stat && strchr(w->text, p->stat);
}

static bool has_type(const struct tui_filter_word *w,
		     const struct gk_snapshot *snap, const struct gk_process *p)
{
	(void)snap;
	return (p->types & w->types) == w->types;
}

/* An absent value is neither above nor below the limit. */
static bool is_beyond_limit(const struct tui_filter_word *w,
			    const struct gk_snapshot *snap,
			    const struct gk_process *p)
{
	struct gk_value value = p->m[w->metric];

	(void)snap;
	return value.why == GK_PRESENT &&
	       (w->below ? value.v < w->limit : value.v > w->limit);
}

/* ---- reading words ---- */

static const char *read_pattern(struct tui_filter_word *w, const char *value)
{
	static const int flags = REG_EXTENDED | REG_ICASE | REG_NOSUB;

	w->regex = malloc(sizeof *w->regex);
	if (w->regex && !regcomp(w->regex, value, flags))
		return NULL;
	free(w->regex);
	w->regex = NULL;
	return "a regular expression";
}

static const char *read_plain_text(struct tui_filter_word *w, const char *value)
{
	gk_str_copy(w->text, sizeof w->text, value);
	return NULL;
}

static const char *read_ranges(struct tui_filter_word *w, const char *value)
{
	const char *at = value;
	unsigned long first, last;

	do {
		if (!next_range(&at, &first, &last))
			return "numbers, as 0-3,5";
	} while (*at++ == ',');
	return read_plain_text(w, value);
}

static const char *read_type(struct tui_filter_word *w, const char *value)
{
	static const struct {
		char letter;
		unsigned types;
	} table[] = {
	    {'C', GK_PROCESS_COMPUTE},
	    {'G', GK_PROCESS_GRAPHICS},
	    {'X', GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (toupper((unsigned char)*value) == table[i].letter &&
		    !value[1])
			w->types = table[i].types;
	return w->types ? NULL : "C, G or X";
}

static const struct {
	const char *key;
	const char *(*read)(struct tui_filter_word *w, const char *value);
	bool (*holds)(const struct tui_filter_word *w,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p);
	unsigned with;
} keys[] = {
    {"name", read_pattern, has_name, 0},
    {"user", read_plain_text, has_user, 0},
    {"gpu", read_ranges, is_on_gpu, 0},
    {"type", read_type, has_type, 0},
    {"rank", read_ranges, has_rank, GK_WITH_RANK},
    {"container", read_plain_text, is_in_container, 0},
    {"pod", read_plain_text, is_in_pod, 0},
    {"cwd", read_plain_text, is_in_directory, GK_WITH_CWD},
    {"state", read_plain_text, has_state, 0},
};

static const struct {
	const char *key;
	enum gk_process_metric metric;
	unsigned with;
} numbers[] = {
    {"mem", GK_PM_GPU_MEM, 0},
    {"sm", GK_PM_SM_UTIL, 0},
    {"enc", GK_PM_ENC_UTIL, 0},
    {"dec", GK_PM_DEC_UTIL, 0},
    {"cpu", GK_PM_CPU, 0},
    {"host", GK_PM_RSS, 0},
    {"time", GK_PM_RUN_TIME, 0},
    {"threads", GK_PM_THREADS, GK_WITH_THREADS},
    {"nice", GK_PM_NICE, GK_WITH_THREADS},
    {"io-read", GK_PM_IO_READ_RATE, GK_WITH_IO},
    {"io-write", GK_PM_IO_WRITE_RATE, GK_WITH_IO},
    {"read", GK_PM_IO_READ, GK_WITH_IO},
    {"written", GK_PM_IO_WRITTEN, GK_WITH_IO},
};

/*
 * Parses a number as typed, and converts it to the metric's unit. Returns NULL,
 * or on failure a description of the expected form.
 */
static const char *read_typed_number(enum gk_process_metric metric,
				     const char *value, int64_t *ret_number)
{
	uint64_t size;
	char *end;
	double percent;

	switch ((int)gk_process_metrics[metric].unit) {
	case GK_UNIT_NONE:
		return gk_parse_int(value, ret_number) ? "a number, as 16"
						       : NULL;
	case GK_UNIT_BYTES:
		if (gk_parse_size(value, &size) || size > INT64_MAX)
			return "a size, as 4GiB";
		*ret_number = (int64_t)size;
		return NULL;
	case GK_UNIT_NANOSECOND:
		if (gk_parse_duration(value, &size) || size > INT64_MAX)
			return "a time, as 2h";
		*ret_number = (int64_t)size;
		return NULL;
	default:
		percent = strtod(value, &end);
		if (!isdigit((unsigned char)*value) || percent > 1e6 ||
		    (*end && strcmp(end, "%") != 0))
			return "a percentage, as 50";
		if (gk_process_metrics[metric].unit == GK_UNIT_CENTIPERCENT)
			percent *= 100;
		*ret_number = (int64_t)percent;
		return NULL;
	}
}

static bool begins_with_key(const char *word, const char *key,
			    const char *behind)
{
	size_t len = strlen(key);

	return !strncmp(word, key, len) && word[len] &&
	       strchr(behind, word[len]);
}

/*
 * Parses one word. Returns NULL, or on failure a description of the expected
 * form.
 */
static const char *read_word(struct tui_filter_word *w, const char *word)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!begins_with_key(word, keys[i].key, ":"))
			continue;
		word += strlen(keys[i].key) + 1;
		w->holds = keys[i].holds;
		w->with = keys[i].with;
		return *word ? keys[i].read(w, word) : "something behind it";
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (!begins_with_key(word, numbers[i].key, "<>"))
			continue;
		word += strlen(numbers[i].key);
		w->holds = is_beyond_limit;
		w->metric = numbers[i].metric;
		w->with = numbers[i].with;
		w->below = *word == '<';
		return read_typed_number(w->metric, word + 1, &w->limit);
	}
	w->holds = has_text;
	gk_str_copy(w->text, sizeof w->text, word);
	return NULL;
}

/*
 * Copies the next word to dst and advances *text past it. Returns false at the
 * end of the text.
 */
static bool next_word(const char **text, bool *ret_not, char *dst)
{
	const char *at = *text + strspn(*text, " ");
	bool quoted;
	size_t len;

	if (!*at)
		return false;
	*ret_not = *at == '!' && at[1] && at[1] != ' ';
	at += *ret_not;
	quoted = *at == '"';
	at += quoted;
	len = strcspn(at, quoted ? "\"" : " ");
	memcpy(dst, at, len);
	dst[len] = '\0';
	*text = at + len + (quoted && at[len]);
	return true;
}

static void say_wrong(const char *word, const char *wanted, char *error,
		      size_t cap)
{
	if (wanted)
		snprintf(error, cap, "%.40s: wanted %s", word, wanted);
	else
		snprintf(error, cap, "more than %d words", TUI_FILTER_WORDS);
}

bool tui_words_parse(struct tui_words *words, const char *text, char *error,
		     size_t cap)
{
	struct tui_words *new = calloc(1, sizeof *new);
	char word[TUI_PROMPT_MAX];
	bool not, good = new != NULL;

	if (!good || gk_str_copy(new->text, sizeof new->text, text) >=
			 sizeof new->text) {
		snprintf(error, cap, "too long");
		free(new);
		return false;
	}
	while (good && next_word(&text, &not, word)) {
		struct tui_filter_word *w = &new->words[new->count];
		bool full = new->count == TUI_FILTER_WORDS;
		const char *wanted = full ? NULL : read_word(w, word);

		good = !full && !wanted;
		if (good) {
			w->not = not ;
			new->count++;
		} else {
			say_wrong(word, wanted, error, cap);
		}
	}
	if (good) {
		tui_words_free(words);
		*words = *new;
	} else {
		tui_words_free(new);
	}
	free(new);
	return good;
}

void tui_words_free(struct tui_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->words[i].regex) {
			regfree(words->words[i].regex);
			free(words->words[i].regex);
		}
	memset(words, 0, sizeof *words);
}

unsigned tui_words_with(const struct tui_words *words)
{
	unsigned with = 0;

	for (size_t i = 0; i < words->count; i++)
		with |= words->words[i].with;
	return with;
}

bool tui_words_hold(const struct tui_words *words,
		    const struct gk_snapshot *snap, const struct gk_process *p)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->words[i].holds(&words->words[i], snap, p) ==
		    words->words[i].not )
			return false;
	return true;
}
