// A turn of which something was heard while the page is open: what is not stored yet, and how it ended.
import { SvelteMap } from 'svelte/reactivity';
import type { Failure } from '../../client/failure';
import type { EventParams } from '../../client/rpc';

type Progress = EventParams<'chat.tool'>;
type Usage = EventParams<'chat.done'>['usage'];

export class LiveTurn {
  /** What the agent says at this moment. */
  text = $state('');
  /** The page came in the middle: the beginning of `text` is not here yet. */
  joined = $state(false);
  running = $state(true);
  error = $state<Failure | null>(null);
  /** Why the answer was not spoken. */
  audioError = $state<string | null>(null);
  usage = $state<Usage | null>(null);
  readonly tools = new SvelteMap<string, Pick<Progress, 'state' | 'summary'>>();
}
