from .compare import RateComparison as RateComparison
from .compare import compare_rates as compare_rates
from .compare import expected_advantage as expected_advantage
