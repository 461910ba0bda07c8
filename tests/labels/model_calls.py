"""Calls of models, classifiers and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer import metrics, models, report

from .calls import covers, covers_path
from .evidence_calls import BY_TEXT, BY_VALUE
from .worlds import FEATURES, World

COLUMNS = ["p", "q", "r"]
FRAME = pd.DataFrame(FEATURES, columns=COLUMNS)


def _model(world: World, X: Any = FEATURES) -> LogisticRegression:
    return LogisticRegression(max_iter=500).fit(X, world.training_labels)


@covers("EvidentialClassifier", "EvidentialClassifier.fit", trains=True, compares=False)
def classifier(world: World) -> list[Any]:
    found: list[Any] = []
    for y in (
        world.training_labels,
        world.training_labels.tolist(),
        pd.Series(world.training_labels),
    ):
        clf = shafer.EvidentialClassifier(temper="cv", groups="one").fit(FEATURES, y)
        assert clf.classes_.tolist() == list(world.classes)
        answers = clf.predict(FEATURES)
        assert set(answers.tolist()) <= set(world.classes)
        found += [clf.predict_proba(FEATURES), answers == world.training_labels]
    return found


@covers(
    "EvidentialClassifier.conformalize",
    "Explainer.conformalize",
    "Explainer.temper",
    "metrics.SetScorer.__call__",
    trains=True,
)
def calibration(world: World) -> list[Any]:
    y = world.named(world.truth)
    clf = shafer.EvidentialClassifier(LogisticRegression(max_iter=500)).fit(
        FEATURES, world.training_labels
    )
    scores = [
        metrics.set_scorer(name, rule)(clf, FEATURES, y)
        for name, rule in (
            ("u65", "interval_dominance"),
            ("coverage", "utility_set"),
            ("risk_coverage_area", None),
        )
    ]
    sets = clf.conformalize(FEATURES, y, coverage=0.8).predict_set(FEATURES)
    explainer = shafer.Explainer(_model(world), FEATURES)
    tempered = explainer.temper(FEATURES, pd.Series(y))(FEATURES)
    held = explainer.conformalize(FEATURES, y, coverage=0.8).predict_set(FEATURES)
    return [scores, sets, tempered.probability, held]


@covers("Explainer", trains=True, compares=False)
def explainer_of_columns(world: World) -> list[Any]:
    model = _model(world, FRAME)
    groups = {"first": ["p"], "rest": ["r", "q"]}
    explainer = shafer.Explainer(model, FRAME, groups=groups)
    permuted = FRAME[["r", "p", "q"]]
    np.testing.assert_array_equal(explainer(permuted).weights, explainer(FRAME).weights)
    by_name = shafer.Explainer(model, permuted, groups=groups)
    np.testing.assert_allclose(by_name(FRAME).weights, explainer(FRAME).weights, atol=1e-12)
    named = shafer.Explainer(_model(world), FEATURES, names=COLUMNS, groups=groups)
    found = [explainer(FRAME), named(FEATURES)]
    for ev in found[1:]:
        np.testing.assert_allclose(ev.weights, found[0].weights, atol=1e-10)
    return [ev.weights for ev in found]


@covers(
    "Explainer.decide",
    "EvidentialClassifier.decide",
    "EvidentialVotingClassifier.decide",
    trains=True,
    allows=(*BY_VALUE, *BY_TEXT),
)
def decisions(world: World) -> list[Any]:
    y = world.training_labels
    voters = [("first", LogisticRegression(), ["p", "q"]), ("second", LogisticRegression(), ["r"])]
    found: list[Any] = []
    for decider in (
        shafer.Explainer(_model(world, FRAME), FRAME),
        shafer.EvidentialClassifier(temper=0.8).fit(FRAME, y),
        shafer.EvidentialVotingClassifier(voters, tempering=None).fit(FRAME, y),
    ):
        named = [decider.decide(FRAME, loss=loss).tolist() for loss in world.losses()[1:]]
        assert named[0] == named[1] == named[2]
        found.append([act == "treat" for act in named[0]])
        for loss in world.losses():
            found.append(decider.decide(FRAME, utility=loss) == decider.decide(FRAME, loss=loss))
        labels = decider.decide(FRAME, reject=0.4).tolist()
        assert set(labels) <= {*world.classes, "reject"}
        found.append([label == "reject" for label in labels])
        found.append(decider.decide(FRAME) == y)
    return found


@covers("scorecards.scorecard", trains=True)
def scorecard(world: World) -> list[Any]:
    signs = np.sign(FEATURES)
    explainer = shafer.Explainer(_model(world, signs), signs)
    tables = [shafer.scorecards.scorecard(explainer, class_=label) for label in world.given]
    return [table.drop(columns=["component", "bin", "class"], errors="ignore") for table in tables]


@covers(
    "asking.InputQuestions.next_inputs",
    "asking.InputQuestions.next_measurements",
    trains=True,
    compares=False,
)
def questions_about_columns(world: World) -> list[Any]:
    explainer = shafer.Explainer(_model(world, FRAME), FRAME)
    gappy = FRAME.mask(np.arange(FRAME.size).reshape(FRAME.shape) % 4 == 0)
    place = {label: k for k, label in enumerate(world.classes)}
    found: list[Any] = []
    for X in (gappy, gappy[["r", "p", "q"]]):
        for options in ({"costs": {"q": 2.0}}, {"groups": {"two": ["r", "p"]}}):
            for frame in (
                explainer.ask.next_inputs(X, **options),
                explainer.ask.next_measurements(X, 5, **options),
            ):
                pairs = frame[["class", "over"]].to_numpy().tolist()
                found += [frame["information"], [[place[label] for label in p] for p in pairs]]
    return found


@covers("models.bootstrap_refits", trains=True, compares=False)
def refits(world: World) -> list[Any]:
    found = models.bootstrap_refits(_model(world), FEATURES, world.training_labels, 3)
    assert all(refit.classes_.tolist() == list(world.classes) for refit in found)
    return [refit.predict_proba(FEATURES) for refit in found]


@covers(
    "evidence.Evidence.contrast",
    "evidence.Evidence.contrast_std",
    "evidence.Evidence.contrast_interval",
    "evidence.Evidence.importance",
    "evidence.Evidence.reasons",
    "evidence.Evidence.summary",
    "evidence.Evidence.waterfall",
    "plots.ImportanceDisplay",
    "plots.ImportanceDisplay.from_evidence",
    "evidence.Evidence.weights_of",
    trains=True,
)
def contrasts(world: World) -> list[Any]:
    ev = shafer.Explainer(_model(world), FEATURES, errors="laplace")(FEATURES)
    a, b = world.given[1], world.given[0]
    found = [ev.contrast(a, b), ev.contrast_std(a, b), *ev.contrast_interval(a, b)]
    reasons = ev.reasons(class_=a, units="weight"), ev.reasons(class_=a, over=b)
    assert all(set(table["class"]) == {a} for table in reasons)
    found += [table["rank"] * table["component"].map(ev.component_names.index) for table in reasons]
    found += [reasons[0]["weight"], reasons[1]["log_odds"]]
    bars = ev.importance(class_=a, over=b)
    assert (bars.pairs[0].class_, bars.pairs[0].over) == (a, b)
    assert len(ev.importance().pairs) >= 1
    found += [bars.pairs[0].mean, ev.waterfall(1, class_=a, over=b).weights]
    found.append(ev.summary(classes=a, over=b).weights)
    return [*found, ev.weights_of([a, b]), ev.weights_of(b)]


@covers("LinearHead", "models.Contributions", "Explainer", compares=False)
def heads(world: World) -> list[Any]:
    coef = np.arange(3.0 * world.n_classes).reshape(world.n_classes, 3) ** 2 / 50
    head = shafer.LinearHead(coef, np.zeros(world.n_classes), classes=world.classes, names=COLUMNS)
    contributions = models.Contributions(
        lambda X: X[:, :, None] * coef.T, classes=world.classes, names=COLUMNS
    )
    found = [shafer.Explainer(model, FEATURES)(FEATURES) for model in (head, contributions)]
    given = shafer.Explainer((coef, np.zeros(world.n_classes)), FEATURES, classes=world.classes)
    found.append(given(FEATURES))
    assert all(ev.classes.tolist() == list(world.classes) for ev in found)
    return [ev.belief for ev in found]


@covers("NeighbourEvidence.fit", trains=True, compares=False)
def neighbours(world: World) -> Any:
    y = world.training_labels
    beside = shafer.Explainer(_model(world), FEATURES)(FEATURES)
    model = shafer.NeighbourEvidence(k=5).fit(FEATURES, y, beside=beside)
    assert model.classes_.tolist() == list(world.classes)
    return [model.predict_proba(FEATURES), model.predict(FEATURES) == y]


@covers("EvidentialVotingClassifier.fit", trains=True, compares=False)
def voting(world: World) -> list[Any]:
    clf = shafer.EvidentialVotingClassifier(
        [("first", LogisticRegression(), ["p", "q"]), ("second", LogisticRegression(), ["r"])]
    ).fit(FRAME, world.training_labels)
    assert clf.classes_.tolist() == list(world.classes)
    with pytest.raises(ValueError, match=r"(?s)order"):  # refused, never misread
        clf.predict_proba(FRAME[["r", "q", "p"]])
    return [clf.predict_proba(FRAME), clf.predict(FRAME) == world.training_labels]


@covers("models.from_shap", compares=False)
def shap_values(world: World) -> Any:
    import shap

    values = np.tile(world.weights()[..., None, :], (1, 1, 3, 1))[:, 0]
    base = np.tile(np.linspace(0.0, 1.0, world.n_classes), (len(values), 1))
    explanation = shap.Explanation(values=values * 3, base_values=base)
    ev = models.from_shap(explanation, output="log-odds", classes=world.classes, names=COLUMNS)
    assert ev.classes.tolist() == list(world.classes)
    return ev.belief


@covers("report.make_study", "report.case_table", "report.notable_cases", trains=True)
def study(world: World) -> list[Any]:
    explainer = shafer.Explainer(_model(world), FEATURES)
    y = world.named(world.truth)
    made = report.make_study(explainer, FEATURES, y, names=COLUMNS)
    cases = report.notable_cases(made.evidence, class_=world.given[1])
    text = report.case_table(made.evidence, cases, class_=world.given[1])
    assert text
    return [made.wrong, [case.row for case in cases]]


@covers_path("report.write_report", "Explainer.report")
def written_report(path: str | Path) -> Any:
    world = World(("a", "b"))
    explainer = shafer.Explainer(_model(world), FEATURES)
    report.write_report(report.make_study(explainer, FEATURES, world.training_labels), path)
    assert explainer.report(FEATURES, world.training_labels, path) == Path(path)
    return len(Path(path).read_text()) > 1000


@covers_path(
    "Explainer.save",
    "Explainer.load",
    "EvidentialClassifier.save",
    "EvidentialClassifier.load",
    "EvidentialVotingClassifier.save",
    "EvidentialVotingClassifier.load",
)
def saved_models(path: str | Path) -> Any:
    y = World(("a", "b")).training_labels
    explainer = shafer.Explainer(LogisticRegression().fit(FEATURES, y), FEATURES)
    explainer.save(path)
    found = [shafer.Explainer.load(path)(FEATURES).belief]
    sources = [("one", LogisticRegression(), [0]), ("two", LogisticRegression(), [1, 2])]
    voting = shafer.EvidentialVotingClassifier(sources, tempering=None)
    for classifier in (shafer.EvidentialClassifier(), voting):
        classifier.fit(FEATURES, y).save(path)
        found.append(type(classifier).load(path).predict_proba(FEATURES))
    return found


@covers("Explainer.save", trains=True, compares=False)
def saved_explainer(world: World) -> Any:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        made = shafer.Explainer(_model(world, FRAME), FRAME)
        made.conformalize(FRAME, world.training_labels, coverage=0.8)
        made.save(Path(folder) / "model.shafer")
        again = shafer.Explainer.load(Path(folder) / "model.shafer")
    assert again.classes.tolist() == list(world.classes)
    return [again(FRAME[["r", "p", "q"]]).belief, again.predict_set(FRAME)]


MANY = np.concatenate([FEATURES, FEATURES + 0.01])


@covers("monitor.Monitor.fit", "monitor.Monitor.check", trains=True)
def monitored(world: World) -> list[Any]:
    y = np.tile(world.named(world.truth), 2)
    shifted = MANY + np.array([2.0, 0.0, 0.0])
    explainer = shafer.Explainer(_model(world), MANY).conformalize(
        MANY, np.tile(world.training_labels, 2)
    )
    report = shafer.Monitor.fit(explainer, MANY.copy(), y).check(shifted, pd.Series(y))
    table = report.columns()
    places = {str(label): k for k, label in enumerate(world.classes)}
    pairs = [[places.get(text, -1) for text in table[name]] for name in ("class", "over")]
    return [table["adjusted_p"], table["shift"], *pairs, report.decisions_moved]


@covers_path("monitor.Monitor.save", "monitor.Monitor.load")
def saved_monitor(path: str | Path) -> Any:
    explainer = shafer.Explainer(_model(World(("a", "b"))), MANY)
    shafer.Monitor.fit(explainer, MANY).save(path)
    return shafer.Monitor.load(path, explainer).check(MANY + 0.2).typicality


@covers_path("monitor.MonitorStream.save", "monitor.Monitor.resume")
def saved_stream(path: str | Path) -> Any:
    monitor = shafer.Monitor.fit(shafer.Explainer(_model(World(("a", "b"))), MANY), MANY)
    stream = monitor.watch()
    stream.update(MANY)
    stream.save(path)
    return monitor.resume(path).evidence


@covers_path("export.EvidencePythonModel.log_options")
def logged_explainer(path: str | Path) -> Any:
    wrapped = shafer.export.pyfunc(shafer.Explainer(_model(World(("a", "b"))), MANY))
    options = wrapped.log_options(path)
    loaded = shafer.Explainer.load(options["artifacts"]["explainer"])
    return loaded(MANY).belief


@covers_path("monitor.Monitor.write_page")
def written_page(path: str | Path) -> Any:
    monitor = shafer.Monitor.fit(shafer.Explainer(_model(World(("a", "b"))), MANY), MANY)
    monitor.write_page([monitor.check(MANY)], path)
    return len(Path(path).read_text()) > 1000
