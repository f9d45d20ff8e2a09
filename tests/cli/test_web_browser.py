# SPDX-License-Identifier: Apache-2.0
"""Tests the page of `gpukit web` in a browser: what people see and press."""

import json
import os
import re

import pytest

from browser import BROWSER, Browser
from conftest import ROOT
from exporter import BUILT
from tools import wait_until
from web import EIGHT, Web, web

pytestmark = [BUILT, BROWSER]
assert web  # the fixture

LANES = "document.querySelectorAll('#lanes .lane .model').length"
LIVE = "document.body.dataset.link === 'live'"
GIB = 1 << 30


@pytest.fixture
def browser(tmp_path):
    """browser(url, ...) opens a page, which must report no errors."""
    opened = []

    def start(url, **how):
        opened.append(Browser(tmp_path / f"profile{len(opened)}", **how))
        opened[-1].open(url)
        return opened[-1]

    yield start
    for one in opened:
        complaints = [c for c in one.complaints()
                      if c.get("source") != "network"]
        one.end()
        assert not complaints


def until_live(b, lanes):
    b.until(f"{LIVE} && {LANES} === {lanes}")


def of(b, gpu, selector):
    return b.eval(f"document.querySelectorAll('#lanes .lane')[{gpu}]"
                  f".querySelector({json.dumps(selector)})?.textContent")


# ---- values ----

def test_values_are_those_of_stat(web, browser, gpukit):
    w = web(EIGHT)
    b = browser(w.url)
    until_live(b, 8)
    b.until("document.querySelectorAll('#processes tbody tr').length === 8")
    assert web.made.ctl("clock", "pause").returncode == 0

    def as_shown(device):
        """What a lane must show."""
        return [f"{device['gpu_utilization_percent']} %",
                f"{device['power_watts']:.0f} W",
                f"{device['memory_used_bytes'] / GIB:.1f} of "
                f"{device['memory_total_bytes'] / GIB:.0f} GiB"]

    def are_the_same():
        stat = gpukit.json("stat", "--json", env=web.made.env)
        seen = b.eval("[...document.querySelectorAll('#lanes .lane')].map(l =>"
                      "[...l.querySelectorAll('.value')]"
                      ".map(e => e.textContent))")
        return seen == [as_shown(d) for d in stat["devices"]]

    wait_until(are_the_same)
    stat = gpukit.json("stat", "--json", env=web.made.env)
    of_stat = {(d["label"], str(p["pid"]), p["user"],
                f"{p['gpu_memory_bytes'] / GIB:.1f} GiB")
               for d in stat["devices"] for p in d["processes"]}
    rows = b.eval("[...document.querySelectorAll('#processes tbody tr')].map("
                  "r => [...r.children].map(e => e.textContent))")
    assert {tuple(row[:4]) for row in rows} == of_stat
    assert b.text("#processes h2") == "processes 8"
    sums = b.text("#sums")
    used = sum(d["memory_used_bytes"] for d in stat["devices"]) / GIB
    assert sums.startswith(f"{used:.0f} of "), sums


def test_every_value_of_a_gpu_opens_by_the_keyboard(web, browser, gpukit):
    w = web(EIGHT)
    b = browser(w.url)
    until_live(b, 8)
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        b.key(key)
    b.until("document.querySelector('.details [data-key=memory_total_bytes]')")
    assert b.eval("document.querySelector('.details').closest('.lane')"
                  ".querySelector('.index').textContent") == "1"
    b.until("document.querySelector('[data-key=pcie_link_generation]')")
    stat = gpukit.json("stat", "--json", env=web.made.env)["devices"][1]
    for key, text in (
            ("memory_total_bytes",
             f"{stat['memory_total_bytes'] / GIB:.1f} GiB"),
            ("power_limit_max_watts", f"{stat['power_limit_max_watts']:.0f} W"),
            ("pcie_link_generation", f"{stat['pcie_link_generation']} of "
             f"{stat['pcie_link_generation_max']}")):
        assert b.text(f".details [data-key={key}]") == text
    assert stat["uuid"] in b.text(".details")
    assert str(stat["processes"][0]["pid"]) in b.text(".details")
    # Its rows stay while values change, once all values have come.
    def stays():
        b.eval("window.row = document.querySelector('.details dd')")
        time = b.text("#clock")
        b.until(f"document.getElementById('clock').textContent !== '{time}'")
        return b.eval("window.row.isConnected")

    wait_until(stays)
    assert b.eval("document.activeElement.getAttribute('aria-expanded')") == \
        "true"
    b.key("Escape")
    b.until("!document.querySelector('.details')")
    assert b.eval("document.activeElement.className") == "who"


