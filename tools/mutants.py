# SPDX-License-Identifier: Apache-2.0
"""The mutants of a C file: small changes that its tests should notice. Pure
functions of the text; mutate.py builds and runs the mutants.

Only bodies of functions are changed, but no comments, strings, preprocessor
lines, asserts, log lines, or types in declarations.
"""

import bisect
import collections
import re

Mutant = collections.namedtuple("Mutant", "kind start end text")
Token = collections.namedtuple("Token", "kind text start end")

TOKEN = re.compile(r"""
    (?P<skip> /\*.*?\*/ | //[^\n]* | \s+ | \\\n
            | ^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])* )
  | (?P<text> [LuU]?8?"(?:\\.|[^"\\])*" | [LuU]?'(?:\\.|[^'\\])*' )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<number> \.?\d(?:[eEpP][+-]|[\w.])* )
  | (?P<sign> ->|\.\.\.|<<=|>>=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||
              [-+*/%&|^]=|. )""", re.X | re.S | re.M)

# Binary operators and their replacements.
BETWEEN = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "&": ("|",), "|": ("&",), "<<": (">>",), ">>": ("<<",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",),
    "|=": ("&=",), "&=": ("|=",)}
KIND_OF_SIGN = {**dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "compare"),
                **dict.fromkeys(("&&", "||"), "logic")}
KEYWORDS = frozenset(
    "auto break case const continue default do else enum extern for goto if "
    "inline register restrict return sizeof static struct switch typedef "
    "union volatile while _Atomic _Generic _Thread_local typeof __typeof__ "
    "void char short int long float double signed unsigned bool".split())
# Statements that no test has to notice: asserts, log lines, and x_free(),
# whose absence only a leak checker notices.
UNNOTICED = re.compile(
    r"(.*_)?(assert|ASSERT|log|log_write)$|_Static_assert$|va_end$|(.*_)?free$")
# A returned value's replacement; any other value becomes 0 or NULL.
OTHER_RESULT = {"0": "-1", "true": "false", "false": "true"}
NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)$")


def tokens_of(source):
    """Returns all tokens except comments and preprocessor lines."""
    return [Token(m.lastgroup, m.group(), m.start(), m.end())
            for m in TOKEN.finditer(source) if m.lastgroup != "skip"]


def bodies(tokens):
    """Returns (first, last) of the tokens between the braces of each function:
    those that follow a parenthesis outside of other braces."""
    depth, first = 0, None
    for i, token in enumerate(tokens):
        if token.text == "{" and token.kind == "sign":
            if depth == 0 and i and tokens[i - 1].text == ")":
                first = i + 1
            depth += 1
        elif token.text == "}" and token.kind == "sign":
            depth -= 1
            if depth == 0 and first is not None:
                yield first, i
                first = None


