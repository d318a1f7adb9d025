// Play: motions by time, paths by arc length, jumps as a flash and by the states on the way down, not in real time.
const SECONDS = 12; // for all of it, at speed 1

class Player {
  constructor(button, speed, loop, show) {
    Object.assign(this, { button, speed, loop, show, timer: null });
    button.addEventListener("click", () => this.toggle());
  }

  toggle() { if (this.timer === null) this.start(); else this.stop(); }

  start() {
    this.place = view.frame >= M - 1 ? 0 : along[view.frame];
    this.last = performance.now();
    this.button.textContent = "Stop";
    this.timer = requestAnimationFrame((now) => this.tick(now));
  }

  stop() {
    if (this.timer !== null) cancelAnimationFrame(this.timer);
    this.timer = null;
    this.button.textContent = "Play";
    if (view.jump) this.show(view.frame);
  }

  tick(now) {
    this.place += (Math.max(now - this.last, 0) / 1000) * Number(this.speed.value) * (whole / SECONDS);
    this.last = now;
    if (this.place >= whole && this.loop.checked) this.place %= whole;
    const frame = frameBefore(Math.min(this.place, whole)), jump = jumpAt(this.place);
    if (frame !== view.frame || jump || view.jump) this.show(frame, jump);
    if (this.place >= whole) this.stop(); else this.timer = requestAnimationFrame((then) => this.tick(then));
  }
}
