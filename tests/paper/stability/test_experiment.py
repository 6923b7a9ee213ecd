"""The experiments behind the stability figures: which learners, what a shard returns."""

from pathlib import Path

import numpy as np
import pytest

import cobayes as cb
from cobayes.paper import stability
from cobayes.paper.stability.cases import (
    FIGURE_FOUR,
    Case,
    Effort,
    all_priors,
    column_cases,
    learners_of,
    points_of,
)
from cobayes.paper.stability.experiment import (
    join,
    stability_experiment,
    success_rates,
    success_shard,
)
from cobayes.report.section import Context

PAPER = Effort(10_000)


def quick(folder, **settings):
    given = {"num_lessons": 40, **settings}
    return Context("any", 0.01, 7, Path(folder) / "any", is_quick=True, settings=given)


def test_learners_are_as_many_as_in_the_paper():
    # Section 5 and its supplement: 630, of them 84 on rays; 15 directions of 21; 300; and
    # 330 + 90 + 50 columns.
    disc = learners_of(Case("disc", "M_3", "theta_1"), PAPER, 1)
    assert len(disc) == 630 + 1
    assert (disc.ray >= 0).sum() == 84
    along = learners_of(Case("directions", "M'_1", "theta'_1"), PAPER, 1)
    assert len(along) == 15 * 20 + 1
    assert len(learners_of(Case("uniform", "M_3", "theta_1"), PAPER, 1)) == 300
    irrelevant, relevant = column_cases("M_3")
    assert len(learners_of(irrelevant, PAPER, 1)) == 330 + 90 + 50 + 1
    found = learners_of(relevant, PAPER, 1)
    assert len(found) + found.attrs["num_left_out"] == 330 + 90 + 50 + 1
    assert [len(all_priors("uniform", size)) for size in (3, 4)] == [25, 9]


def test_quick_scale_reaches_as_far_with_fewer_points(tmp_path):
    cases = (*FIGURE_FOUR, *column_cases("M_2"))
    effort = Effort.of(quick(tmp_path), cases)
    for case in cases:
        full, less = learners_of(case, PAPER, 1), learners_of(case, effort, 1)
        assert len(less) < 0.6 * len(full)
        if case.kind in ("disc", "directions"):
            assert less.distance.max() == pytest.approx(full.distance.max())


def test_directions_are_the_same_for_all_cases_and_differ_with_the_seed():
    def moved(prior, seed):
        found = learners_of(Case("directions", "M'_1", prior), PAPER, seed)
        return (points_of(found)[1] - points_of(found)[0]) / found.distance[1]

    assert np.allclose(moved("theta'_1", 1), moved("theta'_2", 1))
    assert not np.allclose(moved("theta'_1", 1), moved("theta'_1", 2))


def test_all_learners_lie_in_the_open_simplex():
    for case in (*all_priors("disc", 3), *all_priors("directions", 4)):
        found = learners_of(case, PAPER, 1)
        assert (points_of(found) > 0.0).all()
        assert np.allclose(points_of(found).sum(axis=1), 1.0)


def test_a_parameter_can_be_changed_and_a_wrong_one_is_refused(tmp_path):
    effort = Effort.of(quick(tmp_path, radius="0.2", num_circles=3), FIGURE_FOUR)
    assert (effort.num_lessons, effort.radius, effort.num_circles) == (40, 0.2, 3)
    found = learners_of(Case("disc", "M_3", "theta_1"), effort, 1)
    assert found.distance.max() == pytest.approx(0.2)
    with pytest.raises(cb.CobayesError, match="radius is 'x'; expected a positive number"):
        Effort.of(quick(tmp_path, radius="x"), FIGURE_FOUR)
    with pytest.raises(cb.CobayesError, match="any has no setting 'radios'") as caught:
        success_rates(quick(tmp_path, radios=1), FIGURE_FOUR[:1])
    assert "num_circles=7 (discs and rays: Figures 4 A, S2, S3)" in (caught.value.hint or "")


def test_a_parameter_that_changes_nothing_in_a_figure_is_refused(tmp_path):
    with pytest.raises(cb.CobayesError, match="any has no setting 'column_radius'") as caught:
        success_rates(quick(tmp_path, column_radius=0.1), FIGURE_FOUR)
    assert "columns" not in (caught.value.hint or "")
    assert "num_uniform=150 (any prior: Figures 4 B, 4 D, S5, S6)" in (caught.value.hint or "")


def test_the_title_of_a_case_is_written_as_in_the_paper():
    assert Case("disc", "M_3", "theta_1").title == "M₃, θ₁"


def shard_of(case, count, seed=3, batch=10):
    learners = learners_of(
        case, Effort(count, 2, num_uniform=6, num_column_circles=1, num_curve=4, num_mixtures=3), 1
    )
    parameters = {
        "matrix": case.model.matrix,
        "teacher_prior": case.teacher_prior,
        "learners": points_of(learners).tolist(),
        "column": case.column,
        "batch": batch,
    }
    return learners, success_shard(parameters, np.random.SeedSequence(seed), count)


def matrix_of(case, learners, position):
    matrix = case.model.matrix.copy()
    if case.column is not None:
        matrix[:, case.column] = points_of(learners)[position]
    return matrix


def prior_of(case, learners, position):
    return case.teacher_prior if case.column is not None else points_of(learners)[position]


