// Plays a recording of `tmuxwire rec` (asciicast 2 and 3) in the page, at any speed and from any point. The file stays in the browser.
import { CastPlayer, parseCast } from "./castPlayer.js";

const { file, speed, place } = document.forms[0].elements;
const button = document.querySelector("button");
const said = document.querySelector("output");
const terminal = new globalThis.Terminal({ disableStdin: true });
terminal.open(document.getElementById("terminal"));

const screen = {
  reset: ({ cols, rows }) => {
    terminal.reset();
    terminal.resize(cols, rows);
  },
  resize: ({ cols, rows }) => terminal.resize(cols, rows),
  write: (text) => new Promise((done) => terminal.write(text, done)),
};
let player;

file.addEventListener("change", async () => {
  const [chosen] = file.files;
  try {
    const cast = parseCast(await chosen.text(), chosen.name);
    player?.close();
    place.max = String(cast.lengthSec);
    player = new CastPlayer({ cast, screen, onChange: show, nextFrame: (draw) => requestAnimationFrame(draw) });
    player.speed = Number(speed.value);
  } catch (error) {
    said.textContent = `no recording: ${error.message}`;
  }
});
button.addEventListener("click", () => (button.textContent === "Pause" ? player?.pause() : player?.play()));
place.addEventListener("input", () => player?.seek(Number(place.value)));
speed.addEventListener("input", () => {
  if (player !== undefined) player.speed = Number(speed.value);
});

function show({ atSec, lengthSec, isPlaying }) {
  button.textContent = isPlaying ? "Pause" : "Play";
  place.value = String(atSec);
  said.textContent = `${atSec.toFixed(1)} of ${lengthSec.toFixed(1)} s`;
}
