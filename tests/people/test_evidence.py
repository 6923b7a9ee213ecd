"""Comparisons: criteria, cross-validation, LOO, and the conclusion."""

from html import escape

import numpy as np
import pytest
from scipy import special

import cobayes as cb
from cobayes import people
from cobayes.people import Family, exceedance
from cobayes.people.exceedance import exceedance_probabilities

RNG = np.random.default_rng(21)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(8)}


@pytest.fixture(scope="module")
def choices():
    truth = {"depth": 1, "rationality": 4.0, "lapse": 0.05}
    return people.simulate(truth, PROBLEMS, num_people=8, num_rounds=3, rng=5)


@pytest.fixture(scope="module")
def fits(choices):
    whole = people.fit(choices, PROBLEMS, Family(depth=(0, 1)), intervals=None)
    return {"literal": whole.at_depth(0), "social": whole.at_depth(1)}


def test_the_true_model_wins_by_every_criterion(fits):
    found = people.compare(fits, cross_validation=True, num_draws=100)
    table = found.table
    assert list(table.index) == ["social", "literal"]
    for name in ("log_likelihood", "protected", "cross_validated", "loo", "num_best"):
        assert table.loc["social", name] > table.loc["literal", name], name
    for name in ("aic", "bic"):
        assert table.loc["social", name] < table.loc["literal", name], name
    assert "'social' is strongly preferred by BIC" in found.conclusion
    assert "can still describe the data badly" in found.conclusion
    assert table["frequency"].sum() == pytest.approx(1.0)


def test_comparison_prints_criteria_to_a_tenth_and_shares_below_one(fits):
    found = people.compare(fits, loo=False)
    assert f"{found.table['bic'].iloc[0]:.1f}" in repr(found)
    assert "e+0" not in repr(found)
    assert f"{found.table['bic'].iloc[0]:.1f}" in found._repr_html_()


def test_people_with_tied_models_count_for_no_model(fits):
    found = people.compare({"one": fits["social"], "two": fits["social"]}, loo=False)
    assert found.table["num_best"].tolist() == [0, 0]


def test_conclusion_says_if_fewer_parameters_decide():
    problems = {"coins": [[0.9, 0.5], [0.1, 0.5]]}
    truth = {"depth": 1, "rationality": 2.0}
    choices = people.simulate(truth, problems, num_people=4, num_rounds=30, rng=1)
    given = people.fit(choices, problems, people.Family(depth=1, rationality=2.0, lapse=0.0))
    free = people.fit(choices, problems, people.Family(depth=1, lapse=0.0))
    found = people.compare({"given": given, "free": free}, loo=False)
    assert found.table.index[0] == "given"
    assert "Most of this difference comes from fewer identified parameters" in found.conclusion


def test_criteria_are_sums_over_people(fits):
    fit = fits["social"]
    row = people.compare(fits, loo=False).table.loc["social"]
    per_person = 2 * np.log(24) - 2 * fit.estimates["log_likelihood"]
    assert row["bic"] == pytest.approx(per_person.sum())
    assert row["aic"] == pytest.approx(2 * 16 - 2 * fit.log_likelihood)


def test_a_notebook_shows_table_and_conclusion(fits):
    found = people.compare(fits, loo=False)
    assert "protected</th>" in found._repr_html_()
    assert f"<p>{escape(found.conclusion)}</p>" in found._repr_html_()
    assert "nan" not in fits["social"]._repr_html_()


def test_a_model_cannot_be_distinguished_from_itself(fits):
    found = people.compare({"one": fits["social"], "two": fits["social"]}, loo=False)
    assert "cannot be distinguished from" in found.conclusion
    assert "is open" in found.conclusion
    assert found.table["protected"].to_numpy() == pytest.approx(0.5)


def test_a_model_below_chance_is_called_no_better_than_chance(choices):
    wrong = people.fit(choices, PROBLEMS, Family(depth=0, rationality=20.0, lapse=0.01))
    assert "is no better than chance" in people.compare({"wrong": wrong}, loo=False).conclusion


def test_responses_with_a_single_option_are_not_compared_with_chance():
    row = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    fit = people.fit(row, [[1.0, 1.0]], Family(depth=1))
    assert "chance" not in people.compare({"one": fit}, loo=False).conclusion


