"""Results of evidence on a device, started while the device still works on the weights.

Waiting for a device takes long, and so does each step that is sent to it afterwards.
"""

from __future__ import annotations

import array_api_compat

from shafer.evidence.evidence import Evidence


def prepare_on_device(evidence: Evidence) -> None:
    """Start the closed forms, and the weights of a few classes for maps, on a CUDA device.

    The evidence keeps them. Elsewhere they are computed when they are asked for.
    """
    logits = evidence.logits
    if array_api_compat.is_torch_array(logits) and logits.is_cuda:
        evidence.probability  # noqa: B018 - reading it computes all closed forms
        if evidence.layout is not None:
            evidence._top_weights  # noqa: B018 - and this the weights for maps