def test_processes_are_filtered_and_sorted(web, browser):
    w = web(EIGHT)
    b = browser(w.url)
    until_live(b, 8)
    b.until("document.querySelectorAll('#processes tbody tr').length === 8")
    b.key("/")
    assert b.eval("document.activeElement.id") == "filter"
    gpus = "[...document.querySelectorAll('#processes tbody td:first-child')]" \
        ".map(e => e.textContent).join(' ')"
    for words, wanted in (("gpu:4-5", "4 4 5 5"), ("mem>20GiB", "0 1 2 3"),
                          ("mem>20GiB !gpu:0-1", "2 3"),
                          ("user:nobody", ""), ("type:G", ""),
                          ("name:^gpu sm>0 gpu:5", "5 5"), ("", None)):
        b.eval("document.getElementById('filter').value = ''")
        b.type(words)
        b.eval("document.getElementById('filter').dispatchEvent("
               "new Event('input'))")
        assert wanted is None or b.eval(gpus) == wanted, words
    b.type("mem>x")
    assert b.text("#bad") == "mem>x: wanted a size, as 4GiB"
    b.eval("document.getElementById('filter').value = ''; document"
           ".getElementById('filter').dispatchEvent(new Event('input'))")
    b.eval("document.querySelectorAll('#processes th button')[3].click()")
    assert b.eval(gpus) == "0 1 2 3 4 4 5 5"
    b.eval("document.querySelectorAll('#processes th button')[3].click()")
    assert b.eval(gpus) == "4 4 5 5 0 1 2 3"
    assert b.eval("document.querySelector('th[aria-sort]').ariaSort") == \
        "ascending"


def test_words_of_the_filter_mean_what_they_mean_in_top(web, browser):
    """Uses the table with which `top` is tested."""
    with open(os.path.join(ROOT, "tests/data/filters.json"),
              encoding="utf-8") as f:
        table = json.load(f)
    b = browser(web(["--gpus", "t4:1"]).url)
    said = b.eval(f"""(async () => {{
      const {{ filterOf }} = await import("/filter.js");
      const {{ processes, cases }} = {json.dumps(table)};
      return cases.map(({{ words }}) => {{
        try {{ return processes.filter(filterOf(words)).map((p) => p.pid); }}
        catch (error) {{ return error.message; }}
      }});
    }})()""")
    wanted = [case.get("pids", case.get("wrong")) for case in table["cases"]]
    differ = {case["words"]: (found, want) for case, found, want in
              zip(table["cases"], said, wanted, strict=True) if found != want}
    assert not differ


def test_who_comes_sees_values_at_once(web, browser):
    """Values appear at once, not after an interval."""
    w = web(EIGHT, "-i", "10", ready=False)
    with w.stream() as s:
        s.until("frame", lambda e: e.data["devices"][0]["owners"])
    b = browser(w.url)
    b.until(f"{LIVE}")
    assert of(b, 0, ".value").endswith(" %") and of(b, 0, ".value") != "— %"


def test_the_pointer_shows_the_same_moment_everywhere(web, browser):
    w = web(EIGHT, "-i", "0.2")
    with w.stream() as s:
        first = s.until("frame").data["time"]
        s.until("frame", lambda e: e.data["time"] > first + 4)
    b = browser(w.url)
    until_live(b, 8)
    web.made.ctl("clock", "pause")
    x, y, width = b.eval("""(() => {
      const box = document.querySelector('.graph.power canvas')
        .getBoundingClientRect();
      return [box.left, box.top + 20, box.width];
    })()""")
    b.point(x + width * (1 - 10.5 / 300), y)
    b.until("document.getElementById('past').textContent")
    assert re.fullmatch(r"\d\d:\d\d:\d\d", b.text("#past"))
    assert b.eval("document.querySelectorAll('.pointing .graph').length") == 16
    hello = w.stream().until("hello").data["history"]
    power = hello["devices"][next(iter(hello["devices"]))]["power_watts"]
    shown = int(of(b, 0, ".graph.power + .figures .value").split()[0])
    # Frames continue while this reads: it is one of the neighbouring ones.
    assert shown in {round(p) for p in power[-16:-6] if p is not None}
    b.point(5, 5)
    b.until("!document.querySelector('.pointing')")


