// Moves the focus to a heading when the focused control is removed, for keyboard and screen reader users.
import { tick } from 'svelte';

/**
 * Call this before a change that removes the focused control. If the focus was lost, the returned function focuses the
 * heading of the control's section, dialog or page.
 */
export function keepFocus(): () => Promise<void> {
  const from = document.activeElement?.closest('section, dialog') ?? null;
  return async () => {
    await tick();
    if ((document.activeElement ?? document.body) !== document.body) return;
    const near = from?.isConnected ? from.querySelector<HTMLElement>('h2') : null;
    const heading = near ?? document.querySelector<HTMLElement>('main h1');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({ preventScroll: true });
  };
}
