from .compare import RateComparison as RateComparison
from .compare import compare_rates as compare_rates
from .exact_two import expected_advantage as expected_advantage
from .rare import RareProbability as RareProbability
from .rare import rare_probability as rare_probability
