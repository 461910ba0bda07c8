"""Data sets that come with the package; nothing is downloaded. May import layers below evidence."""

from shafer.datasets.bird_strikes import load_bird_strikes
from shafer.datasets.fashion import load_fashion
from shafer.datasets.fashion_network import load_fashion_network
from shafer.datasets.gaussian import gaussian_posterior, make_gaussian
from shafer.datasets.german_credit import load_german_credit
from shafer.datasets.heart import load_heart

__all__ = [
    "gaussian_posterior",
    "load_bird_strikes",
    "load_fashion",
    "load_fashion_network",
    "load_german_credit",
    "load_heart",
    "make_gaussian",
]
