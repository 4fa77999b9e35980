// What pages do beyond HTML and htmx: times in the viewer's zone, keys, and a button that stops updates.
// Without it pages show UTC and are brought up to date by reloading them.
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const short = new Intl.DateTimeFormat(undefined, { month: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const spans = new Intl.RelativeTimeFormat(undefined, { numeric: "always", style: "short" });
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const on = (names, react) => names.split(" ").forEach((name) => document.addEventListener(name, react, true));

// How long ago or ahead a time is; the time itself is its title.
function relative(at) {
  const seconds = (at - Date.now()) / 1000, units = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const [unit, size] = units.find((one) => Math.abs(seconds) >= one[1]) || ["second", 1];
  return spans.format(Math.trunc(seconds / size), unit);
}

function localTimes() {
  for (const t of all("time[datetime]")) {
    const at = new Date(t.dateTime);
    t.title = full.format(at);
    t.textContent = t.hasAttribute("data-short") ? short.format(at) : relative(at);
  }
}

// Between pressing a button and letting it go, what is pressed must stay: else nothing is clicked.
let pressed = false;
on("pointerdown pointerup pointercancel", (event) => { pressed = event.type === "pointerdown"; });

// Whoever reads, selects or fills something in, or goes through the page by keyboard, is not interrupted.
function busy() {
  const live = find("#live"), active = document.activeElement, selection = document.getSelection();
  return pressed || document.hidden || live.querySelector("details[open]:not(.fold), input:checked") !== null ||
    (live.contains(active) && active.matches("input, select, textarea, :focus-visible")) ||
    (!selection.isCollapsed && live.contains(selection.anchorNode));
}

// What is selected is counted; with shift all from the last box to this one are.
let last = null;
on("click", ({ target, shiftKey }) => {
  if (!target.matches("input[name=row]")) { return; }
  const boxes = all("input[name=row]").filter((box) => box.form === target.form);
  const [from, to] = [boxes.indexOf(last), boxes.indexOf(target)].sort((a, b) => a - b);
  if (shiftKey && from >= 0) { boxes.slice(from, to + 1).forEach((box) => { box.checked = target.checked; }); }
  last = target;
  target.form.parentNode.querySelector("summary").textContent = "With the " + boxes.filter((box) => box.checked).length + " selected";
});

// The text is copied as it is, however it is folded. Where a browser does not allow that there is no button.
document.body.classList.toggle("copies", Boolean(navigator.clipboard));
on("click", ({ target }) => {
  if (!target.matches("button.copy")) { return; }
  navigator.clipboard.writeText(target.closest("details").querySelector("pre").textContent).then(() => { target.textContent = "Copied"; });
});

const updates = find("button.updates"), updating = () => updates.getAttribute("aria-pressed") === "true";
updates.addEventListener("click", () => { updates.setAttribute("aria-pressed", String(!updating())); });
// Before a swap as well: meanwhile somebody may have begun something.
on("htmx:beforeRequest htmx:beforeSwap", (event) => {
  if (!updating() || busy()) { event.preventDefault(); }
});

const keys = { o: "", p: "problems", m: "messages", f: "failed", t: "topics", j: "jobs", w: "workers" };
let went = false;
on("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea, [contenteditable]")) { return; }
  const go = went && Object.hasOwn(keys, event.key);
  went = event.key === "g";
  if (go) {
    all("nav[aria-label='Pages'] a").find((a) => new URL(a.href).pathname.endsWith("/" + keys[event.key]))?.click();
  } else if (event.key === "/") {
    event.preventDefault();
    find(".find input[name=q]").focus();
  } else if (event.key === "?") {
    find("#keys").showModal();
  } else if (event.key === "u") {
    updates.click();
  }
});

// The page says when it was brought up to date; when that is long ago it is grey, and says why.
let refreshed = Date.now(), failure = "";
find(".fresh").hidden = !find("#live[hx-get]");
function fresh() {
  const stale = find("#live[hx-get]") !== null && !document.hidden && Date.now() - refreshed > 15000, label = find(".fresh time");
  label.textContent = clock.format(new Date(refreshed)) + (stale && failure ? ", then " + failure : "");
  document.body.classList.toggle("stale", stale);
  localTimes();
}
on("htmx:sendError htmx:timeout htmx:responseError", ({ detail: { xhr } }) => { failure = xhr.status ? "answer " + xhr.status : "no answer"; });

// A wide table stays where it was scrolled to.
let scrolled = [];
on("htmx:beforeSwap", () => { scrolled = all("#live .scroll").map((table) => table.scrollLeft); });
on("htmx:afterSwap", () => {
  all("#live .scroll").forEach((table, i) => { table.scrollLeft = scrolled[i] || 0; });
  [refreshed, failure] = [Date.now(), ""];
  fresh();
});

on("change", ({ target }) => {
  if (target.matches("form.stores select")) { target.form.requestSubmit(); }
});
setInterval(fresh, 1000);
fresh();
