"""The grid world as a Gymnasium environment in which the agent is the teacher.

Importing this module registers it: ``gymnasium.make("cobayes.worlds.gym:cobayes/GridWorld-v0")``
imports the module by itself, and ``gymnasium.make("cobayes/GridWorld-v0")`` works after
``import cobayes.worlds.gym``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError, import_optional
from cobayes.tasks.task import draw_outcome
from cobayes.worlds.agents import RuleName, WorldLearner
from cobayes.worlds.grid import GridWorld, Square

if TYPE_CHECKING:
    import gymnasium
    from gymnasium import spaces
else:
    gymnasium = import_optional("gymnasium", "worlds", "the environment cobayes/GridWorld-v0")
    spaces = gymnasium.spaces

ENVIRONMENT = "cobayes/GridWorld-v0"
RENDER_MODES = ("rgb_array", "ansi")
BAR_WIDTH = 20


class GridWorldEnv(gymnasium.Env):
    """The agent walks to its goal while a watcher infers the goal from its moves.

    An observation is a dict: ``square`` (row, column), ``goal`` (position of the agent's goal)
    and ``belief`` (the watcher's belief over all goals). The agent gets the world's reward on
    its goal, where the episode ends, and with every move ``teaching_weight`` times what the
    watcher's belief in the goal has risen by. A move against the edge or a wall is legal and
    changes nothing but the watcher's belief.

    Parameters
    ----------
    world
        The board; the paper's by default.
    discount
        Discount of the paper's board, where no world is given.
    goal
        The agent's goal, by position or label; None draws one at every reset.
    rule
        How the watcher reads the moves: "SCBI" or "BI".
    prior
        The watcher's prior; uniform by default.
    teaching_weight
        What being understood is worth.
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
        rule: RuleName = "SCBI",
        prior: ArrayLike | None = None,
        teaching_weight: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise CobayesError(
                f"the render mode is {render_mode!r}.", f"expected one of {RENDER_MODES}, or None."
            )
        self.world = GridWorld.paper(discount) if world is None else world
        self.render_mode = render_mode
        self.teaching_weight = float(teaching_weight)
        self._fixed_goal = None if goal is None else self.world.goal_index(goal)
        self._prior = prior
        self._learner = WorldLearner(self.world, rule, prior)
        self._goal = self._fixed_goal or 0
        self._path = [self.world.start]
        num_goals = len(self.world.goal_labels)
        self.action_space = spaces.Discrete(len(self.world.action_labels))
        self.observation_space = spaces.Dict(
            {
                "square": spaces.MultiDiscrete([self.world.height, self.world.width]),
                "goal": spaces.Discrete(num_goals),
                "belief": spaces.Box(0.0, 1.0, (num_goals,), np.float64),
            }
        )

    @property
    def P(self) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:
        """The table of transitions as Gymnasium's own tabular environments have it.

        States are positions in ``world.states``; reward and end are those of the present goal.
        """
        world = self.world
        goals = {world.state_position(state) for state in world.goal_states(self._goal)}
        table: dict[int, dict[int, list[tuple[float, int, float, bool]]]] = {}
        for position, state in enumerate(world.states):
            table[position] = {}
            for action in range(len(world.action_labels)):
                outcomes = []
                for target, chance in world.next_states(state, action):
                    to = world.state_position(target)
                    outcomes.append((chance, to, world.reward * (to in goals), to in goals))
                table[position][action] = outcomes
        return table

    @property
    def initial_state_distrib(self) -> NDArray[np.float64]:
        """Where episodes start, over the positions in ``world.states``."""
        chances = np.zeros(len(self.world.states))
        chances[self.world.state_position(self.world.start)] = 1.0
        return chances

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Put the agent on the start and give the watcher its prior back.

        Parameters
        ----------
        seed
            For the goal, where it is drawn, and for slips.
        options
            ``{"goal": position or label}`` sets the goal of this episode.
        """
        super().reset(seed=seed)
        wanted = (options or {}).get("goal", self._fixed_goal)
        self._goal = (
            int(self.np_random.integers(len(self.world.goal_labels)))
            if wanted is None
            else self.world.goal_index(wanted)
        )
        self._learner.restart(self._prior)
        self._path = [self.world.start]
        return self._observation(), self._info(None)

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Make a move; the watcher sees it."""
        position = self.world.action_index(int(action))
        state = self._path[-1]
        before = self._learner.belief[self._goal]
        after = self._learner.watch(state, position)[self._goal]
        outcomes = self.world.next_states(state, position)
        self._path.append(draw_outcome(outcomes, self.np_random))
        is_over = self.world.is_goal(self._path[-1], self._goal)
        reward = self.world.reward * is_over + self.teaching_weight * float(after - before)
        return self._observation(), float(reward), is_over, False, self._info(position)

    def render(self) -> Any:
        """Return a picture (``rgb_array``) or a text (``ansi``) of the board and the beliefs."""
        belief = self._learner.belief
        if self.render_mode == "ansi":
            board = draw_board(self.world, self._path[-1])
            return f"{board}\n{draw_beliefs(self.world, belief, self._goal)}\n"
        if self.render_mode == "rgb_array":
            from cobayes.plots.worlds import board_size, new_figure, plot_world, to_pixels

            figure = new_figure(board_size(self.world))
            plot_world(
                self.world,
                belief,
                path=self._path,
                goal=self._goal,
                title=f"watcher: {self._learner.rule.title}, move {len(self._path) - 1}",
                ax=figure.add_subplot(),
            )
            return to_pixels(figure)
        return None

    def _observation(self) -> dict[str, Any]:
        return {
            "square": np.array(self._path[-1], dtype=np.int64),
            "goal": self._goal,
            # Rounding may take a belief of one beyond the space's bound by an ulp.
            "belief": np.clip(self._learner.belief, 0.0, 1.0),
        }

    def _info(self, action: int | None) -> dict[str, Any]:
        return {
            "goal": self.world.goal_labels[self._goal],
            "action": None if action is None else self.world.action_labels[action],
            "belief_in_goal": float(self._learner.belief[self._goal]),
        }


def draw_board(world: GridWorld, walker: Square | None = None) -> str:
    """Draw the board with a frame; the walker is ``@``.

    Parameters
    ----------
    world
        The board.
    walker
        Where the walker is.
    """
    edge = "+" + "-" * (2 * world.width + 1) + "+"
    rows = [f"| {' '.join(line)} |" for line in world.to_text(walker).splitlines()]
    return "\n".join([edge, *rows, edge])


def draw_beliefs(world: GridWorld, belief: ArrayLike, goal: int | None = None) -> str:
    """Draw the watcher's belief, a bar for every goal; the walker's own is marked ``*``.

    Parameters
    ----------
    world
        The board.
    belief
        The watcher's belief over the goals.
    goal
        The position of the walker's goal.
    """
    width = max(len(label) for label in world.goal_labels)
    lines = []
    for position, (label, share) in enumerate(
        zip(world.goal_labels, np.asarray(belief, dtype=float), strict=True)
    ):
        bar = "#" * round(BAR_WIDTH * float(share))
        mark = "*" if position == goal else " "
        lines.append(f"{mark} {label:<{width}} [{bar:<{BAR_WIDTH}}] {share:6.1%}")
    return "\n".join(lines)


def register() -> None:
    """Tell Gymnasium about the grid world; a second time nothing happens."""
    from gymnasium.envs import registration

    if ENVIRONMENT not in registration.registry:
        registration.register(
            id=ENVIRONMENT, entry_point="cobayes.worlds.gym:GridWorldEnv", max_episode_steps=200
        )


register()
