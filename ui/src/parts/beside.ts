import type { Attachment } from 'svelte/attachments';

/** Distance from the button, and from the edges of the window, in pixels. */
const GAP = 4;
const MARGIN = 8;

/**
 * Keeps an open popover at its button, below it or, if there is no space below, above it. `edge` is the side on which
 * popover and button are aligned. Closes the popover when the button is scrolled out of the window.
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
      // Content that loads above the button moves the button without a scroll event.
      sizes.observe(document.body);
      signal.addEventListener('abort', () => sizes.disconnect());
      place();
    }

    // Runs before the listeners of components, which focus an entry. The entry must then be in the
    // window.
    popover.addEventListener('toggle', toggled, { capture: true });
    return () => {
      following?.abort();
      popover.removeEventListener('toggle', toggled, { capture: true });
    };
  };
}
