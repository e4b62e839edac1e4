// What the user has typed in a form but not saved. It is still there after the login if the session ends while the form
// is open. Kept in memory only, because it may contain secrets.
import { session } from '../state/session.svelte';

const kept = new Map<string, unknown>();

/** Returns what was typed in the form when the session ended; null if nothing. */
export const unsent = <Typed>(form: string): Typed | null => (kept.get(form) as Typed | undefined) ?? null;

/**
 * Keeps what `typed` returns if the session ends; `typed` returns null if nothing is unsaved. Call it while the form's
 * component is created.
 */
export function keepUnsent(form: string, typed: () => unknown): void {
  $effect(() => {
    const now = typed();
    if (now === null) kept.delete(form);
    else kept.set(form, $state.snapshot(now));
  });
  $effect(() => () => {
    // A user who leaves the form discards it. A logout reloads the page.
    if (!session.ended) kept.delete(form);
  });
}
