"""Models of people who teach or learn: score, fit and compare models, and simulate responses.

Responses are a table with one row per response; a teacher's choices have the columns person,
problem, round, hypothesis and datum. Problems are matrices of data by hypotheses, given by name.
The package needs pandas (``pip install '.[people]'``).
"""

# ruff: noqa: E402 (without pandas the modules below cannot be loaded)
from cobayes.errors import import_optional

import_optional("pandas", "people", "cobayes.people")
del import_optional  # not a name of this package

from cobayes.people.design import Recovery as Recovery
from cobayes.people.design import informative as informative
from cobayes.people.design import recover as recover
from cobayes.people.evidence import Comparison as Comparison
from cobayes.people.evidence import compare as compare
from cobayes.people.evidence import cross_validate as cross_validate
from cobayes.people.exceedance import Exceedance as Exceedance
from cobayes.people.exceedance import exceedance as exceedance
from cobayes.people.family import Family as Family
from cobayes.people.fit import fit as fit
from cobayes.people.fit import fit_group as fit_group
from cobayes.people.fit import score as score
from cobayes.people.groups import GroupFit as GroupFit
from cobayes.people.posterior import LogLikelihood as LogLikelihood
from cobayes.people.posterior import calibration as calibration
from cobayes.people.result import Fit as Fit
from cobayes.people.simulate import example_study as example_study
from cobayes.people.simulate import simulate as simulate
