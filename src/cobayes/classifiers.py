"""Models from classifiers: teach a classifier by labelled points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import items, number_between
from cobayes._output import counted
from cobayes.errors import CobayesError
from cobayes.model import Model


def model_from_classifiers(
    classifiers: Mapping[str, Any] | Sequence[Any],
    points: ArrayLike,
    *,
    true_labels: Iterable[Any] | None = None,
    names: Iterable[object] | None = None,
    smallest: float = 1e-3,
) -> Model:
    """Return the model whose data are labelled points and whose hypotheses are classifiers.

    A labelled point is a datum such as "point 7 is a cat". The entry is the probability that the
    classifier gives to that label at that point. A teacher of a classifier shows labelled points
    that distinguish it from the others.

    Parameters
    ----------
    classifiers
        Fitted classifiers with the methods of scikit-learn (``predict_proba`` and ``classes_``),
        by name or in a list. All must know the same classes.
    points
        The points that may be shown, (points, features).
    true_labels
        The label of each point, for instance the prediction of the classifier to explain. Each
        point is then one datum, and datum i is row i of `points`. By default every pair of a point
        and a class is a datum.
    names
        Names of the points; by default the index of a DataFrame, else numbers.
    smallest
        Lower bound for all probabilities; with a zero, a single example could rule out a
        classifier.

    Returns
    -------
    Model
        Data are labelled "point: label"; a class such as 1.0 is written as "1".

    Examples
    --------
    >>> import cobayes as cb
    >>> from sklearn.linear_model import LogisticRegression
    >>> points, kinds = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> fitted = {str(c): LogisticRegression(C=c).fit(points, kinds) for c in (0.1, 10.0)}
    >>> cb.model_from_classifiers(fitted, points).data[:4]
    ('0: 0', '0: 1', '1: 0', '1: 1')

    Plan two points that explain classifier "0.1", labelled as it predicts. The reader uses the
    probabilities without normalising them over the points:

    >>> true_labels = fitted["0.1"].predict(points)
    >>> model = cb.model_from_classifiers(fitted, points, true_labels=true_labels)
    >>> reader = cb.Pragmatic(model, 0, literal="truth")
    >>> task = cb.without_repeats(model)
    >>> cb.plan_lesson(cb.BI(task), "0.1", 2, learner_rule=reader).data.tolist()
    [1, 2]
    """
    named = _named(classifiers)
    table = _read_points(points)
    known = [np.asarray(one.classes_) for one in named.values()]
    for name, classes in zip(named, known, strict=True):
        if not np.array_equal(classes, known[0]):
            raise CobayesError(
                f"classifier {name!r} knows the classes {classes.tolist()}, but the first "
                f"classifier knows {known[0].tolist()}.",
                "fit all classifiers to the same classes.",
            )
    # Classifiers that were fitted to a DataFrame expect its columns again.
    is_frame = hasattr(points, "columns") and hasattr(points, "index")
    asked: Any = points if is_frame else table
    try:
        found = [np.asarray(one.predict_proba(asked), dtype=np.float64) for one in named.values()]
    except ValueError as error:
        why = " ".join(str(error).split())
        raise CobayesError(f"a classifier does not accept the points: {why}") from error
    chances = np.stack(found, axis=2)
    if names is None:
        names = asked.index if is_frame else range(len(table))
    points_named = [str(name) for name in items(names, "names", "labels")]
    if len(points_named) != len(table):
        raise CobayesError(
            f"{len(points_named)} names were given for {len(table)} points; expected one per point."
        )
    number_between(smallest, "smallest", 0.0, 1.0)
    is_labelled = is_frame and hasattr(true_labels, "loc")
    if is_labelled and not asked.index.equals(cast(Any, true_labels).index):
        raise CobayesError(
            "the index of true_labels differs from the index of the points.",
            "put the labels in the order of the points: true_labels.loc[points.index].",
        )
    rows, columns = _pairs(true_labels, known[0], len(table))
    entries = np.maximum(chances[rows, columns], smallest)
    kinds = [_label(kind) for kind in known[0].tolist()]
    data = [f"{points_named[row]}: {kinds[k]}" for row, k in zip(rows, columns, strict=True)]
    return Model(entries, data, list(named))


def _label(kind: Any) -> str:
    """Return a class as text: "1" for 1.0, since the trees of a forest write class 1 as 1.0."""
    return str(int(kind)) if isinstance(kind, float) and kind.is_integer() else str(kind)


def _named(classifiers: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if not isinstance(classifiers, Iterable):
        raise CobayesError(
            f"the classifiers are one {type(classifiers).__name__}; expected several.",
            "give a dict from name to fitted classifier; add classifiers with other settings, or "
            "fitted to other samples of the data.",
        )
    pairs = classifiers.items() if isinstance(classifiers, Mapping) else enumerate(classifiers)
    found = {str(name): one for name, one in pairs}
    if len(found) < 2:
        raise CobayesError(
            f"{counted(len(found), 'classifier')} given; expected at least two.",
            "add classifiers with other settings, or fitted to other samples of the data.",
        )
    for name, one in found.items():
        kind = type(one).__name__
        if not hasattr(one, "classes_"):
            raise CobayesError(
                f"classifier {name!r} ({kind}) is not fitted.", "call its method fit first."
            )
        if not hasattr(one, "predict_proba"):
            raise CobayesError(
                f"classifier {name!r} ({kind}) has no predict_proba.",
                f"fit CalibratedClassifierCV({kind}(), ensemble=False) of sklearn.calibration.",
            )
    return found


def _read_points(points: ArrayLike) -> NDArray[Any]:
    try:
        table = np.asarray(points)
    except ValueError:
        raise CobayesError("the rows of the points have different lengths.") from None
    if table.ndim != 2 or not len(table):
        raise CobayesError(
            f"the points have the shape {table.shape}; expected (points, features), "
            "with at least one point.",
            "for one feature give a column: points.reshape(-1, 1)." if table.ndim == 1 else None,
        )
    return table


def _pairs(
    true_labels: Iterable[Any] | None, classes: NDArray[Any], count: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for every datum, the position of its point and of its class."""
    if true_labels is None:
        rows, columns = np.divmod(np.arange(count * len(classes)), len(classes))
        return rows, columns
    kinds = classes.tolist()
    if isinstance(true_labels, str):
        raise CobayesError(
            f"true_labels is {true_labels!r}; expected one class for each point.",
            "give the labels that the classifier predicts: classifier.predict(points).",
        )
    given = np.array(items(true_labels, "true_labels", "classes"), dtype=object).tolist()
    if len(given) != count:
        raise CobayesError(f"{len(given)} true labels were given for {count} points.")
    unknown = [label for label in given if label not in kinds]
    if unknown:
        raise CobayesError(
            f"no classifier knows the label {unknown[0]!r}.", f"choose from the classes {kinds}."
        )
    return np.arange(count), np.array([kinds.index(label) for label in given], dtype=np.intp)
