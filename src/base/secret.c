/*
 * secret.c - covers what is secret in a text: the forms in which secrets stand
 * within one, then whole lists of arguments.
 */
#include "base/secret.h"
#include "base/array.h"
#include "base/secret_login.h"
#include "base/secret_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *s;
	size_t len;
	const struct gk_login *login; /* of the last program before; or NULL */
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

static bool is_one_of(const struct text *t, size_t at, const char *chars)
{
	return at < t->len && t->s[at] && strchr(chars, t->s[at]);
}

/* A line that goes on in the next one is one of a shell. */
static size_t skip_blanks(const struct text *t, size_t at)
{
	for (;;)
		if (is_one_of(t, at, " \t"))
			at++;
		else if (begins_with_word(t, at, "\\\n"))
			at += 2;
		else
			return at;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* ---- strings and words ---- */

/* These end a word, in a shell and in most texts. */
#define STOPS "&;,| \t\n\"'`<>)}]"

/* So many quotes and backslashes in a row are looked through, and no more. */
#define ROW_MAX 64

/*
 * Where the quote is that opens a string here; the end: there is none. In a
 * string within a string it has a backslash, a level deeper three.
 */
static size_t find_quote(const struct text *t, size_t at)
{
	for (int i = 0; i < ROW_MAX && is_one_of(t, at, "\\"); i++)
		at++;
	return is_one_of(t, at, "\"'") ? at : t->len;
}

/* Whether a quote behind n backslashes ends what one behind level opened. */
static bool ends_string(size_t level, size_t n)
{
	for (; level; level >>= 1, n >>= 1)
		if (n % 2 == 0)
			return true;
	return n % 2 == 0;
}

/* Reads the text between the quotes; *ret_behind is behind the second. */
static struct span read_string(const struct text *t, size_t at, size_t quote,
			       size_t *ret_behind)
{
	size_t level = quote - at, n = 0;

	for (size_t i = quote + 1; i < t->len; i++) {
		if (t->s[i] == t->s[quote] && ends_string(level, n)) {
			*ret_behind = i + 1;
			return (struct span){quote + 1,
					     i - (n < level ? n : level)};
		}
		n = t->s[i] == '\\' ? n + 1 : 0;
	}
	*ret_behind = t->len;
	return (struct span){quote + 1, t->len};
}

/* A word goes on behind a quote that no stop follows: a"b c"'d' is one. The
 * quotes of what the word stands in may follow. */
static bool goes_on(const struct text *t, size_t at)
{
	for (int i = 0; i < ROW_MAX && is_one_of(t, at, "\"'"); i++)
		at++;
	return at < t->len && !strchr(STOPS, t->s[at]);
}

/* The end of a word that is made of strings, escapes and what is no stop. */
static size_t word_end(const struct text *t, size_t at, const char *stops)
{
	size_t begin = at;

	while (at < t->len) {
		size_t quote = find_quote(t, at);

		if (quote < t->len && (at == begin || goes_on(t, quote + 1)))
			read_string(t, at, quote, &at);
		else if (quote < t->len || strchr(stops, t->s[at]))
			break;
		else
			at += t->s[at] == '\\' && at + 1 < t->len ? 2 : 1;
	}
	return at;
}

/* A string's inside, if that is the whole of the word. */
static struct span read_word(const struct text *t, size_t at, const char *stops)
{
	size_t quote = find_quote(t, at), behind;

	if (quote < t->len) {
		struct span inside = read_string(t, at, quote, &behind);

		if (!goes_on(t, behind))
			return inside;
	}
	return (struct span){at, word_end(t, at, stops)};
}

/* A list or an object, with all that is in it. */
static struct span read_brackets(const struct text *t, size_t begin)
{
	size_t at = begin, depth = 0;

	while (at < t->len) {
		size_t quote = find_quote(t, at);

		if (quote < t->len) {
			read_string(t, at, quote, &at);
			continue;
		}
		depth += is_one_of(t, at, "[{");
		depth -= is_one_of(t, at, "]}");
		at++;
		if (!depth)
			break;
	}
	return (struct span){begin, at};
}

/* ---- forms within a text ---- */

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
	size_t quote = find_quote(t, at), behind;

	if (whole && quote < t->len) {
		struct span inside = read_string(t, at, quote, &behind);

		return goes_on(t, behind) ? (struct span){at, t->len} : inside;
	}
	if (whole)
		return (struct span){at, t->len};
	return read_word(t, at, t->s[sign] == ':' ? "\n\"'" : STOPS);
}

