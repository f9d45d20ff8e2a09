# SPDX-License-Identifier: Apache-2.0
"""`gpukit top --host` without a terminal prints a table of machines."""

import json
import os
import re
import signal

import pytest

from exporter import BUILT
from hosts_script import Remote
from tools import wait_until
from web import web

assert web  # the fixture

LOADS = ("--load", "train:0,mem=20GiB", "--frozen")
GIB = 1 << 30


@pytest.fixture
def remote(tmp_path):
    place = tmp_path / "hosts"
    place.mkdir()
    return Remote(place)


@pytest.fixture
def top(gpukit, remote, tmp_path):
    def run(*options, **env):
        return gpukit("top", *remote.options, *options, env={
            "XDG_CONFIG_HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
            "COLUMNS": "140", **env})

    return run


def half_up(value):
    return int(value + 0.5)


def expected(stat):
    """The sums of a row, from `stat --json` on that machine."""
    gpus = stat["devices"]

    def of(key):
        return sum(gpu[key] for gpu in gpus)

    watts = half_up(of("power_watts"))
    return [f"{half_up(of('gpu_utilization_percent') / len(gpus))}%",
            f"{half_up(of('memory_used_bytes') / GIB)}/"
            f"{of('memory_total_bytes') / GIB:.0f}",
            f"{watts / 1e3:.2f} kW" if watts >= 1000 else f"{watts} W",
            f"{len(gpus)} GPUs"]


def row(text, name):
    """The words of a host's row, at least one blank apart."""
    found = re.search(rf"^ (\S) {name} +(.*)$", text, re.M)
    assert found, text
    return found[1], found[2]


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_rows_have_the_values_of_each_machine(gpukit, machine, remote, top):
    made = {}
    for name, gpus in (("atlas", "h100-80gb-hbm3:8"), ("borg", "a100:2")):
        made[name] = machine("--gpus", gpus, *LOADS, name=name)
        remote.add(name, made[name])
    remote.add("lima", 'echo "ssh: connect to host lima port 22: '
                       'Connection refused" >&2; exit 255')
    done = top()
    assert done.returncode == 0 and done.stderr == ""
    for name in ("atlas", "borg"):
        stat = gpukit.json("stat", "--json", env=made[name].env)
        sign, words = row(done.stdout, name)
        assert sign == "●"
        for value in expected(stat):
            assert value in words, (value, words)
    sign, words = row(done.stdout, "lima")
    assert sign == "✕"
    assert re.match(r"away 0s\+: ssh: connect to host lima port 22: Connection "
                    r"refused · since before \d\d:\d\d:\d\d, again in 1s$", words)
    assert "2 of 3 hosts · 10 GPUs" in done.stdout


def test_trouble_of_a_gpu_is_told(machine, remote, top):
    one = machine("--gpus", "a100:4", "--frozen", name="atlas")
    one.ctl("fail", "2", "lost")
    remote.add("atlas", one)
    remote.add("borg", machine("--gpus", "t4", "--frozen", name="borg"))
    done = top()
    sign, words = row(done.stdout, "atlas")
    assert sign == "✕" and words.startswith("▁▁✕▁ ")
    assert words.endswith("4 GPUs, GPU 2 lost")
    assert "5 GPUs, 1 lost" in done.stdout
    plain = top("--ascii")
    assert row(plain.stdout, "atlas")[1].startswith("00X0 ")
    assert plain.stdout.isascii()


def test_alerts_stand_below_the_rows(machine, remote, top):
    one = machine("--gpus", "a100:4", "--frozen", name="atlas")
    one.ctl("fail", "2", "lost")
    remote.add("atlas", one)
    remote.add("borg", machine("--gpus", "t4", "--frozen", name="borg"))
    lines = top().stdout.splitlines()
    assert [line.split()[1] for line in lines[1:]] == [
        "GPUS" if "HOST" in lines[1] else "", "atlas", "borg", "atlas"]
    assert "✕ atlas GPU 2: lost" in lines[-1]


def test_one_host_is_the_usual_report(gpukit, machine, remote, top):
    one = machine("--gpus", "a100:2", *LOADS, name="atlas")
    remote.add("atlas", one)

    def steady(text):
        return re.sub(r"[\d.:]+|[▏▎▍▌▋▊▉█ ░]+", "", text)

    done = top()
    here = gpukit("top", "-1", env={**one.env, "LC_ALL": "C.UTF-8",
                                    "COLUMNS": "140"})
    assert done.returncode == 0
    assert steady(done.stdout) == steady(here.stdout)
    assert top("-o", "7").returncode == 1


