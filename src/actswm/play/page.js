"use strict";
// Shows what the server streams (about, moment, imagined, ended) and tells it what the person's hands do.
// The game and what a model makes of it are two worlds; the clock and the hands serve the one that is being played.

const $ = (id) => document.getElementById(id);
const SECONDS_OF_ROLL = 4;
const BUTTONS = ["invitation", "clock", "world", "save", "reset"];
const LABELS = {
  ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", ShiftLeft: "⇧ Shift", ShiftRight: "⇧ right",
  Mouse0: "left click", Mouse1: "middle click", Mouse2: "right click",
};

let about = null;          // what the session is
let running = false;       // the game's clock, as the server says
let imagining = false;     // is the person inside the models?
let mouseLooks = false;    // does the game have a camera that a mouse can move?
const inputsOf = new Map();   // browser code -> the inputs (controls, camera axes) it presses
const down = new Set();       // browser codes that are down
const past = [];              // the last actions, for the roll

// ---------------------------------------------------------------- what the hands do

const tapped = new Set();
let way = { dx: 0, dy: 0 };
let sending = false;
let unsent = false;

function post(name, content) {
  return fetch(name, { method: "POST", body: JSON.stringify(content) }).catch(() => undefined);
}

async function report() {      // one request at a time, so that reports arrive in order
  unsent = true;
  if (sending) return;
  sending = true;
  while (unsent) {
    unsent = false;
    const held = [...new Set([...down].flatMap((code) => inputsOf.get(code)))];
    const told = { held, tapped: [...tapped], ...way };
    tapped.clear();
    way = { dx: 0, dy: 0 };
    await post("input", told);
  }
  sending = false;
}

function press(code) {
  if (down.has(code)) return;
  down.add(code);
  inputsOf.get(code).forEach((input) => tapped.add(input));
  report();
}

function release(code) {
  if (down.delete(code)) report();
}

function setClock(wanted) {
  if (wanted === running || !about) return;
  if (!wanted) {
    down.clear();
    if (document.pointerLockElement) document.exitPointerLock();
  }
  post("clock", { running: wanted });
}

function takeMouse() {
  if (mouseLooks && !document.pointerLockElement) {
    Promise.resolve($("screen").requestPointerLock()).catch(() => undefined);   // refused: keys still work
  }
}

function switchWorld() {
  if (about?.models.length) post("world", { imagined: !imagining });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;   // the browser's own
  if (event.code === "Escape") return setClock(false);
  if (event.code === "Tab" && running && !inputsOf.has("Tab")) {   // a paused page is walked through as any other
    event.preventDefault();
    if (!event.repeat) switchWorld();
    return;
  }
  const onButton = document.activeElement instanceof HTMLButtonElement;
  if (!inputsOf.has(event.code) || (onButton && ["Space", "Enter"].includes(event.code))) return;
  event.preventDefault();
  if (event.repeat) return;
  setClock(true);
  press(event.code);
});
addEventListener("keyup", (event) => release(event.code));
addEventListener("blur", () => setClock(false));
document.addEventListener("visibilitychange", () => document.hidden && setClock(false));
document.addEventListener("pointerlockchange", () => document.pointerLockElement || setClock(false));

$("screen").addEventListener("mousedown", (event) => {
  if (event.target === $("invitation")) return;
  event.preventDefault();
  takeMouse();
  if (running && inputsOf.has(`Mouse${event.button}`)) press(`Mouse${event.button}`);
});
addEventListener("mouseup", (event) => release(`Mouse${event.button}`));
$("stage").addEventListener("contextmenu", (event) => event.preventDefault());
addEventListener("mousemove", (event) => {
  if (!document.pointerLockElement || !running) return;
  way.dx += event.movementX;
  way.dy += event.movementY;
  report();
});

$("invitation").addEventListener("click", () => { takeMouse(); setClock(true); });
$("clock").addEventListener("click", () => setClock(!running));
$("world").addEventListener("click", () => { switchWorld(); setClock(true); });
$("save").addEventListener("click", () => post("episode", { wish: "save" }));
$("reset").addEventListener("click", () => post("episode", { wish: "reset" }));
document.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => button.blur()));

