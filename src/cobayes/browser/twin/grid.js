/** A board on which a walker shows by its moves which goal it is heading for (Section 6 of the paper). */

/** @typedef {number[]} Square [row, column] */

/**
 * Moves by name, as changes of [row, column].
 * @type {Record<string, number[]>}
 */
const MOVES = { left: [0, -1], up: [-1, 0], right: [0, 1], down: [1, 0] };

export class GridWorld {
  /**
   * @param {{width: number, height: number, start: number[], goals: Record<string, number[]>,
   *   discount: number, walls?: number[][], actions?: string[]}} board Squares are [row, column].
   */
  constructor({ width, height, start, goals, discount, walls = [], actions = Object.keys(MOVES) }) {
    this.width = width;
    this.height = height;
    this.start = start;
    this.goals = goals;
    this.discount = discount;
    this.walls = walls;
    this.actions = actions;
    this.goalLabels = Object.keys(goals);
    this.isWall = new Set(walls.map(([row, column]) => row * width + column));
    this.distances = this.goalLabels.map((label) => this.#stepsTo(goals[label]));
  }

  /** @type {(row: number, column: number) => boolean} */
  isFree(row, column) {
    const inside = row >= 0 && column >= 0 && row < this.height && column < this.width;
    return inside && !this.isWall.has(row * this.width + column);
  }

  /**
   * Where a move leads; against a wall or the edge the walker stays.
   * @type {(square: Square, action: number) => Square}
   */
  move([row, column], action) {
    const [down, along] = MOVES[this.actions[action]];
    return this.isFree(row + down, column + along) ? [row + down, column + along] : [row, column];
  }

  /**
   * The table at a square: discount^steps for each move and goal; steps is the distance to the goal after the move.
   * @param {Square} square
   * @returns {number[][]} Moves by goals.
   */
  matrixAt(square) {
    return this.actions.map((_, action) => {
      const [row, column] = this.move(square, action);
      return this.distances.map((steps) => this.discount ** steps[row * this.width + column]);
    });
  }

  /** Goals that cannot be reached from the start, by label. */
  get unreachable() {
    const at = this.start[0] * this.width + this.start[1];
    return this.goalLabels.filter((_, goal) => !Number.isFinite(this.distances[goal][at]));
  }

  /** @type {(square: Square, goal: number) => boolean} */
  isGoal([row, column], goal) {
    const [goalRow, goalColumn] = this.goals[this.goalLabels[goal]];
    return row === goalRow && column === goalColumn;
  }

  /**
   * Steps from every square to the given one.
   * @type {(square: Square) => number[]}
   */
  #stepsTo([row, column]) {
    const steps = new Array(this.width * this.height).fill(Infinity);
    steps[row * this.width + column] = 0;
    const queue = [[row, column]];
    for (let head = 0; head < queue.length; head++) {
      const here = queue[head],
        known = steps[here[0] * this.width + here[1]];
      for (const [down, along] of this.actions.map((name) => MOVES[name])) {
        // The square from which the move leads to `here`.
        const from = [here[0] - down, here[1] - along];
        const at = from[0] * this.width + from[1];
        if (!this.isFree(from[0], from[1]) || steps[at] < Infinity) continue;
        steps[at] = known + 1;
        queue.push(from);
      }
    }
    return steps;
  }
}
