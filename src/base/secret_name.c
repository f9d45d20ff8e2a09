/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_name.c - owns the words by which a name is recognised as that of a
 * secret, or as harmless.
 */
#include "base/secret_name.h"
#include "base/array.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/*
 * How a word of the table must occur in a name. A name consists of parts of
 * letters and digits: "HF_TOKEN", "--api-key".
 */
enum {
	WHOLE = 0,     /* the part is the word */
	ANYWHERE = 1,  /* the part contains the word */
	AT_END = 2,    /* the part ends with the word */
	BEHIND = 4,    /* never the first part: PWD itself is a directory */
	LAST = 8,      /* only in the last part: PIN_MEMORY is harmless */
	WEAK = 16,     /* overridden by a word of clearing_words[] */
	COUNTED = 32,  /* a value that is a number is a count, not a secret */
	ASSIGNED = 64, /* only before = or : ("--session x" names a session) */
};

static const struct {
	const char *word;
	unsigned how;
} secret_words[] = {
    {"SECRET", ANYWHERE},
    {"PASSWORD", ANYWHERE},
    {"PASSWD", ANYWHERE},
    {"PASSPHRASE", ANYWHERE},
    {"PASS", AT_END | WEAK},
    {"PASSIN", WHOLE},
    {"PASSOUT", WHOLE},
    {"PW", WHOLE},
    {"PWD", WHOLE | BEHIND},
    {"PIN", WHOLE | LAST | WEAK},
    {"OTP", WHOLE},
    {"TOTP", WHOLE},
    {"TOKEN", AT_END | WEAK | COUNTED},
    {"TOKENS", WHOLE | BEHIND | WEAK | COUNTED},
    {"CREDENTIAL", ANYWHERE},
    {"CREDS", AT_END},
    {"COOKIE", ANYWHERE},
    {"COOKIES", AT_END},
    {"SESSION", WHOLE | LAST | WEAK | ASSIGNED},
    {"SESSIONID", AT_END | ASSIGNED},
    {"SESSID", AT_END | ASSIGNED},
    {"PRIVATE", ANYWHERE},
    {"BEARER", ANYWHERE},
    {"AUTH", AT_END},
    {"AUTHORIZATION", ANYWHERE},
    {"JWT", ANYWHERE},
    {"SIGNATURE", ANYWHERE},
    {"SIG", WHOLE | LAST | ASSIGNED},
    {"KEY", AT_END | WEAK},
    {"KEYS", AT_END | WEAK},
    {"WEBHOOK", ANYWHERE},
    {"DSN", WHOLE},
    {"SALT", WHOLE},
    {"PAT", WHOLE},
};

/*
 * If a part of a name is one of these words, the WEAK words in the name do not
 * count. The name then describes a property of a secret, such as its length, or
 * uses the WEAK word in another sense.
 */
static const struct {
	const char *word;
	/* whether a name that ends with this word is never that of a secret */
	bool all;
} clearing_words[] = {
    {"FILE", true},       {"PATH", true},     {"DIR", true},
    {"SOCK", true},       {"LENGTH", true},   {"LEN", true},
    {"SIZE", true},       {"COUNT", true},    {"LIMIT", true},
    {"STDIN", true},      {"PORT", true},     {"HOST", true},
    {"TIMEOUT", true},    {"TTL", true},      {"TYPE", true},
    {"POLICY", true},     {"MAX", false},     {"MIN", false},
    {"NUM", false},       {"N", false},       {"PER", false},
    {"NEW", false},       {"PAD", false},     {"EOS", false},
    {"BOS", false},       {"UNK", false},     {"SEP", false},
    {"CLS", false},       {"MASK", false},    {"SPECIAL", false},
    {"STOP", false},      {"IMAGE", false},   {"BATCHED", false},
    {"PROMPT", false},    {"SORT", false},    {"PRIMARY", false},
    {"FOREIGN", false},   {"PUBLIC", false},  {"PUB", false},
    {"PARTITION", false}, {"GROUP", false},   {"HOT", false},
    {"CACHE", false},     {"METRIC", false},  {"MONKEY", false},
    {"TURKEY", false},    {"HOTKEY", false},  {"KEYWORD", false},
    {"BYPASS", false},    {"COMPASS", false}, {"DESKTOP", false},
    {"XDG", false},       {"TMUX", false},    {"CPU", false},
    {"LOW", false},       {"HIGH", false},    {"BAND", false},
};

