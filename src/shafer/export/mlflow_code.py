"""The code that MLflow runs to load a logged explainer: no model is pickled."""

from shafer.export.python_model import EvidencePythonModel  # isort: skip - it loads MLflow quietly
from mlflow.models import set_model

set_model(EvidencePythonModel())
