// A turn with live events: unstored text, tool states, and the end of the turn.
import { SvelteMap } from 'svelte/reactivity';
import type { EventParams } from '../../client/rpc';

type Progress = EventParams<'chat.tool'>;
type Usage = EventParams<'chat.done'>['usage'];

export class LiveTurn {
  /** The answer being written, as far as it is known. */
  text = $state('');
  /** Offset of `text` in the answer; above 0 if the page connected while the answer was being written. */
  from = $state(0);
  running = $state(true);
  /** When the latest sign of progress arrived, in milliseconds. */
  heard_ms = $state(Date.now());
  /** The message that is being spoken, which may not be stored yet. */
  speech = $state<string | null>(null);
  /** Why the answer was not spoken. */
  audioError = $state<string | null>(null);
  usage = $state<Usage | null>(null);
  readonly tools = new SvelteMap<string, Pick<Progress, 'name' | 'state' | 'summary'>>();

  /** Adds a delta at offset `at`; without an offset, appends it. */
  hear(text: string, at = this.from + this.text.length): void {
    this.heard_ms = Date.now();
    if (at < this.from || this.text === '' || at > this.from + this.text.length) {
      this.from = at;
      this.text = text;
    } else {
      this.text = this.text.slice(0, at - this.from) + text;
    }
  }

  /**
   * Merges the beginning of the answer up to a recent point with the deltas received in the
   * meantime.
   */
  catchUp(beginning: string): void {
    const goesOn = this.text !== '' && this.from <= beginning.length && this.from + this.text.length > beginning.length;
    this.text = goesOn ? beginning.slice(0, this.from) + this.text : beginning;
    this.from = 0;
  }

  /** Clears the text after the answer is stored. The next delta starts another answer. */
  clear(): void {
    this.heard_ms = Date.now();
    this.text = '';
    this.from = 0;
  }
}
