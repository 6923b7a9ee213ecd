from .constraints import limited_to as limited_to
from .constraints import moving_costs as moving_costs
from .constraints import sets_of as sets_of
from .constraints import without_repeats as without_repeats
from .task import Task as Task
