// Filters for the claims. Without JavaScript the bar stays hidden and every topic can be opened.
(() => {
  const bar = document.querySelector(".filters");
  if (!bar) return;
  bar.hidden = false;
  const topics = [...document.querySelectorAll("details.topic")];
  const fold = bar.querySelector("[data-fold]");
  const name = () => { fold.textContent = topics.every((t) => t.open || t.hidden) ? "close all" : "open all"; };
  bar.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button === fold) {
      const open = fold.textContent === "open all";
      topics.forEach((topic) => { topic.open = open; });
    } else {
      const wanted = button.dataset.verdict;
      bar.querySelectorAll("[aria-pressed]").forEach((b) => b.setAttribute("aria-pressed", b === button));
      topics.forEach((topic) => {
        const rows = [...topic.querySelectorAll("tbody tr")];
        rows.forEach((row) => { row.hidden = wanted !== "" && row.dataset.verdict !== wanted; });
        topic.hidden = rows.every((row) => row.hidden);
        topic.open = wanted !== "" && !topic.hidden;
      });
    }
    name();
  });
  topics.forEach((topic) => topic.addEventListener("toggle", name));
  addEventListener("beforeprint", () => topics.forEach((topic) => { topic.open = true; }));
})();
