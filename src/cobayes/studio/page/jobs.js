/** Long computations in a Web Worker, made from the page's own script; on the page itself where that fails. */
import { simulate, successEnclosure, successRate } from "../twin/ensembles.js";

const JOBS = { simulate, successEnclosure, successRate };

/**
 * Start a computation.
 * @param {"simulate" | "successEnclosure" | "successRate"} name
 * @param {object} settings
 * @param {(progress: unknown) => void} onProgress
 * @returns {{result: Promise<unknown>, cancel: () => void}} A cancelled job never settles.
 */
export function startJob(name, settings, onProgress) {
  let worker = null,
    isCancelled = false;
  const result = new Promise((resolve, reject) => {
    const here = () =>
      setTimeout(() => {
        if (isCancelled) return;
        try {
          resolve(JOBS[name](settings, onProgress));
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
    // A browser that refuses workers says so here, before anything was computed.
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      here();
    };
    worker.postMessage({ name, settings });
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

/** What the script does inside a worker. */
export function serveJobs() {
  self.onmessage = ({ data: { name, settings } }) => {
    try {
      const value = JOBS[name](settings, (progress) =>
        self.postMessage({ kind: "progress", value: progress }),
      );
      self.postMessage({ kind: "done", value });
    } catch (error) {
      self.postMessage({ kind: "failed", value: String(error) });
    }
  };
}
