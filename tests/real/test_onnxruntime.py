# SPDX-License-Identifier: Apache-2.0
"""onnxruntime-gpu runs unmodified: values on a GPU; a session stops at cuDNN.
"""

from real_program import Program

ONNXRUNTIME = Program("onnxruntime")

BEGIN = """
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

onnxruntime.preload_dlls()
A = np.random.default_rng(6).random((4, 8), dtype=np.float32)
"""

VALUES = """
there = onnxruntime.OrtValue.ortvalue_from_numpy(A, "cuda", 3)
assert there.device_name() == "cuda"
assert (there.numpy() == A).all()
there.update_inplace(A * 2)
assert (there.numpy() == A * 2).all()
"""

SESSION = """
square = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8])
          for name in "abc"]
product = helper.make_node("MatMul", ["a", "b"], ["c"])
model = helper.make_model(
    helper.make_graph([product], "product", square[:2], square[2:]),
    opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
try:
    onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CUDAExecutionProvider"])
    raise AssertionError("cuDNN works")
except Exception as error:
    told = str(error)
assert "CUDNN failure 1001: CUDNN_STATUS_NOT_INITIALIZED" in told, told
assert "expr=cudnnCreate(&cudnn_handle_)" in told, told
"""


def test_values_on_a_gpu():
    assert ONNXRUNTIME(BEGIN + VALUES).stderr == ""


def test_a_session_wants_a_handle_of_cudnn():
    ONNXRUNTIME(BEGIN + SESSION)
