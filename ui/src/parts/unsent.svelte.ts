// Unsaved input of forms. If the session ends while a form is open, the input is still there after the login. Kept only
// in memory, because it may contain secrets.
import { session } from '../state/session.svelte';
import { HOUR_MS } from './units';

const kept = new Map<string, unknown>();
/** The names of the open forms, one entry per open form. */
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
 * Returns the text that was typed in the form before the session ended. Returns null if there is none or if more than
 * an hour has passed since the login.
 */
export const unsent = <Typed>(form: string): Typed | null => (kept.get(form) as Typed | undefined) ?? null;

/**
 * Keeps the result of `typed` if the session ends. `typed` returns null if nothing is unsaved. Call this during
 * creation of the form's component.
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
    // A user who leaves the form discards its input. A logout reloads the page.
    if (!session.ended) kept.delete(form);
  });
}
