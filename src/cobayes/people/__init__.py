"""People as teachers and learners: score, fit, compare, recover and simulate their responses.

Everything takes a long table of responses (person, problem, round, hypothesis, datum) and the
problems by name. It needs pandas (``pip install 'cobayes[people]'``).
"""

from cobayes.people.family import Family as Family
from cobayes.people.fit import Fit as Fit
from cobayes.people.fit import fit as fit
from cobayes.people.fit import score as score
from cobayes.people.simulate import simulate as simulate

__all__ = ["Family", "Fit", "fit", "score", "simulate"]
