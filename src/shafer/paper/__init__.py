"""The experiments and figures of Denœux (2019), beside the printed numbers.

``reproduce`` runs them all. ``heart_experiment`` and ``gaussian_experiment`` are the experiments,
``network`` and ``penalty_selection`` train, ``printed_numbers`` holds what the paper printed,
``figures_heart`` and ``figures_gaussian`` draw with the Displays of ``plots``, ``figures_views``
draws diagrams, ``results_page`` writes the HTML page. May import ``models``, ``plots``,
``datasets`` and below; never ``report``. Needs the extra ``paper``.
"""

from shafer.paper.run import reproduce

__all__ = ["reproduce"]
