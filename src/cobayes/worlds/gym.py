"""The grid world as a Gymnasium environment in which the agent is the teacher.

``gymnasium.make("cobayes/GridWorld-v0")`` makes it after ``import cobayes``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cobayes._input.labels import Distribution
from cobayes._input.validation import as_integer, instance, one_of
from cobayes._output import percent
from cobayes.errors import CobayesError, import_optional
from cobayes.lessons.agents import Learner
from cobayes.rules import as_rule
from cobayes.rules.naming import RuleLike
from cobayes.tasks.task import draw_outcome
from cobayes.worlds.grid import GridWorld

if TYPE_CHECKING:
    import gymnasium
    from gymnasium import spaces
else:
    gymnasium = import_optional("gymnasium", "worlds", "the environment cobayes/GridWorld-v0")
    spaces = gymnasium.spaces

RENDER_MODES = ("rgb_array", "ansi")
BAR_WIDTH = 20


class GridWorldEnv(gymnasium.Env):
    """The agent walks to its goal while a watcher infers the goal from its moves.

    An observation is a dict: ``square`` (row, column), ``goal`` (number of the agent's goal, from
    0) and ``belief`` (the watcher's belief over all goals). The episode ends on the agent's goal,
    with the world's reward; ``gymnasium.make`` limits an episode to 200 moves. A move against the
    edge or a wall is allowed and changes only the watcher's belief.

    Parameters
    ----------
    world
        The board; the paper's by default.
    discount
        Discount of the paper's board, if no world is given.
    goal
        The agent's goal, by position or label; if it is None, every reset draws a goal.
    rule
        The watcher's rule: "SCBI", "BI", or a rule made from the world.
    prior
        The watcher's prior; uniform by default.
    teaching_weight
        Every move is rewarded by this weight times the rise of the watcher's belief in the goal.
    render_mode
        "rgb_array", "ansi" or None.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 4}

    def __init__(
        self,
        world: GridWorld | None = None,
        *,
        discount: float = 0.5,
        goal: int | str | None = None,
        rule: RuleLike = "SCBI",
        prior: Distribution | None = None,
        teaching_weight: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        one_of(render_mode, "render_mode", (*RENDER_MODES, None))
        hint = "make it from a drawing: world=GridWorld.from_text(drawing)."
        made = GridWorld.paper(discount) if world is None else world
        self.world: GridWorld = instance(made, GridWorld, "world", "a GridWorld", hint)
        self.render_mode = render_mode
        self.teaching_weight = float(teaching_weight)
        self._fixed_goal = None if goal is None else self.world.goal_index(goal)
        self._prior = prior
        self._learner = Learner(as_rule(rule, self.world), prior)
        self._goal = self._fixed_goal or 0
        self._path = [self.world.start]
        num_goals = len(self.world.goal_labels)
        self.action_space = spaces.Discrete(len(self.world.action_labels))
        square = spaces.MultiDiscrete([self.world.height, self.world.width])
        goals, belief = spaces.Discrete(num_goals), spaces.Box(0.0, 1.0, (num_goals,), np.float64)
        self.observation_space = spaces.Dict({"square": square, "goal": goals, "belief": belief})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Move the agent to the start, and reset the watcher's belief to its prior.

        Parameters
        ----------
        seed
            The seed for slips, and for the goal if it is drawn.
        options
            ``{"goal": position or label}`` sets the goal of this episode.
        """
        super().reset(seed=seed)
        wanted = (options or {}).get("goal", self._fixed_goal)
        if wanted is None:
            wanted = int(self.np_random.integers(len(self.world.goal_labels)))
        self._goal = self.world.goal_index(wanted)
        self._learner = Learner(self._learner.rule, self._prior)
        self._path = [self.world.start]
        return self._observation(), self._info(None)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Make a move, which the watcher observes."""
        labels = self.world.action_labels
        position = as_integer(action)
        if position is None or not 0 <= position < len(labels):
            raise CobayesError(
                f"the action is {action!r}; expected an integer >= 0 and below {len(labels)}.",
                ", ".join(f"{number} is {label!r}" for number, label in enumerate(labels)) + ".",
            )
        state = self._path[-1]
        before = self._learner.belief[self._goal]
        after = self._learner.observe(position)[self._goal]
        self._path.append(draw_outcome(self.world.next_states(state, position), self.np_random))
        self._learner.arrive(self._path[-1])
        is_over = self.world.is_over(self._path[-1], self._goal)
        reward = self.world.reward * is_over + self.teaching_weight * float(after - before)
        return self._observation(), float(reward), is_over, False, self._info(position)

    def render(self) -> Any:
        """Return a picture (``rgb_array``) or a text (``ansi``) of the board and the beliefs."""
        if self.render_mode == "ansi":
            return self._as_text()
        if self.render_mode == "rgb_array":
            from cobayes.plots.house import new_figure
            from cobayes.plots.worlds import board_size, plot_world, to_pixels

            figure = new_figure(*board_size(self.world))
            title = f"watcher: {self._learner.rule.title}, move {len(self._path) - 1}"
            shown = {"path": self._path, "goal": self._goal, "title": title}
            plot_world(self.world, self._learner.belief, ax=figure.add_subplot(), **shown)
            return to_pixels(figure)
        return None

    def _observation(self) -> dict[str, Any]:
        return {
            "square": np.array(self._path[-1], dtype=np.int64),
            "goal": self._goal,
            # Rounding may raise a belief above 1, the bound of the observation space.
            "belief": np.clip(self._learner.belief, 0.0, 1.0),
        }

    def _info(self, action: int | None) -> dict[str, Any]:
        return {
            "goal": self.world.goal_labels[self._goal],
            "action": None if action is None else self.world.action_labels[action],
            "belief_in_goal": float(self._learner.belief[self._goal]),
        }

    def _as_text(self) -> str:
        """Return the board as text with the walker ``@``, and a bar for the belief in each goal."""
        edge = "+" + "-" * (2 * self.world.width + 1) + "+"
        board = self.world.to_text(self._path[-1]).splitlines()
        lines = [edge, *(f"| {' '.join(line)} |" for line in board), edge]
        width = max(len(label) for label in self.world.goal_labels)
        for position, share in enumerate(self._learner.belief.tolist()):
            mark = "*" if position == self._goal else " "
            bar = "#" * round(BAR_WIDTH * share)
            label = self.world.goal_labels[position]
            lines.append(f"{mark} {label:<{width}} [{bar:<{BAR_WIDTH}}] {percent(share):>7}")
        return "\n".join(lines) + "\n"
