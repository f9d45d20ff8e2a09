# SPDX-License-Identifier: Apache-2.0
"""A way to other machines for tests of `gpukit top --host`: a shell script in
place of ssh, with an action for each host."""

from conftest import FAKE_DIR, GPUKIT

HEAD = 'host=$1; shift\ncd "$(dirname "$0")"\necho $$ >"pid.$host"\n'


class Remote:
    """Hosts by name: a machine, or lines of shell."""

    def __init__(self, place):
        self.place = place
        self.script = place / "remote.sh"
        self.cases = {}

    def add(self, name, does):
        """The words of the command are "$@"."""
        if not isinstance(does, str):
            does = (f"GPUKIT_MACHINE={does.path} LD_LIBRARY_PATH={FAKE_DIR} "
                    f"exec {GPUKIT} \"$@\"")
        self.cases[name] = does
        self.script.write_text(HEAD + 'case $host in\n' + "".join(
            f"{host})\n{lines}\n;;\n"
            for host, lines in self.cases.items()) + "esac\n")

    @property
    def options(self):
        return ("--host", ",".join(self.cases),
                "--remote-command", f"sh {self.script} {{}}")

    def pid(self, name):
        """The pid of the command for a host, as it was last started."""
        return int((self.place / f"pid.{name}").read_text())
