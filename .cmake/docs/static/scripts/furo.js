// SPDX-License-Identifier: Apache-2.0
// In place of the theme's own script, which is a module: browsers load no modules from files. It chooses light or dark colours,
// which the theme's style sheet in Debian 12 does not do by itself, and marks the header of a page that is scrolled.
(() => {
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const chosen = localStorage.getItem("theme");
    document.body.dataset.theme = chosen === "light" || chosen === "dark" ? chosen : prefersDark.matches ? "dark" : "light";
  };
  const setUp = () => {
    document.documentElement.classList.remove("no-js");
    show();
    prefersDark.addEventListener("change", show);
    for (const button of document.getElementsByClassName("theme-toggle")) {
      button.addEventListener("click", () => {
        localStorage.setItem("theme", document.body.dataset.theme === "dark" ? "light" : "dark");
        show();
      });
    }
    const header = document.querySelector("header");
    addEventListener("scroll", () => header.classList.toggle("scrolled", scrollY > 0), {passive: true});
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", setUp);
  else setUp();
})();
