/** Room that stays visible beside a revealed part, so that its neighbor shows. */
const BESIDE = 32;

/** Scrolls `box` sideways until `part` is in view. The page does not scroll. */
export function reveal(box: HTMLElement, part: Element | null): void {
  if (!part) return;
  const [outer, inner] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + BESIDE;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + BESIDE;
}
