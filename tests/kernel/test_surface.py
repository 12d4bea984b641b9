"""The kernel's public names, and that it stands on nothing else of refold."""

import ast
import importlib
from pathlib import Path

import pytest

from refold import kernel

FILES = sorted(Path(kernel.__path__[0]).glob("[!_]*.py"))


def defined_names(module: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_is_what_the_module_defines_in_public(file: Path) -> None:
    exported = importlib.import_module(f"refold.kernel.{file.stem}").__all__
    assert len(exported) == len(set(exported))
    assert set(exported) == defined_names(ast.parse(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_kernel_imports_nothing_else_of_refold(file: Path) -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the arrow"
            imported.add(node.module or "")
    own = {name for name in imported if name.split(".")[0] == "refold"}
    assert all(name.startswith("refold.kernel") for name in own)
