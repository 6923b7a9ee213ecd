/** Grid world: draw walls and goals, watch the walker and what its watchers believe. */
import { GridWorld } from "../twin/grid.js";
import { Random } from "../twin/random.js";
import { makeRule, toLogs } from "../twin/rules.js";
import { HYPOTHESIS_COLORS } from "./charts.js";
import { announce, button, choice, h, percent, prefersCalm, put, segments, slider, svg } from "./dom.js";
import { RULE_LIST, ruleSettings } from "./lesson_data.js";
import { stack } from "./why.js";

const CELL = 56;
const ARROWS = { left: "←", up: "↑", right: "→", down: "↓" };

export function gridView(store) {
  let tool = "wall",
    timer = null;
  const board = h("div", { class: "board-holder" });
  const tools = segments({
    label: "what a click draws",
    value: tool,
    options: [
      ["wall", "Wall"],
      ["start", "Start"],
      ["goal", "Add or remove a goal"],
    ],
    onChange: (next) => ((tool = next), tools.set(next)),
  });
  const walker = segments({
    label: "walker",
    value: store.state.walker,
    options: RULE_LIST.map(({ kind, title }) => [kind, title]),
    onChange: (kind) => store.set({ walker: kind, steps: 0 }),
  });
  const goal = choice({
    label: "The walker’s goal",
    options: [],
    value: "0",
    onChange: (text) => store.set({ goal: Number(text), steps: 0 }),
  });
  const discount = slider({
    label: "Discount per step",
    min: 0.1,
    max: 0.95,
    step: 0.05,
    value: store.state.board.discount,
    onInput: (value) => setBoard({ discount: value }),
  });
  const play = button("▶ Walk", () => (timer ? stop() : start()), { class: "primary" });
  const back = button("◀", () => go(-1), { "aria-label": "one step back" });
  const on = button("▶❙", () => go(1), { "aria-label": "one step on" });
  const message = h("p", { class: "message", role: "status" });
  const beliefs = h("tbody");
  const moves = h("p", { class: "moves" });
  const element = h(
    "div",
    { class: "view grid-view" },
    h(
      "p",
      { class: "intro" },
      "A walker knows which goal is its own; those who watch do not. A cooperative walker goes out of its way, early, to make its goal clear. Click squares to draw the board.",
    ),
    h("div", { class: "row" }, h("span", { class: "lead-in" }, "Walker"), walker, goal, discount),
    h(
      "div",
      { class: "two board-two" },
      h(
        "div",
        {},
        h("div", { class: "row" }, tools),
        board,
        message,
        h("div", { class: "row" }, back, play, on),
      ),
      h(
        "section",
        { class: "panel" },
        h("h3", {}, "What the watchers believe"),
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ...["watcher", "belief", "in the goal"].map((text) => h("th", { scope: "col" }, text)),
            ),
          ),
          beliefs,
        ),
        moves,
      ),
    ),
  );

  function go(change) {
    const to = Math.max(0, store.state.steps + change);
    if (to <= walk(store.state).path.length - 1 || change < 0) store.set({ steps: to });
  }
  function start() {
    if (walk(store.state).isOver(store.state.steps)) store.set({ steps: 0 });
    timer = setInterval(
      () => {
        if (walk(store.state).isOver(store.state.steps)) return stop();
        store.set({ steps: store.state.steps + 1 });
      },
      prefersCalm() ? 1200 : 700,
    );
    put(play, "❙❙ Pause");
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    put(play, "▶ Walk");
  }
  function setBoard(changes) {
    stop();
    const next = { ...store.state.board, ...changes };
    const world = new GridWorld(next);
    const lost = world.unreachable;
    message.textContent = lost.length
      ? `Goal ${lost[0]} could not be reached any more; the board stays as it was.`
      : "";
    message.classList.toggle("bad", lost.length > 0);
    if (!lost.length) store.set({ board: next, steps: 0 });
  }

  function click(row, column) {
    const { board: now } = store.state;
    const here = String([row, column]);
    const labels = Object.keys(now.goals),
      goalHere = labels.find((label) => String(now.goals[label]) === here);
    const isWall = now.walls.some((wall) => String(wall) === here),
      isStart = String(now.start) === here;
    const say = (text) => ((message.textContent = text), message.classList.add("bad"));
    if (tool === "wall") {
      if (goalHere || isStart) return say("The start and the goals cannot be walls.");
      return setBoard({
        walls: isWall ? now.walls.filter((wall) => String(wall) !== here) : [...now.walls, [row, column]],
      });
    }
    if (isWall) return say("This square is a wall; open it first.");
    if (tool === "start")
      return goalHere ? say("The start cannot be a goal.") : setBoard({ start: [row, column] });
    if (isStart) return say("A goal cannot be at the start.");
    if (goalHere) {
      if (labels.length <= 2) return say("There must be at least two candidate goals.");
      const rest = labels.filter((label) => label !== goalHere).map((label) => now.goals[label]);
      return setBoard({ goals: Object.fromEntries(rest.map((square, k) => ["ABCDEF"[k], square])) });
    }
    if (labels.length >= 6) return say("At most six goals fit.");
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
    put(board, drawBoard(state, found, steps, click));
    const belief = found.beliefs.map((logs) => logs[steps].map(Math.exp));
    put(
      beliefs,
      ...RULE_LIST.map(({ title, kind }, k) =>
        h(
          "tr",
          { "data-rule": kind },
          h("th", { scope: "row" }, title),
          h("td", {}, stack(belief[k], found.world.goalLabels)),
          h("td", { class: "value" }, percent(belief[k][state.goal])),
        ),
      ),
    );
    moves.textContent = steps
      ? `Moves: ${found.moves
          .slice(0, steps)
          .map((move) => ARROWS[found.world.actions[move]])
          .join(" ")}`
      : "Nobody has moved yet: every goal is equally likely.";
    if (!timer && steps)
      announce(
        `step ${steps}: ${RULE_LIST.map(({ title }, k) => `${title} ${percent(belief[k][state.goal])}`).join(", ")}`,
      );
  }
  return { element, update, stop };
}

