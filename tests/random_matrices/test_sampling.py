"""P and E of random matrices."""

import json

import numpy as np
import pytest

from cobayes._intervals import exact_interval
from cobayes._parallel import set_num_threads
from cobayes.errors import CobayesError
from cobayes.random_matrices.sampling import RateComparison, compare_rates, expected_advantage


@pytest.fixture(autouse=True)
def _default_threads():
    yield
    set_num_threads(None)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 10, 17, 25, 40, 50])
def test_monte_carlo_agrees_with_the_integral_and_bayes_mean_rate(n):
    # Two comparisons, 4.5 standard errors each: fails once in 70,000 seeds for each n.
    result = compare_rates(n, 2, 200_000, rng=n)
    assert abs(result.advantage - expected_advantage(n)) < 4.5 * result.advantage_stderr
    assert abs(result.mean_bi - (n - 1) / n) < 4.5 * result.mean_bi_stderr
    assert result.mean_scbi - result.mean_bi == pytest.approx(result.advantage, rel=1e-9)


@pytest.mark.parametrize("shape", [(10, 2), (6, 5)])
def test_results_are_the_same_bits_for_any_number_of_threads(shape):
    results = []
    for threads in (1, 2, 5):
        set_num_threads(threads)
        results.append(compare_rates(*shape, 30_000, rng=7))
    assert results[0] == results[1] == results[2]
    assert results[0] != compare_rates(*shape, 30_000, rng=8)


def test_chunks_draw_different_matrices(monkeypatch):
    monkeypatch.setattr("cobayes.random_matrices.sampling.MATRICES_PER_CALL", 64)
    # 16 chunks of the same matrices would have 16 times the same sums, to the bit.
    small = compare_rates(3, 2, 64, rng=1)
    total = compare_rates(3, 2, 1024, rng=1)
    assert total.num_samples == 1024
    assert total.mean_bi != small.mean_bi


def test_a_generator_goes_on_and_a_seed_repeats():
    rng = np.random.default_rng(5)
    first, second = compare_rates(3, 3, 1000, rng=rng), compare_rates(3, 3, 1000, rng=rng)
    assert first != second
    assert first == compare_rates(3, 3, 1000, rng=np.random.default_rng(5))
    assert first == compare_rates(3, 3, 1000, rng=5)


def test_no_exception_is_not_certainty():
    result = compare_rates(20, 20, 1000, rng=1)
    assert result.num_exceptions == 0
    assert result.probability == 1.0
    assert result.probability_stderr > 0.0
    low, high = result.probability_interval
    assert low < 1.0 == high
    assert result.exception_interval == exact_interval(0, 1000)


def test_probability_counts_matrices_where_scbi_is_at_least_as_fast():
    statistics = {"count": 10, "count_not_slower": 7, "sum_difference": 3.0}
    statistics |= {"sum_squared_difference": 2.0, "sum_bi": 5.0, "sum_squared_bi": 4.0}
    statistics |= {"sum_scbi": 8.0, "sum_squared_scbi": 9.0}
    result = RateComparison.from_statistics(4, 3, statistics)
    assert (result.num_exceptions, result.probability) == (3, 0.7)
    assert result.advantage == pytest.approx(0.3)
    # Variance (2 - 10 * 0.09) / 9, divided by ten samples.
    assert result.advantage_stderr == pytest.approx((1.1 / 9 / 10) ** 0.5)


def test_probability_falls_from_two_to_three_data_and_then_rises():
    # The paper's Figure 2A starts at n = 2; 10^6 matrices leave a standard error of 5e-4.
    p = [compare_rates(n, 2, 1_000_000, rng=n).probability for n in (2, 3, 10, 30)]
    assert p[1] + 5e-3 < p[0] < p[2] - 5e-3 < p[3] - 1e-2


def test_results_travel_to_tables_and_json():
    result = compare_rates(4, 3, 1000, rng=1)
    content = json.loads(json.dumps(result.to_dict()))
    assert content["probability"] == result.probability
    frame = result.to_dataframe()
    assert frame.loc[0, "advantage"] == result.advantage
    assert frame.loc[0, "probability_low"] == result.probability_interval[0]
    assert "4 x 3" in repr(result)
    dataset = result.to_xarray().sel(num_data=4, num_hypotheses=3)
    assert dataset["advantage"] == result.advantage
    assert dataset["probability_interval"].sel(bound="high") == result.probability_interval[1]
    assert dataset.attrs == {"confidence": 0.95}


def test_datasets_of_several_shapes_combine_to_one():
    xarray = pytest.importorskip("xarray")
    shapes = [(n, m) for n in (3, 4) for m in (2, 3)]
    results = {shape: compare_rates(*shape, 100, rng=1) for shape in shapes}
    whole = xarray.combine_by_coords([result.to_xarray() for result in results.values()])
    for (n, m), result in results.items():
        assert whole["mean_bi"].sel(num_data=n, num_hypotheses=m) == result.mean_bi


def test_the_same_seed_sequence_gives_the_same_result_twice():
    seed = np.random.SeedSequence(3, spawn_key=(1,))
    assert compare_rates(3, 3, 200, rng=seed) == compare_rates(3, 3, 200, rng=seed)
    assert seed.n_children_spawned == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1, 2, 10), {}, "number of data is 1"),
        ((2, 1, 10), {}, "number of hypotheses is 1"),
        ((2, 2, 1), {}, "num_samples is 1"),
        ((2, 2, 2.5), {}, "num_samples is 2.5"),
        ((2, 2, 10), {"confidence": 95}, "confidence is 95"),
        ((2, 2, 10), {"confidence": "high"}, "confidence is 'high'"),
        ((2.0, 2, 10), {}, "number of data is 2.0"),
        ((2, "3", 10), {}, "number of hypotheses is '3'"),
        ((2, 2, "many"), {}, "num_samples is 'many'"),
        ((2, 2, 10), {"rng": -1}, "rng is -1"),
        ((2, 2, 10), {"rng": "x"}, "rng is 'x'"),
        ((2, 2, 10), {"rng": 1.5}, "rng is 1.5"),
    ],
)
def test_bad_input_is_refused_with_a_reason(arguments, options, message):
    with pytest.raises(CobayesError, match=message):
        compare_rates(*arguments, **options)


def test_shapes_do_not_share_their_random_numbers():
    seeds = range(40)
    small = [compare_rates(17, 2, 2000, rng=seed).advantage for seed in seeds]
    large = [compare_rates(18, 2, 2000, rng=seed).advantage for seed in seeds]
    # Independent: beyond 0.6 once in 20,000 times. With shared numbers it is nearly one.
    assert abs(np.corrcoef(small, large)[0, 1]) < 0.6
