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
   * user has stopped or has selected other entries in the meantime. If entries failed, it keeps them selected instead,
   * with those that the user has selected in the meantime.
   */
  begin(): (failed?: readonly string[]) => void {
    const stops = this.#stops;
    const before = [...this.ids];
    return (failed = []) => {
      if (this.#stops !== stops) return;
      if (failed.length > 0) {
        for (const id of before) this.ids.delete(id);
        for (const id of failed) this.ids.add(id);
      }
      if (this.ids.size === 0) this.stop();
    };
  }
}
