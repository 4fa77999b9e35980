// What pages do beyond HTML and htmx: times in the viewer's zone, keys, and a button that stops updates.
// Without it pages show UTC and are brought up to date by reloading them.
(function () {
  "use strict";
  var full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  var short = new Intl.DateTimeFormat(undefined, { month: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit" });
  var clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
  var spans = new Intl.RelativeTimeFormat(undefined, { numeric: "always", style: "short" });

  // How long ago or ahead a time is; the time itself is its title.
  function relative(at) {
    var seconds = (at - Date.now()) / 1000, units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
    for (var i = 0; i < units.length; i++) {
      if (Math.abs(seconds) >= units[i][1] || units[i][1] === 1) { return spans.format(Math.trunc(seconds / units[i][1]), units[i][0]); }
    }
  }

  function localTimes(root) {
    root.querySelectorAll("time[datetime]").forEach(function (t) {
      var at = new Date(t.getAttribute("datetime"));
      if (isNaN(at)) { return; }
      t.title = full.format(at);
      t.textContent = t.hasAttribute("data-short") ? short.format(at) : relative(at);
    });
  }

  // Between pressing a button and letting it go, what is pressed must stay: else nothing is clicked.
  var pressed = false;
  ["pointerdown", "pointerup", "pointercancel"].forEach(function (name) {
    document.addEventListener(name, function () { pressed = name === "pointerdown"; }, true);
  });

  // Whoever reads, selects or fills something in, or goes through the page by keyboard, is not interrupted.
  function busy() {
    var live = document.getElementById("live");
    var selection = document.getSelection();
    return pressed || document.hidden || !live || live.querySelector("details[open]:not(.fold), input:checked") !== null ||
      (live.contains(document.activeElement) && document.activeElement.matches("input, select, textarea, :focus-visible")) ||
      (selection && !selection.isCollapsed && live.contains(selection.anchorNode));
  }

  // What is selected is counted; with shift all from the last box to this one are.
  var box = null;
  function selects(event) {
    if (!event.target.matches("input[name=row]")) { return; }
    var all = Array.prototype.filter.call(document.querySelectorAll("input[name=row]"), function (b) { return b.form === event.target.form; });
    var from = all.indexOf(box), to = all.indexOf(event.target);
    all.forEach(function (b, i) {
      if (event.shiftKey && from >= 0 && i >= Math.min(from, to) && i <= Math.max(from, to)) { b.checked = event.target.checked; }
    });
    box = event.target;
    box.form.parentNode.querySelector("summary").textContent = "With the " + all.filter(function (b) { return b.checked; }).length + " selected";
  }

  // The text is copied as it is, however it is folded. Where a browser does not allow that there is no button.
  function copies(event) {
    if (!event.target.matches("button.copy")) { return; }
    navigator.clipboard.writeText(event.target.closest("details").querySelector("pre").textContent).then(function () { event.target.textContent = "Copied"; });
  }

  // A wide table stays where it was scrolled to.
  var scrolled = [];
  function tables() { return Array.prototype.slice.call(document.querySelectorAll("#live .scroll")); }

  // The page says when it was brought up to date; when that is long ago it is grey, and says why.
  var refreshed = Date.now(), failure = "";
  function fresh() {
    var live = document.getElementById("live"), label = document.querySelector(".fresh time");
    var stale = live && live.hasAttribute("hx-get") && !document.hidden && Date.now() - refreshed > 15000;
    label.textContent = clock.format(new Date(refreshed)) + (stale && failure ? ", then " + failure : "");
    label.title = "brought up to date";
    document.body.classList.toggle("stale", stale);
  }

  var keys = { o: "", p: "problems", m: "messages", f: "failed", t: "topics", j: "jobs", w: "workers" }, went = false;
  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, [contenteditable]")) { return; }
    var go = went && keys.hasOwnProperty(event.key);
    went = event.key === "g";
    if (go) {
      document.querySelectorAll("nav[aria-label='Pages'] a").forEach(function (a) {
        if (new URL(a.href).pathname.endsWith("/" + keys[event.key])) { a.click(); }
      });
    } else if (event.key === "/") {
      event.preventDefault();
      document.querySelector(".find input[name=q]").focus();
    } else if (event.key === "?") {
      document.getElementById("keys").showModal();
    } else if (event.key === "u") {
      document.querySelector("button.updates").click();
    }
  }

  document.addEventListener("DOMContentLoaded", function () {
    var updates = document.querySelector("button.updates");
    document.querySelector(".fresh").hidden = !document.querySelector("#live[hx-get]");
    updates.addEventListener("click", function () {
      updates.setAttribute("aria-pressed", String(updates.getAttribute("aria-pressed") !== "true"));
    });
    // Before a swap as well: meanwhile somebody may have begun something.
    ["htmx:beforeRequest", "htmx:beforeSwap"].forEach(function (name) {
      document.body.addEventListener(name, function (event) {
        if (updates.getAttribute("aria-pressed") !== "true" || busy()) { event.preventDefault(); }
      });
    });
    ["htmx:sendError", "htmx:timeout"].forEach(function (name) { document.body.addEventListener(name, function () { failure = "no answer"; }); });
    document.body.addEventListener("htmx:responseError", function (event) { failure = "answer " + event.detail.xhr.status; });
    document.body.addEventListener("htmx:beforeSwap", function () { scrolled = tables().map(function (t) { return t.scrollLeft; }); });
    document.body.addEventListener("htmx:afterSwap", function () {
      tables().forEach(function (t, i) { t.scrollLeft = scrolled[i] || 0; });
      refreshed = Date.now();
      failure = "";
      localTimes(document);
      fresh();
    });
    document.querySelectorAll("form.stores select").forEach(function (select) {
      select.addEventListener("change", function () { select.form.requestSubmit(); });
    });
    document.addEventListener("keydown", key);
    document.addEventListener("click", selects);
    document.body.classList.toggle("copies", Boolean(navigator.clipboard));
    document.addEventListener("click", copies);
    setInterval(function () { localTimes(document); fresh(); }, 1000);
    localTimes(document);
    fresh();
  });
})();
