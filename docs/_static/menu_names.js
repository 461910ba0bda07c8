// Give the arrows that open a part of the side menu a name for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("nav li.has-children > details > summary")) {
    const page = arrow.closest("li").querySelector("a");
    arrow.setAttribute("aria-label", `Pages below ${page.textContent.trim()}`);
  }
});
