import { tick } from 'svelte';

/**
 * Moves the focus to the heading of the page when `part` changes, because each part of a section has its own view. Call
 * it while a component is created.
 */
export function focusHeadingOf(part: () => string | undefined): void {
  let shown: string | undefined | null = null;
  $effect(() => {
    const before = shown;
    shown = part();
    if (before === null || before === shown) return;
    void tick().then(() => {
      scrollTo(0, 0);
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    });
  });
}
