# SPDX-License-Identifier: Apache-2.0
"""The manual says what --help says, of every verb, and is clean roff."""

import os
import re
import subprocess

import pytest

import can
from conftest import GPUKIT, ROOT, clean_env

VERBS = re.findall(r"^  (\w+) ", subprocess.run(
    [GPUKIT, "help"], text=True, capture_output=True, check=True).stdout, re.M)
FAKE = ["ctl", "load", "join", "scenario", "doctor", "models"]
LIMIT = ["ls", "show", "top", "set", "suspend", "resume", "rm", "audit",
         "verify"]
PAGES = ["gpukit.1", "gpukit-config.5",
         *(f"gpukit-{verb}.1" for verb in VERBS),
         *(f"gpukit-fake-{word}.1" for word in FAKE)]
# What argp says of every verb, below the options.
ARGP = ("Mandatory or optional arguments to long options are also mandatory or "
        "optional for any corresponding short options.")


@pytest.fixture(name="manual", scope="module")
def written(tmp_path_factory):
    """A directory with all pages."""
    top = tmp_path_factory.mktemp("man")
    subprocess.run([GPUKIT, "--manual", top], check=True, env=clean_env())
    return top


def test_there_is_a_page_for_each_verb(manual):
    assert sorted(os.listdir(manual)) == sorted(PAGES)


# ---- roff, as far as our pages use it ----

ESCAPES = {r"\-": "-", r"\(ti": "~", r"\(ha": "^", r"\(ga": "`", r"\(aq": "'",
           r"\&": "", r"\e": "\\", r'\"': ""}


def plain(text):
    """The words of a line without fonts and escapes."""
    text = re.sub(r"\\f[BIR]", "", text)
    return re.sub(r"\\(?:\(..|.)", lambda found: ESCAPES[found[0]], text)


