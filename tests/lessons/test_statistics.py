import numpy as np

import cobayes as cb
from cobayes.lessons.statistics import MOST_BINS, num_bins


def test_histograms_stay_within_their_memory():
    assert num_bins(100) == MOST_BINS
    for num_rounds in (2_000, 10_000, 80_000):
        assert num_bins(num_rounds) * (num_rounds + 1) * 8 <= 64e6


def test_wide_bins_give_the_same_quantiles_but_for_their_width():
    rule = cb.BI([[0.55, 0.45], [0.45, 0.55]])
    kept = cb.simulate(rule, 0, num_rounds=4000, num_lessons=200, rng=1, keep_paths=True)
    binned = cb.simulate(rule, 0, num_rounds=4000, num_lessons=200, rng=1, keep_paths=False)
    rounds = [10, 100, 400]
    exact, coarse = (one.quantile(0.5)[rounds] for one in (kept, binned))
    width = 88.0 / num_bins(4000)
    odds = [np.log(values / (1.0 - values)) for values in (exact, coarse)]
    # A median of 200 lies between two lessons, at most a bin and their distance away.
    assert np.abs(odds[0] - odds[1]).max() < width + 0.1