def test_nobody_is_heard(remote, top):
    remote.add("one", "exit 3")
    done = top()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("gpukit top: one: the command ended with status "
                           "3\n")
    remote.add("two", "kill -9 $$")
    done = top()
    assert done.returncode == 1
    assert "ended with status 3" in row(done.stdout, "one")[1]
    assert "Killed" in row(done.stdout, "two")[1]


def test_who_ends_may_say_why_last(remote, top):
    """ssh reports how the other side ended after its output."""
    remote.add("one", "exec >&-; sleep 0.3; echo Last words >&2; exit 3")
    assert top().stderr == "gpukit top: one: Last words\n"
    remote.add("one", "exec >&-; sleep 0.3; exit 3")
    assert "ended with status 3" in top().stderr


@pytest.mark.parametrize("does, says", [
    ("yes", "unexpected output: 'y'"),
    ("echo '{\"schema\": 1, '", "unexpected output: '{\"schema\": 1, '"),
    ("printf '{\"schema\":1,\"devices\"'", "the command ended"),
    ("echo '{\"schema\":2,\"devices\":[]}'", "another version"),
    ("printf '\\033[2J\\n'", "'?[2J'"),
    ("head -c 40000000 /dev/zero | tr '\\0' '{'", "too long"),
])
def test_nonsense_is_a_reason(remote, top, does, says):
    remote.add("one", does)
    remote.add("two", "exit 1")
    done = top()
    assert done.returncode == 1 and "\033" not in done.stdout
    assert says in row(done.stdout, "one")[1]


@pytest.mark.slow
def test_who_says_nothing_is_away(remote, top):
    """A host sends nothing at all, or a snapshot that never ends."""
    remote.add("one", "exec sleep 1000")
    remote.add("two", "echo Welcome; printf '{\"schema\":'; exec sleep 1000")
    done = top()
    assert done.returncode == 1
    assert "it has sent nothing for 17 s" in row(done.stdout, "one")[1]
    assert "17 s; before: unexpected output: 'Welcome'" in \
        row(done.stdout, "two")[1]
    assert gone(remote.pid("one")) and gone(remote.pid("two"))


def test_a_greeting_does_no_harm(machine, remote, top):
    remote.add("borg", machine("--gpus", "t4", "--frozen", name="borg"))
    remote.add("one", "exit 1")
    remote.cases["borg"] = "echo Welcome; echo; " + remote.cases["borg"]
    remote.add("two", "exit 1")
    assert "1 GPU" in row(top().stdout, "borg")[1]


def test_the_command_has_nobody_to_ask(remote, top):
    remote.add("one", 'echo "$@" $(tty) $(ps -o sid= $$ | grep -c $$) '
                      '$SSH_ASKPASS_REQUIRE >&2')
    done = top("--interval", "2.5")
    assert done.stderr == ("gpukit top: one: stat --json-lines --why "
                           "--interval=2.500 not a tty 1 never\n")


@pytest.mark.parametrize("lines", ["", "trap '' TERM\n"])
def test_commands_are_ended(machine, remote, top, lines):
    remote.add("borg", machine("--gpus", "t4", "--frozen", name="borg"))
    once = remote.cases["borg"].replace("exec ", "")
    remote.cases["borg"] = lines + once + " --count 1\nsleep 1000"
    remote.add("one", "exit 1")
    assert "1 GPU" in row(top().stdout, "borg")[1]
    assert gone(remote.pid("borg"))


@pytest.mark.parametrize("options, says", [
    (["--host", ""], "not ''"),
    (["--host", "a,,b"], "not 'a,,b'"),
    (["--host", "-oProxyCommand=x"], "not '-oProxyCommand=x'"),
    (["--host", "a b"], "not 'a b'"),
    (["--host", "$(x)"], "not '$(x)'"),
    (["--host", "a", "--remote-command", "ssh gpukit"], "needs {}"),
    (["--host", "a", "--remote-command", "'ssh {}"], "quote"),
    (["--remote-command", "ssh {} gpukit"], "need --host"),
    (["--peer-ca", "x"], "need --host"),
    (["--host", "ftp://a"], "not 'ftp://a'"),
    (["--host", "http://-a"], "not 'http://-a'"),
    (["--host", "a", "--replay", "x"], "exclude each other"),
])
def test_wrong_usage(gpukit, options, says):
    done = gpukit("top", *options)
    assert done.returncode == 2 and says in done.stderr, done


def test_what_cannot_be_started(gpukit):
    done = gpukit("top", "--host", "a,b", "--remote-command", "/nosuch/ssh {}")
    assert done.returncode == 1
    assert "/nosuch/ssh: No such file or directory" in row(done.stdout, "a")[1]


