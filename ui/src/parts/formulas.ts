// Mathematics in Markdown: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` as a block. A dollar sign opens a formula
// only before a character, and closes it only after one and not before a letter or digit, so prices stay prices.
import type { TokenizerAndRendererExtension } from 'marked';

/** The limits keep the search short in a text with many unclosed marks. */
const INLINE = [/^\$(?![\s$])((?:\\[^\n]|[^\\\n$`]){1,1000}?)(?<!\s)\$(?![\w$])/, /^\\\(([^\n]{1,1000}?)\\\)/];
const BLOCK = [
  /^ {0,3}\$\$((?:\\[^]|[^\\$]){1,5000}?)\$\$[ \t]*(?:\n+|$)/,
  /^ {0,3}\\\[([^]{1,5000}?)\\\][ \t]*(?:\n+|$)/,
];
/** The number of marks of a line that are examined. The text is read in pieces, each up to the next mark. */
const MARKS = 3;

const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

function find(patterns: readonly RegExp[], text: string): { raw: string; tex: string } | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text);
    const tex = found?.[1]?.trim();
    if (found && tex) return { raw: found[0], tex };
  }
  return undefined;
}

/** Where the first block begins in the paragraph at the start of `text`. */
function blockStart(text: string): number | undefined {
  const end = text.indexOf('\n\n');
  const paragraph = end < 0 ? text : text.slice(0, end);
  for (const { index, 1: line = '' } of paragraph.matchAll(/(^|\n) {0,3}(?:\$\$|\\\[)/g)) {
    if (find(BLOCK, text.slice(index + line.length))) return index + line.length;
  }
  return undefined;
}

/** Where the first formula may begin in a line. */
function inlineStart(text: string): number | undefined {
  let seen = 0;
  for (const { index } of text.matchAll(/\$|\\\(/g)) {
    if (++seen > MARKS || find(INLINE, text.slice(index))) return index;
  }
  return undefined;
}

/** The formulas become code of the language `math`, which `Markdown` turns into MathML. */
export const formulas: TokenizerAndRendererExtension[] = [
  {
    name: 'formulaBlock',
    level: 'block',
    start: blockStart,
    tokenizer(text) {
      const found = find(BLOCK, text);
      return found && { type: 'formulaBlock', ...found };
    },
    renderer: ({ tex }) => `<pre><code class="language-math">${escape(String(tex))}</code></pre>`,
  },
  {
    name: 'formula',
    level: 'inline',
    start: inlineStart,
    tokenizer(text) {
      const found = find(INLINE, text);
      return found && { type: 'formula', ...found };
    },
    renderer: ({ tex }) => `<code class="language-math">${escape(String(tex))}</code>`,
  },
];
