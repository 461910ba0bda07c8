"""Torch modules: their tensors as safetensors; the caller gives the module itself."""

from __future__ import annotations

import sys
from typing import Any, final

from shafer._text import listed
from shafer.saving.formats import ObjectFormat, ObjectSink, ObjectSource, class_name, imported
from shafer.saving.values import Json


@final
class TorchFormat(ObjectFormat):
    """The ``state_dict`` of a module. Its code is never stored."""

    name = "torch"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a module; torch is loaded then."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(value, torch.nn.Module)

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the tensors of a module."""
        safetensors = imported("safetensors.torch", "'.[torch]' in a copy of the repository")
        tensors = value.state_dict()
        odd = [name for name, part in tensors.items() if not hasattr(part, "detach")]
        if odd:
            raise ValueError(
                f"The module {type(value).__name__} cannot be saved: {listed(odd)} in its "
                "state_dict are not tensors. Keep this state in buffers."
            )
        # Copies: safetensors refuses tensors that share memory.
        held = {name: part.detach().cpu().contiguous().clone() for name, part in tensors.items()}
        return {
            "class": class_name(value),
            "file": sink.member("safetensors", safetensors.save(held)),
        }

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Read the tensors into the module that the caller gave."""
        module = source.module()
        safetensors = imported("safetensors.torch", "'.[torch]' in a copy of the repository")
        tensors = safetensors.load(source.member(node["file"]))
        _check_same(tensors, module.state_dict(), type(module).__name__)
        module.load_state_dict(tensors)
        return module


def _check_same(saved: dict[str, Any], given: dict[str, Any], name: str) -> None:
    """Refuse a module whose tensors have other names, shapes or types."""
    other = sorted(set(saved) ^ set(given))
    if other:
        raise ModuleMismatchError(
            f"module= must be built like the saved one: {listed(other)} are in the file or in the "
            f"given {name}, not in both."
        )
    for key, own in given.items():
        tensor, shape, dtype = saved[key], tuple(own.shape), own.dtype
        if tuple(tensor.shape) != shape or tensor.dtype != dtype:
            raise ModuleMismatchError(
                f"module= must be built like the saved one: {key!r} is {tuple(tensor.shape)} of "
                f"{tensor.dtype} in the file, and {shape} of {dtype} in the given {name}."
            )


@final
class ModuleMismatchError(ValueError):
    """The module that the caller gave does not fit the saved tensors."""