# ---- states ----

def test_a_lost_gpu(web, browser):
    w = web(EIGHT)
    b = browser(w.url)
    until_live(b, 8)
    place = b.eval("document.querySelectorAll('.lane')[4].offsetTop")
    assert web.made.ctl("fail", "3", "lost", "xid=79").returncode == 0
    b.until("document.querySelector('.lane.s-lost .why')?.textContent"
            ".includes('Xid 79')")
    assert of(b, 3, ".state").startswith("✕ lost")
    b.until("document.querySelector('#alerts .fail')?.textContent"
            ".includes('Xid 79')")
    assert b.text("#count") == "1 alert"
    b.until("document.getElementById('sums').textContent"
            ".startsWith('7 of 8 GPUs, 1 lost')")
    b.until("document.title.startsWith('(1)')")
    # The lane keeps its place and its height.
    alert = b.eval("document.getElementById('alerts').offsetHeight")
    assert b.eval("document.querySelectorAll('.lane')[4].offsetTop") == \
        place + alert


def test_a_machine_that_stops_says_so_and_comes_back(web, browser):
    made = web(["--gpus", "t4:2"])
    env = web.made.env
    w = Web(env)
    b = browser(w.url)
    until_live(b, 2)
    steps = b.eval("document.querySelectorAll('.outline').length")
    port = w.port
    assert w.stop() == (0, "")
    b.until("document.body.dataset.link === 'away'")
    assert re.search(r"Last frame \d\d:\d\d:\d\d, trying again",
                     b.text("#link"))
    value = of(b, 0, ".value")
    assert value and of(b, 0, ".value") == value and steps == 0
    w = Web(env, "--port", port)
    until_live(b, 2)
    assert w.stop() == (0, "") and made


def test_a_clock_that_is_set_back_stops_nothing(web, browser):
    """The next frame is an hour earlier, and is shown all the same."""
    w = web(["--gpus", "t4:1", "--load", "train:0"])
    b = browser("about:blank")
    b.call("Page.addScriptToEvaluateOnNewDocument", source="""
      window.EventSource = class extends EventSource {
        addEventListener(name, take) {
          super.addEventListener(name, name !== "frame" ? take : (event) => {
            const frame = JSON.parse(event.data);
            frame.time -= window.back ?? 0;
            take({ data: JSON.stringify(frame) });
          });
        }
      };""")
    b.open(w.url)
    until_live(b, 1)
    then = b.text("#clock")
    b.eval("window.back = 3600")
    b.until(f"document.getElementById('clock').textContent !== '{then}' &&"
            f"document.getElementById('clock').textContent.slice(0, 2) !== "
            f"'{then[:2]}'")
    then = b.text("#clock")
    b.until(f"document.getElementById('clock').textContent !== '{then}'")
    assert b.eval(LIVE)


def test_nothing_runs_and_no_gpu_and_no_driver(web, machine, browser,
                                               tmp_path):
    w = web(["--gpus", "t4:1"])
    b = browser(w.url)
    b.until("document.getElementById('none').textContent === "
            "'Nothing runs on these GPUs.'")
    hub = Web({}, "--nvml", tmp_path / "none.so", ready=False)
    b.open(hub.url)
    b.until("document.getElementById('notice').textContent"
            ".includes('gpukit fake -- gpukit web')")
    hub.stop()


def test_without_a_script(web, browser):
    w = web(["--gpus", "t4:1"])
    b = browser(w.url, script=False)
    wait_until(lambda: "noscript" in json.dumps(
        b.call("DOM.getDocument", depth=-1)).lower())
    text = json.dumps(b.call("DOM.getDocument", depth=-1))
    assert "api/v1/snapshot" in text and "gpukit stat" in text


