"""Two services of one model: ``predict_proba`` alone, as one writes it, and ``shafer.serve``."""

import os
from typing import Any

import pandas as pd
from fastapi import FastAPI
from pydantic import ConfigDict, create_model

import shafer

PATH = os.environ["SERVED_MODEL"]
EXPLAINER = shafer.Explainer.load(PATH)
KINDS = {"number": float, "whole": int, "text": str, "category": str}


def plain() -> FastAPI:
    """Return the usual service: a checked row, a frame of one row, ``predict_proba``."""
    model, columns = EXPLAINER.model, EXPLAINER.columns
    described = EXPLAINER.weighed_model.schema.columns
    types = {name: column.categories for name, column in zip(columns, described, strict=True)}
    fields: Any = {f"c{j}": (KINDS[column.kind], ...) for j, column in enumerate(described)}
    names = dict(zip(fields, columns, strict=True))
    row_type = create_model(
        "Row",
        __config__=ConfigDict(
            extra="forbid", allow_inf_nan=False, alias_generator=lambda field: names[field]
        ),
        **fields,
    )
    made = FastAPI()

    @made.post("/answer")
    def answer(row: row_type) -> dict[str, float]:
        frame = pd.DataFrame([row.model_dump(by_alias=True)])
        for name, known in types.items():
            if known is not None:
                frame[name] = pd.Categorical(frame[name], categories=known)
        return dict(
            zip(map(str, model.classes_), model.predict_proba(frame)[0].tolist(), strict=True)
        )

    return made


app = plain() if os.environ["SERVED_AS"] == "plain" else shafer.serve.app(PATH, reasons=3)
