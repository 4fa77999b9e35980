// Theme, menu and search. Pages can be read without it.
(() => {
  "use strict";
  const html = document.documentElement, root = document.currentScript.dataset.root;
  const stored = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const store = value => { try { localStorage.setItem("theme", value); } catch { /* it holds for this page */ } };
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => html.dataset.theme ? html.dataset.theme === "dark" : prefers.matches;
  html.classList.add("scripted");
  if (stored()) html.dataset.theme = stored();

  // The index and what searches it are loaded when somebody begins to search: by scripts, because
  // pages that are files may not fetch.
  let loading;
  const script = name => new Promise((done, failed) => {
    const s = document.createElement("script");
    Object.assign(s, { src: root + name, onload: done, onerror: () => failed(new Error(name)) });
    document.head.append(s);
  });
  const load = () => loading ??= Promise.all(["minisearch.js", "search.js", "search-index.js"].map(script))
    .then(() => window.pawlSearch(window.pawlIndex, window.pawlRules));

  // excerpt returns the text around the first of the words that begin with a term; they are marked.
  function excerpt(text, terms) {
    const small = document.createElement("small");
    const pattern = new RegExp("(?<![\\p{L}\\p{N}])((?:" + terms.map(t => t.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")[\\p{L}\\p{N}]*)", "giu");
    const from = Math.max(0, text.search(pattern) - 60);
    const part = (from > 0 ? "…" : "") + text.slice(from, from + 180);
    part.split(pattern).forEach((piece, i) => {
      const node = i % 2 ? document.createElement("mark") : document.createTextNode(piece);
      if (i % 2) node.textContent = piece;
      small.append(node);
    });
    return small;
  }

  function show(box, found) {
    const list = document.createElement("ul");
    for (const hit of found.slice(0, 20)) {
      const a = document.createElement("a"), where = document.createElement("b");
      a.href = root + hit.u;
      where.textContent = hit.h ? hit.p + " › " + hit.h : hit.p;
      a.append(where, excerpt(hit.t, hit.terms));
      const item = document.createElement("li");
      item.append(a);
      list.append(item);
    }
    const note = document.createElement("p");
    note.textContent = found.length === 0 ? "Nothing found." : found.length > 20 ? "20 of " + found.length + " places" : found.length + (found.length === 1 ? " place" : " places");
    box.replaceChildren(note, list);
    box.hidden = false;
  }

  document.addEventListener("DOMContentLoaded", () => {
    const theme = document.getElementById("theme"), menu = document.getElementById("menu"), nav = document.getElementById("nav");
    const form = document.getElementById("search"), words = document.getElementById("words"), box = document.getElementById("results");
    for (const e of [theme, menu, form]) e.hidden = false;

    const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
    name();
    prefers.addEventListener("change", name);
    theme.addEventListener("click", () => {
      html.dataset.theme = isDark() ? "light" : "dark";
      store(html.dataset.theme);
      name();
    });
    menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(nav.classList.toggle("open"))));
    nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

    const close = () => { box.hidden = true; };
    async function search() {
      const text = words.value.trim();
      if (text.length < 2) return close();
      try {
        const find = await load();
        if (text === words.value.trim()) show(box, find(text));
      } catch (error) {
        box.textContent = "The search could not be loaded: " + error.message;
        box.hidden = false;
      }
    }
    words.addEventListener("focus", () => load().catch(() => { loading = undefined; }));
    words.addEventListener("input", search);
    form.addEventListener("submit", event => {
      event.preventDefault();
      box.querySelector("a")?.click();
    });
    document.addEventListener("keydown", event => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        words.focus();
        words.select();
      } else if (event.key === "Escape" && !box.hidden) {
        close();
        words.focus();
      } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && form.contains(document.activeElement)) {
        const links = [...box.querySelectorAll("a")], at = links.indexOf(document.activeElement);
        event.preventDefault();
        (links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? words).focus();
      }
    });
    document.addEventListener("click", event => { if (!form.contains(event.target)) close(); });
    box.addEventListener("click", event => {
      if (!event.target.closest("a")) return;
      close();
      document.activeElement.blur(); // what is found may be on this page
    });
  });
})();
