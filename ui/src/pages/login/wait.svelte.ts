// A pause required by the gateway's rate limit, with the remaining seconds.
export class Wait {
  #until = $state(0);
  #now = $state(Date.now());
  #timer: ReturnType<typeof setInterval> | null = null;

  readonly left = $derived(Math.max(0, Math.ceil((this.#until - this.#now) / 1000)));

  begin(seconds: number): void {
    this.#now = Date.now();
    this.#until = this.#now + seconds * 1000;
    this.#timer ??= setInterval(() => {
      this.#now = Date.now();
      if (this.left === 0) this.end();
    }, 250);
  }

  end(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#until = 0;
  }
}
