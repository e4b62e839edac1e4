// The deliveries that are selected for a bulk action.
import { SvelteSet } from 'svelte/reactivity';

export class Selection {
  /** Whether the rows show checkboxes. */
  on = $state(false);
  readonly ids = new SvelteSet<string>();

  toggle(id: string): void {
    if (!this.ids.delete(id)) this.ids.add(id);
  }

  stop(): void {
    this.on = false;
    this.ids.clear();
  }
}
