"use strict";
// Shows what the server streams (about, moment, imagined, ended) and tells it what the person's hands do.

const $ = (id) => document.getElementById(id);
const SECONDS_OF_ROLL = 4;
const BUTTONS = ["invitation", "clock", "save", "reset"];
const LABELS = {
  ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", ShiftLeft: "⇧ Shift", ShiftRight: "⇧ right",
  Mouse0: "left click", Mouse1: "middle click", Mouse2: "right click",
};

let about = null;          // what the session is
let running = false;       // the game's clock, as the server says
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
    Promise.resolve($("real").requestPointerLock()).catch(() => undefined);   // refused: keys still work
  }
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;   // the browser's own
  if (event.code === "Escape") return setClock(false);
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

$("real").addEventListener("mousedown", (event) => {
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
$("save").addEventListener("click", () => post("episode", { wish: "save" }));
$("reset").addEventListener("click", () => post("episode", { wish: "reset" }));
document.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => button.blur()));

// ---------------------------------------------------------------- what there is to see

async function draw(canvas, base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const turn = (canvas.turn = (canvas.turn ?? 0) + 1);
  const picture = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
  if (canvas.turn === turn) {       // a newer one may have overtaken it
    if (canvas.width !== picture.width) [canvas.width, canvas.height] = [picture.width, picture.height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
  }
  picture.close();
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
  mouseLooks = about.lanes.some((lane) => lane.effective && lane.codes.some((code) => code.startsWith("Arrow")));
  $("lanes").replaceChildren(...about.lanes.map((lane) => element(
    "li", { className: lane.effective ? "" : "idle", title: lane.effective ? "" : "does nothing in this world" },
    element("span", { className: "name", textContent: lane.name }),
    ...lane.codes.map((code) => element("kbd", { textContent: label(code) })),
  )));
  $("save").hidden = !about.saving;
  $("reset").title = about.saving ? "Start a new episode; this one is not kept" : "Start a new episode";
  $("hint").textContent = (mouseLooks ? "Click the picture to look around with the mouse. " : "")
    + "Esc, or another window, pauses the game.";
  $("imagined").hidden = !about.model;
  $("futures").replaceChildren(...(about.model ? ["held", "let go"] : []).map(futureRow));
}

function futureRow(kind) {
  const tiles = about.steps.map((step) => {
    const seconds = `+${(step * about.frameskip / about.fps).toFixed(2)} s`;
    const canvas = element("canvas", { ariaLabel: `expected in ${seconds}, ${kind}` });
    canvas.setAttribute("role", "img");
    return element("figure", { title: `${step} model steps ahead` }, canvas, element("figcaption", { textContent: seconds }));
  });
  return element("div", { className: "future" }, element("h3"), element("div", { className: "tiles" }, ...tiles));
}

function showMoment(moment) {
  running = moment.running;
  draw($("real"), moment.jpeg);
  $("stage").classList.toggle("paused", !running);
  BUTTONS.forEach((id) => { $(id).disabled = false; });
  $("invitation").textContent = `${moment.step ? "Paused\n" : ""}Click, or press a key, to play`;
  $("clock").textContent = running ? "Pause" : "Play";
  $("news").textContent = moment.news;
  $("speed").textContent = `episode ${moment.episode}`
    + (running && moment.fps ? `, ${moment.fps.toFixed(1)} of ${about.fps} steps a second` : "");
  $("recording").classList.toggle("on", Boolean(about.saving) && running);
  $("recording-text").textContent = !about.saving ? "not recording: start with --save FILE.h5 to keep what you play"
    : `${running ? "recording" : "saving"} to ${about.saving}: ${count(moment.step, "frame")} in this episode, `
      + `${count(moment.kept.frames, "frame")} in ${count(moment.kept.episodes, "episode")} saved`;
  [...$("lanes").children].forEach((row, index) => row.classList.toggle("lit", moment.action[index] !== 0));
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

function showImagined(told) {
  const rows = [...$("futures").children];
  told.futures.forEach((future, index) => {
    const keys = future.held.map((name) => element("kbd", { textContent: name, className: "lit" }));
    const words = index ? ["if you let go"] : keys.length ? ["if you keep holding", ...keys] : ["if you keep still"];
    rows[index].querySelector("h3").replaceChildren(...words);
    rows[index].querySelectorAll("canvas").forEach((canvas, step) => draw(canvas, future.jpegs[step]));
  });
  $("imagined-note").textContent = `${about.model}: rolled out from the last ${about.context} real frames in `
    + `${Math.round(1000 * told.latency)} ms; each latent is shown as the recorded frame nearest to it.`;
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
