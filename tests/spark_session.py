"""The Spark session of the tests: one for each process, as Spark itself has it."""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from types import ModuleType
from typing import Any

import pytest

ml: Any = ModuleType("ml")


@cache
def started_spark() -> Any:
    """Start Spark once in this process, and import its models into ``ml``."""
    spark_sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which was not found")
    import pyspark.ml.classification
    import pyspark.ml.feature

    vars(ml).update(vars(pyspark.ml))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # One worker imports the libraries; it gets two parts, one after the other, and up to four
    # attempts. The compiler of the virtual machine does no more than short jobs pay back.
    builder = spark_sql.SparkSession.builder.master("local[1,4]")
    for name in ("ui.enabled", "ui.showConsoleProgress", "sql.codegen.wholeStage"):
        builder = builder.config(f"spark.{name}", "false")
    for name in ("sql.shuffle.partitions", "sql.files.minPartitionNum", "default.parallelism"):
        builder = builder.config(f"spark.{name}", 2)
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
    session = builder.config("spark.driver.extraJavaOptions", quick).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