def sections(page):
    """{title: lines} of a page."""
    found, title = {}, None
    with open(page, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith(".SH "):
                title = line[4:]
                found[title] = []
            elif title:
                found[title].append(line)
    return found


def words(lines):
    """The text of lines without requests."""
    return " ".join(plain(line) for line in lines
                    if not re.match(r"\.(SS|TP|PP|br|RS|RE|EX|EE)\b", line))


def options_of(lines):
    """{(names, argument): text} of an OPTIONS section."""
    found, at = {}, None
    for i, line in enumerate(lines):
        if i and lines[i - 1] == ".TP":
            at = plain(line)
            found[at] = []
        elif line.startswith("."):
            at = None
        elif at:
            found[at].append(plain(line))
    return {key: " ".join(text) for key, text in found.items()}


# ---- --help ----

def help_of(*args):
    return subprocess.run([GPUKIT, *args, "--help"], text=True, check=True,
                          capture_output=True,
                          env=clean_env(
                              ARGP_HELP_FMT="opt-doc-col=70,rmargin=2000")
                          ).stdout


def names_once(text):
    """Names with the argument only after the last one."""
    argument = re.search(r"\[?=\S.*$", re.sub(r"^.*, --", "", text))
    return text.replace(f"{argument[0]},", ",") if argument else text


def options_of_help(text):
    """{names: text} of the lines of argp."""
    return {names_once(names): said for names, said in re.findall(
        r"^ {2,6}(-.*?) {2,}(\S.*)$", text, re.M)}


def as_sentence(text):
    """How the manual words the text of an option."""
    default = re.search(r" \(([^()]*)\)$", text)
    if default and default[1] not in (
            ",", "PEM", "the default", "docs/LIMIT.md"):
        return f"{text[:default.start()]}. Default: {default[1]}."
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def normal(text):
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()


@pytest.mark.parametrize("args", [
    *([verb] for verb in VERBS if verb != "smi"),
    *(["fake", word] for word in FAKE)])
def test_a_page_has_the_options_of_help(manual, args):
    told = options_of_help(help_of(*args))
    page = sections(manual / f"gpukit-{'-'.join(args)}.1")
    found = options_of(page["OPTIONS"])
    assert len(told) >= 3 and set(found) == set(told)
    for names, text in told.items():
        assert normal(found[names]) == normal(as_sentence(text)), names


@pytest.mark.parametrize("args", [
    *([verb] for verb in VERBS if verb != "smi"),
    *(["fake", word] for word in FAKE)])
def test_a_page_has_the_description_of_help(manual, args):
    text = normal(help_of(*args)).replace(ARGP, "")
    page = sections(manual / f"gpukit-{'-'.join(args)}.1")
    said = normal(words(page["DESCRIPTION"]))
    name = f"gpukit {' '.join(args)} "
    assert said.startswith(name)
    first = said[len(name):].split(". ")[0]
    assert first[0].islower() and first[0].upper() + first[1:] in text
    status = re.search(r"Exit status: (.*?)(?=$|Environment:)", text)
    if status and "EXIT STATUS" in page:
        said = normal(words(page["EXIT STATUS"])).lower()
        for number in re.findall(r"\d+", status[1]):
            assert number in said


@pytest.mark.parametrize("word", LIMIT)
def test_the_page_of_limit_has_its_subcommands(manual, word):
    told = options_of_help(help_of("limit", word))
    page = sections(manual / "gpukit-limit.1")
    text = "\n".join(page["SUBCOMMANDS"])
    part = re.search(rf"^\.SS \\fBgpukit limit {word}\\fR.*\n((?:(?!\.SS).*\n?)*)",
                     text, re.M)[1]
    found = options_of(part.splitlines())
    standard = {"-?, --help", "--usage", "-V, --version"}
    assert set(found) == set(told) - standard


def test_the_page_of_smi_has_its_options(manual):
    page = sections(manual / "gpukit-smi.1")
    found = options_of(page["OPTIONS"])
    told = subprocess.run([GPUKIT, "smi", "-h"], text=True,
                          capture_output=True, check=True).stdout
    assert {re.sub(r" +", " ", line[4:48].strip())
            for line in told.splitlines()
            if line.startswith("    -")} == set(found)


def test_the_page_of_smi_has_its_exit_statuses(manual):
    """Those of docs/SMI.md, and all that the source can return."""
    lines = sections(os.path.join(manual, "gpukit-smi.1"))["EXIT STATUS"]
    told = {int(plain(lines[i + 1])) for i, line in enumerate(lines)
            if line == ".TP"}
    with open(os.path.join(ROOT, "docs", "SMI.md"), encoding="utf-8") as f:
        listed = {int(n) for n in re.findall(r"^\| (\d+) \|", f.read(), re.M)}
    with open(os.path.join(ROOT, "src/cli/smi/tell.c"), encoding="utf-8") as f:
        tell = f.read()
    own = re.search(r"nvmlReturn_t own\[\] = \{(.*?)\};", tell, re.S)[1]
    with open(os.path.join(ROOT, "src/abi/nvml/nvml_return.def"),
              encoding="utf-8") as f:
        numbers = {name: int(n) for name, n in re.findall(
            r"NVML_RETURN\((NVML_\w+), (\d+),", f.read())}
    can_end = {numbers[name] for name in re.findall(r"NVML_\w+", own)}
    can_end |= {int(n) for n in re.findall(r"^    \{(\d+),", tell, re.M)}
    assert can_end | {1, 10, 255} == told == listed | {1}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_what_a_manual_has(manual, page):
    found = sections(manual / page)
    wanted = {"NAME", "DESCRIPTION", "EXAMPLES", "SEE ALSO"}
    if page != "gpukit-config.5":
        wanted |= {"SYNOPSIS", "EXIT STATUS"}
    assert wanted <= set(found)
    summary = plain(found["NAME"][0])
    assert re.fullmatch(r"[\w-]+ - \S.*[^.]", summary)
    for name in re.findall(r"^\.BR (gpukit\S*) \((\d)\)",
                           "\n".join(found["SEE ALSO"]), re.M):
        assert f"{plain(name[0])}.{name[1]}" in PAGES


def test_the_first_page_names_all_verbs(manual, gpukit):
    page = sections(manual / "gpukit.1")
    said = normal(words(page["VERBS"]))
    for verb, summary in re.findall(r"^  (\w+) +(.*)$", gpukit.ok("help"), re.M):
        assert f"{verb} {summary}: see gpukit-{verb}(1)." in said


def test_the_page_of_the_config_file_has_all_keys(manual):
    """Each key that the viewer knows, with its default."""
    with open(manual / "gpukit-config.5", encoding="utf-8") as f:
        page = plain(f.read())
    for key in ("theme", "interval", "sort", "alerts.idle", "gpu-util-thresh",
                "panels.host", "columns", "keys", "alerts.command"):
        assert f"\n{key}\n" in page, key


def test_examples_have_options_that_exist(manual):
    """Each long option of an example is one of its verb's page."""
    seen = 0
    for page in PAGES:
        found = sections(manual / page)
        text = "\n".join(found["EXAMPLES"])
        for command in re.findall(r"^\.EX\n(.*)\n\.EE", text, re.M):
            line = plain(command).split(" -- ")[0]
            verb = re.search(r"gpukit (\w+)", line)
            if not verb:
                continue
            here = "\n".join(map(plain, sections(
                manual / f"gpukit-{verb[1]}.1")["OPTIONS"]))
            if "gpukit fake " in line and line.split()[2] in FAKE:
                here = "\n".join(map(plain, sections(
                    manual / f"gpukit-fake-{line.split()[2]}.1")["OPTIONS"]))
            for option in re.findall(r" (--[\w-]+)", line):
                assert option in here, (command, option)
                seen += 1
    assert seen > 20


# ---- programs that read manuals ----

@can.needed("mandoc")
@pytest.mark.parametrize("page", PAGES)
def test_mandoc_finds_nothing_to_mend(manual, page):
    done = subprocess.run(["mandoc", "-Tlint", manual / page], text=True,
                          capture_output=True, check=False)
    assert done.stdout + done.stderr == ""


@can.needed("man")
@pytest.mark.parametrize("page", PAGES)
def test_man_shows_it_without_warnings(manual, page):
    done = subprocess.run(
        ["man", "--warnings", "-l", manual / page], text=True,
        capture_output=True, check=True,
        env=clean_env(MANWIDTH="80", LC_ALL="C.UTF-8", MAN_KEEP_STDERR="1"))
    assert done.stderr == ""
    assert done.stdout.split()[0].lower().startswith(page.split(".")[0])


def test_a_directory_that_is_not_there_is_told(tmp_path):
    done = subprocess.run([GPUKIT, "--manual", tmp_path / "none"], text=True,
                          capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("No such file or directory\n")
