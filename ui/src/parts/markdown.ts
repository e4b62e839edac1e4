// Markdown as an agent writes it, made into safe pieces of a page. Whoever writes the text is not trusted: HTML in it is shown as text,
// what comes out is sanitised besides, nothing is loaded from anywhere, and links lead to the web or to a mail program only.
import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import { m } from '../paraglide/messages.js';

/** A paragraph, list, table or the like. */
export interface Block {
  /** Two blocks with the same key look the same. */
  key: string;
  /** What is in it, made anew at each call. */
  render: () => DocumentFragment;
}

/** Beyond this a text stays as it is: making it pretty would take longer than people wait. */
const MAX_CHARACTERS = 300_000;
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:)/i;

const escape = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // Models write line breaks into tables like this.
    html: ({ text }) => (/^\s*<br\s*\/?>\s*$/i.test(text) ? '<br>' : escape(text)),
    heading({ tokens, depth }) {
      const inside = this.parser.parseInline(tokens);
      // Only headings of the text itself are headings, see `level`.
      return depth > 6 ? `<h${depth - 10}>${inside}</h${depth - 10}>` : `<p><strong>${inside}</strong></p>`;
    },
    link({ href, tokens }) {
      // A link without a text is called by where it leads.
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

const purify = DOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return;
  const href = node.getAttribute('href') ?? '';
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
  // Where it leads is told before it is gone to.
  if (node.textContent !== href) node.setAttribute('title', href);
});

const ALLOWED = {
  ALLOWED_TAGS: (
    'a p br strong em del code pre blockquote ul ol li h3 h4 h5 h6 hr ' + 'table thead tbody tr th td'
  ).split(' '),
  ALLOWED_ATTR: ['href', 'align', 'start'],
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  ALLOWED_URI_REGEXP: SAFE_ADDRESS,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
};

/** A text in its blocks; `null` when it is better shown as it is. `under` is the level of the heading that it stands below. */
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
    // What is nested too deeply to be read.
    return null;
  }
}

/** Gives a heading its level on the page, where none may be skipped. Numbers above 10 are such levels. */
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
