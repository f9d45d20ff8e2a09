# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests, driven by DevTools' protocol over two pipes.
"""

import base64
import itertools
import json
import os
import shutil
import subprocess
import time

import can

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
BROWSER = can.needed("chromium")

KEYS = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}


class Browser:
    """One page; call end() afterwards."""

    def __init__(self, profile, width=1400, height=900, script=True):
        ours_in, self.out = os.pipe()
        self.come, ours_out = os.pipe()
        self.numbers = itertools.count(1)
        self.rest = b""
        self.log = []
        self.script = script
        # The browser reads commands from descriptor 3 and answers to 4. (dash
        # supports no descriptors of two digits.)
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ours_in} 4>&{ours_out}', "sh",
             CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking",
             "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ours_in, ours_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours_in)
        os.close(ours_out)
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.size(width, height)

    def call(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.note(answer)

    def read(self):
        while b"\0" not in self.rest:
            got = os.read(self.come, 1 << 16)
            assert got, "the browser has ended"
            self.rest += got
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        """Keeps the page's complaints and its requests."""
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.log.append(params["exceptionDetails"])
        elif event.get("method") == "Log.entryAdded":
            self.log.append(params["entry"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.log.append({"asked": params["request"]["url"]})

    def complaints(self):
        return [entry for entry in self.log if "asked" not in entry]

    def asked(self):
        return [entry["asked"] for entry in self.log if "asked" in entry]

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=scale, mobile=width < 600)

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value}
            for name, value in features.items()])

    def open(self, url):
        """Opens a page and waits until it is complete; streams continue."""
        assert "errorText" not in self.call("Page.navigate", url=url)
        end = time.monotonic() + 30
        while self.script and self.eval("document.readyState") != "complete":
            assert time.monotonic() < end, "it is never complete"
            time.sleep(0.02)

    def eval(self, script):
        answer = self.call("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def text(self, selector):
        return self.eval(
            f"document.querySelector({json.dumps(selector)})?.textContent")

    def texts(self, selector):
        return self.eval("[...document.querySelectorAll("
                         f"{json.dumps(selector)})].map(e => e.textContent)")

    def until(self, script, seconds=30):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.eval(f"Boolean({script})"):
            assert time.monotonic() < end, (
                f"never: {script}\n{self.complaints()}\n"
                f"{self.eval('document.body.innerText')[:1500]}")
            time.sleep(0.05)

    def key(self, name):
        key = {"key": name, "code": name if len(name) > 1 else "",
               "windowsVirtualKeyCode": KEYS.get(name, 0)}
        if name == "Enter":
            key["text"] = "\r"
        elif len(name) == 1:
            key["text"] = name
        self.call("Input.dispatchKeyEvent", type="keyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{
            k: v for k, v in key.items() if k != "text"})

    def type(self, text):
        self.call("Input.insertText", text=text)

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.out)
        os.close(self.come)