/* Behind the name before a sign; ["it"] is one, too. */
static size_t name_before(const struct text *t, size_t at, bool *ret_quoted)
{
	while (at && t->s[at - 1] == ' ')
		at--;
	if (at > 1 && t->s[at - 1] == ']' && strchr("\"'", t->s[at - 2]))
		at--;
	*ret_quoted = at && strchr("\"'", t->s[at - 1]);
	at -= *ret_quoted;
	while (*ret_quoted && at && t->s[at - 1] == '\\')
		at--;
	return at;
}

/* "password=x", "?token=x&", "X-Api-Key: x", "\"password\": \"x\"" */
static bool assigned(const struct text *t, size_t at, struct span *ret)
{
	bool header = t->s[at] == ':', quoted;
	size_t name_end, name;
	int how;

	if ((t->s[at] != '=' && !header) || (at && t->s[at - 1] == '=') ||
	    (at + 1 < t->len && t->s[at + 1] == '='))
		return false;
	name_end = name_before(t, at, &quoted);
	for (name = name_end; name && is_name(t->s[name - 1]);)
		name--;
	if (name == name_end || (header && !is_colon(t, at, name, quoted)))
		return false;
	how = gk_secret_name(t->s + name, name_end - name, true, name > 0);
	if (how < 0)
		return false;
	*ret = quoted && header && is_one_of(t, skip_blanks(t, at + 1), "[{")
		   ? read_brackets(t, skip_blanks(t, at + 1))
		   : value_behind(t, at, !name && !header && name_end == at);
	return !gk_secret_plain(t->s + ret->begin, ret->end - ret->begin, how);
}

/* "--verbose", "--level=3": what follows an option and is none of its values.
 * A value may begin with dashes, but has hardly such a form. */
static bool is_option(const char *word, size_t len)
{
	size_t i = 2;

	if (len < 3 || strncmp(word, "--", 2) != 0)
		return len == 2 && !strncmp(word, "--", 2);
	while (i < len && word[i] != '=' &&
	       (islower((unsigned char)word[i]) ||
		isdigit((unsigned char)word[i]) || strchr("-_.", word[i])))
		i++;
	return i == len || (i > 2 && word[i] == '=');
}

static bool begins_word(const struct text *t, size_t at)
{
	return !at || strchr(" \t\n\"'`(;&|", t->s[at - 1]);
}

/* Where the word behind an option begins: "--token x", "'--token' x" and
 * "'--token', 'x'"; 0: there is none. */
static size_t next_word(const struct text *t, size_t begin, size_t end)
{
	size_t quote = find_quote(t, end), at = end, next;

	if (quote < t->len && begin && t->s[begin - 1] == t->s[quote]) {
		at = quote + 1;
		at += is_one_of(t, at, ",");
	}
	next = skip_blanks(t, at);
	return next < t->len && (next > at || at > quote + 1) ? next : 0;
}

/* "--token x" within a text: it is a command line itself. */
static bool option(const struct text *t, size_t at, struct span *ret)
{
	size_t end = at, value;
	int how;

	if (t->s[at] != '-' || !begins_word(t, at))
		return false;
	while (end < t->len && is_name(t->s[end]))
		end++;
	value = end > at + 2 ? next_word(t, at, end) : 0;
	how = value ? gk_secret_name(t->s + at, end - at, false, false) : -1;
	if (how < 0)
		return false;
	*ret = read_word(t, value, STOPS);
	return !is_option(t->s + ret->begin, ret->end - ret->begin) &&
	       !gk_secret_plain(t->s + ret->begin, ret->end - ret->begin, how);
}

/* Leaves the part behind the sign in it; 0: all of it. */
static bool cut_login(const struct text *t, char sign, struct span *value)
{
	while (sign && value->begin < value->end)
		if (t->s[value->begin++] == sign)
			break;
	return value->begin < value->end;
}

