from .sampling import RateComparison as RateComparison
from .sampling import compare_rates as compare_rates
from .sampling import expected_advantage as expected_advantage
