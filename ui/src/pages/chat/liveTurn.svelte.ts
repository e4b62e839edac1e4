// A turn of which something was heard while the page is open: what is not stored yet, and how it ended.
import { SvelteMap } from 'svelte/reactivity';
import type { Failure } from '../../client/failure';
import type { EventParams } from '../../client/rpc';

type Progress = EventParams<'chat.tool'>;
type Usage = EventParams<'chat.done'>['usage'];

export class LiveTurn {
  /** What the agent says at this moment, as far as it is known. */
  text = $state('');
  /** Where in the answer `text` begins: not at 0 when the page came in the middle. */
  from = $state(0);
  running = $state(true);
  error = $state<Failure | null>(null);
  /** Why the answer was not spoken. */
  audioError = $state<string | null>(null);
  usage = $state<Usage | null>(null);
  readonly tools = new SvelteMap<string, Pick<Progress, 'state' | 'summary'>>();

  /** A piece of the answer, which belongs at `at`; behind what is there when that is not told. */
  hear(text: string, at = this.from + this.text.length): void {
    if (at < this.from || this.text === '' || at > this.from + this.text.length) {
      this.from = at;
      this.text = text;
    } else {
      this.text = this.text.slice(0, at - this.from) + text;
    }
  }

  /** The answer from its beginning, as it was a moment ago: some of it may have been heard, and more. */
  catchUp(beginning: string): void {
    const goesOn = this.text !== '' && this.from <= beginning.length && this.from + this.text.length > beginning.length;
    this.text = goesOn ? beginning.slice(0, this.from) + this.text : beginning;
    this.from = 0;
  }

  /** The answer is stored: what comes next is another one. */
  clear(): void {
    this.text = '';
    this.from = 0;
  }
}