def test_cross_validation_predicts_a_person_from_the_others(choices, fits):
    found = people.cross_validate(fits["social"])
    others = choices[choices["person"] != "3"]
    pooled = people.fit(others, PROBLEMS, Family(depth=1), by=None).estimates.iloc[0]
    scored = people.score(
        choices[choices["person"] == "3"],
        PROBLEMS,
        depth=1,
        rationality=pooled["rationality"],
        lapse=pooled["lapse"],
    )
    expected = scored["log_likelihood"].sum()
    assert found.set_index("person").loc["3", "log_likelihood"] == pytest.approx(expected, abs=1e-3)


def test_loo_of_many_responses_is_near_the_likelihood_minus_the_parameters():
    truth = {"depth": 0, "rationality": 2.0}
    choices = people.simulate(truth, PROBLEMS, num_people=1, num_rounds=40, rng=3)
    fit = people.fit(choices, PROBLEMS, Family(depth=0, lapse=0.0))
    row = people.compare({"one": fit}, num_draws=400).table.iloc[0]
    # For regular models LOO is asymptotically -AIC/2; the tolerance is a few tenths of a nat.
    assert row["loo"] == pytest.approx(-0.5 * row["aic"], abs=0.6)
    assert row["loo_unreliable"] == 0


def test_arviz_gets_draws_with_labels_within_the_bounds(fits):
    tree = fits["social"].to_arviz(num_draws=40, rng=1)
    posterior = tree["posterior"]
    assert posterior["rationality"].dims == ("chain", "draw", "person")
    assert posterior.sizes["chain"] * posterior.sizes["draw"] == 40
    assert float(posterior["lapse"].min()) >= 0.0
    assert float(posterior["rationality"].max()) <= 20.0
    assert tree["log_likelihood"]["response"].shape[2] == len(fits["social"].choices)
    assert tree["constant_data"]["effective"].dims == ("person",)
    again = fits["social"].to_arviz(num_draws=40, rng=1)
    assert np.array_equal(again["posterior"]["lapse"], posterior["lapse"])


def test_pooled_fits_have_no_exceedance(choices):
    pooled = people.fit(choices, PROBLEMS, Family(depth=1), by=None)
    found = people.compare({"pooled": pooled}, loo=False)
    assert found.exceedance is None
    assert "nothing is compared" in found.conclusion


def test_fits_of_other_responses_are_refused(choices, fits):
    part = people.fit(choices.iloc[:48], PROBLEMS, Family(depth=1), intervals=None)
    with pytest.raises(cb.CobayesError, match="not of the same responses"):
        people.compare({"all": fits["social"], "part": part})
    with pytest.raises(cb.CobayesError, match="no fit to compare"):
        people.compare({})
    for invalid in ([fits["social"]], {"a": 3}, None):
        with pytest.raises(cb.CobayesError, match="expected a mapping from names to fits"):
            people.compare(invalid)  # pyright: ignore[reportArgumentType]
    alone = people.fit(choices[choices["person"] == "1"], PROBLEMS, Family(depth=1))
    counts = {"hypothesis": [0], "datum": [0], "count": [3]}
    pooled = people.fit(counts, [[0.9, 0.5], [0.1, 0.5]], Family(depth=(0, 1)), by=None)
    with pytest.raises(cb.CobayesError, match="cross-validation leaves out people, but the table"):
        people.compare({"one": pooled}, loo=False, cross_validation=True)
    with pytest.raises(cb.CobayesError, match="needs at least two people"):
        people.cross_validate(alone)


def test_ratings_of_other_values_are_other_responses():
    rows = {"person": ["a"] * 2, "round": [1, 2], "datum": [0, 1], "hypothesis": [0, 0]}
    fits = [
        people.fit(rows | {"rating": ratings}, [[2, 1], [1, 1]], Family(depth=0, response="rating"))
        for ratings in ([0.2, 0.4], [0.2, 0.5])
    ]
    with pytest.raises(cb.CobayesError, match="not of the same responses"):
        people.compare(dict(zip("ab", fits, strict=True)), loo=False)


def test_loo_is_a_number_if_all_draws_predict_a_response_equally():
    # Depth 0 on zeros and ones chooses uniformly for all parameters: log 3 per response.
    concept = {"all": cb.Model([[1, 0, 1], [0, 1, 1], [0, 0, 1]])}
    rows = [("a", "all", 1, 2, 0), ("a", "all", 2, 2, 1), ("a", "all", 3, 2, 2)]
    columns = zip(*rows, strict=True)
    names = ("person", "problem", "round", "hypothesis", "datum")
    choices = dict(zip(names, map(list, columns), strict=True))
    fit = people.fit(choices, concept, Family(depth=0), intervals=None)
    table = people.compare({"literal": fit}, num_draws=100).table
    assert table["loo"].item() == pytest.approx(-3.0 * np.log(3.0))
    assert table["loo_stderr"].item() == pytest.approx(0.0, abs=1e-6)


