// Whether a component is still shown when an answer arrives.
import { onDestroy } from 'svelte';

/** Returns a function that says whether the calling component is still shown. Call it during component creation. */
export function whileShown(): () => boolean {
  let isShown = true;
  onDestroy(() => (isShown = false));
  return () => isShown;
}
