// Plays a recording of `tmuxwire rec` (asciicast 2 and 3) in the page: any speed, any place. The file stays in the browser.
const { file, speed, place } = document.forms[0].elements;
const button = document.querySelector("button");
const said = document.querySelector("output");
const terminal = new globalThis.Terminal({ disableStdin: true });
terminal.open(document.getElementById("terminal"));

let header;
let events = [];
/** How many of them are shown, and the time up to which. */
let shown = 0;
let atSec = 0;
let lastMs;

file.addEventListener("change", async () => {
  try {
    read(await file.files[0].text());
  } catch (error) {
    said.textContent = `no recording: ${error.message}`;
  }
});
button.addEventListener("click", () => {
  if (lastMs !== undefined) pause();
  else {
    if (atSec >= Number(place.max)) seek(0);
    button.textContent = "Pause";
    requestAnimationFrame(step);
  }
});
place.addEventListener("input", () => seek(Number(place.value)));

function read(text) {
  // A last line that was cut off is none.
  const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
  header = JSON.parse(lines[0]);
  let sec = 0;
  events = lines
    .slice(1)
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [time, code, data] = JSON.parse(line);
      sec = header.version === 2 ? time : sec + time;
      return { sec, code, data };
    });
  place.max = String(sec);
  pause();
  seek(0);
}

/** From the beginning: what a screen shows depends on all that came before. */
function seek(toSec) {
  const { cols, rows } = header.term ?? { cols: header.width, rows: header.height };
  terminal.reset();
  terminal.resize(cols, rows);
  shown = 0;
  showUpTo(toSec);
}

function showUpTo(toSec) {
  atSec = toSec;
  for (; shown < events.length && events[shown].sec <= toSec; shown += 1) {
    const { code, data } = events[shown];
    if (code === "o") terminal.write(data);
    if (code === "r") terminal.resize(...data.split("x").map(Number));
  }
  place.value = String(toSec);
  said.textContent = `${toSec.toFixed(1)} of ${Number(place.max).toFixed(1)} s`;
}

function step(nowMs) {
  if (button.textContent !== "Pause") return;
  const passedSec = ((nowMs - (lastMs ?? nowMs)) / 1_000) * (Number(speed.value) || 1);
  lastMs = nowMs;
  showUpTo(Math.min(Number(place.max), atSec + passedSec));
  if (atSec >= Number(place.max)) pause();
  else requestAnimationFrame(step);
}

function pause() {
  button.textContent = "Play";
  lastMs = undefined;
}
