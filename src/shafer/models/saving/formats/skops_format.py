"""Everything else: scikit-learn and the user's classes, in skops, checked when written too."""

from __future__ import annotations

import io
from types import FunctionType, MethodType
from typing import Any, final

from shafer._safe_archive import open_archive
from shafer._text import printable, shortened
from shafer.models.saving.formats.object_parts import PLACEHOLDER, TakenOut, with_parts
from shafer.models.saving.object_format import ObjectFormat, ObjectSink, ObjectSource, class_name
from shafer.models.saving.skops_files.skops_audit import audit
from shafer.models.saving.stored_values import Json

_FUNCTIONS_OF_THE_USER = "shafer.models.heads.Contributions"


@final
class SkopsFormat(ObjectFormat):
    """A skops file. A part with a format of its own is taken out and stored in that."""

    name = "skops"

    def __init__(self, others: tuple[ObjectFormat, ...]) -> None:
        self._others = others

    def takes(self, value: Any) -> bool:
        """Tell that any object may be tried."""
        del value
        return True

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write an object, unless it holds what is never loaded again."""
        if class_name(value) == _FUNCTIONS_OF_THE_USER:
            raise ValueError(
                "Contributions cannot be saved: it holds a function, and functions are not "
                "stored. Save the function's numbers instead, as a LinearHead or in a file of "
                "your own, and make the Explainer again."
            )
        import skops.io

        parts: list[Json] = []

        def taken_out(part: Any) -> Any:
            if isinstance(part, FunctionType | MethodType):
                raise ValueError(
                    f"{type(value).__name__} cannot be saved: it holds the function "
                    f"{part.__module__}.{part.__qualname__}, and functions are never loaded from a "
                    "file. Remove it from the model. For a search, explain its best_estimator_."
                )
            if not any(other.takes(part) for other in self._others):
                return part
            parts.append(sink.object(part))
            return TakenOut(len(parts) - 1)

        rest = with_parts(value, taken_out)
        try:
            content = skops.io.dumps(rest)
            with open_archive(io.BytesIO(content)) as archive:
                audit(archive)
        except Exception as error:  # the user's objects can fail in any way
            reason = printable(" ".join(str(error).split()))
            raise ValueError(
                f"{type(value).__name__} cannot be saved without pickle: {shortened(reason, 300)}."
            ) from error
        return {
            "class": class_name(value),
            "file": sink.member("skops", content),
            "parts": parts,
        }

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Load the object, and put its parts back."""
        rest = source.skops(source.member(node["file"]), (PLACEHOLDER,))
        parts = [source.object(part) for part in node["parts"]]
        return with_parts(rest, lambda part: _put_back(part, parts))


def _put_back(part: Any, parts: list[Any]) -> Any:
    if not isinstance(part, TakenOut):
        return part
    number = part.number
    if type(number) is not int or not 0 <= number < len(parts):
        raise ValueError("a part of its model is missing")
    return parts[number]
