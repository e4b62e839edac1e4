// Icons that are drawn once and then copied. In a list, the component of an icon takes longer to render than the rest
// of its row.
import { mount } from 'svelte';
import type { Attachment } from 'svelte/attachments';
import type { LucideIcon } from './icon';

const known = new WeakMap<LucideIcon, Map<number, Node>>();

function copyOf(icon: LucideIcon, size: number): ChildNode {
  const sizes = known.get(icon) ?? new Map<number, Node>();
  known.set(icon, sizes);
  const one = sizes.get(size) ?? draw(icon, size);
  sizes.set(size, one);
  return one.cloneNode(true) as ChildNode;
}

function draw(icon: LucideIcon, size: number): Node {
  const box = document.createElement('div');
  mount(icon, { target: box, props: { size, 'aria-hidden': 'true' } });
  return box.firstElementChild ?? box;
}

/** Puts an icon at the start of an element. */
export const drawn =
  (icon: LucideIcon, size: number): Attachment =>
  (element) => {
    const copy = copyOf(icon, size);
    element.prepend(copy);
    return () => copy.remove();
  };
