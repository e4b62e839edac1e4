// Colors code in an element. Loaded with the first code block that names its language.
import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const LANGUAGES = {
  bash,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Coloring longer code would take too long. */
const MAX_CHARACTERS = 30_000;
const purify = DOMPurify(window);

/**
 * Colors the text of `element` as code in `language`, which is a name or an alias. Code in an unknown language stays
 * plain.
 */
export function highlight(element: HTMLElement, language: string): void {
  const text = element.textContent ?? '';
  if (text.length > MAX_CHARACTERS || !hljs.getLanguage(language)) return;
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  const parts = purify.sanitize(value, {
    ALLOWED_TAGS: ['span'],
    ALLOWED_ATTR: ['class'],
    RETURN_DOM_FRAGMENT: true,
  });
  // The text is untrusted, so it must be unchanged after coloring.
  if (parts.textContent === text) element.replaceChildren(parts);
}
