import matplotlib as mpl
import pytest

import cobayes as cb

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def ax():
    """Axes of a figure that is not registered with pyplot."""
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="session")
def lessons():
    """A BI and an SCBI lesson on M_3 with three hypotheses."""
    example = cb.examples["M_3"]
    made = {}
    for rule in (cb.BI(example), cb.SCBI(example)):
        teacher = cb.Teacher(rule, example.hypothesis, rng=7)
        made[rule.name] = cb.run_lesson(teacher, cb.Learner(rule), 6)
    return made
