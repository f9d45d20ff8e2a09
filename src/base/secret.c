/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.c - finds and covers secrets: in the forms in which they occur within
 * a text, and in whole argument lists.
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
	const struct gk_login *login; /* the last program found, or NULL */
};

/* The bytes to cover. */
struct span {
	size_t begin, end;
};

static bool begins_with_word(const struct text *t, size_t at, const char *word)
{
	size_t n = strlen(word);

	return t->len - at >= n && !strncasecmp(t->s + at, word, n);
}

/* Returns the offset of the first character that is in `stops`, or the end. */
static size_t find_stop(const struct text *t, size_t at, const char *stops)
{
	while (at < t->len && !strchr(stops, t->s[at]))
		at++;
	return at;
}

static bool is_one_of(const struct text *t, size_t at, const char *chars)
{
	return at < t->len && t->s[at] && strchr(chars, t->s[at]);
}

/*
 * A backslash before a newline continues a shell's line, so both count as a
 * blank.
 */
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

/* These characters end a word, in a shell and in most texts. */
#define STOPS "&;,| \t\n\"'`<>)}]"

/* The maximum number of quotes or backslashes in a row that are considered. */
#define ROW_MAX 64

/*
 * Returns the offset of the quote that opens a string here, or the end if there
 * is none. In a string within a string, a backslash precedes the quote; one
 * level deeper, three backslashes do.
 */
static size_t find_quote(const struct text *t, size_t at)
{
	for (int i = 0; i < ROW_MAX && is_one_of(t, at, "\\"); i++)
		at++;
	return is_one_of(t, at, "\"'") ? at : t->len;
}

/*
 * Whether a quote after n backslashes closes a string whose opening quote has
 * `level` backslashes before it.
 */
static bool ends_string(size_t level, size_t n)
{
	for (; level; level >>= 1, n >>= 1)
		if (n % 2 == 0)
			return true;
	return n % 2 == 0;
}

/*
 * Returns the text between the quotes. *ret_behind is the offset after the
 * closing quote.
 */
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

/*
 * Whether the word continues after a quote: a"b c"'d' is one word. A word ends
 * if a stop character follows the quote; closing quotes of an enclosing string
 * are skipped.
 */
static bool goes_on(const struct text *t, size_t at)
{
	for (int i = 0; i < ROW_MAX && is_one_of(t, at, "\"'"); i++)
		at++;
	return at < t->len && !strchr(STOPS, t->s[at]);
}

/*
 * Returns the end of a word, which consists of strings, escapes and characters
 * that are not stops.
 */
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

/*
 * Returns the word at an offset, without its quotes if it is a single string.
 */
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

/* Returns a JSON list or object, including its brackets. */
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

/*
 * Finds "-----BEGIN RSA PRIVATE KEY-----" and everything up to the end of its
 * END line.
 */
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
		i = find_stop(t, i + sizeof end - 1, "-");
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
	*ret = (struct span){value, find_stop(t, value, " \t\n\"'`,;")};
	return ret->end > value;
}

/*
 * Returns the end of a URL: the next blank, quote, < or >, or where another URL
 * begins.
 */
static size_t url_end(const struct text *t, size_t at)
{
	while (at < t->len && !strchr(" \t\n\"'`<>", t->s[at]) &&
	       !(t->s[at] == ':' && begins_with_word(t, at, "://")))
		at++;
	return at;
}

/*
 * Whether the text after a colon is a port and not a password: "host:8080/x@y".
 */
static bool is_port(const struct text *t, size_t at, size_t end)
{
	size_t i = at;

	while (i < end && isdigit((unsigned char)t->s[i]))
		i++;
	return i > at && i < end && strchr("/?#", t->s[i]);
}

/*
 * Finds the password in "scheme://user:password@host". It may contain anything,
 * even @ / and # unescaped: the last @ ends it.
 */
static bool url_password(const struct text *t, size_t at, struct span *ret)
{
	size_t colon, end, sign;

	if (t->s[at] != ':' || !begins_with_word(t, at, "://"))
		return false;
	colon = find_stop(t, at + 3, ":/?#@[ \t\n\"'");
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

/*
 * Whether the colon belongs to a header such as "X-Api-Key: x": the name is
 * known or begins with "x-", or a blank or the end of the text follows the
 * colon. "volume:/path" is not a header.
 */
static bool is_colon(const struct text *t, size_t at, size_t name, bool quoted)
{
	char next = at + 1 < t->len ? t->s[at + 1] : '\0';

	return quoted || next == ' ' || next == '\t' || next == '\0' ||
	       begins_with_word(t, name, "x-") ||
	       begins_with_word(t, name, "api-key") ||
	       begins_with_word(t, name, "authorization") ||
	       begins_with_word(t, name, "cookie");
}

/*
 * Returns the value after a sign (= or :); if `whole`, everything up to the end
 * of the text. If a quote precedes the value, the closing quote ends it too.
 */
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

/*
 * Returns the end of the name before a sign (= or :). The name may also be
 * written as ["name"].
 */
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

/*
 * Finds x in "password=x", "?token=x&", "X-Api-Key: x", "\"password\": \"x\"".
 */
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

/*
 * Whether a word is an option, such as "--verbose" or "--level=3", rather than
 * the value of the option before it. A value may begin with dashes, but hardly
 * ever looks like this.
 */
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

/*
 * Returns the offset of the word after an option: x in "--token x", "'--token'
 * x" and "'--token', 'x'"; 0 if there is none.
 */
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

/* Finds x in "--token x", in a text that is itself a command line. */
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

/*
 * Reduces the value to the part after the first character `sign`, or leaves all
 * of it if `sign` is 0. Returns false if nothing is left.
 */
static bool cut_login(const struct text *t, char sign, struct span *value)
{
	while (sign && value->begin < value->end)
		if (t->s[value->begin++] == sign)
			break;
	return value->begin < value->end;
}

/* Finds x in "curl -u ana:x" and "mysql -px". */
static bool login(const struct text *t, size_t at, struct span *ret)
{
	size_t end, len, value;
	char sign;

	/*
	 * A parenthesis begins a command, so a word after it is a program and
	 * not an option.
	 */
	if (!t->login || t->s[at] != '-' || !begins_word(t, at) ||
	    (at && t->s[at - 1] == '('))
		return false;
	end = find_stop(t, at, STOPS);
	/*
	 * The word -p'a b' goes on after its first quote, but the word in '-p'
	 * ends at the quote.
	 */
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

/*
 * Sets t->login whenever a word begins with the name of a program, and resets
 * it at the end of the program's command. The characters ; & and | end a
 * command only before a blank, because they may also occur in a URL.
 */
static void look_for_program(struct text *t, size_t at)
{
	const struct gk_login *found = NULL;

	if (is_one_of(t, at, "\n") ||
	    (is_one_of(t, at, ";&|") && is_one_of(t, at + 1, " \t\n")))
		t->login = NULL;
	else if (begins_word(t, at))
		found =
		    gk_login_find(t->s + at, find_stop(t, at, STOPS "(") - at);
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

/* ---- public functions ---- */

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

/*
 * Returns the length of the name in an argument whose value is the next
 * argument ("--password", "X-Key:", "Bearer"), else 0.
 */
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
 * Whether an argument contains a secret because of the argument before it; *ret
 * is the part of the argument that is secret.
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
