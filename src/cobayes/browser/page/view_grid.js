/** Grid world: draw walls and goals, watch the walker and the beliefs of its watchers. */
import { GridWorld } from "../twin/grid.js";
import { Random } from "../twin/random.js";
import { makeRule, toLogs } from "../twin/rules.js";
import { lineChart } from "./charts.js";
import { announce, button, choice, h, headedTable, numberField, percent, player, put } from "./dom.js";
import { segments, slider, svg } from "./dom.js";
import { figure } from "./figures.js";
import { RULE_LIST, ruleCurves, ruleSettings } from "./lesson_data.js";
import { beliefRows } from "./why.js";

const CELL = 56;
const ARROWS = { left: "←", up: "↑", right: "→", down: "↓" };

export function gridView(store) {
  let tool = "wall",
    cursor = [0, 0];
  const tools = segments({
    label: "what a click draws",
    value: tool,
    options: [
      ["wall", "Wall"],
      ["start", "Start"],
      ["goal", "Goal"],
    ],
    onChange: (next) => ((tool = next), tools.set(next)),
  });
  const walker = segments({
    label: "the walker’s rule",
    value: store.state.walker,
    options: RULE_LIST.map(({ kind, title }) => [kind, title]),
    onChange: (kind) => store.set({ walker: kind, steps: 0 }),
  });
  const goal = choice({ label: "Its goal", onChange: (text) => store.set({ goal: Number(text), steps: 0 }) });
  const discount = slider({
    label: "Discount",
    min: 0.1,
    max: 0.95,
    step: 0.05,
    onInput: (value) => setBoard({ discount: value }),
  });
  const [width, height] = ["width", "height"].map((name) =>
    numberField({
      label: name === "width" ? "Columns" : "Rows",
      min: 2,
      max: 12,
      step: 1,
      onChange: (value) => setSize({ [name]: Math.floor(value) }),
    }),
  );
  const play = player({
    text: "▶ Walk",
    name: "walk",
    pause: 700,
    isDone: () => walk(store.state).isOver(store.state.steps),
    rewind: () => store.set({ steps: 0 }),
    step: () => store.set({ steps: store.state.steps + 1 }),
  });
  const first = button("❙◀", () => store.set({ steps: 0 }), { "aria-label": "to the start" });
  const back = button("◀", () => go(-1), { "aria-label": "one step back" });
  const on = button("▶❙", () => go(1), { "aria-label": "one step on" });
  const stepText = h("span", { class: "round" });
  const message = h("p", { class: "message", role: "status" });
  const beliefs = h("tbody");
  const moves = h("p", { class: "moves" });
  const board = figure(
    "The board",
    "Choose above what to draw, then click a square, or go to it by arrow keys and press Enter. The ring marks the walker’s goal.",
    h("div", { class: "row tools-row" }, h("span", { class: "lead-in" }, "Draw"), tools),
  );
  const curves = figure(
    "Belief in the walker’s goal",
    "Three watchers see the same moves and follow different rules. Click a step to go there.",
  );
  const element = h(
    "div",
    { class: "view grid-view" },
    h(
      "div",
      { class: "transport", role: "group", "aria-label": "walk" },
      h("div", { class: "buttons" }, first, back, play.element, on),
      stepText,
      h("span", { class: "lead-in" }, "Walker"),
      walker,
      goal,
    ),
    h(
      "div",
      { class: "two board-two" },
      h("div", {}, board.element, message, h("div", { class: "fields" }, width, height, discount)),
      h(
        "div",
        { class: "stacked" },
        h(
          "section",
          { class: "panel" },
          h("h3", {}, "Beliefs of the watchers"),
          headedTable(["watcher", "belief", "belief in the goal"], beliefs),
          moves,
        ),
        curves.element,
      ),
    ),
  );

  function go(change) {
    const to = Math.max(0, store.state.steps + change);
    if (to <= walk(store.state).path.length - 1 || change < 0) store.set({ steps: to });
  }
  /** Say why a change is refused. */
  function say(text) {
    message.textContent = text;
    message.classList.toggle("bad", text !== "");
  }
  /** Change the size of the board, unless its start or a goal would then lie outside. */
  function setSize(changes) {
    const next = { ...store.state.board, ...changes };
    const isInside = ([row, column]) => row < next.height && column < next.width;
    const isLost = ![next.start, ...Object.values(next.goals)].every(isInside);
    if (!isLost) return setBoard({ ...changes, walls: next.walls.filter(isInside) });
    say("The start or a goal would lie outside of the board; move it first.");
    update(store.state);
  }
  function setBoard(changes) {
    play.stop();
    const next = { ...store.state.board, ...changes };
    const [lost] = new GridWorld(next).unreachable;
    say(lost ? `Goal ${lost} would be unreachable; the board was not changed.` : "");
    if (!lost) store.set({ board: next, steps: 0 });
  }

  function click(row, column) {
    const { board: now } = store.state;
    const here = String([row, column]);
    const labels = Object.keys(now.goals),
      goalHere = labels.find((label) => String(now.goals[label]) === here);
    const isWall = now.walls.some((wall) => String(wall) === here),
      isStart = String(now.start) === here;
    if (tool === "wall") {
      if (goalHere || isStart) return say("The start and the goals cannot be walls.");
      return setBoard({
        walls: isWall ? now.walls.filter((wall) => String(wall) !== here) : [...now.walls, [row, column]],
      });
    }
    if (isWall) return say("This square is a wall; remove the wall first.");
    if (tool === "start") return goalHere ? say("The start cannot be a goal.") : setBoard({ start: [row, column] });
    if (isStart) return say("A goal cannot be at the start.");
    if (goalHere) {
      if (labels.length <= 2) return say("There must be at least two candidate goals.");
      const rest = labels.filter((label) => label !== goalHere).map((label) => now.goals[label]);
      return setBoard({ goals: Object.fromEntries(rest.map((square, k) => ["ABCDEF"[k], square])) });
    }
    if (labels.length >= 6) return say("At most six goals are allowed.");
    setBoard({ goals: { ...now.goals, ["ABCDEF"[labels.length]]: [row, column] } });
  }

  function update(state) {
    const found = walk(state);
    const steps = Math.min(state.steps, found.path.length - 1);
    walker.set(state.walker);
    discount.set(state.board.discount);
    goal.setOptions(
      found.world.goalLabels.map((label, k) => [String(k), label]),
      String(state.goal),
    );
    back.disabled = steps === 0;
    on.disabled = found.isOver(steps);
    first.disabled = steps === 0;
    width.set(state.board.width);
    height.set(state.board.height);
    put(stepText, "step ", h("b", {}, String(steps)));
    cursor = [Math.min(cursor[0], state.board.height - 1), Math.min(cursor[1], state.board.width - 1)];
    board.draw(() => drawBoard(state, found, steps, cursor, click, (square) => (cursor = square)));
    const belief = found.beliefs.map((logs) => logs[steps].map(Math.exp));
    put(beliefs, ...beliefRows(belief, found.world.goalLabels, state.goal));
    curves.draw((wide) =>
      lineChart({
        width: wide,
        height: 220,
        xMax: Math.max(10, Math.ceil((steps + 1) / 5) * 5),
        yMin: 0,
        yMax: 1,
        xLabel: "step",
        yLabel: `belief in goal ${found.world.goalLabels[state.goal]}`,
        title: "Belief in the walker's goal by step",
        now: steps,
        onRound: (step) => store.set({ steps: Math.min(step, found.path.length - 1) }),
        series: ruleCurves((k) => found.beliefs[k].slice(0, steps + 1).map((logs) => Math.exp(logs[state.goal]))),
      }),
    );
    moves.textContent = steps
      ? ["Moves:", ...found.moves.slice(0, steps).map((move) => ARROWS[found.world.actions[move]])].join(" ")
      : "The walker has not moved yet: for its watchers every goal is equally likely.";
    if (!play.isPlaying() && steps)
      announce(
        `step ${steps}: ${RULE_LIST.map(({ title }, k) => `${title} ${percent(belief[k][state.goal])}`).join(", ")}`,
      );
  }

  const csv = () => {
    const { world, path, moves: taken, beliefs: all } = walk(store.state);
    const steps = Math.min(store.state.steps, path.length - 1);
    return [
      ["rule", "step", "move", "row", "column", ...world.goalLabels],
      ...RULE_LIST.flatMap(({ kind }, k) =>
        all[k]
          .slice(0, steps + 1)
          .map((logs, step) => [
            kind,
            step,
            step ? world.actions[taken[step - 1]] : "",
            ...path[step],
            ...logs.map(Math.exp),
          ]),
      ),
    ];
  };
  return { element, update, stop: play.stop, csv };
}

