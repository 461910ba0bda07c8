"""The code that MLflow runs to load a logged explainer: no model is pickled."""

from mlflow.models import set_model

from shafer.export.mlflow import EvidencePythonModel

set_model(EvidencePythonModel())
