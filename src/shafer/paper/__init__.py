"""The experiments of Denœux (2019), §5: every table and every figure beside the printed numbers.

``reproduce`` runs them all; ``heart`` and ``gaussian`` are the experiments, ``network`` and
``selection`` train, ``printed`` holds what the paper printed, the ``figures_...`` files draw with
the Displays of ``plots``, ``page`` writes the HTML page. May import ``models``, ``plots``,
``datasets`` and below; never ``report``. Needs the extra ``shafer[paper]``.
"""

from shafer.paper.run import reproduce

__all__ = ["reproduce"]