// ---------------------------------------------------------------- what there is to see

async function draw(canvas, base64) {      // one at a time; what comes meanwhile waits, and only the newest of it
  if (canvas.newest === base64) return;
  canvas.newest = base64;
  if (canvas.drawing) return;
  canvas.drawing = true;
  for (let shown; shown !== canvas.newest;) {
    shown = canvas.newest;
    const bytes = Uint8Array.from(atob(shown), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    if (canvas.width !== picture.width) [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    picture.close();
  }
  canvas.drawing = false;
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const count = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
const label = (code) => LABELS[code] ?? code.replace(/^(Key|Digit)/, "");

function showAbout(told) {
  about = told;
  document.title = `${about.game}: actswm play`;
  $("game").textContent = about.game;
  inputsOf.clear();
  for (const [input, codes] of Object.entries(about.bindings)) {
    codes.forEach((code) => inputsOf.set(code, [...(inputsOf.get(code) ?? []), input]));
  }
  const camera = new Set(["-x", "+x", "-y", "+y"].flatMap((axis) => about.bindings[axis] ?? []));
  mouseLooks = about.lanes.some((lane) => lane.effective && lane.codes.some((code) => camera.has(code)));
  $("lanes").replaceChildren(...about.lanes.map((lane) => element(
    "li", { className: lane.effective ? "" : "idle", title: lane.effective ? "" : "does nothing in this world" },
    element("span", { className: "name", textContent: lane.name }),
    element("span", { className: "count", title: "presses so far" }),
    ...lane.codes.map((code) => element("kbd", { textContent: label(code) })),
  )));
  document.documentElement.style.setProperty("--aspect", about.aspect);
  $("save").hidden = !about.saving;
  $("reset").title = about.saving ? "Start a new episode; this one is not kept" : "Start a new episode";
  $("hint").textContent = (mouseLooks ? "Click the picture to look around with the mouse. " : "")
    + (about.models.length ? "Tab goes on inside the model, and comes back. " : "")
    + "Esc, or another window, pauses the game.";
  const several = about.models.length > 1;
  $("world").hidden = $("imagined").hidden = !about.models.length;
  $("imagined-title").textContent = `What the model${several ? "s" : ""} expect${several ? "" : "s"}`;
  $("futures").classList.toggle("two", several);
  $("futures").replaceChildren(...about.models.map((name) => element("div", { className: "model" },
    element("h3", { textContent: name, hidden: !several }), ...["held", "let go"].map((kind) => futureRow(name, kind)))));
  $("dreams").replaceChildren(...about.models.map((name) => element("figure", {},
    picture(`the world of ${name}, now`), element("figcaption", { textContent: name }))));
}

function picture(ariaLabel) {
  const canvas = element("canvas", { ariaLabel });
  canvas.setAttribute("role", "img");
  return canvas;
}

function futureRow(name, kind) {
  const tiles = about.steps.map((step) => {
    const seconds = `+${secondsOf(step).toFixed(2)} s`;
    const canvas = picture(`expected by ${name} in ${seconds}, ${kind}`);
    return element("figure", { title: `${step} model steps ahead` }, canvas, element("figcaption", { textContent: seconds }));
  });
  return element("div", { className: "future" }, element("h4"), element("div", { className: "tiles" }, ...tiles));
}

const secondsOf = (steps) => steps * about.frameskip / about.fps;

function showMoment(moment) {
  running = moment.running;
  imagining = moment.dreams.length > 0;
  $("dreams").hidden = !imagining;
  $("imagined").classList.toggle("past", imagining);   // its futures are those of reality
  $("seen").hidden = imagining || !moment.seen || !about.models.length;
  if (imagining) {
    $("dreams").querySelectorAll("canvas").forEach((canvas, model) => draw(canvas, moment.dreams[model]));
  } else {
    draw($("real"), moment.jpeg);
    if (!$("seen").hidden) draw($("seen"), moment.seen);
  }
  $("world").textContent = imagining ? "Back to reality" : "Imagine";
  $("world").ariaPressed = imagining;
  $("stage").classList.toggle("paused", !running);
  BUTTONS.forEach((id) => { $(id).disabled = false; });
  $("invitation").textContent = `${moment.step ? "Paused\n" : ""}Click, or press a key, to play`;
  $("clock").textContent = running ? "Pause" : "Play";
  $("news").textContent = imagining
    ? `Imagined: ${secondsOf(moment.dreamt).toFixed(1)} s since reality, which waits.` : moment.news;
  $("speed").textContent = `episode ${moment.episode}`
    + (running && moment.fps ? `, ${moment.fps.toFixed(1)} of ${about.fps} steps a second` : "");
  const recording = Boolean(about.saving) && running && !imagining;
  $("recording").classList.toggle("on", recording);
  $("recording-text").textContent = !about.saving ? "not recording: start with --record FILE.h5 to keep what you play"
    : imagining ? "not recording what is imagined"
    : `${running ? "recording" : "saving"} to ${about.saving}: ${count(moment.step, "frame")} of this episode; `
      + `saved: ${moment.kept.frames.toLocaleString("en")} in ${count(moment.kept.episodes, "episode")}`;
  [...$("lanes").children].forEach((row, index) => {
    row.classList.toggle("lit", moment.action[index] !== 0);
    row.querySelector(".count").textContent = moment.presses[index] || "";
  });
  const total = moment.presses.reduce((sum, one) => sum + one, 0);
  $("presses").textContent = `${total.toLocaleString("en")} press${total === 1 ? "" : "es"} so far`;
  if (running) {
    past.push(moment.action);
    past.splice(0, past.length - Math.round(SECONDS_OF_ROLL * about.fps));
  }
  drawRoll();
}

function drawRoll() {
  if (!about) return;
  const canvas = $("roll"), context = canvas.getContext("2d"), scale = devicePixelRatio;
  const width = canvas.clientWidth * scale, height = $("lanes").clientHeight * scale;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const colours = getComputedStyle(document.documentElement);
  const row = height / about.lanes.length, column = width / Math.round(SECONDS_OF_ROLL * about.fps);
  context.clearRect(0, 0, width, height);
  context.fillStyle = colours.getPropertyValue("--line");
  about.lanes.forEach((_, index) => context.fillRect(0, (index + 0.5) * row, width, scale));
  context.fillStyle = colours.getPropertyValue("--lit");
  past.forEach((action, age) => action.forEach((value, index) => {
    if (value) context.fillRect(width - (past.length - age) * column, (index + 0.2) * row, column + scale, 0.6 * row);
  }));
}

new ResizeObserver(drawRoll).observe($("lanes"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawRoll);

const latencies = [];

function showImagined(told) {
  const rows = [...$("futures").children[told.model].querySelectorAll(".future")];
  told.futures.forEach((future, index) => {
    const keys = future.held.map((name) => element("kbd", { textContent: name, className: "lit" }));
    const words = index ? ["if you let go"] : keys.length ? ["if you keep holding", ...keys] : ["if you keep still"];
    rows[index].querySelector("h4").replaceChildren(...words);
    rows[index].querySelectorAll("canvas").forEach((canvas, step) => draw(canvas, future.jpegs[step]));
  });
  latencies[told.model] = `${about.models[told.model]}: rolled out from the last ${about.contexts[told.model]} real frames in `
    + `${Math.round(1000 * told.latency)} ms; ` + (about.drawn[told.model]
      ? "a decoder that saw real frames only draws each latent." : "each latent is shown as the recorded frame nearest to it.");
  $("imagined-note").textContent = latencies.filter(Boolean).join(" ");
}

function stop(words) {
  running = false;
  $("stage").classList.add("paused");
  $("recording").classList.remove("on");
  $("invitation").textContent = words;
  BUTTONS.forEach((id) => { $(id).disabled = true; });
}

const stream = new EventSource("stream");
stream.addEventListener("about", (event) => showAbout(JSON.parse(event.data)));
stream.addEventListener("moment", (event) => showMoment(JSON.parse(event.data)));
stream.addEventListener("imagined", (event) => showImagined(JSON.parse(event.data)));
stream.addEventListener("ended", () => { stream.close(); stop("The session has ended."); });
stream.addEventListener("error", () => stop("The connection to actswm play is lost."));