@pytest.mark.parametrize("names", ["one", "one,two"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_interrupts_it_ends_the_commands(gpukit, remote, number, names):
    remote.add("one", f"kill -{int(number)} $PPID; exec sleep 1000")
    remote.add("two", "exec sleep 1000")
    done = gpukit("top", "--host", names, *remote.options[2:])
    assert (done.returncode, done.stdout) == (1, "")
    assert gone(remote.pid("one"))


@BUILT
def test_pages_of_other_machines(gpukit, remote, machine, web, tmp_path):
    """A page that asks for a password, one host by ssh, and a page that does
    not exist."""
    secret = tmp_path / "secret"
    secret.write_text("ana:pw\n")
    secret.chmod(0o600)
    page = web(("--gpus", "a100:2", *LOADS), "--auth", secret, ready=False)
    remote.add("borg", machine("--gpus", "t4", "--frozen", name="borg"))
    hosts = f"{page.url},borg,http://127.0.0.1:1"
    options = ("top", "--host", hosts, *remote.options[2:])
    env = {"LC_ALL": "C.UTF-8", "COLUMNS": "140"}
    name = page.url.split("//")[1]
    text = gpukit.ok(*options, env=env)
    assert "requires a password: --peer-auth" in row(text, name)[1]
    # At first it says that it has read nothing yet.
    texts = []
    wait_until(lambda: texts.append(gpukit.ok(
        *options, "--peer-auth", secret, env=env)) or
               "2 of 3 hosts · 3 GPUs" in texts[-1])
    text = texts[-1]
    sign, words = row(text, name)
    assert sign == "●"
    for value in expected(gpukit.json("stat", "--json", env=web.made.env)):
        assert value in words, (value, words)
    # Newer versions of curl have "Could not".
    assert re.search("Could(n't| not) connect", row(text, "127.0.0.1:1")[1])


# What a host may send instead of a number.
NONSENSE = [2_000_000_000, -2**63, 2**63 - 1, 1e300, -1e300, 65535, 101, -1,
            True, "12", [], {}]


def tell(remote, path, name, told):
    """Adds a host that sends this once and then stays."""
    path.write_text(json.dumps(told) + "\n")
    remote.add(name, f"cat {path}; exec sleep 600")


def with_all_numbers(stat, value, suffix):
    """The same snapshot, with every number replaced whose key ends in `suffix`.
    """
    def replace(key, of):
        if isinstance(of, dict):
            return {k: replace(k, v) for k, v in of.items()}
        if isinstance(of, list):
            return [replace(key, v) for v in of]
        number = of is None or isinstance(of, (int, float))
        return value if (number and key.endswith(suffix) and
                         key not in ("schema", "index")) else of
    return replace("", stat)


@pytest.mark.parametrize("suffix", ["", "_percent", "_bytes", "_seconds"])
@pytest.mark.parametrize("value", NONSENSE, ids=str)
def test_a_host_that_tells_nonsense_harms_nobody(gpukit, machine, remote, top,
                                                 tmp_path, value, suffix):
    one = machine("--gpus", "a100:2", *LOADS, name="borg")
    stat = gpukit.json("stat", "--json", "--why", env=one.env)
    remote.add("borg", one)
    tell(remote, tmp_path / "told", "atlas",
         with_all_numbers(stat, value, suffix))
    done = top()
    assert done.returncode == 0 and done.stderr == ""
    assert row(done.stdout, "borg")[0] == "●"
    _, words = row(done.stdout, "atlas")
    busy = [word for word in words.split() if word.endswith("%")]
    assert all(int(word[:-1]) <= 100 for word in busy), words


def test_one_wrong_number_hides_no_other(gpukit, machine, remote, top,
                                         tmp_path):
    one = machine("--gpus", "a100:2", *LOADS, name="borg")
    stat = gpukit.json("stat", "--json", "--why", env=one.env)
    wrong = json.loads(json.dumps(stat))
    wrong["devices"][1]["gpu_utilization_percent"] = 2_000_000_000
    wrong["devices"][1]["memory_used_bytes"] = -2**63
    tell(remote, tmp_path / "told", "atlas", wrong)
    remote.add("borg", one)
    done = top()
    watts = half_up(sum(gpu["power_watts"] for gpu in stat["devices"]))
    _, words = row(done.stdout, "atlas")
    busy = half_up(stat["devices"][0]["gpu_utilization_percent"])
    used = half_up(stat["devices"][0]["memory_used_bytes"] / GIB)
    for word in (f"{busy}%", f"{used}/160", f"{watts} W", "2 GPUs"):
        assert word in words, (word, words)
