// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import { blocksOf } from './markdown';
import { draw } from './mathematics';

function shown(text: string): HTMLDivElement {
  const box = document.createElement('div');
  for (const block of blocksOf(text) ?? []) box.append(block.render());
  return box;
}
const formulasOf = (text: string) =>
  [...shown(text).querySelectorAll('code.language-math')].map((code) => [
    code.parentElement?.tagName === 'PRE' ? 'block' : 'inline',
    code.textContent,
  ]);

describe('formulas in Markdown', () => {
  test('are found by all four marks, and by a code block of the language', () => {
    expect(formulasOf('Let $a_1 < b$ and \\(c^2\\).')).toEqual([
      ['inline', 'a_1 < b'],
      ['inline', 'c^2'],
    ]);
    expect(formulasOf('Then\n$$\n\\frac{a}{b}\n$$\nand\n\n\\[\nx\n\\]')).toEqual([
      ['block', '\\frac{a}{b}'],
      ['block', 'x'],
    ]);
    expect(formulasOf('```math\ny\n```')).toEqual([['block', 'y\n']]);
    expect(formulasOf('a $x$ and $y$, or $\\$5$')).toEqual([
      ['inline', 'x'],
      ['inline', 'y'],
      ['inline', '\\$5'],
    ]);
  });

  test.each([
    'It costs $5 and $10.',
    'It costs $5 to $10, and `$x$` is code.',
    'from $a to US$b',
    '$ 5 $',
    'US$5 or CA$7',
    '`$x$`',
    'a $b',
    '$20,000 and $30,000',
    '\\\\(x)',
  ])('%s is no formula', (text) => {
    expect(formulasOf(text)).toEqual([]);
  });

  test('many marks without an end take no long time', () => {
    const began = performance.now();
    const marks = ['\\[\n', '$', '\\(', '\\( $ ', '$$\n', '$$x\n', '$a\n\n', '\\[x\n\n', '$x $y'];
    for (const text of marks) blocksOf(text.repeat(60_000 / text.length));
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('drawing', () => {
  // jsdom has no style for MathML, which blocks need; tests/browser draws one.
  test('makes MathML of a formula, and leaves one with a mistake as code', () => {
    const box = shown('$\\frac{1}{2}$ and $\\frac{1$ and $\\nothing{}$');
    draw(box);
    expect(box.querySelectorAll('span.formula > math > mfrac')).toHaveLength(1);
    expect([...box.querySelectorAll('code')].map(({ textContent }) => textContent)).toEqual([
      '\\frac{1',
      '\\nothing{}',
    ]);
  });

  test.each([
    '\\href{javascript:alert(1)}{x}',
    '\\url{https://evil.example}',
    '\\includegraphics{https://evil.example/x.png}',
    '\\class{skip}{x}',
    '\\id{page}{x}',
    '\\style{position:fixed}{x}',
    '\\data{a=b}{x}',
  ])('%s brings no link, file, class, ID or style', (tex) => {
    const box = shown(`$${tex}$`);
    draw(box);
    expect(box.querySelectorAll('a, [href], [src], img, mglyph, .skip, #page, [data-a]')).toHaveLength(0);
    expect(box.querySelectorAll('[style*="fixed"]')).toHaveLength(0);
  });

  test('a formula that expands without end stays code', () => {
    const box = shown('$\\def\\a{\\a\\a}\\a$');
    draw(box);
    expect(box.querySelector('math')).toBeNull();
  });
});
