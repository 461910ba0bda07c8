from __future__ import annotations

import numpy as np

import shafer


def test_the_page_says_what_it_leaves_out() -> None:
    many = shafer.Evidence.from_weights(np.zeros((6, 1, 7)))
    assert "Shown: the first 5 instances, the 6 most probable classes of each." in (
        many._repr_html_()
    )
    assert "Shown" not in shafer.Evidence.from_weights(np.zeros((5, 1, 6)))._repr_html_()


def test_names_are_no_mathematics() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)), classes=["$x$", "$y$"])
    for page in (ev._repr_html_(), ev.components._repr_html_()):
        assert page.startswith('<div class="tex2jax_ignore mathjax_ignore">')
        assert page.endswith("</div>")


def test_long_names_are_cut() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)), classes=["a" * 500, "b"])
    assert len(repr(ev)) < 200
    assert "a" * 100 not in ev._repr_html_()
