// Icons that are drawn once and then copied. The component of an icon takes longer than the rest of a row of a list.
import { mount, type Component } from 'svelte';
import type { Attachment } from 'svelte/attachments';

export type Icon = Component<{ size?: number; 'aria-hidden'?: boolean | 'true' | 'false' }>;

const known = new WeakMap<Icon, Map<number, Node>>();

function copyOf(icon: Icon, size: number): ChildNode {
  const sizes = known.get(icon) ?? new Map<number, Node>();
  known.set(icon, sizes);
  const one = sizes.get(size) ?? draw(icon, size);
  sizes.set(size, one);
  return one.cloneNode(true) as ChildNode;
}

function draw(icon: Icon, size: number): Node {
  const box = document.createElement('div');
  mount(icon, { target: box, props: { size, 'aria-hidden': 'true' } });
  return box.firstElementChild ?? box;
}

/** Puts an icon at the start of an element. */
export const drawn =
  (icon: Icon, size: number): Attachment =>
  (element) => {
    const copy = copyOf(icon, size);
    element.prepend(copy);
    return () => copy.remove();
  };
