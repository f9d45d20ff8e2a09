# SPDX-License-Identifier: Apache-2.0
"""A private OpenSSH server on loopback, and an `ssh` that is configured for it.
"""

import getpass
import os
import shutil
import socket
import subprocess

import pytest

# sshd is where only root looks for it, and must be called by its full path.
SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin")
NEEDS_SSHD = pytest.mark.skipif(
    not SSHD or not shutil.which("ssh"),
    reason="no sshd here: apt-get install openssh-server")

SERVER = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {at}/host
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication {password}
KbdInteractiveAuthentication no
AuthorizedKeysFile {at}/user.pub
SetEnv {environment}
{more}
"""
CLIENT = """\
Host {host}
HostName 127.0.0.1
Port {port}
User {user}
IdentityFile {key}
IdentitiesOnly yes
UserKnownHostsFile {known}
GlobalKnownHostsFile /dev/null
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Sshd:
    """One server; env has the PATH with its `ssh`. Call close() afterwards."""

    def __init__(self, at, host="atlas"):
        self.at, self.host, self.process = at, host, None
        self.port = free_port()
        for name in ("host", "user", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", at / name], check=True)
        self.know("host")
        wrapper = at / "bin" / "ssh"
        wrapper.parent.mkdir()
        wrapper.write_text(f"#!/bin/sh\necho $$ >>{at}/pids\n"
                           f"exec {shutil.which('ssh')} -F {at}/config "
                           f'"$@"\n')
        wrapper.chmod(0o755)
        self.env = {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
        self.configure()

    def know(self, key):
        """Makes this the host's known key; None: the host is unknown."""
        text = key and (self.at / f"{key}.pub").read_text()
        (self.at / "known").write_text(
            f"[127.0.0.1]:{self.port} {text}" if key else "")

    def configure(self, key="user"):
        (self.at / "config").write_text(CLIENT.format(
            host=self.host, port=self.port, user=getpass.getuser(),
            key=self.at / key, known=self.at / "known"))

    def start(self, password="no", more="", **environment):
        """Answers from now on, with commands in this environment."""
        self.stop()
        (self.at / "sshd_config").write_text(SERVER.format(
            port=self.port, at=self.at, password=password, more=more,
            environment=" ".join(f'"{k}={v}"'
                                 for k, v in environment.items())))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self.process = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", self.at / "sshd_config"],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        line = self.process.stderr.readline()
        assert "listening" in line, line + self.process.stderr.read()

    def sessions(self):
        """The pids of all started `ssh`, the latest last."""
        return list(map(int, (self.at / "pids").read_text().split()))

    def stop(self):
        if not self.process:
            return
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stderr.close()
        self.process = None

    def close(self):
        self.stop()
