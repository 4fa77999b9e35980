// What pages do beyond HTML and htmx: times in the viewer's zone, and a button that stops updates.
// Without it pages show UTC and are brought up to date by reloading them.
(function () {
  "use strict";
  var format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

  function localTimes(root) {
    root.querySelectorAll("time[datetime]").forEach(function (t) {
      var at = new Date(t.getAttribute("datetime"));
      if (!isNaN(at)) { t.textContent = format.format(at); }
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
    return pressed || document.hidden || !live || live.querySelector("details[open]") !== null ||
      (live.contains(document.activeElement) && document.activeElement.matches("input, select, textarea, :focus-visible")) ||
      (selection && !selection.isCollapsed && live.contains(selection.anchorNode));
  }

  // A wide table stays where it was scrolled to.
  var scrolled = [];
  function tables() { return Array.prototype.slice.call(document.querySelectorAll("#live .scroll")); }

  document.addEventListener("DOMContentLoaded", function () {
    var pause = document.querySelector("button.pause");
    pause.hidden = !document.querySelector("#live[hx-get]");
    pause.addEventListener("click", function () {
      var paused = pause.getAttribute("aria-pressed") !== "true";
      pause.setAttribute("aria-pressed", String(paused));
    });
    // Before a swap as well: meanwhile somebody may have begun something.
    ["htmx:beforeRequest", "htmx:beforeSwap"].forEach(function (name) {
      document.body.addEventListener(name, function (event) {
        if (pause.getAttribute("aria-pressed") === "true" || busy()) { event.preventDefault(); }
      });
    });
    document.body.addEventListener("htmx:beforeSwap", function () { scrolled = tables().map(function (t) { return t.scrollLeft; }); });
    document.body.addEventListener("htmx:afterSwap", function () {
      tables().forEach(function (t, i) { t.scrollLeft = scrolled[i] || 0; });
      localTimes(document);
    });
    document.querySelectorAll("form.stores select").forEach(function (select) {
      select.addEventListener("change", function () { select.form.requestSubmit(); });
    });
    localTimes(document);
  });
})();
