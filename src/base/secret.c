/*
 * secret.c - covers what is secret in a text. The table of words first, then
 * the forms in which secrets stand within a text, then whole lists of
 * arguments.
 */
#include "base/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- names ---- */

/* A name is parts of letters and digits: "HF_TOKEN", "--api-key". */
enum {
	WHOLE = 0,    /* the word is the part */
	ANYWHERE = 1, /* the part holds it */
	AT_END = 2,   /* the part ends with it */
	BEHIND = 4,   /* not the first part: PWD itself is a directory */
	LAST = 8,     /* the last part only: PIN_MEMORY is none */
	WEAK = 16, /* also an innocent word: some others beside it clear it */
	COUNTED = 32,  /* a number is how many there are of them */
	ASSIGNED = 64, /* with a sign: "--session x" names one */
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

/* A name with one of these as a whole part says something about a secret, or
 * uses a weak word otherwise. */
static const struct {
	const char *word;
	bool all; /* at the end it clears strong words too: the rest says where
		     a secret is, or how long */
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

/* Values that are never taken for a secret. */
static const char *const plain_values[] = {
    "",     "true", "false", "yes",  "no",     "on",      "off",    "auto",
    "none", "null", "nil",   "both", "enable", "disable", "default"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct part {
	const char *text;
	size_t
	    len; /* without digits at the end, unless there is nothing else */
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

/* The words' bits, WEAK only if all are; -1: it has no such word. */
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

	part->first = !part->text;
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

/* Bits of the words that make a name secret; -1: it is not. inside: it does not
 * begin its text, so that its first part is not the first. */
static int secret_name(const char *name, size_t len, bool assigned, bool inside)
{
	const char *at = name, *end = name + len;
	enum clearing cleared = CLEARS_NOTHING;
	struct part part = {.text = inside ? name : NULL};
	int found = -1;

	while (next_part(&at, end, &part)) {
		int how = secret_part(&part, assigned);
		enum clearing clears = clearing_part(&part);

		if (how >= 0)
			found = found < 0 ? how : found & how;
		cleared = clears > cleared ? clears : cleared;
	}
	if (cleared == CLEARS_ALL || (cleared && found >= 0 && found & WEAK))
		return -1;
	return found;
}

/* Numbers of up to two digits are choices, not secrets. */
static bool is_plain_value(const char *value, size_t len, unsigned how)
{
	size_t digits = 0;

	for (size_t i = 0; i < COUNT(plain_values); i++)
		if (is_given_word(value, len, plain_values[i]))
			return true;
	while (digits < len && (isdigit((unsigned char)value[digits]) ||
				(how & COUNTED && value[digits] == '.')))
		digits++;
	return digits == len && (how & COUNTED || len <= 2);
}

static bool is_secret(const char *name, size_t name_len, bool assigned,
		      bool inside, const char *value, size_t len)
{
	int how = secret_name(name, name_len, assigned, inside);

	return how >= 0 && !is_plain_value(value, len, (unsigned)how);
}

/* ---- forms within a text ---- */

struct text {
	const char *s;
	size_t len;
};

/* The bytes that will be covered. */
struct span {
	size_t begin, end;
};

static bool begins_with_word(const struct text *t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return t->len - at >= n && !strncasecmp(t->s + at, word, n);
}

/* Up to one of the stops, or the end. */
static size_t until(const struct text *t, size_t at, const char *stops)
{
	while (at < t->len && !strchr(stops, t->s[at]))
		at++;
	return at;
}

static size_t skip_blanks(const struct text *t, size_t at)
{
	while (at < t->len && (t->s[at] == ' ' || t->s[at] == '\t'))
		at++;
	return at;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* "-----BEGIN RSA PRIVATE KEY-----" and all up to its end. */
static bool private_key(const struct text *t, size_t at, struct span *ret)
{
	static const char end[] = "-----END ";
	size_t head, i;

	if (t->s[at] != '-' || !begins_with_word(t, at, "-----BEGIN "))
		return false;
	for (head = at + 11; head < t->len && head < at + 80; head++)
		if (begins_with_word(t, head, "PRIVATE KEY"))
			break;
	if (head == t->len || head == at + 80)
		return false;
	for (i = head; i < t->len && !begins_with_word(t, i, end); i++)
		;
	if (i < t->len)
		i = until(t, i + sizeof end - 1, "-");
	while (i < t->len && t->s[i] == '-')
		i++;
	*ret = (struct span){at, i};
	return true;
}

/* "Bearer xyz" */
static bool bearer(const struct text *t, size_t at, struct span *ret)
{
	size_t value;

	if (tolower((unsigned char)t->s[at]) != 'b' ||
	    !begins_with_word(t, at, "bearer") || (at && is_name(t->s[at - 1])))
		return false;
	value = skip_blanks(t, at + 6);
	if (value == at + 6)
		return false;
	*ret = (struct span){value, until(t, value, " \t\n\"'`,;")};
	return ret->end > value;
}

/* The end of a URL that may hold anything but these, or another one. */
static size_t url_end(const struct text *t, size_t at)
{
	while (at < t->len && !strchr(" \t\n\"'`<>", t->s[at]) &&
	       !(t->s[at] == ':' && begins_with_word(t, at, "://")))
		at++;
	return at;
}

/* "host:8080/x@y" has no password. */
static bool is_port(const struct text *t, size_t at, size_t end)
{
	size_t i = at;

	while (i < end && isdigit((unsigned char)t->s[i]))
		i++;
	return i > at && i < end && strchr("/?#", t->s[i]);
}

/*
 * "scheme://user:password@host". The password may hold anything, unescaped @ /
 * and # too: it ends at the last @.
 */
static bool url_password(const struct text *t, size_t at, struct span *ret)
{
	size_t colon, end, sign;

	if (t->s[at] != ':' || !begins_with_word(t, at, "://"))
		return false;
	colon = until(t, at + 3, ":/?#@[ \t\n\"'");
	if (colon == t->len || t->s[colon] != ':')
		return false;
	end = url_end(t, colon + 1);
	for (sign = end; sign > colon && t->s[sign - 1] != '@'; sign--)
		;
	if (sign <= colon + 1 || is_port(t, colon + 1, sign - 1))
		return false;
	*ret = (struct span){colon + 1, sign - 1};
	return sign - 1 > colon + 1;
}

/* A header's name has a dash or is known; "volume:/path" is none. */
static bool is_colon(const struct text *t, size_t at, size_t name, bool quoted)
{
	char next = at + 1 < t->len ? t->s[at + 1] : '\0';

	return quoted || next == ' ' || next == '\t' || next == '\0' ||
	       begins_with_word(t, name, "x-") ||
	       begins_with_word(t, name, "api-key") ||
	       begins_with_word(t, name, "authorization") ||
	       begins_with_word(t, name, "cookie");
}

/* Behind the sign; whole: up to the end of the text. A quote before it ends it
 * too. */
static struct span value_behind(const struct text *t, size_t sign, bool whole)
{
	size_t at = whole ? sign + 1 : skip_blanks(t, sign + 1);
	char quote = at < t->len ? t->s[at] : '\0';

	if (quote == '"' || quote == '\'')
		return (struct span){
		    at + 1, until(t, at + 1, quote == '"' ? "\"" : "'")};
	if (whole)
		return (struct span){at, t->len};
	return (struct span){
	    at,
	    until(t, at, t->s[sign] == ':' ? "\n\"'" : "&;,| \t\n\"'<>)}]")};
}

/* "password=x", "?token=x&", "X-Api-Key: x", "\"password\": \"x\"" */
static bool assigned(const struct text *t, size_t at, struct span *ret)
{
	bool header = t->s[at] == ':', quoted;
	size_t name_end = at, name;
	int how;

	if ((t->s[at] != '=' && !header) || (at && t->s[at - 1] == '=') ||
	    (at + 1 < t->len && t->s[at + 1] == '='))
		return false;
	while (name_end && t->s[name_end - 1] == ' ')
		name_end--;
	quoted = name_end && strchr("\"'", t->s[name_end - 1]);
	name_end -= quoted;
	for (name = name_end; name && is_name(t->s[name - 1]);)
		name--;
	if (name == name_end || (header && !is_colon(t, at, name, quoted)))
		return false;
	how = secret_name(t->s + name, name_end - name, true, name > 0);
	if (how < 0)
		return false;
	*ret = value_behind(t, at, !name && !header && name_end == at);
	return !is_plain_value(t->s + ret->begin, ret->end - ret->begin,
			       (unsigned)how);
}

static bool next_secret(const struct text *t, size_t at, struct span *ret)
{
	static bool (*const forms[])(const struct text *, size_t,
				     struct span *) = {private_key, bearer,
						       url_password, assigned};

	for (; at < t->len; at++)
		for (size_t i = 0; i < COUNT(forms); i++)
			if (forms[i](t, at, ret))
				return true;
	return false;
}

/* ---- the whole ---- */

bool gk_secret_variable(const char *name, const char *value)
{
	struct text t = {value, strlen(value)};
	struct span span;

	return is_secret(name, strlen(name), true, false, value, t.len) ||
	       next_secret(&t, 0, &span);
}

void gk_secret_text(struct gk_buf *out, const char *text, size_t len)
{
	struct text t = {text, len};
	size_t at = 0;
	struct span span;

	while (next_secret(&t, at, &span)) {
		gk_buf_add(out, text + at, span.begin - at);
		gk_buf_puts(out, GK_SECRET_COVER);
		at = span.end;
	}
	gk_buf_add(out, text + at, len - at);
}

/* The name of an argument whose value is the next one: "--password", "X-Key:",
 * "Bearer"; its length, or 0. */
static size_t name_alone(const char *arg, size_t len)
{
	size_t i = 0;

	if (is_given_word(arg, len, "Bearer"))
		return len;
	while (i < len && is_name(arg[i]))
		i++;
	if (i + 1 == len && arg[i] == ':')
		return i;
	return len > 2 && arg[0] == '-' && i == len ? len : 0;
}

/* Whether the next word is the value of an option, and no option itself. */
static bool is_value_of(const char *arg, size_t len, const char *value,
			size_t value_len)
{
	size_t name = name_alone(arg, len);

	if (!name || (value_len && value[0] == '-'))
		return false;
	return is_secret(arg, name, name < len, false, value, value_len);
}

void gk_secret_arguments(struct gk_buf *out, const char *args, size_t len)
{
	const char *before = NULL;
	size_t before_len = 0;

	for (size_t i = 0; i < len;) {
		size_t n = strnlen(args + i, len - i);

		if (before && is_value_of(before, before_len, args + i, n))
			gk_buf_puts(out, GK_SECRET_COVER);
		else
			gk_secret_text(out, args + i, n);
		before = args + i;
		before_len = n;
		i += n;
		if (i < len)
			gk_buf_putc(out, args[i++]);
	}
}