def closing(tokens, i):
    """Returns the index of the parenthesis that closes the one at i."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += (tokens[j].text in ("(", "[", "{")) \
            - (tokens[j].text in (")", "]", "}"))
        if depth == 0:
            return j
    return len(tokens) - 1


def end_of_statement(tokens, i):
    """Returns the semicolon of the statement at i; None if it is not a
    statement, but within parentheses or braces of its own."""
    while i < len(tokens) and tokens[i].text != ";":
        if tokens[i].text in (")", "]", "}"):
            return None
        i = closing(tokens, i) + 1 if tokens[i].text in ("(", "[", "{") \
            else i + 1
    return i if i < len(tokens) else None


def is_declaration(tokens, i):
    """Whether it is a keyword, or a type followed by a name: neither an
    assignment nor a call."""
    if tokens[i].text in KEYWORDS:
        return True
    after = tokens[i + 1:i + 3]
    return tokens[i].kind == "word" and len(after) == 2 and (
        after[0].kind == "word" or
        (after[0].text == "*" and after[1].start == after[0].end))


def begins(tokens, i):
    """Whether a statement can begin at i, because something ends before it."""
    before = tokens[i - 1].text
    if before in (";", "{", "}", "else", "do"):
        return True
    if before == ":":
        return tokens[i - 3].text in (";", "{", "}", "case")
    return before == ")" and tokens[opening(tokens, i - 1) - 1].text in (
        "if", "for", "while", "switch")


def statements(tokens, first, last):
    """Returns (start, semicolon) of the statements there, without the parts of
    for(;;)."""
    depth = 0
    for i in range(first, last):
        if depth == 0 and tokens[i].text not in ("{", "}", ";") and \
                begins(tokens, i):
            end = end_of_statement(tokens, i)
            if end is not None:
                yield i, end
        depth += (tokens[i].text == "(") - (tokens[i].text == ")")


def opening(tokens, i):
    depth = 0
    for j in range(i, -1, -1):
        depth += (tokens[j].text in (")", "]", "}")) \
            - (tokens[j].text in ("(", "[", "{"))
        if depth == 0:
            return j
    return 0


def drops(tokens, i, end):
    """Whether the statement at i can be left out: an assignment or a call."""
    body = [t.text for t in tokens[i:end]]
    acts = body[-1:] == [")"] or body[-1:] in (["++"], ["--"]) or \
        any(t.endswith("=") and t not in ("==", "!=", "<=", ">=")
            for t in body)
    begins_well = tokens[i].kind == "word" or tokens[i].text in ("*", "(")
    if begins_well and acts and not is_declaration(tokens, i):
        yield Mutant("drop", tokens[i].start, tokens[end].start, "")


def other_result(value):
    """Returns another value to return; a constant may be another name for
    0."""
    if value.isupper() and value.isidentifier():
        return f"!({value})"
    return OTHER_RESULT.get(value, "0")


def of_statement(tokens, i, end):
    """Returns mutants of a whole statement."""
    word = tokens[i].text
    if word == "if" and tokens[i + 1].text == "(":
        close = closing(tokens, i + 1)
        yield Mutant("negate", tokens[i + 1].end, tokens[close].start, None)
    elif word == "return" and end > i + 1:
        value = "".join(t.text for t in tokens[i + 1:end])
        if value != "NULL":
            yield Mutant("return", tokens[i + 1].start, tokens[end - 1].end,
                         other_result(value))
    elif word in ("break", "continue"):
        other = {"break": "continue", "continue": "break"}[word]
        yield Mutant("jump", tokens[i].start, tokens[i].end, other)
    else:
        yield from drops(tokens, i, end)


def numbers(tokens, i):
    """Returns mutants of a constant: one more and one less. Not for array
    lengths in declarations, which are room, not behaviour."""
    found = NUMBER.match(tokens[i].text)
    if not found or (found[1][0] == "0" and found[1].isdigit()
                     and len(found[1]) > 1):
        return
    if tokens[i - 1].text == "[" and tokens[i - 2].kind == "word" and \
            (tokens[i - 3].kind == "word" or tokens[i - 3].text in "*,") and \
            tokens[i - 3].text not in ("return", "case", "else", "do"):
        return
    value = int(found[1], 0)
    for changed in (value + 1, value - 1):
        yield Mutant("constant", tokens[i].start, tokens[i].end,
                     f"{changed}{found[2]}" if changed >= 0 else "(-1)")


def of_token(source, tokens, i):
    token = tokens[i]
    if token.kind == "number":
        yield from numbers(tokens, i)
    elif token.kind == "sign" and token.text in BETWEEN:
        before = tokens[i - 1]
        value = before.kind in ("number", "text") or before.text in ")]" or \
            (before.kind == "word" and before.text not in KEYWORDS)
        # clang-format puts a space after binary operators only.
        if value and source[token.end].isspace():
            kind = KIND_OF_SIGN.get(token.text, "arithmetic")
            for text in BETWEEN[token.text]:
                yield Mutant(kind, token.start, token.end, text)


def hints(tokens, first, last):
    """Returns the hints of __builtin_expect(), which change only the speed."""
    for i in range(first, last):
        if tokens[i].text == "__builtin_expect":
            end, depth = closing(tokens, i + 1), 0
            for j in range(i + 1, end):
                depth += (tokens[j].text == "(") - (tokens[j].text == ")")
                if tokens[j].text == "," and depth == 1:
                    yield from range(j, end)


def unnoticed(tokens, first, last):
    """Returns the tokens of statements that no test has to notice."""
    left_out = set(hints(tokens, first, last))
    for i, end in statements(tokens, first, last):
        if UNNOTICED.match(tokens[i].text) and tokens[i + 1].text == "(":
            left_out.update(range(i, end))
    return left_out


def mutants_of(source):
    """Returns all mutants of a C file, in the order of its text."""
    tokens, found = tokens_of(source), []
    for first, last in bodies(tokens):
        left_out = unnoticed(tokens, first, last)
        for i, end in statements(tokens, first, last):
            if i not in left_out:
                found += of_statement(tokens, i, end)
        for i in range(first, last):
            if i not in left_out:
                found += of_token(source, tokens, i)
    return sorted((with_text(source, m) for m in found),
                  key=lambda m: (m.start, m.kind, m.text))


def with_text(source, mutant):
    """Applies a mutant. A negation encloses its operand; text over several
    lines keeps its newlines, so that line numbers stay."""
    old = source[mutant.start:mutant.end]
    if mutant.text is None:
        return mutant._replace(text=f"!({old})")
    return mutant._replace(text=mutant.text + "\n" * old.count("\n"))


def applied(source, mutant):
    return source[:mutant.start] + mutant.text + source[mutant.end:]


def line_of(source, mutant):
    return source.count("\n", 0, mutant.start) + 1


def told(source, mutant):
    """Returns (before, after): the lines that a mutant changes, each joined
    into one."""
    start = source.rfind("\n", 0, mutant.start) + 1
    end = source.find("\n", mutant.end)
    end = len(source) if end < 0 else end
    after = source[start:mutant.start] + mutant.text + source[mutant.end:end]
    return " ".join(source[start:end].split()), " ".join(after.split())


def chosen(sources, count, dice):
    """Returns COUNT mutants of {path: source} as (path, mutant), from as many
    lines as possible, so that a long line does not crowd out others."""
    by_line = {}
    for path in sorted(sources):
        source = sources[path]
        newlines = [m.start() for m in re.finditer("\n", source)]
        for mutant in mutants_of(source):
            line = bisect.bisect(newlines, mutant.start - 1)
            by_line.setdefault((path, line), []).append((path, mutant))
    lines = list(by_line.values())
    dice.shuffle(lines)
    for line in lines:
        dice.shuffle(line)
    depth = max(map(len, lines), default=0)
    ordered = [line[i] for i in range(depth) for line in lines if i < len(line)]
    return ordered[:count]
