// SPDX-License-Identifier: MIT
// What every page has: copy buttons, the glossary's words at its terms, and paper that shows all.
"use strict";

(() => {
  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    // Pages opened as files may lack the clipboard: then through a selection.
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };

  // The code without line numbers, and of a command in a session without its prompt.
  const codeOf = (pre) => {
    const clone = pre.cloneNode(true);
    clone.querySelectorAll(".linenos").forEach((one) => one.remove());
    return clone.textContent;
  };

  // Only the command, not its output, is of use elsewhere.
  const commandOf = (pre) => {
    const source = pre.closest(".code-with-source")?.querySelector(".code-source code");
    return source?.textContent.startsWith("$ ") ? source.textContent.slice(2) : null;
  };

  const addCopyButtons = () => {
    for (const pre of document.querySelectorAll("article .highlight > pre")) {
      const command = commandOf(pre);
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy-button";
      button.textContent = "Copy";
      button.setAttribute("aria-label", command ? "Copy the command" : "Copy this code");
      button.addEventListener("click", async () => {
        try {
          await copy(command ?? codeOf(pre));
          button.textContent = "Copied";
        } catch {
          button.textContent = "Not allowed";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      pre.parentElement.append(button);
    }
  };

  // What scrolls must be reachable by keyboard.
  const reachWhatScrolls = () => {
    for (const box of document.querySelectorAll("article .highlight > pre, article table, article .table-wrapper")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    }
  };

  const addHoverTexts = () => {
    const box = document.createElement("div");
    box.className = "term-words";
    box.id = "term-words";
    box.setAttribute("role", "tooltip");
    box.hidden = true;
    document.body.append(box);
    const hide = () => { box.hidden = true; };
    for (const link of document.querySelectorAll("a.term[title]")) {
      const words = link.title;
      link.removeAttribute("title");
      link.setAttribute("aria-describedby", box.id);
      const show = () => {
        box.textContent = words;
        box.hidden = false;
        const place = link.getBoundingClientRect();
        const left = Math.min(place.left, document.documentElement.clientWidth - box.offsetWidth - 8);
        const below = place.bottom + 6;
        const fits = below + box.offsetHeight < window.innerHeight;
        box.style.left = `${Math.max(8, left) + window.scrollX}px`;
        box.style.top = `${(fits ? below : place.top - box.offsetHeight - 6) + window.scrollY}px`;
      };
      link.addEventListener("mouseenter", show);
      link.addEventListener("focus", show);
      link.addEventListener("mouseleave", hide);
      link.addEventListener("blur", hide);
    }
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  };

  // A line of a source that a link names stands out.
  const markLine = () => {
    document.querySelectorAll(".is-target").forEach((one) => one.classList.remove("is-target"));
    if (/^#line-\d+$/.test(location.hash)) {
      const anchor = document.getElementById(location.hash.slice(1));
      const number = anchor && anchor.nextElementSibling;
      if (number) number.classList.add("is-target");
    }
  };

  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("article details:not([open])")) {
      one.open = true;
      one.dataset.openedForPrint = "";
    }
  });
  window.addEventListener("afterprint", () => {
    for (const one of document.querySelectorAll("details[data-opened-for-print]")) {
      one.open = false;
      delete one.dataset.openedForPrint;
    }
  });
  window.addEventListener("hashchange", markLine);
  window.addEventListener("resize", reachWhatScrolls);
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  addCopyButtons();
  reachWhatScrolls();
  addHoverTexts();
  markLine();
})();
