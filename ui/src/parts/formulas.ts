// Mathematics in Markdown, with `$…$` and `\(…\)` in a line, and `$$…$$` and `\[…\]` as a block. A dollar sign opens a
// formula only directly before a character. It closes a formula only directly after a character and not before a letter
// or digit, so prices are not formulas.
import type { TokenizerAndRendererExtension } from 'marked';

/** The limits keep the search short in a text with many unclosed delimiters. */
const INLINE = [/^\$(?![\s$])((?:\\[^\n]|[^\\\n$`]){1,1000}?)(?<!\s)\$(?![\w$])/, /^\\\(([^\n]{1,1000}?)\\\)/];
const BLOCK = [
  /^ {0,3}\$\$((?:\\[^]|[^\\$]){1,5000}?)\$\$[ \t]*(?:\n+|$)/,
  /^ {0,3}\\\[([^]{1,5000}?)\\\][ \t]*(?:\n+|$)/,
];
/**
 * The maximum number of delimiters that are examined in a line. The text is read in pieces up to the next delimiter.
 */
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

/** Returns the start of the first block in the paragraph at the start of `text`. */
function blockStart(text: string): number | undefined {
  const end = text.indexOf('\n\n');
  const paragraph = end < 0 ? text : text.slice(0, end);
  for (const { index, 1: line = '' } of paragraph.matchAll(/(^|\n) {0,3}(?:\$\$|\\\[)/g)) {
    if (find(BLOCK, text.slice(index + line.length))) return index + line.length;
  }
  return undefined;
}

/** Returns the position where the first formula may begin in a line. */
function inlineStart(text: string): number | undefined {
  let seen = 0;
  for (const { index } of text.matchAll(/\$|\\\(/g)) {
    if (++seen > MARKS || find(INLINE, text.slice(index))) return index;
  }
  return undefined;
}

/** Formulas become code blocks of the language `math`, which `Markdown` turns into MathML. */
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
