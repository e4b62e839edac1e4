// Renders Markdown from agents into safe DOM fragments. The text is untrusted. HTML is shown as text, and the output is
// sanitized. Nothing is loaded from other hosts, and links may only use http, https or mailto.
import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import { m } from '../paraglide/messages.js';
import { formulas } from './formulas';

/** A top-level block: a paragraph, list, table and so on. */
export interface Block {
  /** Blocks with equal keys render identically. */
  key: string;
  /** Renders the block. Each call creates new nodes. */
  render: () => DocumentFragment;
}

/** Rendering longer texts would take too long, so they stay plain. */
const MAX_CHARACTERS = 300_000;
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)/i;

const escape = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

const marked = new Marked({
  extensions: formulas,
  gfm: true,
  breaks: true,
  renderer: {
    // Models write line breaks inside table cells as `<br>`.
    html: ({ text }) => (/^\s*<br\s*\/?>\s*$/i.test(text) ? '<br>' : escape(text)),
    heading({ tokens, depth }) {
      const inside = this.parser.parseInline(tokens);
      // `level` maps top-level headings to depths above 6. Nested headings, as in quotes, become bold text.
      return depth > 6 ? `<h${depth - 10}>${inside}</h${depth - 10}>` : `<p><strong>${inside}</strong></p>`;
    },
    link({ href, tokens }) {
      // A link without text shows its URL.
      const inside = this.parser.parseInline(tokens) || escape(href);
      return SAFE_ADDRESS.test(href) ? `<a href="${escape(href)}">${inside}</a>` : inside;
    },
    image({ href, text }) {
      const name = escape(m.parts_markdown_image({ name: text || href }));
      return SAFE_ADDRESS.test(href) ? `<a href="${escape(href)}">${name}</a>` : escape(text);
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

/** The class of a code element names its language. Other classes from the text are removed. */
const LANGUAGE = /^language-[\w+#.-]{1,24}$/;

const purify = DOMPurify(window);
purify.addHook('uponSanitizeAttribute', (node, attribute) => {
  if (attribute.attrName !== 'class') return;
  attribute.keepAttr = node.nodeName === 'CODE' && LANGUAGE.test(attribute.attrValue);
});
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return;
  const href = node.getAttribute('href') ?? '';
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
  // Shows the target URL before the user follows the link.
  if (node.textContent !== href) node.setAttribute('title', href);
});

const ALLOWED = {
  ALLOWED_TAGS: (
    'a p br strong em del code pre blockquote ul ol li h3 h4 h5 h6 hr ' + 'table thead tbody tr th td'
  ).split(' '),
  ALLOWED_ATTR: ['href', 'align', 'start', 'class'],
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  ALLOWED_URI_REGEXP: SAFE_ADDRESS,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/**
 * Splits a text into blocks. Returns `null` if the text should stay plain. `under` is the level of
 * the heading above.
 */
export function blocksOf(text: string, under = 2): Block[] | null {
  if (text.length > MAX_CHARACTERS) return null;
  try {
    const blocks: Block[] = [];
    let last = under;
    for (const token of marked.lexer(text)) {
      if (token.type === 'space' || token.type === 'def') continue;
      if (token.type === 'heading') last = level(token as Tokens.Heading, last, under);
      blocks.push({ key: `${last} ${token.raw}`, render: () => fragmentOf(token) });
    }
    return blocks;
  } catch {
    // The text is nested too deeply to parse.
    return null;
  }
}

/** Sets a heading's level so that the page skips none. A depth above 10 marks an assigned level. */
function level(heading: Tokens.Heading, last: number, under: number): number {
  const wanted = Math.min(under + heading.depth, last + 1, 6);
  heading.depth = wanted + 10;
  return wanted;
}

function fragmentOf(token: Token): DocumentFragment {
  try {
    return purify.sanitize(marked.parser([token]), ALLOWED);
  } catch {
    const fragment = document.createDocumentFragment();
    fragment.append(token.raw);
    return fragment;
  }
}
