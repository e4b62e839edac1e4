// What the user has typed in a form but not saved. It is still there after the login if the session ends while the form
// is open. Kept in memory only, because it may contain secrets.
import { session } from '../state/session.svelte';
import { HOUR_MS } from './units';

const kept = new Map<string, unknown>();
/** The names of the forms that are open, as often as each is. */
const open: string[] = [];

// The user may log in on another page and never open the form again.
$effect.root(() => {
  $effect(() => {
    if (session.ended) return;
    const timer = setTimeout(dropWaiting, HOUR_MS);
    return () => clearTimeout(timer);
  });
});

/** Discards the input of forms that are not open. */
function dropWaiting(): void {
  for (const form of kept.keys()) if (!open.includes(form)) kept.delete(form);
}

/**
 * Returns what was typed in the form when the session ended; null if nothing, or if more than an hour has passed since
 * the login.
 */
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
  open.push(form);
  $effect(() => () => {
    open.splice(open.indexOf(form), 1);
    // A user who leaves the form discards it. A logout reloads the page.
    if (!session.ended) kept.delete(form);
  });
}