/** The whole walk of the state's walker and what each kind of watcher believes along it. */
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

function drawBoard(state, { world, path }, steps, onClick) {
  const { width, height } = world;
  const root = svg("svg", {
    viewBox: `-4 -4 ${width * CELL + 8} ${height * CELL + 8}`,
    class: "chart board",
    role: "group",
    "aria-label": "board",
  });
  const centre = ([row, column]) => [(column + 0.5) * CELL, (row + 0.5) * CELL];
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const label = world.goalLabels.find((name) => String(world.goals[name]) === String([row, column]));
      const isWall = world.isWall.has(row * width + column),
        isStart = String(world.start) === String([row, column]);
      const what = isWall ? "wall" : label ? `goal ${label}` : isStart ? "start" : "free";
      const square = svg("rect", {
        class: `square ${isWall ? "wall" : ""}`,
        x: column * CELL + 1.5,
        y: row * CELL + 1.5,
        width: CELL - 3,
        height: CELL - 3,
        rx: 5,
        tabindex: 0,
        role: "button",
        "aria-label": `row ${row + 1}, column ${column + 1}: ${what}`,
      });
      square.addEventListener("click", () => onClick(row, column));
      square.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onClick(row, column);
      });
      root.append(square);
      const [x, y] = centre([row, column]);
      if (label) {
        const k = world.goalLabels.indexOf(label);
        root.append(
          svg("circle", {
            class: k === state.goal ? "goal own" : "goal",
            cx: x,
            cy: y,
            r: 18,
            style: { fill: HYPOTHESIS_COLORS[k] },
          }),
          svg("text", { class: "goal-name", x, y: y + 5.5, "text-anchor": "middle" }, label),
        );
      } else if (isStart)
        root.append(svg("text", { class: "start-name", x, y: y + 4, "text-anchor": "middle" }, "start"));
    }
  const color = RULE_LIST.find(({ kind }) => kind === state.walker).color;
  const trail = path.slice(0, steps + 1).map(centre);
  root.append(
    svg("polyline", { class: "trail", points: trail.map(String).join(" "), style: { stroke: color } }),
  );
  const [x, y] = trail[trail.length - 1];
  root.append(svg("circle", { class: "walker", cx: x, cy: y, r: 12, style: { fill: color } }));
  return root;
}
