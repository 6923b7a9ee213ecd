"""What an installed cobayes must do without its optional parts and without the repository."""

import importlib.metadata
import importlib.util

import cobayes as cb


def hint_of_missing(call):
    """Return the hint of the error about a missing optional part; None if nothing is missing."""
    try:
        call()
    except cb.MissingDependencyError as error:
        return error.hint
    return None


files = [str(path) for path in importlib.metadata.files("cobayes") or ()]
assert not any(path.startswith("tests/") for path in files), "the tests were installed"
assert any(path.startswith("cobayes/browser/") for path in files), "the studio is missing"
assert importlib.util.find_spec("cobayes.report.section"), "the report is missing"
assert importlib.util.find_spec("pandas") is None, "the environment is not clean"

for name in cb.__all__:
    hint = hint_of_missing(lambda name=name: getattr(cb, name))
    assert hint is None or "pip install" in hint, name
model = cb.read_model("example:gestures")
rule = cb.SCBI(model)
lesson = cb.run_lesson(cb.Teacher(rule, "bowl", rng=6), cb.Learner(rule), num_rounds=12)
assert lesson.data_labels[0] == "point left", lesson.data_labels
assert cb.simulate(rule, "bowl", num_rounds=60, num_lessons=2000, rng=1).mean()[-1] > 0.9
assert hint_of_missing(model.to_dataframe) == "in a clone of cobayes: pip install '.[labels]'"
cb.show_versions()
