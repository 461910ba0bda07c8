// Names for screen readers: of the arrows in the side menu, and of the pictures that are links.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("nav li.has-children > details > summary")) {
    const page = arrow.closest("li").querySelector("a");
    arrow.setAttribute("aria-label", `Pages below ${page.textContent.trim()}`);
  }
  for (const card of document.querySelectorAll(".sphx-glr-thumbcontainer")) {
    const title = card.querySelector(".sphx-glr-thumbnail-title");
    card.querySelector("a.reference")?.setAttribute("aria-label", title.textContent.trim());
  }
});