/* Values that are never secret. */
static const char *const plain_values[] = {
    "",     "true", "false", "yes",  "no",     "on",      "off",    "auto",
    "none", "null", "nil",   "both", "enable", "disable", "default"};

struct part {
	const char *text;
	/*
	 * number of characters without trailing digits, or of all characters if
	 * they are all digits
	 */
	size_t len;
	bool first, last;
};

static bool is_given_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncasecmp(text, word, len);
}

static bool holds_word(const struct part *part, const char *word, unsigned how)
{
	size_t n = strlen(word);

	if (n > part->len)
		return false;
	if (how & AT_END)
		return is_given_word(part->text + part->len - n, n, word);
	if (!(how & ANYWHERE))
		return is_given_word(part->text, part->len, word);
	for (size_t i = 0; i + n <= part->len; i++)
		if (is_given_word(part->text + i, n, word))
			return true;
	return false;
}

/*
 * Returns the flags that all matching words have in common; -1 if no word
 * matches.
 */
static int secret_part(const struct part *part, bool assigned)
{
	int found = -1;

	for (size_t i = 0; i < COUNT(secret_words); i++) {
		unsigned how = secret_words[i].how;

		if ((how & BEHIND && part->first) ||
		    (how & LAST && !part->last) ||
		    (how & ASSIGNED && !assigned) ||
		    !holds_word(part, secret_words[i].word, how))
			continue;
		found = found < 0 ? (int)how : found & (int)how;
	}
	return found;
}

enum clearing { CLEARS_NOTHING, CLEARS_WEAK, CLEARS_ALL };

static enum clearing clearing_part(const struct part *part)
{
	for (size_t i = 0; i < COUNT(clearing_words); i++)
		if (is_given_word(part->text, part->len,
				  clearing_words[i].word))
			return clearing_words[i].all && part->last
				   ? CLEARS_ALL
				   : CLEARS_WEAK;
	return CLEARS_NOTHING;
}

static bool next_part(const char **at, const char *end, struct part *part)
{
	const char *p = *at;

	while (p < end && !isalnum((unsigned char)*p))
		p++;
	part->text = p;
	while (p < end && isalnum((unsigned char)*p))
		p++;
	part->len = (size_t)(p - part->text);
	*at = p;
	for (size_t n = part->len; n; n--)
		if (!isdigit((unsigned char)part->text[n - 1])) {
			part->len = n;
			break;
		}
	while (p < end && !isalnum((unsigned char)*p))
		p++;
	part->last = p == end;
	return part->len;
}

int gk_secret_name(const char *name, size_t len, bool assigned, bool inside)
{
	const char *at = name, *end = name + len;
	enum clearing cleared = CLEARS_NOTHING;
	struct part part = {.first = !inside};
	int found = -1;

	while (next_part(&at, end, &part)) {
		int how = secret_part(&part, assigned);
		enum clearing clears = clearing_part(&part);

		if (how >= 0)
			found = found < 0 ? how : found & how;
		cleared = clears > cleared ? clears : cleared;
		part.first = false;
	}
	if (cleared == CLEARS_ALL || (cleared && found >= 0 && found & WEAK))
		return -1;
	return found;
}

/*
 * Numbers of up to two digits are settings, not secrets; "-" stands for a
 * stream.
 */
bool gk_secret_plain(const char *value, size_t len, int how)
{
	size_t digits = 0;

	if (len && *value == '-') {
		value++;
		len--;
	}
	for (size_t i = 0; i < COUNT(plain_values); i++)
		if (is_given_word(value, len, plain_values[i]))
			return true;
	while (digits < len &&
	       (isdigit((unsigned char)value[digits]) ||
		((unsigned)how & COUNTED && value[digits] == '.')))
		digits++;
	return digits == len && ((unsigned)how & COUNTED || len <= 2);
}
