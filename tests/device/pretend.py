"""An accelerator for tests, made of nothing: tensors that say they are on the device `pretend` and are worked on by
the CPU. As on a GPU an operation refuses to mix them with others, and NumPy does not see them.

It has to be installed before the first backward pass of a process, and stays: tests use it in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map_only

NAME = "pretend"
aten = torch.ops.aten
BETWEEN_DEVICES = (aten.copy_.default, aten._to_copy.default)


class Pretended(Tensor):
    """A tensor on the device `pretend`; `inside` is the one that holds its values."""

    inside: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, inside: Tensor) -> Pretended:
        layout = {"strides": inside.stride(), "storage_offset": inside.storage_offset(), "dtype": inside.dtype}
        with torch.inference_mode(False):  # or views of what was made outside could not be made inside
            made = Tensor._make_wrapper_subclass(cls, inside.shape, device=torch.device(NAME, 0), **layout)
        made.inside = inside
        return made

    def __repr__(self) -> str:  # type: ignore[override]
        return f"Pretended({self.inside})"

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(f"can't convert {self.device} device type tensor to numpy; use Tensor.cpu() first")

    def tolist(self) -> Any:
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if torch.is_inference_mode_enabled() and func._can_decompose():  # elsewhere autograd has done so
            return func.decompose(*args, **kwargs)
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        strange = [each for each in tensors if not isinstance(each, Pretended) and each.ndim]
        if strange and func not in BETWEEN_DEVICES:  # numbers (0 axes) may be on the CPU, as with CUDA
            places = ", ".join(f"{tuple(each.shape)} on {each.device}" for each in tensors)
            raise RuntimeError(f"{func}: expected all tensors to be on the same device, but got {places}")
        asked = kwargs.get("device")
        if asked is not None:
            kwargs["device"] = "cpu"
        result = func(*_insides(args), **_insides(kwargs))
        leaves = asked is not None and torch.device(asked).type != NAME
        into_cpu = func is aten.copy_.default and not isinstance(args[0], Pretended)
        if leaves or into_cpu:
            return args[0] if into_cpu else result
        given = {id(each.inside): each for each in tensors if isinstance(each, Pretended)}  # changed in place
        return tree_map_only(
            Tensor, lambda each: given[id(each)] if id(each) in given else Pretended(each), result
        )


def _insides(tree: Any) -> Any:
    return tree_map_only(Pretended, lambda each: each.inside, tree)


class _Backend(backend_registration._DummyBackendModule):
    """What becomes `torch.pretend`."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


def install() -> torch.library.Library:
    """Make the device known to torch. It lasts as long as what is returned."""
    backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=_Backend())
    torch.__future__.set_overwrite_module_params_on_conversion(True)  # `param.data = ` would leave `inside` behind
    library = torch.library.Library("aten", "IMPL")
    for name, operation in _factories():
        library.impl(name, _made_by(operation), "PrivateUse1")

    def copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
        _insides(target).copy_(_insides(source))
        return target

    library.impl("_copy_from", copy_from, "PrivateUse1")
    return library


def _factories() -> Iterator[tuple[str, Any]]:
    """Operations that make a tensor on a device out of no tensor."""
    for full in torch._C._dispatch_get_all_op_names():
        name, _, overload = full.removeprefix("aten::").partition(".")
        operation = getattr(getattr(aten, name, None), overload or "default", None)
        if not full.startswith("aten::") or operation is None:
            continue
        takes, gives = operation._schema.arguments, operation._schema.returns
        if (
            any(each.name == "device" for each in takes)
            and not any("Tensor" in str(each.type) for each in takes)
            and [str(each.type) for each in gives] == ["Tensor"]
            and not torch._C._dispatch_has_kernel_for_dispatch_key(full, "CompositeImplicitAutograd")
        ):
            yield full.removeprefix("aten::"), operation


def _made_by(operation: Any) -> Callable[..., Tensor]:
    def made(*args: Any, **kwargs: Any) -> Tensor:
        return Pretended(operation(*args, **{**kwargs, "device": "cpu", "pin_memory": False}))

    return made
