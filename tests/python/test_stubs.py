"""The stubs tell of every public member, and of no other."""

import ast
import os
import sys

import pytest

from conftest import ROOT
from python_package import PACKAGE, check_built

check_built()
sys.path.insert(0, PACKAGE)


def stub_classes(module):
    path = os.path.join(ROOT, "python", "gpukit", module + ".pyi")
    with open(path, encoding="utf-8") as f:
        return [node for node in ast.parse(f.read()).body
                if isinstance(node, ast.ClassDef)]


def told(node):
    names = {each.target.id for each in node.body
             if isinstance(each, ast.AnnAssign)}
    names |= {each.name for each in node.body
              if isinstance(each, ast.FunctionDef)}
    return {name for name in names if name[0] != "_"}


def arguments(node):
    """name -> the names of its arguments, of the functions of a class."""
    return {each.name: {a.arg for a in each.args.args + each.args.kwonlyargs}
            for each in node.body if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize("module", ["device", "process"])
def test_the_members_are_those_of_the_stubs(module):
    from importlib import import_module

    found = import_module("gpukit." + module)
    for node in stub_classes(module):
        cls = getattr(found, node.name)
        assert all(hasattr(cls, name) for name in told(node) - {"pid"})
        own = {name for name in vars(cls) if name[0] != "_"}
        assert own <= told(node), node.name
        for name, args in arguments(node).items():
            code = getattr(getattr(vars(cls).get(name), "__func__",
                                   vars(cls).get(name)), "__code__", None)
            if code is not None and name[0] != "_":
                count = code.co_argcount + code.co_kwonlyargcount
                assert args <= set(code.co_varnames[:count]), name
