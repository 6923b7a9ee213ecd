/** Simulations in a Web Worker made from the page's own script; in the page itself if the browser refuses workers. */
import { simulate } from "../twin/ensembles.js";

/**
 * Start a simulation.
 * @param {object} settings The settings of `simulate`.
 * @param {(done: number) => void} onProgress
 * @returns {{result: Promise<object>, cancel: () => void}} The promise of a cancelled job stays pending.
 */
export function startSimulation(settings, onProgress) {
  let worker = null,
    isCancelled = false;
  const result = new Promise((resolve, reject) => {
    const here = () =>
      setTimeout(() => {
        if (isCancelled) return;
        try {
          resolve(simulate(settings, onProgress));
        } catch (error) {
          reject(error);
        }
      });
    try {
      worker = makeWorker();
    } catch {
      return void here();
    }
    worker.onmessage = ({ data }) => {
      if (data.kind === "progress") return onProgress(data.value);
      worker.terminate();
      if (data.kind === "done") resolve(data.value);
      else reject(new Error(data.value));
    };
    // A browser that refuses workers reports it here, before the computation begins.
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      here();
    };
    worker.postMessage(settings);
  });
  const cancel = () => {
    isCancelled = true;
    worker?.terminate();
  };
  return { result, cancel };
}

let address = null;

function makeWorker() {
  address ??= URL.createObjectURL(
    new Blob([document.getElementById("program").textContent], { type: "text/javascript" }),
  );
  return new Worker(address);
}

/** Inside a worker: run the simulations that the page asks for. */
export function serveSimulations() {
  const send = (kind, value) => self.postMessage({ kind, value });
  self.onmessage = ({ data }) => {
    try {
      send(
        "done",
        simulate(data, (done) => send("progress", done)),
      );
    } catch (error) {
      send("failed", String(error));
    }
  };
}
