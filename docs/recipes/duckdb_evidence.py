"""Answers in DuckDB: an SQL function that returns the columns of ``score`` as a struct.

Run it with ``python duckdb_evidence.py model.shafer patients.parquet``.
"""

from __future__ import annotations

import sys
from typing import Any

import duckdb
import pyarrow as pa

import shafer


def add_evidence_function(
    connection: duckdb.DuckDBPyConnection, explainer: shafer.Explainer, columns: dict[str, str]
) -> None:
    """Add the SQL function ``evidence``, which takes the model's columns as one struct.

    ``columns`` maps each column to its SQL type. DuckDB calls the function on a few thousand rows
    at a time, as an Arrow array.
    """
    wanted = {"reasons": 0, "evidence": True}
    fields = list(shafer.scale.schema(explainer, **wanted))
    types = {"string": "VARCHAR", "double": "DOUBLE", "bool": "BOOLEAN", "int64": "BIGINT"}

    def evidence(given: Any) -> pa.Array:
        found = shafer.scale.score(pa.Table.from_struct_array(given), explainer, **wanted)
        parts = [column.combine_chunks() for column in found.columns]
        return pa.StructArray.from_arrays(parts, fields=fields)

    returned = {field.name: types[str(field.type)] for field in fields}
    connection.create_function(
        "evidence",
        evidence,
        [duckdb.struct_type(columns)],
        duckdb.struct_type(returned),
        type="arrow",
    )


def main(model: str, data: str) -> None:
    """Print the ten rows with the largest ignorance."""
    connection = duckdb.connect()
    explainer = shafer.Explainer.load(model)
    table = connection.from_parquet(data)
    types = {name: str(kind) for name, kind in zip(table.columns, table.types, strict=True)}
    columns = {name: types[name] for name in explainer.columns or table.columns}
    add_evidence_function(connection, explainer, columns)
    inputs = ", ".join(f'"{name}" := "{name}"' for name in columns)
    scored = table.project(f"*, unnest(evidence(struct_pack({inputs})))")
    print(scored.order("ignorance DESC").limit(10))


if __name__ == "__main__":
    main(*sys.argv[1:])