def test_loo_of_tables_of_zeros_and_ones_is_a_number_at_every_depth():
    # If every datum is possible under the truth, depth 0 predicts the same for every lapse.
    rng = np.random.default_rng(2)
    tables = {f"p{i}": np.c_[np.ones(6), rng.permutation([1, 1, 1, 0, 0, 0])] for i in range(4)}
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.05}
    choices = people.simulate(truth, tables, num_people=3, num_rounds=3, rng=1)
    fit = people.fit(choices, tables, Family(depth=(0, 1, 2)), intervals=None)
    models = {f"{depth}": fit.at_depth(depth) for depth in fit.family.depth}
    table = people.compare(models, num_draws=100).table
    assert np.isfinite(table["loo"]).all()
    assert (table["loo"] < table["log_likelihood"] + 1.0).all()


@pytest.mark.parametrize(("a", "b"), [(3, 5), (1, 40), (0.5, 200), (2, 500), (30, 30), (700, 650)])
def test_two_models_have_the_closed_form_of_the_beta_distribution(a, b):
    found = exceedance_probabilities(np.array([a, b], dtype=float))
    assert found[0] == pytest.approx(special.betainc(b, a, 0.5), rel=1e-11)


def test_exceedance_agrees_with_sampling():
    counts = np.array([3.0, 7.0, 1.0, 9.5])
    num_samples = 400_000
    drawn = np.random.default_rng(7).dirichlet(counts, size=num_samples)
    shares = np.bincount(drawn.argmax(axis=1), minlength=4) / num_samples
    expected = exceedance_probabilities(counts)
    # Four comparisons at 4.5 standard errors fail by chance with a probability below 3e-5.
    error = np.sqrt(expected * (1 - expected) / num_samples)
    assert np.all(np.abs(shares - expected) < 4.5 * error)
    assert expected.sum() == pytest.approx(1.0, abs=1e-14)


def test_a_probability_of_1e_20_is_right_to_nine_digits():
    # Three models, two of them equal: P(model 1 exceeds) by adaptive quadrature in 40 digits.
    import mpmath as mp

    counts = [1.0, 60.0, 60.0]
    with mp.workdps(40):
        cdf = lambda x: mp.gammainc(60, 0, x, regularized=True)  # noqa: E731
        expected = mp.quad(lambda x: mp.exp(-x) * cdf(x) ** 2, [0, 20, 40, 60, 80, 120, 200])
    assert float(expected) < 1e-17
    found = exceedance_probabilities(np.array(counts))[0]
    assert found == pytest.approx(float(expected), rel=1e-9)


def test_equal_evidence_gives_equal_shares_and_a_high_omnibus_risk():
    found = exceedance(np.zeros((20, 3)))
    assert found.protected == pytest.approx(1 / 3)
    assert found.frequencies == pytest.approx(1 / 3)
    assert found.omnibus_risk > 0.5


def test_clear_evidence_gives_certainty():
    evidence = np.tile([0.0, -8.0, -9.0], (25, 1))
    found = exceedance(evidence)
    assert found.protected[0] > 0.999
    assert found.omnibus_risk < 1e-6
    assert found.attributions[:, 0] == pytest.approx(1.0, abs=1e-3)


def test_adding_a_number_to_a_persons_evidence_changes_nothing():
    evidence = np.random.default_rng(3).normal(0.0, 3.0, size=(12, 4))
    shifted = evidence + np.linspace(-500.0, 500.0, 12)[:, None]
    first, second = exceedance(evidence), exceedance(shifted)
    assert first.exceedance == pytest.approx(second.exceedance, rel=1e-8)
    assert first.omnibus_risk == pytest.approx(second.omnibus_risk, abs=1e-8)


@pytest.mark.parametrize("common", [1e15, 1e300])
def test_huge_evidence_keeps_the_differences_between_models(common):
    # At 1e300 the sum `evidence + common` rounds differences of 4 to 0: all models are equal.
    evidence = np.tile([0.0, -4.0], (6, 1))
    found = exceedance(evidence + common)
    expected = exceedance(evidence if common == 1e15 else np.zeros((6, 2)))
    assert found.exceedance == pytest.approx(expected.exceedance)
    assert found.omnibus_risk == pytest.approx(expected.omnibus_risk)
    assert found.omnibus_risk > 0.0


def test_evidence_must_be_a_finite_table():
    with pytest.raises(cb.CobayesError, match="one finite number for each person"):
        exceedance([[0.0, np.nan]])
