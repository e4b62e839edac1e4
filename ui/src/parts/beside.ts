import type { Attachment } from 'svelte/attachments';

/** Distance from the button, and from the edges of the window, in pixels. */
const GAP = 4;
const MARGIN = 8;

/**
 * Keeps an open popover at its button: below it, or above it if there is no room below. `edge` is the side on which
 * both are aligned. Closes the popover when the button is scrolled out of the window.
 */
export function beside(button: () => HTMLElement, edge: 'left' | 'right'): Attachment<HTMLElement> {
  return (popover) => {
    let following: AbortController | undefined;

    function place() {
      const at = button().getBoundingClientRect();
      const { width, height } = popover.getBoundingClientRect();
      const isBelow = at.bottom + GAP + height <= innerHeight;
      const top = isBelow ? at.bottom + GAP : at.top - height - GAP;
      const left = edge === 'left' ? at.left : at.right - width;
      const within = (start: number, room: number) => Math.max(MARGIN, Math.min(start, room - MARGIN));
      popover.style.top = `${within(top, innerHeight - height)}px`;
      popover.style.left = `${within(left, innerWidth - width)}px`;
    }

    function follow(event: Event) {
      if (event.target === popover) return;
      const { top, bottom } = button().getBoundingClientRect();
      if (bottom < 0 || top > innerHeight) popover.hidePopover();
      else place();
    }

    function toggled(event: ToggleEvent) {
      if (event.target !== popover) return;
      following?.abort();
      if (event.newState !== 'open') return;
      following = new AbortController();
      const { signal } = following;
      addEventListener('scroll', follow, { capture: true, passive: true, signal });
      addEventListener('resize', follow, { signal });
      const sizes = new ResizeObserver(place);
      sizes.observe(popover);
      // What loads above the button moves it without a scroll.
      sizes.observe(document.body);
      signal.addEventListener('abort', () => sizes.disconnect());
      place();
    }

    // Before the listeners of components, which focus an entry: it must be in the window then.
    popover.addEventListener('toggle', toggled, { capture: true });
    return () => {
      following?.abort();
      popover.removeEventListener('toggle', toggled, { capture: true });
    };
  };
}
