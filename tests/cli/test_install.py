# SPDX-License-Identifier: Apache-2.0
"""`./run install` installs for everybody, from any tree."""

import glob
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile

import pytest

import can
from conftest import BUILD, ROOT, clean_env, sanitized

PREFIX = "/opt/gpukit"
NOBODY = 65534
SOURCES = ["profiles", "scenarios", "include", "packaging", "cmake", "examples",
           "src/fronts/curand", "python", "docs"]
FILES = ["LICENSE", "README.md", "CHANGELOG.md"]

# One worker runs all of these, so that the tree is copied once.
pytestmark = pytest.mark.xdist_group("install")


def rewritten(path, build, source):
    """Copies one of CMake's scripts for trees in another place."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    target = os.path.join(build, os.path.relpath(path, BUILD))
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as f:
        f.write(text.replace(BUILD, build).replace(ROOT, source))


@pytest.fixture(scope="module")
def private_tree(tmp_path_factory):
    """A build tree of a user whose umask is 077, in a private directory. tests/
    and bench/ install nothing, but have scripts."""
    top = tmp_path_factory.mktemp("private")
    build, source = str(top / "build"), str(top / "source")
    for name in ("bin", "lib", "install", "man", "notices"):
        shutil.copytree(os.path.join(BUILD, name), os.path.join(build, name),
                        symlinks=True)
    for name in SOURCES:
        shutil.copytree(os.path.join(ROOT, name), os.path.join(source, name),
                        symlinks=True)
    for name in FILES:
        shutil.copy(os.path.join(ROOT, name), source)
    for path in [os.path.join(BUILD, "*.cmake")] + [
            os.path.join(BUILD, name, "**", "cmake_install.cmake")
            for name in ("src", "tests", "bench", "python")]:
        for script in glob.glob(path, recursive=True):
            rewritten(script, build, source)
    subprocess.run(["chmod", "-R", "go=", top], check=True)
    return build


def install(build, root, prefix=PREFIX):
    done = subprocess.run(
        ["cmake", "--install", build, "--prefix", prefix], cwd="/",
        env=clean_env(DESTDIR=str(root)), umask=0o077, text=True,
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
        timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(root) + prefix


@pytest.fixture(scope="module")
def root(private_tree):
    """Where it is installed; everybody can reach it."""
    path = tempfile.mkdtemp(prefix="gpukit-test-install-")
    os.chmod(path, 0o755)
    try:
        install(private_tree, path)
        yield path
    finally:
        shutil.rmtree(path)


def modes(top):
    """{path: mode} of everything except links."""
    found = {}
    for path, directories, files in os.walk(top):
        for name in directories + files:
            mode = os.lstat(os.path.join(path, name)).st_mode
            if not stat.S_ISLNK(mode):
                found[os.path.join(path, name)] = mode
    return found


def test_everybody_may_read_what_is_installed(root):
    found = modes(f"{root}/opt")
    assert len(found) > 60
    for path, mode in found.items():
        if stat.S_ISDIR(mode) or path.endswith("/bin/gpukit"):
            assert stat.S_IMODE(mode) == 0o755, path
        else:
            assert stat.S_IMODE(mode) in (0o644, 0o755), path


def test_directories_of_others_keep_their_modes(private_tree, tmp_path):
    """Only directories that an installation of ours left closed are opened."""
    kept = tmp_path / "opt/gpukit/lib"
    healed = kept / "gpukit/fake"
    healed.mkdir(parents=True)
    kept.chmod(0o2775)
    healed.chmod(0o700)
    install(private_tree, tmp_path)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o2775
    assert stat.S_IMODE(healed.stat().st_mode) == 0o755
    assert stat.S_IMODE(healed.parent.stat().st_mode) == 0o755


# ---- ./run install, ./run uninstall ----

INSTALL = os.path.join(ROOT, "tools/install.sh")


def script(*words, status=0, **env):
    """What tools/install.sh said. DESTDIR keeps it out of the machine."""
    done = subprocess.run([INSTALL, *words], cwd="/", text=True,
                          capture_output=True, check=False, timeout=100,
                          stdin=subprocess.DEVNULL, env=clean_env(**env))
    assert done.returncode == status, done.stderr
    assert not done.stdout
    return done.stderr


def everything(top):
    """Every path, with its time and size, or the target of a link."""
    found = {}
    for path, directories, files in os.walk(top):
        for name in directories + files:
            at = os.path.join(path, name)
            state = os.lstat(at)
            found[at] = (stat.S_IFMT(state.st_mode),
                         os.readlink(at) if stat.S_ISLNK(state.st_mode)
                         else None if stat.S_ISDIR(state.st_mode)
                         else (state.st_size, state.st_mtime_ns))
    return found


def test_an_uninstall_leaves_no_trace(private_tree, tmp_path):
    """Not even empty directories, above the prefix, or what Python compiled."""
    (tmp_path / "opt").mkdir()
    before = everything(tmp_path)
    script("install", private_tree, "/opt/a b/gpukit", DESTDIR=str(tmp_path))
    at = tmp_path / "opt/a b/gpukit"
    manifest = read(at / "share/gpukit/manifest.txt").splitlines()
    listed = {line[2:] for line in manifest if line[0] in "df"}
    found = {os.path.relpath(path, at) for path in everything(at)}
    assert found - listed == {"share/gpukit/manifest.txt"}
    assert listed <= found and len(found) > 300
    scripts = list((at / "lib/gpukit/fake/python").rglob("*.py"))
    for path in scripts:
        cache = path.parent / "__pycache__"
        cache.mkdir(exist_ok=True)
        (cache / f"{path.stem}.cpython-311.pyc").write_text("")
    assert script("uninstall", "/opt/a b/gpukit", DESTDIR=str(tmp_path)) == ""
    assert scripts and everything(tmp_path) == before


def test_what_others_put_there_stays(private_tree, tmp_path):
    shared = tmp_path / "opt/gpukit/share/man/man1"
    shared.mkdir(parents=True)
    (shared / "other.1").write_text("theirs")
    before = everything(tmp_path)
    script("install", private_tree, PREFIX, DESTDIR=str(tmp_path))
    profile = tmp_path / "opt/gpukit/share/gpukit/profiles/mine.yaml"
    profile.write_text("mine")
    said = script("uninstall", PREFIX, DESTDIR=str(tmp_path))
    assert "profiles, which has files of others" in said
    profile.unlink()
    for directory in (profile.parent, profile.parent.parent):
        directory.rmdir()
    assert everything(tmp_path) == before


def test_an_upgrade_removes_what_is_no_longer_there(private_tree, tmp_path):
    script("install", private_tree, PREFIX, "--aliases", DESTDIR=str(tmp_path),
           PATH=os.environ["PATH"])
    at = tmp_path / "opt/gpukit"
    old = at / "share/gpukit/profiles/old-gpu.yaml"
    old.write_text("of an older version")
    manifest = at / "share/gpukit/manifest.txt"
    manifest.write_text(read(manifest) + "f share/gpukit/profiles/old-gpu.yaml\n"
                        "f ../../kept\nf /kept\n")
    (tmp_path / "kept").write_text("")
    script("install", private_tree, PREFIX, DESTDIR=str(tmp_path))
    assert not old.exists() and not (at / "bin/nvisel").is_symlink()
    assert (tmp_path / "kept").exists()
    script("uninstall", PREFIX, DESTDIR=str(tmp_path))
    assert os.listdir(tmp_path) == ["kept"]


def test_aliases_never_hide_the_driver(private_tree, tmp_path):
    """Nor a program of others that lies where a link should be."""
    driver, at = tmp_path / "driver", tmp_path / "opt/gpukit"
    driver.mkdir()
    (driver / "nvidia-smi").write_text("#!/bin/sh\n")
    (driver / "nvidia-smi").chmod(0o755)
    (at / "bin").mkdir(parents=True)
    (at / "bin/nvitop").write_text("theirs")
    said = script("install", private_tree, PREFIX, "--aliases",
                  DESTDIR=str(tmp_path), PATH=f"{driver}:{os.environ['PATH']}")
    assert f"no link nvidia-smi: {driver}/nvidia-smi is the driver's" in said
    assert "/bin/nvitop is not gpukit's" in said
    assert sorted(os.listdir(at / "bin")) == ["gpukit", "gpustat", "nvisel",
                                              "nvitop"]
    assert os.readlink(at / "share/man/man1/gpustat.1") == "gpukit-stat.1"
    done = subprocess.run([at / "bin/nvisel", "--usage"], text=True,
                          capture_output=True, check=True)
    assert done.stdout.startswith("Usage: gpukit select ")
    script("uninstall", PREFIX, DESTDIR=str(tmp_path))
    assert os.listdir(at) == ["bin"] and os.listdir(at / "bin") == ["nvitop"]


@pytest.mark.skipif(os.path.exists("/usr/bin/nvidia-smi"),
                    reason="cannot:machine-without-a-driver")
def test_all_aliases_are_made_where_no_driver_is(private_tree, tmp_path):
    script("install", private_tree, PREFIX, "--aliases", DESTDIR=str(tmp_path))
    at = tmp_path / "opt/gpukit"
    assert sorted(os.listdir(at / "bin")) == [
        "gpukit", "gpustat", "nvidia-smi", "nvisel", "nvitop"]
    # A second time they are its own.
    said = script("install", private_tree, PREFIX, "--aliases",
                  DESTDIR=str(tmp_path))
    assert "no link" not in said


def test_an_installation_that_breaks_off_can_be_removed(private_tree, tmp_path):
    """Here a directory lies where a file should be."""
    wrong = tmp_path / "opt/gpukit/bin/gpukit"
    wrong.mkdir(parents=True)
    (wrong / "theirs").write_text("")
    script("install", private_tree, PREFIX, status=1, DESTDIR=str(tmp_path))
    script("uninstall", PREFIX, DESTDIR=str(tmp_path))
    assert os.listdir(tmp_path / "opt/gpukit") == ["bin"]
    assert (wrong / "theirs").exists()


def test_wrong_use_is_told(private_tree, tmp_path):
    said = script("uninstall", PREFIX, status=1, DESTDIR=str(tmp_path))
    assert "./run install has put nothing there" in said
    assert os.listdir(tmp_path) == []
    assert "Usage:" in script("install", private_tree, status=2)
    assert "Usage:" in script("install", private_tree, PREFIX, "--x", status=2)
    (tmp_path / "file").write_text("")
    assert "is no directory" in script(
        "install", private_tree, "/file/x", status=1, DESTDIR=str(tmp_path))


@pytest.mark.parametrize("words, said", [
    (["install", "--prefix"], "--prefix needs a directory"),
    (["install", "--bogus"], "install: unknown word '--bogus'"),
    (["install", "/opt"], "install: unknown word '/opt'"),
    (["uninstall", "--aliases"], "uninstall has no option --aliases"),
    (["uninstall", "--prefix", "/none/of this"],
     "no /none/of this/share/gpukit/manifest.txt"),
    (["install", "--prefix=/dev/null/x"], "/dev/null is no directory")])
def test_run_refuses_wrong_words_before_it_builds(words, said):
    done = subprocess.run([os.path.join(ROOT, "run"), *words], text=True,
                          capture_output=True, check=False, timeout=60,
                          env=clean_env())
    assert done.returncode == 1 and said in done.stderr, done.stderr


@can.needed("other-users")
def test_without_rights_it_says_how_to_install_for_oneself():
    """Before anything is built. The checkout may be closed to others."""
    done = subprocess.run(
        ["sh", "-s", "check", "/usr/local"], text=True, check=False,
        capture_output=True, user=NOBODY, group=NOBODY, cwd="/",
        input=read(INSTALL))
    assert done.returncode == 1
    assert "/usr/local: become root, or install for yourself with --prefix " \
        "~/.local" in done.stderr


def test_licence_notices_and_documentation_come_along(root):
    documents = f"{root}{PREFIX}/share/doc/gpukit"
    assert "Apache License" in read(f"{documents}/LICENSE")
    assert os.path.exists(f"{documents}/docs/FAKE.md")
    with open(os.path.join(BUILD, "build.ninja"), encoding="utf-8") as f:
        rule = re.search(r"^build bin/gpukit: .*?^\n", f.read(), re.M | re.S)[0]
    linked = {os.path.basename(path) for path in re.findall(
        r"\S*/lib(?:jansson|yaml|zstd|lz4|pcre2-8|ncursesw)\.a", rule)}
    notices = glob.glob(f"{documents}/notices/*.txt")
    assert len(notices) == len(linked)
    assert all("opyright" in read(path) for path in notices)


# ---- another user ----

def is_elf(path):
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def libraries(top):
    """The libraries that programs below a directory load from outside."""
    files = [path for path, mode in modes(top).items()
             if stat.S_ISREG(mode) and is_elf(path)]
    said = subprocess.run(["ldd", *files], text=True, capture_output=True,
                          check=False).stdout
    return {path for path in re.findall(r"(/\S+) \(0x", said)
            if not path.startswith(top)}


CHROOT = f"""
root=$1
shift
for name in proc dev; do
	mkdir -p "$root/$name"
	mount --rbind "/$name" "$root/$name"
