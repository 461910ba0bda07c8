"""What ``shafer save`` writes: a model with the means of its training data."""

from __future__ import annotations

from shafer.cli.background_means import MeansOptions, measured_model
from shafer.cli.model_inputs import model_inputs
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.table_files import kinds_of, read_table
from shafer.models import EvidentialClassifier, EvidentialVotingClassifier, Explainer
from shafer.models.saving import Savable


def model_to_save(named: NamedModel | None, options: MeansOptions) -> tuple[Savable, str]:
    """Return what to save, and a sentence on its means.

    Parameters
    ----------
    named : NamedModel, optional
        The model of ``--model``.
    options : MeansOptions
        The training data, and what to do with the base rate and with missing inputs.
    """
    if named is None:
        raise ValueError("shafer save needs --model, the trained model to save.")
    if isinstance(named.model, Explainer | EvidentialClassifier | EvidentialVotingClassifier):
        for option in ("prior", "missing", "errors"):
            if getattr(options, option) is not None:
                raise ValueError(
                    f"--{option} cannot be used: the {type(named.model).__name__} in "
                    f"{named.file_name} keeps its own choice. Leave out --{option}, or save the "
                    "model behind it with --train."
                )
        return named.model, "The model file has the means of its training data already."
    if options.train_path is None:
        raise ValueError(
            f"shafer save needs --train, the training data of the {type(named.model).__name__} in "
            f"{named.file_name}: weights of evidence are relative to its means."
        )
    frame = read_table(options.train_path)
    inputs = model_inputs(
        named.model,
        kinds_of(frame),
        options.train_path,
        target=options.target,
        text_column=options.text_column,
    )
    measured = measured_model(
        named.model, inputs, options.train_path, lambda: inputs.rows(frame), options
    )
    if not isinstance(measured.evidence, Explainer):
        raise ValueError(
            f"shafer save cannot store a {type(named.model).__name__}, which makes its own "
            "evidence. Keep its skops file."
        )
    return measured.evidence, measured.sentence
