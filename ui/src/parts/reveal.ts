import type { Attachment } from 'svelte/attachments';

/** Space that stays visible beside a revealed part, in pixels. It shows a piece of the neighbor. */
const BESIDE = 32;

/** Scrolls `box` sideways until `part` is in view. The page does not scroll. */
export function reveal(box: HTMLElement, part: Element | null): void {
  if (!part) return;
  const [outer, inner] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + BESIDE;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + BESIDE;
}

type Scrolled = Pick<HTMLElement, 'scrollLeft' | 'scrollWidth' | 'clientWidth'>;

/**
 * Returns the sides of a box on which it has more content, `left`, `right`, both or neither. Fractions of a pixel are
 * ignored.
 */
export function hiddenSides({ scrollLeft, scrollWidth, clientWidth }: Scrolled): string {
  const sides = [scrollLeft > 1 && 'left', scrollLeft + clientWidth < scrollWidth - 1 && 'right'];
  return sides.filter(Boolean).join(' ');
}

/** Reports the hidden sides of a box, now and whenever they change. */
export const watchHiddenSides =
  (report: (sides: string) => void): Attachment<HTMLElement> =>
  (box) => {
    const update = () => report(hiddenSides(box));
    box.addEventListener('scroll', update, { passive: true });
    const sizes = new ResizeObserver(update);
    for (const one of [box, ...box.children]) sizes.observe(one);
    return () => {
      box.removeEventListener('scroll', update);
      sizes.disconnect();
    };
  };
