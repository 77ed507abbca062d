// Films of one episode start together: that is how they compare.
for (const episode of document.querySelectorAll(".episode")) {
  const films = [...episode.querySelectorAll("video")];
  if (films.length < 2) continue;
  const button = document.createElement("button");
  button.type = "button";
  const playing = () => films.some(film => !film.paused && !film.ended);
  const name = () => { button.textContent = playing() ? "Pause" : "Play side by side, half speed"; };
  button.addEventListener("click", () => {
    if (playing()) return films.forEach(film => film.pause());
    for (const film of films) {
      film.currentTime = 0;
      film.playbackRate = 0.5;
      film.loop = true;
      film.play();
    }
  });
  for (const film of films) for (const event of ["play", "pause", "ended"]) film.addEventListener(event, name);
  name();
  episode.prepend(button);
}
