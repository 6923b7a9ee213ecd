"""Pictures of fits, comparisons and recoveries."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import cobayes as cb
from cobayes import people, plots

PROBLEMS = {
    f"p{i}": np.random.default_rng(i).dirichlet(np.ones(5), size=3).T + 1e-2 for i in range(4)
}


@pytest.fixture(scope="module")
def fit():
    choices = people.simulate({"depth": 1}, PROBLEMS, num_people=4, num_rounds=3, rng=1)
    return people.fit(choices, PROBLEMS, people.Family(depth=(0, 1)))


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def test_comparison_shows_every_model_and_how_far_it_is_behind(fit, ax):
    found = people.compare({"a": fit.at_depth(0), "b": fit.at_depth(1)}, loo=False)
    assert plots.plot_comparison(found, ax=ax) is ax
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [label.split("\n")[0] for label in labels] == list(found.table.index)
    ends = [line.get_xdata().max() for line in ax.get_lines()]
    assert max(ends) == pytest.approx(max(np.ptp(found.table["bic"]), np.ptp(found.table["aic"])))


def test_calibration_has_a_point_per_bin_and_marks_those_outside_of_the_band(fit, ax):
    table = people.calibration(fit, 3)
    table.loc[1, "observed"] = 1.5 * table.loc[1, "predicted_high"]
    plots.plot_calibration(table, ax=ax)
    _, inside, outside = ax.get_lines()
    assert inside.get_ydata() == pytest.approx(table["observed"].to_numpy()[[0, 2]])
    assert outside.get_ydata() == pytest.approx(table["observed"].to_numpy()[[1]])


def test_estimates_are_drawn_in_order(fit, ax):
    plots.plot_estimates(fit, "lapse", ax=ax)
    drawn = np.concatenate([line.get_ydata() for line in ax.get_lines()])
    assert sorted(drawn) == pytest.approx(np.sort(fit.estimates["lapse"].to_numpy()))
    with pytest.raises(cb.CobayesError, match="parameter is 'speed'; expected 'rationality', "):
        plots.plot_estimates(fit, "speed", ax=ax)


def test_recovery_and_confusion_are_drawn(ax):
    found = people.recover(
        people.Family(depth=(0, 1), lapse=0.05), PROBLEMS, num_people=6, num_rounds=3, rng=2
    )
    plots.plot_recovery(found, "rationality", ax=ax)
    assert "coverage" in ax.get_title(loc="left")
    with pytest.raises(cb.CobayesError, match="parameter is 'lapse'; expected 'rationality'"):
        plots.plot_recovery(found, "lapse", ax=ax)
    other = Figure().subplots()
    plots.plot_confusion(found, ax=other)
    assert len(other.texts) == found.confusion.size


def test_shrinkage_has_a_point_per_person_and_the_median(fit, ax):
    frame = fit.choices.frame
    group = people.fit_group(frame, PROBLEMS, fit.family.at(lapse=0.05), num_draws=100, rng=1)
    assert group.plot(ax=ax) is ax
    _, median, points = ax.get_lines()
    assert median.get_ydata()[0] == group.group.loc["median rationality", "estimate"]
    assert points.get_ydata() == pytest.approx(group.estimates["rationality"].to_numpy())
    with pytest.raises(cb.CobayesError, match="parameter is 'lapse'; expected 'rationality'"):
        group.plot("lapse", ax=ax)


def test_informative_trials_are_drawn_best_on_top(ax):
    trials = people.informative(PROBLEMS, people.Family(depth=(0, 1)), rng=1, num_draws=200)
    plots.plot_informative(trials, 5, ax=ax)
    (points,) = ax.get_lines()
    assert points.get_xdata() == pytest.approx(trials["nats"].head(5).to_numpy())
    assert points.get_ydata().tolist() == [4, 3, 2, 1, 0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[0] == f"{trials['problem'][0]}, {trials['hypothesis'][0]}"
