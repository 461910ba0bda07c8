// Light and dark: the system's setting, until the reader chooses; always light on paper.
const Theme = (() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const watchers = [];
  let chosen = null;
  let printing = false;

  const current = () => (printing ? "light" : chosen ?? (dark.matches ? "dark" : "light"));

  function apply() {
    root.dataset.theme = current();
    const button = document.getElementById("theme");
    const other = current() === "dark" ? "light" : "dark";
    button.textContent = `${other[0].toUpperCase()}${other.slice(1)} page`;
    watchers.forEach((watch) => watch(printing));
  }

  function start() {
    document.getElementById("theme").addEventListener("click", () => {
      chosen = current() === "dark" ? "light" : "dark";
      apply();
    });
    dark.addEventListener("change", apply);
    window.addEventListener("beforeprint", () => { printing = true; apply(); });
    window.addEventListener("afterprint", () => { printing = false; apply(); });
    apply();
  }

  const color = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  return { start, color, onChange: (watch) => watchers.push(watch) };
})();
