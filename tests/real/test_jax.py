# SPDX-License-Identifier: Apache-2.0
"""JAX runs unmodified: devices, and values on them. XLA needs a handle of cuDNN
for whatever it compiles."""

from real_program import Program

JAX = Program("jax")

# Runs "$@" with a /dev that also has nvidia0, which JAX looks for. It has a
# mount of its own, since a file in /dev would be seen by all programs.
WITH_A_DEVICE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
                 """
mount -t tmpfs none /mnt
for path in /dev/*; do
    to=/mnt/${path#/dev/}
    if [ -L "$path" ]; then cp -P "$path" "$to"; continue; fi
    if [ -d "$path" ]; then mkdir "$to"; else : >"$to"; fi
    mount --rbind "$path" "$to"
done
: >/mnt/nvidia0
mount --move /mnt /dev
exec "$@"
""", "sh"]

BEGIN = """
import jax
import numpy as np

A = np.random.default_rng(6).random((64, 96), dtype=np.float32)
"""

DEVICES = """
assert [(one.platform, one.id) for one in jax.devices()] == [
    ("gpu", i) for i in range(8)]
assert jax.devices()[0].device_kind == "NVIDIA A100-SXM4-80GB"
there = jax.device_put(A)
assert there.devices() == {jax.devices()[0]}
assert (np.asarray(there) == A).all()
moved = jax.device_put(there, jax.devices()[5])
assert moved.devices() == {jax.devices()[5]}
assert (np.asarray(moved) == A).all()
"""

COMPILED = """
there = jax.device_put(A)
try:
    (there + 1).block_until_ready()
    raise AssertionError("compiled code ran")
except jax.errors.JaxRuntimeError as error:
    assert "dnn_support != nullptr" in str(error), error
assert (np.asarray(there) == A).all()
"""

NO_DEVICE = """
assert {one.platform for one in jax.devices()} == {"cpu"}
"""


def test_devices_and_values():
    JAX(BEGIN + DEVICES, around=WITH_A_DEVICE)


def test_what_it_compiles_wants_a_handle_of_cudnn():
    told = JAX(BEGIN + COMPILED, around=WITH_A_DEVICE).stderr
    assert "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED" in told


def test_without_the_device_file_there_are_no_gpus():
    JAX(BEGIN + NO_DEVICE)