/* "curl -u ana:x", "mysql -px" */
static bool login(const struct text *t, size_t at, struct span *ret)
{
	size_t end, len, value;
	char sign;

	/* A program stands behind a bracket, and no option of one. */
	if (!t->login || t->s[at] != '-' || !begins_word(t, at) ||
	    (at && t->s[at - 1] == '('))
		return false;
	end = until(t, at, STOPS);
	/* "-p'a b'", but not "'-p'". */
	len = end - at +
	      (is_one_of(t, end, "\"'") && (!at || t->s[at - 1] != t->s[end]));
	if (!gk_login_option(t->login, t->s + at, len, &value, &sign))
		return false;
	value = value < len ? at + value : next_word(t, at, end);
	if (!value)
		return false;
	*ret = read_word(t, value, STOPS);
	return cut_login(t, sign, ret);
}

/* A program at a word's beginning, and the end of its command; a URL may hold
 * the same signs. */
static void look_for_program(struct text *t, size_t at)
{
	const struct gk_login *found = NULL;

	if (is_one_of(t, at, "\n") ||
	    (is_one_of(t, at, ";&|") && is_one_of(t, at + 1, " \t\n")))
		t->login = NULL;
	else if (begins_word(t, at))
		found = gk_login_find(t->s + at, until(t, at, STOPS "(") - at);
	if (found)
		t->login = found;
}

static bool next_secret(struct text *t, size_t at, struct span *ret)
{
	static bool (*const forms[])(const struct text *, size_t,
				     struct span *) = {
	    private_key, bearer, url_password, assigned, option, login};

	for (; at < t->len; at++) {
		look_for_program(t, at);
		for (size_t i = 0; i < COUNT(forms); i++)
			if (forms[i](t, at, ret))
				return true;
	}
	return false;
}

/* ---- the whole ---- */

bool gk_secret_variable(const char *name, const char *value)
{
	struct text t = {value, strlen(value), NULL};
	int how = gk_secret_name(name, strlen(name), true, false);
	struct span span;

	return (how >= 0 && !gk_secret_plain(value, t.len, how)) ||
	       next_secret(&t, 0, &span);
}

static void add_covered(struct gk_buf *out, struct text *t)
{
	size_t at = 0;
	struct span span;

	while (next_secret(t, at, &span)) {
		gk_buf_add(out, t->s + at, span.begin - at);
		gk_buf_puts(out, GK_SECRET_COVER);
		at = span.end;
	}
	gk_buf_add(out, t->s + at, t->len - at);
}

void gk_secret_text(struct gk_buf *out, const char *text, size_t len)
{
	add_covered(out, &(struct text){text, len, NULL});
}

/* The name of an argument whose value is the next one: "--password", "X-Key:",
 * "Bearer"; its length, or 0. */
static size_t name_alone(const struct text *arg)
{
	size_t i = 0;

	if (arg->len == 6 && begins_with_word(arg, 0, "Bearer"))
		return arg->len;
	while (i < arg->len && is_name(arg->s[i]))
		i++;
	if (i + 1 == arg->len && arg->s[i] == ':')
		return i;
	return arg->len > 2 && arg->s[0] == '-' && i == arg->len ? i : 0;
}

/*
 * Finds the part of an argument that is the value of the one before, a secret.
 */
static bool value_of(const struct text *before, const struct text *arg,
		     struct span *ret)
{
	size_t name = name_alone(before), at;
	int how =
	    name ? gk_secret_name(before->s, name, name < before->len, false)
		 : -1;
	char sign;

	*ret = (struct span){0, arg->len};
	if (how >= 0)
		return !is_option(arg->s, arg->len) &&
		       !gk_secret_plain(arg->s, arg->len, how);
	return before->login &&
	       gk_login_option(before->login, before->s, before->len, &at,
			       &sign) &&
	       at == before->len && cut_login(arg, sign, ret);
}

void gk_secret_arguments(struct gk_buf *out, const char *args, size_t len)
{
	struct text before = {"", 0, NULL};
	struct span span;

	for (size_t i = 0; i < len;) {
		struct text arg = {args + i, strnlen(args + i, len - i),
				   before.login};

		if (value_of(&before, &arg, &span)) {
			gk_buf_add(out, arg.s, span.begin);
			gk_buf_puts(out, GK_SECRET_COVER);
		} else {
			add_covered(out, &arg);
		}
		i += arg.len;
		before = arg;
		if (i < len)
			gk_buf_putc(out, args[i++]);
	}
}
