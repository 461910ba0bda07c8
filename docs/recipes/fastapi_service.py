"""A web service for evidence: checked input, one row or a batch.

Run it with ``SHAFER_MODEL=model.shafer uvicorn fastapi_service:app``.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pandas as pd
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field

import shafer

MOST_ROWS = 10_000


class Patient(BaseModel):
    """One row: the columns of the training data, with the values that make sense."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    sbp: float = Field(gt=0, lt=400, description="systolic blood pressure")
    tobacco: float = Field(ge=0, description="cumulative tobacco, kg")
    ldl: float = Field(ge=0, description="low density lipoprotein cholesterol")
    age: float = Field(ge=0, le=130)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the explainer once, when the service starts."""
    app.state.explainer = shafer.Explainer.load(os.environ.get("SHAFER_MODEL", "model.shafer"))
    yield


app = FastAPI(title="Evidence", lifespan=lifespan)


def answers(explainer: shafer.Explainer, patients: list[Patient]) -> list[dict[str, Any]]:
    """Return the answer, the probabilities, what was promised, and the evidence of each row."""
    rows = pd.DataFrame([patient.model_dump() for patient in patients])
    try:
        found = shafer.scale.score(rows, explainer, reasons=0, evidence=True)
    except ValueError as error:  # what the model itself refuses
        raise HTTPException(422, str(error)) from error
    return found.to_dict(orient="records")


@app.post("/evidence")
def one(patient: Patient, request: Request) -> dict[str, Any]:
    """Return the evidence of one row."""
    return answers(request.app.state.explainer, [patient])[0]


@app.post("/evidence/batch")
def batch(
    patients: Annotated[list[Patient], Field(min_length=1, max_length=MOST_ROWS)], request: Request
) -> list[dict[str, Any]]:
    """Return the evidence of some rows."""
    return answers(request.app.state.explainer, patients)
