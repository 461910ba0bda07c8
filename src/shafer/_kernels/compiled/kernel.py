"""``kernel``: a function that numba compiles, kept on disk as ``compilation.py`` says."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from shafer._kernels.compilation import (
    NotCompiledError,
    UnusableError,
    ask_to_compile,
    store_kernel,
    stored_kernel,
)

if numba.config.DISABLE_JIT:
    raise UnusableError("NUMBA_DISABLE_JIT switches the compiler off")


class _Threads:
    """Lets one parallel kernel run at a time, and none in a process that was forked from one.

    Where libgomp is missing, as in small images, numba ends the process if two threads of a service
    run parallel kernels; where it is there, numba ends a forked process that runs one.
    """

    def __init__(self) -> None:
        self.free = Lock()
        self.started = self.forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self) -> None:
        self.free, self.forked = Lock(), self.started

    def run(self, compiled: Callable[..., Any], *given: Any) -> Any:
        """Run a parallel kernel."""
        if self.forked:
            raise NotCompiledError("threads of the parent process")
        with self.free:
            self.started = True
            return compiled(*given)


_THREADS = _Threads()


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is called, unless it is on disk."""

    def made(function: Callable[..., Any]) -> Any:
        compiled = numba.njit(**options)(function)
        compiled._cache = KernelCache(f"{function.__module__}.{function.__qualname__}{options}")
        return partial(_THREADS.run, compiled) if options.get("parallel") else compiled

    return made


class KernelCache(NullCache):  # type: ignore[misc]  # numba's stubs leave it out
    """What numba asks before it compiles a function, and tells after."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._missing: set[str] = set()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for some types of arguments, or allow to compile it."""
        target_context.refresh()
        name = self._file(sig, target_context.codegen())
        content = None if name in self._missing else stored_kernel(name)
        if content is not None:
            try:
                return CompileResult._rebuild(target_context, *pickle.loads(content))
            except Exception:  # of another library that the name does not tell: compiled again
                content = None
        self._missing.add(name)
        ask_to_compile(self._name)
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a function that was compiled."""
        name = self._file(sig, cres.codegen)
        if not cres.library.has_dynamic_globals:
            store_kernel(name, dumps(cres._reduce()))

    def _file(self, sig: Any, codegen: Any) -> str:
        """Return a name for the function, the types, the processor and the compiler."""
        versions = numba.__version__, sys.version_info[:2], getattr(sys, "abiflags", "")
        told = repr((self._name, str(sig), codegen.magic_tuple(), versions))
        return hashlib.sha256(told.encode()).hexdigest()[:32]
