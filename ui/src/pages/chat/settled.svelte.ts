// A text for screen readers that changes while the user types: it is said once, after a pause.

/** The pause, in milliseconds: longer than the time between two key presses. */
export const PAUSE_MS = 1000;

export class Settled {
  /** The text of the live region. */
  said = $state('');
  #next = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Says the text after a pause in which it did not change. A text that was just said is not repeated. */
  say(text: string): void {
    if (text === this.#next) return;
    this.clear();
    this.#next = text;
    this.#timer = setTimeout(() => (this.said = text), PAUSE_MS);
  }

  /** Says nothing until the next text. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#next = '';
    this.said = '';
  }
}
