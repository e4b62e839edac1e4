// Turns formulas into MathML, which browsers draw natively. The text is untrusted, so links, classes and files are
// forbidden, and sizes and expansions are limited. Temml creates nodes, not HTML.
import temml from 'temml';

/** Replaces the formulas in `root`. A formula with a mistake stays code. */
export function draw(root: ParentNode): void {
  for (const code of root.querySelectorAll<HTMLElement>('code.language-math')) {
    const block = code.parentElement?.tagName === 'PRE' ? code.parentElement : null;
    const box = document.createElement(block ? 'div' : 'span');
    box.className = block ? 'formula scroll' : 'formula';
    try {
      temml.render(code.textContent, box, {
        displayMode: block !== null,
        throwOnError: true,
        trust: false,
        maxSize: [20, 20],
        maxExpand: 200,
      });
    } catch {
      continue;
    }
    (block ?? code).replaceWith(box);
  }
}