/** The whole walk, and the belief of each rule's watcher after each move. */
export function walk(state) {
  const world = new GridWorld(state.board);
  const rng = new Random(state.seed);
  const size = world.goalLabels.length;
  const first = toLogs(new Array(size).fill(1));
  const path = [world.start],
    moves = [],
    beliefs = RULE_LIST.map(() => [first]);
  const own = RULE_LIST.findIndex(({ kind }) => kind === state.walker);
  while (!world.isGoal(path[path.length - 1], state.goal) && moves.length < 200) {
    const matrix = world.matrixAt(path[path.length - 1]);
    const now = beliefs.map((logs) => logs[logs.length - 1]);
    const rules = RULE_LIST.map(({ kind }) => makeRule(matrix, ruleSettings(state, kind)));
    const move = rng.draw(rules[own].respond(now[own]).map((row) => Math.exp(row[state.goal])));
    moves.push(move);
    path.push(world.move(path[path.length - 1], move));
    beliefs.forEach((logs, k) => logs.push(rules[k].logUpdate(now[k], move)));
  }
  return { world, path, moves, beliefs, isOver: (steps) => steps >= moves.length };
}

/** The board; the Tab key reaches one square, arrow keys reach the others. */
function drawBoard(state, { world, path }, steps, cursor, onClick, onMove) {
  const { width, height } = world;
  const size = { width: width * CELL + 8, height: height * CELL + 8 };
  const root = svg("svg", {
    viewBox: `-4 -4 ${size.width} ${size.height}`,
    ...size,
    class: "chart board",
    role: "group",
    "aria-label": "board",
  });
  const centre = ([row, column]) => [(column + 0.5) * CELL, (row + 0.5) * CELL];
  const squares = [];
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const here = String([row, column]);
      const label = world.goalLabels.find((name) => String(world.goals[name]) === here);
      const isWall = world.isWall.has(row * width + column),
        isStart = String(world.start) === here;
      const what = isWall ? "wall" : label ? `goal ${label}` : isStart ? "start" : "free";
      const square = svg("rect", {
        class: `square ${isWall ? "wall" : ""}`,
        ...{ x: column * CELL + 1.5, y: row * CELL + 1.5, width: CELL - 3, height: CELL - 3, rx: 6 },
        tabindex: String(cursor) === here ? 0 : -1,
        role: "button",
        "aria-label": `row ${row + 1}, column ${column + 1}: ${what}`,
      });
      square.addEventListener("click", () => (onMove([row, column]), onClick(row, column)));
      square.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width }[event.key];
        const isDraw = event.key === "Enter" || event.key === " ";
        if (by === undefined && !isDraw) return;
        event.preventDefault();
        if (isDraw) return onClick(row, column);
        const isEdge = Math.abs(by) === 1 && (column + by < 0 || column + by >= width);
        const next = squares[row * width + column + by];
        if (isEdge || !next) return;
        square.setAttribute("tabindex", -1);
        next.setAttribute("tabindex", 0);
        onMove([Math.floor((row * width + column + by) / width), (row * width + column + by) % width]);
        next.focus();
      });
      squares.push(square);
      root.append(square);
      const [x, y] = centre([row, column]);
      if (label) {
        const isOwn = world.goalLabels.indexOf(label) === state.goal;
        root.append(
          svg("circle", { class: isOwn ? "goal own" : "goal", cx: x, cy: y, r: 18 }),
          svg("text", { class: isOwn ? "goal-name own" : "goal-name", x, y: y + 5.5, "text-anchor": "middle" }, label),
        );
        if (isOwn) root.append(svg("circle", { class: "goal-ring", cx: x, cy: y, r: 22.5 }));
      } else if (isStart)
        root.append(svg("text", { class: "start-name", x, y: y + 22, "text-anchor": "middle" }, "start"));
    }
  const color = RULE_LIST.find(({ kind }) => kind === state.walker).color;
  const trail = path.slice(0, steps + 1).map(centre);
  root.append(svg("polyline", { class: "trail", points: trail.map(String).join(" "), style: { stroke: color } }));
  const [x, y] = trail[trail.length - 1];
  root.append(svg("circle", { class: "walker", cx: x, cy: y, r: 11, style: { fill: color } }));
  return root;
}
