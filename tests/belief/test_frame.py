import numpy as np
import pytest

from shafer import belief
from shafer.belief import Frame
from shafer.errors import FrameTooLargeError


@pytest.fixture
def frame():
    return Frame(["cat", "dog", "owl"])


def test_label_k_is_bit_k(frame):
    assert [frame.subset(label) for label in frame] == [1, 2, 4]
    assert frame.full == 7
    assert frame.n_subsets == 8
    assert len(frame) == 3


def test_masks_and_label_sets_are_inverse(frame):
    for mask in range(8):
        assert frame.subset(frame.labels_in(mask)) == mask


def test_collections_of_any_kind_name_a_subset(frame):
    for labels in (["cat", "owl"], {"owl", "cat"}, np.array(["cat", "owl"]), iter(["owl", "cat"])):
        assert frame.subset(labels) == 5
    assert frame.subset(()) == 0


def test_a_string_is_one_label(frame):
    assert frame.subset("dog") == 2
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \['cow'\].*'cat', 'dog'"):
        frame.subset("cow")


def test_scalars_and_tuples_can_be_labels():
    assert Frame([10, 20]).subset(20) == 2
    assert Frame([(0, 1), (1, 0)]).subset((1, 0)) == 2
    assert Frame([(0, 1), (1, 0)]).subset([(1, 0), (0, 1)]) == 3


def test_unknown_labels_are_listed_with_the_known_ones(frame):
    with pytest.raises(ValueError, match=r"label\(s\) \['cow', 3\]; the classes are \['cat'"):
        frame.subset(["cat", "cow", 3])
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \[3\]"):
        frame.subset(3)
    with pytest.raises(ValueError, match="Unknown class label"):
        frame.subset([["cat"]])
    with pytest.raises(ValueError, match="Unknown class label.*'cow'"):
        frame.position("cow")


def test_masks_out_of_range_are_refused(frame):
    with pytest.raises(ValueError, match=r"mask must be between 0 and 7 .* got 8"):
        frame.labels_in(8)


def test_numpy_labels_become_plain():
    frame = Frame(np.array([1, 2]))
    assert frame == Frame([1, 2])
    assert repr(frame) == "Frame([1, 2])"


def test_frames_compare_by_labels_in_order(frame):
    assert hash(frame) == hash(Frame(("cat", "dog", "owl")))
    assert frame != Frame(["dog", "cat", "owl"])


def test_too_few_too_many_or_repeated_labels_are_refused():
    with pytest.raises(ValueError, match=r"at least 2 labels; got \['a'\]"):
        Frame(["a"])
    with pytest.raises(ValueError, match="distinct"):
        Frame(["a", "b", "a"])
    with pytest.raises(FrameTooLargeError, match=r"at most 16 labels.*got 17"):
        Frame(range(17))
    assert len(Frame(range(16))) == 16


@pytest.mark.parametrize("labels", ["abc", {"a", "b"}, frozenset("ab"), b"ab"])
def test_unordered_labels_are_refused(labels):
    with pytest.raises(ValueError, match="ordered collection"):
        Frame(labels)


def test_frames_are_frozen(frame):
    with pytest.raises(AttributeError):
        frame.labels = ("a", "b")


def test_public_names():
    assert belief.__all__ == sorted(belief.__all__)
    assert all(hasattr(belief, name) for name in belief.__all__)