@pytest.mark.parametrize("case", [Case("disc", "M_3", "theta_2"), column_cases("M_4")[1]])
def test_a_shard_returns_the_numbers_of_success_rates(case):
    learners, found = shard_of(case, 60)
    rates = cb.stability.success_rates(
        case.model,
        0,
        num_lessons=60,
        prior=case.teacher_prior,
        learner_rules=[matrix_of(case, learners, k) for k in range(len(learners))],
        learner_priors=[prior_of(case, learners, k) for k in range(len(learners))],
        rng=np.random.SeedSequence(3),
    )
    assert found["count"] == 60
    assert found["batches"].shape == (6, len(learners))
    for name, expected in (
        ("lower", [rate.lower for rate in rates]),
        ("upper", [rate.upper for rate in rates]),
    ):
        assert np.allclose(found[name] / 60, expected, atol=1e-9)
    values = np.array([rate.value for rate in rates])
    assert np.allclose(found["batches"].mean(axis=0), values, atol=1e-9)
    variance = found["squared_failures"] / 60 - (1.0 - values) ** 2
    errors = np.array([rate.sampling_stderr for rate in rates])
    assert variance / 59 == pytest.approx(errors**2, abs=1e-12)


def test_joined_shards_are_one_larger_one():
    _, left = shard_of(Case("uniform", "M'_3", "theta'_2"), 20, seed=1)
    _, right = shard_of(Case("uniform", "M'_3", "theta'_2"), 30, seed=2)
    both = join(left, right)
    assert both["count"] == 50
    assert np.array_equal(both["batches"], np.concatenate([left["batches"], right["batches"]]))
    assert np.allclose(both["lower"], left["lower"] + right["lower"])


@pytest.mark.slow
def test_success_rates_agree_with_agents_that_take_one_step_after_the_other():
    # Eight learners, 100 stepwise lessons each, fixed seeds; beyond 4 standard errors of the
    # difference with a probability of at most 8 * 6e-5.
    rng = np.random.default_rng(12)
    cases = (*FIGURE_FOUR[1::2], *column_cases("M_2"))
    for case in cases:
        learners, found = shard_of(case, 4000, batch=100)
        for position in (1, 2):
            value = found["batches"][:, position].mean()
            rule, other = cb.SCBI(case.model), cb.SCBI(matrix_of(case, learners, position))
            own = []
            for _ in range(100):
                teacher = cb.Teacher(rule, 0, prior=case.teacher_prior, rng=rng)
                learner = cb.Learner(other, prior=prior_of(case, learners, position))
                while teacher.belief[0] <= 1 - 1e-5:
                    datum = teacher.choose()
                    learner.observe(datum)
                own.append(learner.belief[0])
            # A belief's variance is at most value (1 - value); the sample's may be zero.
            noise = np.sqrt(value * (1 - value) * (1 / 100 + 1 / 4000))
            assert abs(np.mean(own) - value) < 4.0 * noise + 1e-4, case.name


@pytest.mark.slow
def test_success_rates_agree_with_the_coupling():
    # Six learners, fixed seeds, at 4 standard errors: an error rate of at most 6 * 6e-5.
    for case in (Case("uniform", "M_1", "theta_4"), Case("uniform", "M'_1", "theta'_2")):
        learners, found = shard_of(case, 4000, batch=100)
        for position in range(3):
            value = found["batches"][:, position].mean()
            other = cb.success_rate(
                case.model,
                hypothesis=0,
                prior=case.teacher_prior,
                learner_prior=prior_of(case, learners, position),
                num_lessons=4000,
                method="coupling",
                rng=5,
            )
            noise = np.hypot(other.stderr, np.sqrt(value * (1 - value) / 4000))
            assert abs(other.value - value) < 4.0 * noise + 1e-4


@pytest.mark.parametrize("num_lessons", [1370, 250_000])
def test_shards_consist_of_whole_batches(tmp_path, num_lessons):
    context = Context("any", 1.0, 7, tmp_path / "any", settings={"num_lessons": num_lessons})
    points = [
        stability_experiment(context, case).points[0]
        for case in (FIGURE_FOUR[0], Case("disc", "M_5", "theta_1"))
    ]
    for point in points:
        batch = point.parameters["batch"]
        assert point.num_samples % batch == 0
        assert point.samples_per_shard % batch == 0
        assert num_lessons <= point.num_samples < num_lessons + batch
    fast, slow = points
    assert fast.num_shards < slow.num_shards or num_lessons > 1370


def test_a_figure_computes_its_own_cases_and_shares_those_of_another(tmp_path):
    context = quick(tmp_path, num_uniform=6)
    some = all_priors("uniform", 4)[:3]
    found = success_rates(context, some)
    runs = tmp_path / "runs" / "stability"
    assert {path.name for path in runs.iterdir()} == {f"uniform-Mp_1-thetap_{k}" for k in (1, 2, 3)}
    assert [rates.case for rates in found] == list(some)
    # The last panel of Figure 4 is one of these cases.
    (again,) = success_rates(context, FIGURE_FOUR[3:])
    assert np.array_equal(again.value, found[0].value)
    assert len(list(runs.iterdir())) == 3


def test_every_case_has_a_folder_of_its_own():
    cases = {case for figure in stability.FIGURES.values() for case in figure.cases}
    assert len({case.folder for case in cases}) == len(cases) == 25 + 25 + 9 + 9 + 10
