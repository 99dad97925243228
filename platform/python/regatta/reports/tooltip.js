// SPDX-License-Identifier: Apache-2.0
// What a mark of a figure says under the pointer, as a small table: for Vega's option `tooltip`.
"use strict";
page.tooltip = (() => {
  const box = document.createElement("div");
  box.className = "tooltip";
  box.hidden = true;
  document.body.append(box);
  return (handler, event, item, value) => {
    box.hidden = value === null || value === undefined || value === "";
    if (box.hidden) return;
    const list = document.createElement("dl");
    Object.entries(typeof value === "object" ? value : { "": value }).forEach(([name, text]) => {
      const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
      dt.textContent = name;
      dd.textContent = text;
      list.append(dt, dd);
    });
    box.replaceChildren(list);
    // Within the window, and not under the pointer.
    const left = event.clientX + 14 + box.offsetWidth > innerWidth ? event.clientX - 14 - box.offsetWidth : event.clientX + 14;
    const top = event.clientY + 14 + box.offsetHeight > innerHeight ? event.clientY - 14 - box.offsetHeight : event.clientY + 14;
    box.style.left = `${Math.max(4, left)}px`;
    box.style.top = `${Math.max(4, top)}px`;
  };
})();
