from .grid import GridWorld as GridWorld
from .legibility import Legibility as Legibility
from .legibility import measure_legibility as measure_legibility
from .legibility import plan_walk as plan_walk
from .tabular import TabularWorld as TabularWorld
from .tabular import world_from_gymnasium as world_from_gymnasium
from .world import World as World

def register_with_gymnasium() -> None: ...