def test_nothing_is_fetched_from_elsewhere(web, browser):
    w = web(["--gpus", "t4:1"])
    b = browser(w.url)
    until_live(b, 1)
    asked = [url for url in b.asked() if not url.startswith("about:")]
    assert asked and all(url.startswith(w.url) for url in asked), asked


@pytest.mark.parametrize("width", [950, 1400])
def test_no_state_moves_a_lane(web, browser, width):
    """Nor do owners move it."""
    w = web(EIGHT)
    b = browser(w.url, width=width)
    until_live(b, 8)
    places = "[...document.querySelectorAll('.lane')].map(" \
        "e => e.getBoundingClientRect().top - document" \
        ".getElementById('lanes').getBoundingClientRect().top).join()"
    before = b.eval(places)
    web.made.ctl("set", "1", "temperature=97")
    web.made.ctl("set", "2", "power-limit=200W")
    web.made.ctl("fail", "3", "lost", "xid=79")
    b.until("document.querySelector('.s-lost') &&"
            "document.querySelector('.s-hot')")
    assert b.eval(places) == before
    heights = set(b.eval("[...document.querySelectorAll('.lane')].map("
                         "e => e.offsetHeight)"))
    assert len(heights) == 1, heights


def test_nothing_is_drawn_while_nobody_sees_it(web, browser):
    w = web(EIGHT, "-i", "0.2")
    b = browser(w.url)
    until_live(b, 8)
    b.eval("""(() => {
      const canvas = CanvasRenderingContext2D.prototype;
      window.drawn = 0;
      for (const name of ["drawImage", "fillRect", "clearRect"]) {
        const draw = canvas[name];
        canvas[name] = function (...a) { drawn++; return draw.apply(this, a); };
      }
      window.hides = (value) => {
        Object.defineProperty(document, "hidden",
                              { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      };
      hides(true);
      drawn = 0;
    })()""")
    time = b.text("#clock")
    with w.stream() as s:
        begun = s.until("frame").data["time"]
        s.until("frame", lambda e: e.data["time"] > begun + 3)
    assert b.eval("drawn") == 0 and b.text("#clock") == time
    b.eval("hides(false)")
    b.until(f"drawn > 1000 && "
            f"document.getElementById('clock').textContent !== '{time}'")


# ---- sizes ----

@pytest.mark.parametrize("width", [320, 390, 600, 768, 1024, 1400, 2400])
def test_nothing_is_wider_than_the_window(web, browser, width):
    w = web(EIGHT)
    b = browser(w.url, width=width, height=800)
    until_live(b, 8)
    b.eval("document.querySelectorAll('.who')[0].click()")
    assert b.eval("document.documentElement.scrollWidth") <= width
    power = b.eval("document.querySelector('.graph.power').offsetWidth")
    assert (power > 0) == (width >= 900)
    if width < 600:
        small = b.eval(
            "[...document.querySelectorAll('button, input, select, summary')]"
            ".filter(e => e.offsetParent && e.offsetHeight < 44)"
            ".map(e => e.outerHTML)")
        assert not small


def contrast(a, b):
    """The contrast of two colours "rgb(r, g, b)" as WCAG 2 defines it."""
    def luminance(colour):
        parts = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                   for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_texts_can_be_read(web, browser, scheme):
    w = web(EIGHT)
    assert web.made.ctl("fail", "3", "lost", "xid=79").returncode == 0
    assert web.made.ctl("set", "1", "temperature=97").returncode == 0
    b = browser(w.url)
    b.media(prefers_color_scheme=scheme)
    b.until("document.querySelector('#alerts .fail') &&"
            "document.querySelector('.s-lost') &&"
            "document.querySelector('.s-busy')")
    texts = b.eval("""(() => {
      const seen = new Map();
      const ground = (e) => {
        for (; e; e = e.parentElement) {
          const c = getComputedStyle(e).backgroundColor;
          if (!/^rgba.*, 0\\)$/.test(c)) return c;
        }
      };
      for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 &&
                                                n.data.trim());
        if (own && e.offsetParent)
          seen.set(getComputedStyle(e).color + '|' + ground(e),
                   e.textContent.slice(0, 40));
      }
      return [...seen];
    })()""")
    assert len(texts) >= 7, texts
    for colours, text in texts:
        assert contrast(*colours.split("|")) >= 4.5, (colours, text)


