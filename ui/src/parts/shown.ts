// Whether a component is still shown when an answer arrives.
import { onDestroy } from 'svelte';

/** Returns a function that returns whether the calling component is still shown. Call it while the component is created. */
export function whileShown(): () => boolean {
  let isShown = true;
  onDestroy(() => (isShown = false));
  return () => isShown;
}
