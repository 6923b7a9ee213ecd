"""Eight numbers side by side: arithmetic in compiled code equals NumPy's."""

import numpy as np

from cobayes._runtime.compiled import compiled
from cobayes._runtime.eights import (
    EIGHT_ZEROS,
    add_products,
    add_scaled,
    differences,
    inverses,
    load_eight,
    products,
    store_eight,
)


@compiled(in_registers=True)
def everything(values, out):
    one, two = load_eight(values, 0, 3), load_eight(values, 1, 3)
    store_eight(out, 0, 1, products(one, two))
    store_eight(out, 1, 1, differences(one, two))
    store_eight(out, 2, 1, inverses(one))
    store_eight(out, 3, 1, add_scaled(one, 0.5, two))
    store_eight(out, 4, 1, add_products(EIGHT_ZEROS, one, two))


def test_eights_compute_what_arrays_do_and_touch_nothing_else():
    values = np.random.default_rng(0).uniform(0.5, 2.0, (2, 12))
    out = np.zeros((5, 10))
    everything(values, out)
    one, two = values[:, 3:11]
    expected = [one * two, one - two, 1.0 / one, one + 0.5 * two, one * two]
    np.testing.assert_allclose(out[:, 1:9], expected, rtol=1e-15)
    assert not out[:, [0, 9]].any()