# Variables of page.css: colours of texts, and of drawings.
TEXTS = ("text", "dim", "accent", "busy", "warn", "fail", "owner-4")
DRAWN = ("work-1", "work-2", "work-3", "work-4", "power", "warn",
         *(f"owner-{n}" for n in range(7)))


def rgb(colour):
    return "rgb(%d, %d, %d)" % tuple(
        int(colour[i:i + 2], 16) for i in (1, 3, 5))


@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_every_colour_can_be_seen(scheme):
    """Texts have a contrast of 4.5 to 1 (WCAG 2, AA), drawings of 3."""
    with open(os.path.join(ROOT, "src/web/page/page.css"),
              encoding="utf-8") as f:
        roots = re.findall(r":root \{(.*?)\}", f.read(), re.S)
    assert len(roots) == 2
    colours = {name: rgb(value) for name, value in re.findall(
        r"--([\w-]+): (#[0-9a-f]{6});", roots[scheme])}
    assert len(colours) == 24
    least = [(text, ground, 4.5) for text in TEXTS
             for ground in ("ground", "lift")]
    least += [("on-fail", "fail", 4.5), ("ground", "warn", 4.5)]
    least += [(drawn, "ground", 3) for drawn in DRAWN]
    low = {(text, ground): contrast(colours[text], colours[ground])
           for text, ground, wanted in least
           if contrast(colours[text], colours[ground]) < wanted}
    assert not low


def pixels(b):
    """The colours of the first graph's newest columns."""
    return set(map(tuple, b.eval("""(() => {
      const canvas = document.querySelector('.graph.busy canvas');
      const copy = new OffscreenCanvas(8, canvas.height)
        .getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 8 - canvas.width, 0);
      const data = copy.getImageData(0, 0, 8, canvas.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3]) seen.add([...data.slice(i, i + 3)].join());
      return [...seen].map((c) => c.split(',').map(Number));
    })()""")))


def token(b, name):
    return tuple(int(n, 16) for n in re.findall("..", b.eval(
        "getComputedStyle(document.documentElement)"
        f".getPropertyValue('--{name}').trim()")[1:]))


def wait_until_drawn_in(b, body, edges):
    """The edge of one theme may have the colour of the other's body."""
    wait_until(lambda: {body} <= pixels(b) <= {body, *edges})


def test_the_theme_is_the_systems_and_follows_it(web, browser):
    """Graphs follow it too, which are drawn."""
    w = web(EIGHT, "-i", "0.2")
    b = browser(w.url)
    grounds = []
    for scheme in ("dark", "light", "dark"):
        b.media(prefers_color_scheme=scheme)
        until_live(b, 8)
        b.until("document.querySelector('.s-busy')")
        grounds.append(b.eval("getComputedStyle(document.documentElement)"
                              ".backgroundColor"))
        wait_until_drawn_in(b, token(b, "work-body"), {token(b, "warn"), *(
            token(b, f"work-{n}") for n in range(1, 5))})
    assert grounds == ["rgb(20, 23, 28)", "rgb(255, 255, 255)",
                       "rgb(20, 23, 28)"]


@pytest.mark.parametrize("wish, moves", [("no-preference", True),
                                         ("reduce", False)])
def test_nothing_moves_where_nothing_should(web, browser, wish, moves):
    w = web(["--gpus", "t4:1"])
    b = browser(w.url)
    b.media(prefers_reduced_motion=wish)
    until_live(b, 1)
    b.eval("""(() => {
      const outline = document.createElement('li');
      outline.className = 'outline';
      document.getElementById('lanes').append(outline);
      document.body.dataset.link = 'connecting';
    })()""")
    assert b.eval("document.getAnimations().length") == int(moves)