done
exec chroot --userspec={NOBODY}:{NOBODY} --groups= "$root" "$@"
"""


def chroot_at(root):
    """The words that run a command there as nobody; None where namespaces are
    not allowed, as in most containers."""
    if can.why_not("mounts-of-root"):
        return None
    for path in libraries(root):
        os.makedirs(root + os.path.dirname(path), 0o755, exist_ok=True)
        shutil.copy(os.path.realpath(path), root + path)
    return ["unshare", "--mount", "sh", "-ec", CHROOT, "sh", root]


@pytest.fixture(scope="module")
def as_nobody(root):
    """as_nobody(WORD...) runs what is installed as a user who owns none of it:
    where allowed in a root of its own, so that nothing outside can be used;
    else in place; and as the same user if that is not root."""
    at, words = PREFIX, None
    if os.getuid() == 0:
        words = chroot_at(root)
    if words is None:
        at = root + PREFIX
        words = []
        if os.getuid() == 0:
            words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                     "--clear-groups", "--"]

    def run(*args):
        command = f"{at}/bin/gpukit"
        return subprocess.run(
            [*words, *[command if arg == "gpukit" else arg for arg in args]],
            text=True, stdin=subprocess.DEVNULL, capture_output=True,
            cwd="/", env=clean_env(HOME="/nonexistent"), check=False,
            timeout=100)

    return run


def test_another_user_runs_it(as_nobody):
    done = as_nobody("gpukit", "fake", "--gpus", "h100:2", "--driver", "535",
                     "--", "gpukit", "stat", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [device["name"] for device in told["devices"]] == [
        "NVIDIA H100 80GB HBM3"] * 2
    # The name of nvidia-smi, a scenario and the web server's module.
    done = as_nobody("gpukit", "fake", "--gpus", "t4:1", "--", "nvidia-smi",
                     "-L")
    assert done.returncode == 0 and "Tesla T4" in done.stdout, done.stderr
    # The library that is preloaded.
    done = as_nobody("gpukit", "fake", "--gpus", "t4:1", "--", "gpukit",
                     "limit", "--memory", "1GiB", "--", "nvidia-smi",
                     "--query-gpu=memory.total", "--format=csv,noheader")
    # A sanitizer's library would have to be preloaded before it.
    assert done.stdout == "1024 MiB\n" or sanitized(), done
    done = as_nobody("gpukit", "export", "--tls-cert", "/none", "--tls-key",
                     "/none")
    assert "/none: No such file" in done.stderr


# ---- the units ----

def unit_of(at, verb):
    with open(f"{at}/share/gpukit/systemd/gpukit-{verb}.service",
              encoding="utf-8") as f:
        return f.read()


@pytest.mark.parametrize("prefix, command, home", [
    (PREFIX, f"{PREFIX}/bin/gpukit", "yes"),
    ("/", "/bin/gpukit", "yes"),
    ("/usr", "/usr/bin/gpukit", "yes"),
    ("/opt/100% gpu", '"/opt/100%% gpu/bin/gpukit"', "yes"),
    ("/home/ann/.local", "/home/ann/.local/bin/gpukit", "read-only")])
def test_the_units_start_what_was_installed(private_tree, tmp_path, prefix,
                                            command, home):
    at = install(private_tree, tmp_path, prefix)
    assert os.access(f"{at}/bin/gpukit", os.X_OK)
    for verb in ("export", "web"):
        unit = unit_of(at, verb)
        assert (f"\nExecStart={command} {verb} "
                f"$GPUKIT_{verb.upper()}_OPTIONS\n") in unit
        assert f"\nEnvironmentFile=-/etc/default/gpukit-{verb}\n" in unit
        assert f"\nProtectHome={home}\n" in unit
        assert "Type=notify" in unit and "DynamicUser=yes" in unit
        assert "@" not in unit.replace("@system-service", "")


def test_units_are_confined_alike(private_tree, tmp_path):
    at = install(private_tree, tmp_path)

    def settings(verb):
        return [line for line in unit_of(at, verb).splitlines()
                if "=" in line and line[0] != "#" and verb not in line
                and not line.startswith("Description")]

    assert settings("export") == settings("web")
    assert "NoNewPrivileges=yes" in settings("web")


@can.needed("systemd-analyze")
@pytest.mark.parametrize("verb", ["export", "web"])
def test_systemd_understands_the_units(private_tree, tmp_path, verb):
    """It also finds little that the unit may still do: 10 is everything."""
    at = install(private_tree, tmp_path)
    path = f"{at}/share/gpukit/systemd/gpukit-{verb}.service"
    with open(path, "r+", encoding="utf-8") as f:
        text = f.read().replace(f"={PREFIX}/bin/gpukit", f"={at}/bin/gpukit")
        f.seek(0)
        f.write(text)
    done = subprocess.run(["systemd-analyze", "verify", path], text=True,
                          capture_output=True, check=False, timeout=60)
    assert "gpukit" not in done.stderr, done.stderr
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=25",
         "--no-pager", path], text=True, capture_output=True, check=False,
        timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]


# ---- the directories of a distribution ----

def configured(tmp_path, *options):
    """A build tree with these options, configured and not built."""
    subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja",
                    "-DGPUKIT_TESTS=OFF", *options], check=True,
                   capture_output=True, env=clean_env())
    return tmp_path


def destinations(build):
    """The directories into which CMake's scripts install, relative to the
    prefix unless absolute."""
    found = set()
    for path in glob.glob(f"{build}/**/cmake_install.cmake", recursive=True):
        with open(path, encoding="utf-8") as f:
            found |= set(re.findall(r'DESTINATION "([^"]+)"', f.read()))
    return {path.replace("${CMAKE_INSTALL_PREFIX}/", "") for path in found}


def dependencies(build):
    """The other libraries that the command is linked with."""
    with open(build / "build.ninja", encoding="utf-8") as f:
        rule = re.search(r"^build bin/gpukit: .*?^\n", f.read(), re.M | re.S)[0]
    return {os.path.basename(path) for path in re.findall(
        r"\S*lib(?:jansson|yaml|zstd|lz4|pcre2-8|tinfo|ncursesw)\.\S+", rule)}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def test_a_package_has_its_directories_and_shared_libraries(tmp_path):
    library, data = "lib/x86_64-linux-gnu", "share/all"
    build = configured(tmp_path, "-DCMAKE_INSTALL_PREFIX=/usr",
                       f"-DCMAKE_INSTALL_LIBDIR={library}",
                       f"-DCMAKE_INSTALL_DATADIR={data}",
                       "-DCMAKE_INSTALL_INCLUDEDIR=/opt/include")
    found = destinations(build)
    assert {"bin", library, f"{library}/gpukit/fake", "lib/tmpfiles.d",
            f"{data}/gpukit/profiles", "/opt/include"} <= found
    assert [path for path in found if not path.startswith(
        ("bin", library, data, "/opt/include", "lib/tmpfiles.d", "share/man/",
         "share/doc/gpukit"))] == []
    assert os.readlink(build / "install/nvidia-smi").endswith(
        "../../../../../bin/gpukit")
    config = read(build / "lib/pkgconfig/gpukit.pc")
    assert "prefix=${pcfiledir}/../../..\n" in config
    assert f"libdir=${{prefix}}/{library}\n" in config
    assert "includedir=/opt/include\n" in config
    found = dependencies(build)
    assert len(found) == 7 and all(name.endswith(".so") for name in found)


WHERE = """
#include "cli/where.h"
#include <limits.h>
#include <stdio.h>
int main(void)
{
	char library[PATH_MAX], data[PATH_MAX], command[PATH_MAX];

	if (gk_where_library("fake", library, sizeof library) ||
	    gk_where_data("profiles", data, sizeof data) ||
	    gk_where_command(command, sizeof command))
		return 1;
	printf("%s %s %s\\n", library, data, command);
	return gk_where_library("fake", library, 4) ? 0 : 1;
}
"""


@pytest.mark.parametrize("bindir, libdir", [
    ("bin", "lib"), ("bin", "lib/x86_64-linux-gnu"), ("lib/own/bin", "lib64"),
    ("bin", "/elsewhere/lib")])
def test_a_command_finds_its_files_where_they_were_moved(tmp_path, bindir,
                                                         libdir):
    source, top = tmp_path / "it.c", tmp_path / "moved"
    source.write_text(WHERE)
    command = top / bindir / "gpukit"
    command.parent.mkdir(parents=True)
    subprocess.run(
        ["gcc", "-D_GNU_SOURCE", f'-DGK_BINDIR="{bindir}"',
         f'-DGK_LIBDIR="{libdir}"', '-DGK_DATADIR="share"',
         f"-I{ROOT}/src", f"-I{ROOT}/include", source,
         *(f"{ROOT}/src/{name}.c" for name in (
             "cli/where", "base/str", "base/err")), "-o", command], check=True)
    told = subprocess.run([command], text=True, capture_output=True,
                          check=True).stdout
    library = libdir if libdir.startswith("/") else f"{top}/{libdir}"
    assert told == (f"{library}/gpukit/fake {top}/share/gpukit/profiles "
                    f"{command}\n")
