// The script of the panel. Every page works without it. It adds: buttons that
// cannot be pressed twice, a banner whenever an answer is late, lost or not
// ours, times in the reader's zone, and polls that survive an outage.
// The texts come from the page (#words), so that they can be translated there.
(function () {
  "use strict";

  const words = document.getElementById("words").dataset;
  const banner = document.getElementById("banner");

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  const each = (root, selector, act) => {
    if (root.matches?.(selector)) act(root);
    root.querySelectorAll(selector).forEach(act);
  };

  // ---- the banner ---------------------------------------------------------

  function show(text) {
    const p = document.createElement("p");
    p.textContent = text;
    const close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.textContent = words.dismiss;
    close.addEventListener("click", () => banner.replaceChildren());
    const box = document.createElement("div");
    box.className = "note note-bad";
    box.setAttribute("role", "alert");
    box.append(p, close);
    banner.replaceChildren(box);
    banner.scrollIntoView({ block: "nearest" });
  }

  const isPoll = (elt) => elt.hasAttribute("data-poll");
  const isOurs = (xhr) => xhr.getResponseHeader("X-Bongsu") === "1";

  function failed(elt, text, status) {
    if (isPoll(elt)) pollFailed(elt, status);
    else show(text);
  }

  document.addEventListener("htmx:timeout", (e) => failed(e.detail.elt, words.timeout, words.noanswer));
  document.addEventListener("htmx:sendError", (e) => failed(e.detail.elt, words.lost, words.noanswer));
  document.addEventListener("htmx:onLoadError", (e) => failed(e.detail.elt, words.lost, words.noanswer));

  // Before anything in an answer is believed, its header must say that it is
  // ours: a proxy's page is never inserted and its headers never obeyed.
  document.addEventListener("htmx:beforeOnLoad", (e) => {
    const { xhr, elt } = e.detail;
    if (isOurs(xhr)) return;
    e.preventDefault();
    failed(elt, fill(words.foreign, { status: xhr.status }), xhr.status);
  });

  // Our own error answers carry a short text made for the banner. Field errors
  // (422) go where the form asked for.
  document.addEventListener("htmx:beforeSwap", (e) => {
    const d = e.detail;
    keep(d.target);
    if (d.xhr.status < 400 || d.xhr.status === 422) {
      if (isPoll(d.requestConfig.elt)) pollWorked(d.requestConfig.elt);
      else banner.replaceChildren();
      return;
    }
    const elt = d.requestConfig.elt;
    if (isPoll(elt)) {
      pollFailed(elt, d.xhr.status);
      if (d.xhr.status !== 401) return;
      elt.dataset.stopped = "true";
    }
    d.shouldSwap = true;
    d.target = banner;
    d.swapOverride = "innerHTML show:top";
  });

  // ---- submit buttons -----------------------------------------------------

  const submits = (form) => Array.from(form.elements).filter((b) => b.type === "submit");
  let pressed = null;

  function disable(form) {
    pressed = document.activeElement;
    form.setAttribute("aria-busy", "true");
    submits(form).forEach((b) => { b.disabled = true; });
  }

  function enable(form) {
    form.removeAttribute("aria-busy");
    submits(form).forEach((b) => { b.disabled = b.hasAttribute("data-off"); });
    if (pressed?.isConnected && document.activeElement === document.body) pressed.focus();
  }

  document.addEventListener("htmx:beforeRequest", (e) => {
    const elt = e.detail.elt;
    if (elt.matches("form")) disable(elt);
    if (isPoll(elt) && (document.hidden || elt.dataset.stopped)) e.preventDefault();
  });
  document.addEventListener("htmx:afterRequest", (e) => {
    const { elt, keepIndicators } = e.detail;
    if (elt.matches("form") && !keepIndicators) enable(elt);
  });

  // A form that is sent without htmx: its buttons go off once the browser has
  // read them.
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (e.defaultPrevented || form.method !== "post") return;
    setTimeout(() => disable(form), 0);
  });

  // A page out of the browser's cache shows what was, with its buttons off.
  window.addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });

  // ---- files --------------------------------------------------------------

  // A form with data-upload goes out with a bar, and is given up where nothing
  // moves for a minute. Its answer is a redirect, or a text: beside the form where
  // the file is wrong, in the banner otherwise.
  const idle = 60000;

  function sendFile(form) {
    const xhr = new XMLHttpRequest();
    const bar = form.querySelector("[data-upload-bar]");
    const says = form.querySelector("[data-upload-says]");
    const note = form.querySelector("[data-upload-note]");
    let timer = 0;
    let stalled = false;
    const moved = (limit) => {
      clearTimeout(timer);
      timer = setTimeout(() => { stalled = true; xhr.abort(); }, limit);
    };
    const over = (text) => {
      clearTimeout(timer);
      [bar, says].forEach((e) => { e.hidden = true; });
      enable(form);
      if (text) show(text);
    };
    const mb = (n) => (n / 1e6).toFixed(1);
    xhr.upload.addEventListener("progress", (e) => {
      moved(idle);
      bar.max = e.total;
      bar.value = e.loaded;
      says.textContent = fill(form.dataset.upload, { done: mb(e.loaded), whole: mb(e.total) });
    });
    xhr.addEventListener("error", () => over(words.uploadcut));
    xhr.addEventListener("abort", () => over(stalled ? words.uploadstalled : words.uploadcut));
    xhr.addEventListener("load", () => {
      const to = xhr.getResponseHeader("HX-Redirect");
      if (!isOurs(xhr)) { over(fill(words.foreign, { status: xhr.status })); return; }
      if (to) { clearTimeout(timer); location.assign(to); return; }
      over("");
      const place = xhr.status === 422 ? note : banner;
      htmx.swap(place, xhr.responseText, { swapStyle: "innerHTML" });
      place.scrollIntoView({ block: "nearest" });
    });
    note.replaceChildren();
    banner.replaceChildren();
    [bar, says].forEach((e) => { e.hidden = false; });
    xhr.open("POST", form.action);
    xhr.setRequestHeader("HX-Request", "true");
    xhr.setRequestHeader("HX-Current-URL", location.href);
    const body = new FormData(form);
    disable(form);
    moved(idle);
    xhr.send(body);
  }

  document.addEventListener("submit", (e) => {
    if (!e.target.hasAttribute("data-upload")) return;
    e.preventDefault();
    if (e.target.getAttribute("aria-busy") !== "true") sendFile(e.target);
  }, true);

  // ---- polls --------------------------------------------------------------

  const noteOf = (elt) => document.getElementById(elt.dataset.poll);
  let lastGood = new Date();

  function pollFailed(elt, status) {
    const note = noteOf(elt);
    if (!note) return;
    note.textContent = fill(words.stale, { time: clock(lastGood, false), status });
    note.hidden = false;
  }

  function pollWorked(elt) {
    lastGood = new Date();
    const note = noteOf(elt);
    if (note && !note.hidden) {
      note.hidden = true;
      note.textContent = "";
    }
  }

  // 204: nothing has changed, so nothing is swapped.
  document.addEventListener("htmx:afterRequest", (e) => {
    const { elt, xhr } = e.detail;
    if (isPoll(elt) && xhr?.status === 204 && isOurs(xhr)) pollWorked(elt);
  });

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) each(document, "[data-stopped]", (elt) => delete elt.dataset.stopped);
  });

  // What the reader has opened or scrolled stays so over a swap.
  let kept = [];
  function keep(target) {
    kept = Array.from(target?.querySelectorAll("details[id], .scroll[id]") ?? [],
      (e) => ({ id: e.id, open: e.open, left: e.scrollLeft }));
  }
  function restore() {
    kept.forEach(({ id, open, left }) => {
      const e = document.getElementById(id);
      if (e && open) e.open = true;
      if (e && left) e.scrollLeft = left;
    });
  }

  const said = document.getElementById("announce");

  function announce(elt) {
    if (said && said.textContent !== elt.dataset.announce) said.textContent = elt.dataset.announce;
  }

  // ---- links to copy ------------------------------------------------------

  // Where the browser does not let us copy, a field shows the link, selected.
  async function copy(button) {
    const link = new URL(button.dataset.copy, location.href).href;
    const field = button.parentElement.querySelector("[data-copied-link]");
    said.textContent = "";
    try {
      await navigator.clipboard.writeText(link);
      field.hidden = true;
      button.textContent = words.copied;
      said.textContent = words.copied;
    } catch {
      field.value = link;
      field.hidden = false;
      field.focus();
      field.select();
      said.textContent = words.copybyhand;
    }
  }

  document.addEventListener("click", (e) => {
    const button = e.target.closest?.("[data-copy]");
    if (button) copy(button);
  });

  // ---- times --------------------------------------------------------------

  const shape = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit",
    second: "2-digit", hourCycle: "h23", timeZoneName: "short" };

  function clock(date, withDay, digits) {
    const options = digits ? { ...shape, fractionalSecondDigits: digits } : shape;
    const p = {};
    new Intl.DateTimeFormat("en-US", options).formatToParts(date).forEach((x) => { p[x.type] = x.value; });
    const time = `${p.hour}:${p.minute}:${p.second}${p.fractionalSecond ? "." + p.fractionalSecond : ""} ${p.timeZoneName}`;
    return withDay ? `${p.year}-${p.month}-${p.day} ${time}` : time;
  }

  function localTime(elt) {
    const date = new Date(elt.dateTime);
    if (isNaN(date) || elt.title) return;
    elt.title = elt.textContent;
    elt.textContent = clock(date, elt.dataset.show !== "time", elt.dateTime.includes(".") ? 3 : undefined);
  }

  // ---- typing -------------------------------------------------------------

  const text = (input) => input.value.replace(/\r\n?/g, "\n").normalize("NFC").trim();
  const bytes = (s) => new TextEncoder().encode(s).length;

  // An output with data-count-of counts that field as the server will.
  function count(output) {
    const typed = text(document.getElementById(output.dataset.countOf));
    const chars = Array.from(typed).length;
    const limit = Number(output.dataset.limit);
    const n = (x) => x.toLocaleString("en-US");
    output.textContent = fill(words.count, { chars: n(chars), bytes: n(bytes(typed)), limit: n(limit) });
    output.classList.toggle("over", chars > limit);
  }

  function mirror(elt) {
    const input = document.getElementById(elt.dataset.mirror);
    elt.textContent = text(input) || elt.dataset.empty;
  }

  document.addEventListener("input", () => {
    each(document, "[data-count-of]", count);
    each(document, "[data-mirror]", mirror);
  });

  // ---- choosing rows ------------------------------------------------------

  // A form with data-choose names its checkboxes; a button with data-chosen
  // shows how many are on and is off while none is.
  function chosen(form) {
    const boxes = Array.from(form.querySelectorAll(`input[name="${form.dataset.choose}"]`));
    const n = boxes.filter((b) => b.checked).length;
    Array.from(form.elements).filter((b) => b.dataset.chosen).forEach((b) => {
      b.textContent = fill(b.dataset.chosen, { n });
      b.disabled = n === 0;
      b.toggleAttribute("data-off", n === 0);
    });
    each(form, "[data-choose-all]", (all) => {
      all.checked = n > 0 && n === boxes.length;
      all.indeterminate = n > 0 && n < boxes.length;
    });
  }

  document.addEventListener("change", (e) => {
    const form = e.target.form;
    if (!form?.dataset.choose) return;
    if (e.target.hasAttribute("data-choose-all")) {
      each(form, `input[name="${form.dataset.choose}"]`, (b) => { b.checked = e.target.checked; });
    }
    chosen(form);
  });

  // ---- what is new on the page --------------------------------------------

  function dress(root) {
    each(root, "time[datetime]", localTime);
    each(root, "[data-count-of]", count);
    each(root, "[data-mirror]", mirror);
    each(root, "form[data-choose]", chosen);
    each(root, "[data-needs-script]", (elt) => { elt.hidden = false; });
    each(root, "[data-announce]", announce);
    restore();
  }

  document.addEventListener("htmx:load", (e) => dress(e.detail.elt));
})();