def test_colours_of_the_system(web, browser):
    """Where the system forces its own colours, what only a colour said has an
    edge or a sign."""
    w = web(EIGHT)
    assert web.made.ctl("fail", "3", "lost").returncode == 0
    assert web.made.ctl("set", "1", "temperature=97").returncode == 0
    b = browser(w.url)
    b.media(forced_colors="active")
    b.until(f"{LIVE} && document.querySelector('#alerts .fail') &&"
            "document.querySelector('#alerts .warn') &&"
            "document.querySelector('.bar i')")

    def style(selector, name):
        return b.eval(f"getComputedStyle(document.querySelector('{selector}'))"
                      f".{name}")

    assert style(".bar", "borderTopWidth") == "1px"
    assert style(".badge", "borderTopWidth") == "1px"
    assert style("#alerts .fail", "borderTopWidth") == "3px"
    assert style("#alerts .warn", "borderTopWidth") == "1px"
    # The owner of a piece of memory is shown by a colour that stays.
    assert style(".bar i", "backgroundColor") == style(
        ".swatch", "backgroundColor") == "rgb%s" % (token(b, "owner-0"),)
    # A sign marks the heading by which rows are sorted.
    assert b.eval("getComputedStyle(document.querySelector("
                  "'th[aria-sort] button'), '::after').content") == '"\u2009▲"'
    assert {t[0] for t in b.texts("#alerts p")} == {"✕", "▲"}


# ---- hosts ----

def test_hosts_are_a_list_and_each_a_page(machine, browser):
    peers = [Web(machine("--gpus", f"t4:{n}").env) for n in (2, 3)]
    lost = machine("--gpus", "l4:2")
    peers.append(Web(lost.env))
    assert lost.ctl("fail", "1", "lost").returncode == 0
    hub = Web(machine("--gpus", "t4:1").env,
              *sum((["--peer", p.url] for p in peers), []))
    b = browser(hub.url)
    b.until("document.querySelectorAll('#hosts tbody tr').length === 4 &&"
            "document.querySelector('#hosts .square.fail')")
    # The host in trouble comes first.
    assert b.text("#hosts tbody a") == f"127.0.0.1:{peers[2].port}"
    assert "GPU 1 lost" in b.text("#hosts tbody tr")
    b.key("ArrowDown")
    b.key("Enter")
    until_live(b, 2)
    assert b.eval("location.hash") == \
        f"#host=127.0.0.1%3A{peers[2].port}"
    assert of(b, 1, ".state").startswith("✕ lost")
    b.key("Escape")
    b.until("!document.getElementById('hosts').hidden")
    assert peers[0].stop() == (0, "")
    b.until("document.querySelector('#hosts tbody a').textContent === "
            f"'127.0.0.1:{peers[0].port}'")
    for one in (*peers[1:], hub):
        assert one.stop() == (0, "")


def test_a_host_that_is_away_says_so_at_once(machine, browser):
    """Later visitors do not get its last frame as current, but its list."""
    made = machine("--gpus", "t4:2")
    peer = Web(made.env)
    hub = Web(machine("--gpus", "l4:1").env, "--peer", peer.url)
    name = f"127.0.0.1:{peer.port}"
    b = browser(hub.url)
    b.until("document.querySelectorAll('#hosts .square').length === 3")
    time = b.text("#clock")
    b.until(f"document.getElementById('clock').textContent !== '{time}'")
    assert peer.stop() == (0, "")
    b.until("/connect|ended/.test(document.getElementById('hosts').innerText)")
    b.eval(f"""(() => {{
      window.seen = [];
      new MutationObserver(() => seen.push(document.body.dataset.link))
        .observe(document.body, {{ attributes: true }});
      location.hash = 'host={name}';
    }})()""")
    b.until(f"document.body.dataset.link === 'away' && {LANES} === 2")
    assert "live" not in b.eval("window.seen")
    assert re.match(r"Last frame \d\d:\d\d:\d\d, .*(connect|ended)",
                    b.text("#link").strip())
    peer = Web(made.env, "--port", peer.port)
    until_live(b, 2)
    # A host that does not exist.
    b.eval("location.hash = 'host=nobody'")
    b.until("document.getElementById('notice').textContent ==="
            " \"No host 'nobody' is here.\"")
    assert b.eval("document.getElementById('host').value") == ""
    b.key("Escape")
    b.until("!document.getElementById('hosts').hidden &&"
            "document.getElementById('notice').hidden")
    for one in (peer, hub):
        assert one.stop() == (0, "")
