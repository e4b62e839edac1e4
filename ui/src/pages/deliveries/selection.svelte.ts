// The deliveries, conversations or messages that are selected for a bulk action.
import { SvelteSet } from 'svelte/reactivity';

export class Selection {
  /** Whether the rows show checkboxes. */
  on = $state(false);
  readonly ids = new SvelteSet<string>();
  /** The number of times that the user or a run has stopped selecting. */
  #stops = 0;

  toggle(id: string): void {
    if (!this.ids.delete(id)) this.ids.add(id);
  }

  stop(): void {
    this.#stops++;
    this.on = false;
    this.ids.clear();
  }

  /**
   * Begins a run over the selected entries. Returns a function for the end of the run. It stops selecting, unless the
   * user has stopped or has selected other entries in the meantime.
   */
  begin(): () => void {
    const stops = this.#stops;
    return () => {
      if (this.#stops === stops && this.ids.size === 0) this.stop();
    };
  }
}
