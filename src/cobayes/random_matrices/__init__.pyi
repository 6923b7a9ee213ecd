from .compare import RateComparison as RateComparison
from .compare import compare_rates as compare_rates
from .exact_two import expected_advantage as expected_advantage
